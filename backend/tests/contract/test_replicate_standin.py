"""The stand-in is taken for Replicate: by Replicate's own client, beside recorded answers, and under every fault it plays."""

from __future__ import annotations

import asyncio
import base64
import io
import re
import signal
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from replicate.client import Client
from replicate.exceptions import ModelError, ReplicateError
from replicate.helpers import FileOutput
from replicate.webhook import Webhooks, WebhookSigningSecret

from glisk.dev.standins import pictures, replicate_control
from glisk.dev.standins.pictures import Sketch
from glisk.dev.standins.replicate_control import ReplicateControl
from glisk.dev.standins.replicate_prediction import FAILURES
from glisk.dev.standins.webhooks import RETRIES_S, signature
from tests.commands import GLISK, a_free_port
from tests.standins import SCHNELL, TOKEN, Mailbox, a_client, a_mailbox, ordered, read

A_CAT = {"prompt": "a cat", "seed": 7}
SDXL = "stability-ai/sdxl:7762fd07cf82c948538e41f63f77d685e02b063e37e496e96eefd46c929f9bdc"

# Keys and types as in the recordings of replicate-python (tests/cassettes at 0110c2c): `run`, `predictions-get`,
# `test_predictions_cancel`, `test_models_predictions_create_blocking`. What later years added is in LATER.
STARTING = {
    "id": str,
    "model": str,
    "version": str,
    "input": dict,
    "logs": str,
    "error": type(None),
    "status": str,
    "created_at": str,
    "urls": dict,
}
PROCESSING = {**STARTING, "started_at": str}
SUCCEEDED = {**PROCESSING, "completed_at": str, "metrics": dict, "output": list}
CANCELED = {**PROCESSING, "completed_at": str, "metrics": dict, "output": type(None)}
BLOCKING = {**STARTING, "output": list, "data_removed": bool}
LATER = {"data_removed": bool, "output": type(None)}
ROW = {**{name: kind for name, kind in SUCCEEDED.items() if name != "logs"}, "source": str, "data_removed": bool}


@pytest.fixture
def standin() -> Iterator[ReplicateControl]:
    with replicate_control.in_thread() as control:
        yield control


@pytest.fixture
def api(standin: ReplicateControl) -> Iterator[httpx.Client]:
    with a_client(standin) as client:
        yield client


@pytest.fixture
def sdk(standin: ReplicateControl) -> Iterator[Client]:
    client = Client(api_token="r8_test", base_url=standin.url)
    client.poll_interval = 0
    yield client
    client._client.close()


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with a_mailbox() as mailbox:
        yield mailbox


def shape(record: dict[str, Any]) -> dict[str, type]:
    return {name: type(value) for name, value in record.items()}


# Replicate's own client


def test_their_client_creates_reads_lists_and_cancels(standin: ReplicateControl, sdk: Client) -> None:
    standin.always(runs_for_s=None)
    made = sdk.predictions.create(model=SCHNELL, input=A_CAT)
    assert (made.status, made.output, made.model, made.metrics) == ("starting", None, SCHNELL, None)
    made.reload()
    assert (made.status, made.logs) == ("processing", "Using seed: 7\n")
    assert [listed.id for listed in sdk.predictions.list()] == [made.id]
    made.cancel()
    assert (made.status, set(made.metrics or {})) == ("canceled", {"predict_time", "total_time"})
    assert sdk.predictions.get(made.id).status == "canceled"


async def test_their_async_client_creates_reads_lists_and_cancels(standin: ReplicateControl) -> None:
    sdk = Client(api_token="r8_test", base_url=standin.url)
    standin.always(starts_after_s=None)
    made = await sdk.predictions.async_create(version=SDXL, input=A_CAT)
    assert (await sdk.predictions.async_get(made.id)).status == "starting"
    assert [listed.id for listed in await sdk.predictions.async_list()] == [made.id]
    await made.async_cancel()
    assert made.status == "canceled"
    standin.reset()
    output: Any = await sdk.async_run(SDXL, input=A_CAT)
    assert [url.startswith(standin.files_url) for url in output] == [True]
    await sdk._async_client.aclose()


@pytest.mark.parametrize("wait", [True, 5, False])
def test_their_run_gives_the_output(wait: Any, standin: ReplicateControl, sdk: Client) -> None:
    (url,) = sdk.run(SCHNELL, input=A_CAT, wait=wait)
    assert httpx.get(url).headers["content-type"] == "image/webp"
    single: Any = sdk.run("black-forest-labs/flux-1.1-pro", input=A_CAT, wait=wait)
    assert single.startswith(standin.files_url)


def test_their_client_makes_files_of_data_uris(standin: ReplicateControl, sdk: Client) -> None:
    standin.script(output_as="data")
    (file,) = sdk.run(SCHNELL, input=A_CAT)
    assert isinstance(file, FileOutput)
    assert Image.open(io.BytesIO(file.read())).format == "WEBP"


@pytest.mark.parametrize("name", FAILURES)
def test_their_run_raises_what_the_model_failed_with(name: str, standin: ReplicateControl, sdk: Client) -> None:
    standin.script(fail=name)
    with pytest.raises(ModelError) as failed:
        sdk.run(SCHNELL, input=A_CAT)
    assert failed.value.prediction.error == str(failed.value) == FAILURES[name]


@pytest.mark.parametrize(
    ("code", "title", "detail"),
    [
        (401, "Unauthenticated", "You did not pass a valid authentication token"),
        (402, "Insufficient credit", "You have insufficient credit to run this model."),
        (403, "Forbidden", "You do not have permission"),
        (404, "Not found", "The requested resource could not be found."),
        (422, "Invalid version or not permitted", "The specified version does not exist"),
        (429, None, "Request was throttled. Your rate limit resets in ~1s."),
        (500, None, None),
        (503, None, None),
    ],
)
def test_their_client_reads_every_refusal(
    code: int, title: str | None, detail: str | None, standin: ReplicateControl, sdk: Client
) -> None:
    standin.script(status_code=code)
    with pytest.raises(ReplicateError) as refused:
        sdk.predictions.create(model=SCHNELL, input=A_CAT)
    assert (refused.value.status, refused.value.title) == (code, title)
    assert (refused.value.detail or "").startswith(detail or "")
    assert standin.charges()["total"] == 0


def test_their_client_pages_to_the_end_while_predictions_are_created(
    standin: ReplicateControl, api: httpx.Client, sdk: Client
) -> None:
    made = [ordered(api, seed)["id"] for seed in range(250)]
    first = sdk.predictions.list()
    ordered(api, 999)
    second = sdk.predictions.list(first.next or ...)
    third = sdk.predictions.list(second.next or ...)
    assert [len(page) for page in (first, second, third)] == [100, 100, 50]
    assert [row.id for page in (first, second, third) for row in page] == made[::-1]
    assert (first.previous, third.next) == (None, None)
    assert [row.id for row in sdk.predictions.list(third.previous or ...)] == [row.id for row in second]


def test_their_client_runs_deployments(sdk: Client) -> None:
    made = sdk.deployments.predictions.create("acme/painter", input=A_CAT)
    assert made.version.startswith("dp-")
    assert sdk.predictions.get(made.id).status == "succeeded"


def test_their_client_verifies_our_webhooks(api: httpx.Client, sdk: Client, mailbox: Mailbox) -> None:
    made = ordered(api, body={"webhook": mailbox.url, "webhook_events_filter": ["completed"]})
    letter = mailbox.next()
    Webhooks.validate(
        headers=letter.headers, body=letter.body.decode(), secret=sdk.webhooks.default.secret(), tolerance=60
    )
    assert letter.prediction == read(api, made)


# The wire


def test_every_state_has_the_keys_and_types_that_were_recorded(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.always(starts_after_s=None, runs_for_s=None)
    made, stopped = ordered(api), ordered(api, 8)
    assert shape(made) == STARTING | LATER
    assert shape(read(api, made)) == STARTING | LATER
    standin.go(to="start")
    assert shape(read(api, made)) == PROCESSING | LATER
    assert shape(api.post(f"/v1/predictions/{stopped['id']}/cancel").json()) == CANCELED | LATER
    standin.go()
    assert shape(read(api, made)) == SUCCEEDED | {"data_removed": bool}
    assert shape(api.get("/v1/predictions").json()["results"][1]) == ROW
    standin.reset()
    assert shape(ordered(api, headers={"Prefer": "wait"})) == BLOCKING
    assert set(made["urls"]) == {"cancel", "get", "stream", "web"}


def test_answers_have_the_headers_that_were_recorded(api: httpx.Client) -> None:
    order = {"input": A_CAT}
    created = api.post(f"/v1/models/{SCHNELL}/predictions", json=order, headers={"Prefer": "wait=10"})
    told = {name: created.headers[name] for name in ("content-type", "preference-applied", "ratelimit-remaining")}
    assert told == {
        "content-type": "application/json; charset=UTF-8",
        "preference-applied": "wait=10",
        "ratelimit-remaining": "599",
    }
    got, missing = api.get(created.json()["urls"]["get"]), api.get("/v1/predictions/nothing")
    assert (got.status_code, got.headers["ratelimit-remaining"], got.headers["ratelimit-reset"]) == (200, "59999", "1")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        ({}, "You did not pass an authentication token"),
        ({"Authorization": "Bearer nonsense"}, "You did not pass a valid authentication token"),
    ],
)
def test_a_call_without_a_valid_token_is_refused(
    headers: dict[str, str], detail: str, standin: ReplicateControl
) -> None:
    refused = httpx.get(f"{standin.url}/v1/predictions", headers=headers)
    assert refused.json() == {"title": "Unauthenticated", "detail": detail, "status": 401}
    assert refused.headers["content-type"] == "application/problem+json"
    assert "ratelimit-remaining" not in refused.headers


def test_ids_and_times_are_written_as_replicate_writes_them(api: httpx.Client) -> None:
    made = ordered(api)
    later = read(api, made)
    assert re.fullmatch(r"[0-9a-z]{26}", made["id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z", made["created_at"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", later["created_at"])
    assert datetime.fromisoformat(made["created_at"]) == datetime.fromisoformat(later["created_at"])


@pytest.mark.parametrize(
    ("given", "literal"),
    [
        (
            {"num_inference_steps": 28},
            '{"detail":"- input: prompt is required\\n- input.num_inference_steps: Must be less than or equal to 4\\n",'
            '"status":422,"title":"Input validation failed","invalid_fields":[{"type":"required","field":"input",'
            '"description":"prompt is required"},{"type":"number_lte","field":"input.num_inference_steps",'
            '"description":"Must be less than or equal to 4"}]}',
        ),
        (
            {"prompt": "a cat", "output_format": "gif", "seed": "seven", "guidance_scale": 7.5},
            '{"detail":"- input.output_format: output_format must be one of the following: \\"webp\\", \\"jpg\\", '
            '\\"png\\"\\n- input.seed: Invalid type. Expected: integer, given: string\\n","status":422,'
            '"title":"Input validation failed","invalid_fields":[{"type":"enum","field":"input.output_format",'
            '"description":"output_format must be one of the following: \\"webp\\", \\"jpg\\", \\"png\\""},'
            '{"type":"invalid_type","field":"input.seed",'
            '"description":"Invalid type. Expected: integer, given: string"}]}',
        ),
    ],
)
def test_wrong_input_is_told_in_replicates_words_and_costs_nothing(
    given: dict[str, Any], literal: str, standin: ReplicateControl, api: httpx.Client
) -> None:
    refused = api.post(f"/v1/models/{SCHNELL}/predictions", json={"input": given})
    assert (refused.status_code, refused.text) == (422, literal)
    assert standin.charges()["creations"]["total"] == 0


@pytest.mark.parametrize(
    ("body", "code", "detail"),
    [
        (
            {"model": SCHNELL, "input": A_CAT},
            422,
            "- version is required\n- Additional property model is not allowed\n",
        ),
        ({"version": "0" * 64, "input": A_CAT}, 422, "The specified version does not exist"),
        ({"version": "stability-ai/sdxl", "input": A_CAT}, 422, "The specified version does not exist"),
        ({"version": SCHNELL, "input": A_CAT, "metadata": {}}, 422, "- Additional property metadata is not allowed\n"),
        ({"version": SCHNELL, "input": A_CAT}, 201, ""),
        ({"version": SDXL, "input": A_CAT}, 201, ""),
        ({"version": SDXL.split(":")[1], "input": {}}, 201, ""),
        (
            {"version": "black-forest-labs/flux-kontext-pro", "input": {**A_CAT, "output_format": "webp"}},
            422,
            "- input.",
        ),
        ({"version": "black-forest-labs/flux-1.1-pro", "input": {**A_CAT, "safety_tolerance": 0}}, 422, "- input."),
        ({"version": "black-forest-labs/flux-dev", "input": {**A_CAT, "num_inference_steps": 50}}, 201, ""),
    ],
)
def test_a_body_names_a_version_there_is(body: dict[str, Any], code: int, detail: str, api: httpx.Client) -> None:
    answer = api.post("/v1/predictions", json=body)
    assert (answer.status_code, answer.json().get("detail", "").startswith(detail)) == (code, True)


def test_a_model_there_is_not_is_not_found(api: httpx.Client) -> None:
    assert api.post("/v1/models/nobody/nothing/predictions", json={"input": A_CAT}).status_code == 404
    assert api.get("/v1/models/nobody/nothing").status_code == 404
    assert api.get(f"/v1/models/{SCHNELL}").json()["latest_version"]["openapi_schema"]["components"]
    assert api.get("/v1/nowhere").json()["status"] == 404
    assert api.get("/v1/account").json()["type"] == "user"


# Time


def test_a_prediction_starts_and_ends_when_its_plan_says(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.freeze()
    standin.script(starts_after_s=2, runs_for_s=3)
    made = ordered(api)
    seen = []
    for _ in range(7):
        seen.append(read(api, made)["status"])
        standin.advance(1)
    assert seen == ["starting"] * 2 + ["processing"] * 3 + ["succeeded"] * 2
    assert read(api, made)["metrics"] == {"predict_time": 3.0, "total_time": 5.0}


def test_who_waits_reads_processing_with_an_output(standin: ReplicateControl, api: httpx.Client) -> None:
    early = ordered(api, headers={"Prefer": "wait"})
    assert (early["status"], len(early["output"])) == ("processing", 1)
    assert read(api, early)["status"] == "succeeded"
    standin.script(blocking="succeeded", output_as="data", status_code=202)
    late = ordered(api, headers={"Prefer": "wait"})
    assert (late["status"], late["output"][0][:23]) == ("succeeded", "data:image/webp;base64,")
    standin.script(fail="sensitive")
    assert ordered(api, headers={"Prefer": "wait"})["error"].endswith("(E005)")


async def test_who_waits_in_vain_reads_starting(standin: ReplicateControl) -> None:
    standin.freeze()
    standin.script(runs_for_s=None)
    async with httpx.AsyncClient(base_url=standin.url, headers={**TOKEN, "Prefer": "wait=5"}) as api:
        waiting = asyncio.create_task(api.post(f"/v1/models/{SCHNELL}/predictions", json={"input": A_CAT}))
        await standin.reached("create")
        standin.advance(5)
        answer = (await waiting).json()
    assert (answer["status"], answer["output"]) == ("starting", None)
    assert standin.predictions()[0]["status"] == "processing"


@pytest.mark.parametrize(("starts_after_s", "status", "charged"), [(60, "aborted", 0), (1, "canceled", 1)])
def test_a_deadline_is_kept(
    starts_after_s: int, status: str, charged: int, standin: ReplicateControl, api: httpx.Client
) -> None:
    standin.freeze()
    standin.always(starts_after_s=starts_after_s, runs_for_s=600)
    made = ordered(api, headers={"Cancel-After": "1m30s"} if charged else {"Cancel-After": "30s"})
    assert "deadline" in made
    standin.advance(90)
    ended = read(api, made)
    assert (ended["status"], "started_at" in ended, ended["output"]) == (status, bool(charged), None)
    assert standin.charges()["total"] == charged


@pytest.mark.parametrize("duration", ["soon", "4s", "25h", "30"])
def test_a_deadline_that_is_none_is_refused(duration: str, api: httpx.Client) -> None:
    headers = {"Cancel-After": duration}
    assert api.post(f"/v1/models/{SCHNELL}/predictions", json={"input": A_CAT}, headers=headers).status_code == 400


def test_a_cancelled_prediction_stays_and_an_ended_one_too(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.script(starts_after_s=None)
    early, done = ordered(api), ordered(api, 8)
    stopped = api.post(f"/v1/predictions/{early['id']}/cancel")
    assert (stopped.status_code, stopped.json()["status"]) == (200, "canceled")
    assert api.post(f"/v1/predictions/{done['id']}/cancel").json()["status"] == "succeeded"
    standin.go()
    assert read(api, early)["status"] == "canceled"
    assert standin.charges()["by_seed"] == {"8": 1}


def test_after_an_hour_everything_is_erased(standin: ReplicateControl, api: httpx.Client) -> None:
    made = ordered(api)
    (url,) = read(api, made)["output"]
    assert httpx.get(url).status_code == 200
    standin.advance(3700)
    erased = read(api, made)
    assert (erased["data_removed"], erased["input"], erased["output"], erased["logs"]) == (True, {}, None, None)
    assert (erased["status"], httpx.get(url).status_code) == ("succeeded", 404)
    assert api.get("/v1/predictions").json()["results"][0]["input"] == {}


def test_lists_are_bounded_by_times_and_may_lag(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.freeze()
    moments, made = [], []
    for seed in range(3):
        made.append(ordered(api, seed))
        moments.append(made[-1]["created_at"])
        standin.advance(60)

    def seeds(**query: str) -> list[int]:
        return [row["input"]["seed"] for row in api.get("/v1/predictions", params=query).json()["results"]]

    assert seeds(created_after=moments[1]) == [2, 1]
    assert seeds(created_after=moments[1], created_before=moments[2]) == [1]
    assert seeds(source="web") == []
    assert api.get("/v1/predictions?created_after=2024-01-01T00:00:00+00:00").status_code == 400  # an unescaped plus
    standin.script(listed_after_s=10)
    assert read(api, ordered(api, 9))["status"] == "succeeded"
    assert seeds() == [2, 1, 0]
    standin.advance(10)
    assert seeds() == [9, 2, 1, 0]


# Money


@pytest.mark.parametrize(
    ("scenario", "creations", "charged"),
    [
        ({"drop": "before"}, 0, 0),
        ({"drop": "before", "reset": True}, 0, 0),
        ({"drop": "after"}, 1, 1),
        ({"drop": "after", "reset": True}, 1, 1),
        ({"drop": "mid_body"}, 1, 1),
        ({"status_code": 502}, 0, 0),
        ({"status_code": 502, "taken": True}, 1, 1),
        ({"status_code": 504, "taken": True, "fail": "all_nsfw"}, 1, 0),
    ],
)
def test_what_was_taken_is_paid_for_whether_or_not_the_answer_arrives(
    scenario: dict[str, Any], creations: int, charged: int, standin: ReplicateControl, api: httpx.Client
) -> None:
    standin.script(**scenario)
    try:
        answer = api.post(f"/v1/models/{SCHNELL}/predictions", json={"input": A_CAT})
        assert (answer.status_code, "<html>" in answer.text) == (scenario["status_code"], True)
    except httpx.TransportError:
        assert standin.log("create")[0]["fault"] == scenario["drop"]
    counted = standin.charges()
    assert (counted["creations"]["total"], counted["total"]) == (creations, charged)
    found = [row["input"]["seed"] for row in api.get("/v1/predictions").json()["results"]]
    assert found == [7] * creations


def test_charges_are_counted_by_seed_and_prompt_and_refusals_are_free(
    standin: ReplicateControl, api: httpx.Client
) -> None:
    for name in FAILURES:
        standin.script(prompt=name, fail=name)
        ordered(api, prompt=name)
    ordered(api, seed=9, prompt="a dog")
    ordered(api, seed=9, prompt="a dog")
    counted = standin.charges()
    assert counted["by_prompt"] == {"interrupted": 1, "director": 1, "overload": 1, "a dog": 2}
    assert counted["by_seed"] == {"7": 3, "9": 2}
    assert counted["creations"]["by_seed"] == {"7": 6, "9": 2}


def test_a_rate_limit_lets_in_what_it_allows_and_tells_when_to_come_back(
    standin: ReplicateControl, api: httpx.Client
) -> None:
    standin.freeze()
    standin.limit(per_s=2, burst=3)

    def codes(n: int) -> list[int]:
        answers = [api.post(f"/v1/models/{SCHNELL}/predictions", json={"input": A_CAT}) for _ in range(n)]
        return [answer.status_code for answer in answers]

    assert codes(5) == [201, 201, 201, 429, 429]
    standin.advance(1)
    assert codes(3) == [201, 201, 429]
    rates = standin.rates()
    assert (rates["create"]["accepted"], rates["create"]["refused"], rates["create"]["most_in_a_second"]) == (5, 3, 3)
    assert sum(rates["create"]["per_second"].values()) == standin.charges()["total"] == 5


def test_little_credit_is_told_in_replicates_words(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.freeze()
    standin.limit(per_s=6 / 60, burst=1)
    ordered(api)
    standin.advance(3)
    refused = api.post(f"/v1/models/{SCHNELL}/predictions", json={"input": A_CAT})
    assert refused.json() == {
        "detail": "Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute "
        "with a burst of 1 requests while you have less than $5.0 in credit. Your rate limit resets in ~7s.",
        "status": 429,
        "retry_after": 7,
    }
    assert (refused.headers["retry-after"], refused.headers["ratelimit-remaining"]) == ("7", "0")
    assert api.get("/v1/predictions").status_code == 200  # only creations are limited


# The script


def test_what_is_scripted_lies_over_what_stays(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.always(runs_for_s=None)
    standin.script(prompt="dog", fail="nsfw", times=2)
    standin.script(picture="uploaded")
    for prompt in ("a cat", "a dog", "a dog", "a dog"):
        ordered(api, prompt=prompt)
    assert {found["status"] for found in standin.predictions()} == {"processing"}
    standin.go()
    assert [found["status"] for found in standin.predictions()] == ["succeeded", "failed", "failed", "succeeded"]


def test_faults_by_chance_are_the_same_in_every_run(standin: ReplicateControl, api: httpx.Client) -> None:
    def failed() -> list[int]:
        standin.reset()
        standin.always(fail="overload", chance=0.3)
        for seed in range(30):
            ordered(api, seed)
        return [found["input"]["seed"] for found in standin.predictions() if found["status"] == "failed"]

    once = failed()
    assert 3 <= len(once) <= 20
    assert failed() == once


async def test_an_answer_is_held_until_it_is_released(standin: ReplicateControl) -> None:
    standin.script(hold="the door")
    async with httpx.AsyncClient(base_url=standin.url, headers=TOKEN) as api:
        slow = asyncio.create_task(api.post(f"/v1/models/{SCHNELL}/predictions", json={"input": A_CAT}))
        await standin.reached("create")
        assert (await api.get("/v1/predictions")).json()["results"][0]["input"] == A_CAT  # taken, not yet answered
        assert not slow.done()
        standin.release("the door")
        assert (await slow).status_code == 201


def test_a_slow_answer_outlasts_who_is_impatient(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.script(on="get", hold="for ever")
    made = ordered(api)
    with pytest.raises(httpx.ReadTimeout):
        api.get(made["urls"]["get"], timeout=0.05)
    assert read(api, made)["status"] == "succeeded"


def test_any_call_can_be_told_to_fail(standin: ReplicateControl, api: httpx.Client) -> None:
    made = ordered(api)
    standin.script(on="get", status_code=500, body="no JSON at all", content_type="text/plain")
    assert api.get(made["urls"]["get"]).text == "no JSON at all"
    standin.script(on="list", status_code=429, retry_after_s=12)
    assert api.get("/v1/predictions").json()["retry_after"] == 12
    standin.script(on="cancel", drop="before")
    with pytest.raises(httpx.RemoteProtocolError):
        api.post(made["urls"]["cancel"])
    assert [entry["status"] for entry in standin.log()] == [201, 500, 429, None]


def test_a_scenario_that_says_nothing_we_know_is_refused(standin: ReplicateControl) -> None:
    with pytest.raises(ValueError, match="unknown field `drap`"):
        standin.script(drap="after")


# Pictures


@pytest.mark.parametrize(
    ("given", "kind", "size"),
    [
        ({}, "WEBP", (1024, 1024)),
        ({"aspect_ratio": "16:9", "output_format": "jpg"}, "JPEG", (1344, 768)),
        ({"aspect_ratio": "9:21", "output_format": "png"}, "PNG", (640, 1536)),
        ({"aspect_ratio": "4:5", "megapixels": "0.25"}, "WEBP", (448, 544)),
    ],
)
def test_a_picture_has_the_size_and_the_format_that_were_ordered(
    given: dict[str, Any], kind: str, size: tuple[int, int], api: httpx.Client
) -> None:
    (url,) = read(api, ordered(api, **given))["output"]
    answer = httpx.get(url)
    picture = Image.open(io.BytesIO(answer.content))
    picture.load()
    assert (picture.format, picture.size, answer.headers["content-type"]) == (kind, size, f"image/{kind.lower()}")


def test_every_seed_has_its_own_picture_and_keeps_it(api: httpx.Client) -> None:
    def picture(seed: int) -> bytes:
        (url,) = read(api, ordered(api, seed, megapixels="0.25"))["output"]
        return Image.open(io.BytesIO(httpx.get(url).content)).tobytes()

    all_of_them = [picture(seed) for seed in range(20)]
    assert len(set(all_of_them)) == 20
    assert picture(3) == all_of_them[3]


@pytest.mark.parametrize("size", [(1024, 1024), (257, 333), (64, 64), (1440, 1000)])
def test_all_formats_show_the_same_picture(size: tuple[int, int]) -> None:
    def opened(format: str) -> Image.Image:
        return Image.open(io.BytesIO(pictures.drawn(Sketch(5, *size, format)))).convert("RGB")

    assert opened("webp").tobytes() == opened("png").tobytes()
    blurred = [opened(format).resize((4, 4), Image.Resampling.BOX).tobytes() for format in ("png", "jpg")]
    assert max(abs(one - other) for one, other in zip(*blurred, strict=True)) <= 4


def test_flagged_pictures_are_missing_in_the_list(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.script(nsfw_dropped=3)
    done = read(api, ordered(api, num_outputs=4))
    assert (done["status"], len(done["output"])) == ("succeeded", 1)
    assert "NSFW content detected in image 3\nTotal safe images: 1 out of 4" in done["logs"]
    standin.script(output="string")
    assert isinstance(read(api, ordered(api))["output"], str)
    standin.script(output="none")
    assert read(api, ordered(api))["output"] is None


def test_an_uploaded_picture_is_served_as_what_it_is(standin: ReplicateControl, api: httpx.Client) -> None:
    standin.upload("broken", b"\x89PNG and nothing more")
    standin.script(picture="broken")
    answer = httpx.get(read(api, ordered(api))["output"][0])
    assert (answer.content, answer.headers["content-type"]) == (b"\x89PNG and nothing more", "image/png")


def test_downloads_go_wrong_in_every_way(standin: ReplicateControl, api: httpx.Client) -> None:
    (url,) = read(api, ordered(api, prompt="a fox"))["output"]
    whole = httpx.get(url).content
    standin.script(on="file", prompt="fox", download="html")
    assert httpx.get(url).headers["content-type"].startswith("text/html")
    standin.script(on="file", download="truncated")
    assert httpx.get(url).content == whole[: len(whole) // 2]
    standin.script(on="file", download="oversized", size_bytes=1_000_000)
    assert len(httpx.get(url).content) == 1_000_000
    standin.script(on="file", status_code=404)
    assert httpx.get(url).status_code == 404
    for drop in ("before", "mid_body"):
        standin.script(on="file", drop=drop)
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(url)
    standin.script(on="file", download="trickle", pause_s=60)
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(url, timeout=0.05)
    assert httpx.get(url).content == whole


def test_the_log_tells_who_sends_the_token_to_the_output_host(standin: ReplicateControl, api: httpx.Client) -> None:
    (url,) = read(api, ordered(api))["output"]
    httpx.get(url)
    httpx.get(url, headers=TOKEN)
    assert [entry["has_token"] for entry in standin.log("file")] == [False, True]
    assert not url.startswith(standin.url)


# Webhooks


def test_the_published_example_of_a_signature_is_ours() -> None:
    secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    signed = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    key = WebhookSigningSecret(key=secret)
    headers = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330"}
    Webhooks.validate(headers={**headers, "webhook-signature": signed}, body=body.decode(), secret=key)


def sent(standin: ReplicateControl, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(delivery[name] for name in names or ("event",)) for delivery in standin.webhooks()]


@pytest.mark.parametrize(
    ("events", "scenario", "expected"),
    [
        (None, {}, ["output", "completed"]),
        (["completed"], {}, ["completed"]),
        (["start", "output", "logs", "completed"], {}, ["start", "logs", "output", "completed"]),
        (["start", "output", "completed"], {"webhook": "reversed"}, ["completed", "output", "start"]),
        (["completed"], {"webhook": "twice"}, ["completed", "completed"]),
        (["start", "completed"], {"webhook": "never"}, []),
        (["start", "completed"], {"ends_as": "aborted"}, []),
        (["start", "completed"], {"fail": "nsfw"}, ["start", "completed"]),
    ],
)
def test_webhooks_are_sent_for_what_was_asked(
    events: list[str] | None,
    scenario: dict[str, Any],
    expected: list[str],
    standin: ReplicateControl,
    api: httpx.Client,
    mailbox: Mailbox,
) -> None:
    standin.script(**scenario)
    wanted = {"webhook": mailbox.url} | ({"webhook_events_filter": events} if events else {})
    made = ordered(api, body=wanted)
    assert [event for (event,) in sent(standin)] == expected
    letters = [mailbox.next() for _ in expected]
    assert {letter.prediction["id"] for letter in letters} <= {made["id"]}
    distinct = {letter.headers["webhook-id"] for letter in letters}
    assert len(distinct) == len(set(expected))  # a duplicate has the id of the first


def test_a_webhook_may_come_after_everything_is_erased(
    standin: ReplicateControl, api: httpx.Client, mailbox: Mailbox
) -> None:
    standin.script(webhook_after_s=3700)
    made = ordered(api, body={"webhook": mailbox.url, "webhook_events_filter": ["completed"]})
    assert read(api, made)["status"] == "succeeded"
    assert sent(standin) == []
    standin.advance(3700)
    assert httpx.get(mailbox.next().prediction["output"][0]).status_code == 404


def test_only_the_last_webhook_is_sent_again_and_for_a_minute(
    standin: ReplicateControl, api: httpx.Client, mailbox: Mailbox
) -> None:
    standin.freeze()
    mailbox.answer(*[500, 404] * 5)
    ordered(api, body={"webhook": mailbox.url, "webhook_events_filter": ["start", "completed"]})
    assert sent(standin, "event", "attempt", "status") == [("start", 1, 500), ("completed", 1, 404)]
    for seconds in (1, 59):
        standin.advance(seconds)
    for _ in range(2 + len(RETRIES_S)):
        mailbox.next()
    assert sent(standin, "event", "attempt")[2:] == [("completed", 1 + n) for n in range(1, 1 + len(RETRIES_S))]
    assert len({delivery["id"] for delivery in standin.webhooks()}) == 2


def test_a_webhook_to_nobody_is_told(standin: ReplicateControl, api: httpx.Client) -> None:
    ordered(api, body={"webhook": f"http://127.0.0.1:{a_free_port()}", "webhook_events_filter": ["completed"]})
    assert sent(standin, "event", "status") == [("completed", None)]


# Where it runs


def test_a_test_that_fails_takes_the_standin_down_with_its_calls() -> None:
    def failing() -> None:
        with replicate_control.in_thread() as standin, a_client(standin) as api:
            standin.always(on="list", hold="for ever")
            with pytest.raises(httpx.ReadTimeout):
                api.get("/v1/predictions", timeout=0.05)
            raise AssertionError(standin.url)

    with pytest.raises(AssertionError) as failed:
        failing()
    with pytest.raises(httpx.ConnectError):
        httpx.get(str(failed.value))


def test_its_time_runs_with_ours_and_can_be_put_forward(standin: ReplicateControl, api: httpx.Client) -> None:
    def ahead() -> float:
        created = datetime.fromisoformat(ordered(api)["created_at"])
        return (created - datetime.now(UTC)).total_seconds()

    assert abs(ahead()) < 5
    standin.advance(3600)
    assert 3595 < ahead() < 3605
    standin.freeze()
    assert ordered(api)["created_at"] == ordered(api)["created_at"]
    standin.flow()
    assert ordered(api)["created_at"] < ordered(api)["created_at"]


def test_in_a_process_of_its_own_it_is_told_the_same_over_http() -> None:
    with replicate_control.as_process() as standin, a_client(standin) as api:
        standin.always(runs_for_s=None)
        standin.upload("mine", b"RIFF")
        standin.script(picture="mine", times=2)
        made = ordered(api)
        standin.go(seed=7)
        assert httpx.get(read(api, made)["output"][0]).content == b"RIFF"
        assert standin.wait("create")[0]["prompt"] == "a cat"
        assert httpx.post(f"{standin.url}/__clock", json={"advance_s": 3700}).status_code == 200
        assert read(api, made)["data_removed"] is True
        assert httpx.get(f"{standin.url}/__log?call=get").json()[0]["subject"] == made["id"]
        assert httpx.put(f"{standin.url}/__pictures/other", content=b"x").status_code == 200
        assert httpx.get(f"{standin.url}/__charges").json()["by_seed"] == {"7": 1}
        assert httpx.get(f"{standin.url}/__nonsense").status_code == 400
        with pytest.raises(ValueError, match="unknown field"):
            standin.script(drap="after")
        standin.reset()
        assert (standin.charges()["total"], standin.predictions(), standin.log()) == (0, [], [])


async def test_many_predictions_at_once_are_all_there(standin: ReplicateControl) -> None:
    standin.always(runs_for_s=None)
    async with httpx.AsyncClient(base_url=standin.url, headers=TOKEN, timeout=60) as api:
        orders = [{"input": {"prompt": f"cat {seed}", "seed": seed}} for seed in range(100)]
        path = f"/v1/models/{SCHNELL}/predictions"
        made = await asyncio.gather(*(api.post(path, json=order) for order in orders))
        assert {answer.status_code for answer in made} == {201}
        assert standin.rates()["most_in_flight"] == 100
        standin.go()
        done = await asyncio.gather(*(api.get(answer.json()["urls"]["get"]) for answer in made))
    assert {answer.json()["status"] for answer in done} == {"succeeded"}
    assert set(standin.charges()["by_seed"].values()) == {1}


def test_the_command_says_what_to_set_and_ends_when_told(tmp_path: Path) -> None:
    port = a_free_port()
    command = [*GLISK, "standin", "replicate", "--port", str(port), "--seconds", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = [process.stdout.readline().strip() for _ in range(6)]
        assert f"GLISK_REPLICATE_URL=http://127.0.0.1:{port}" in lines
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=TOKEN, timeout=30) as api:
            done = read(api, ordered(api))
            assert base64.b64encode(httpx.get(done["output"][0]).content).startswith(b"UklGR")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
