"""From a detected token to a stored picture, through the real worker and Replicate's stand-in: seed 003, row by row."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr

from glisk.engine import control, lanes
from glisk.engine.link import Link
from glisk.errors import BadSettings
from glisk.images.mark import is_marked
from glisk.processors.generating import Generating
from glisk.providers import chosen
from glisk.storage.objects import Objects
from glisk.workflows import IMAGE_GENERATION, JOBS, R2_IMAGE, TOKEN, TOKENS
from tests.drawing import Atelier
from tests.engines import true

FALLBACK = "Cute kittens"


# The seed's four examples


async def test_drawn_at_the_first_attempt(atelier: Atelier) -> None:
    await atelier.token(123)
    async with atelier.at_work():
        await atelier.until("status = 'uploading'")
    row = await atelier.row(123)
    assert (row["generation_attempts"], row["generation_error"], row["prompt_source"]) == (0, None, "author")
    assert row["image_url"].startswith(atelier.standin.files_url), "the provider's own address"
    assert (atelier.charged(), await atelier.outcomes()) == (1, ["done"])


async def test_a_transient_failure_goes_back_to_detected_and_counts(atelier: Atelier) -> None:
    await atelier.token(456, attempts=1)
    atelier.standin.always(on="create", drop="before")
    async with atelier.at_work(flow=TOKEN):
        await atelier.until("status = 'detected' AND generation_attempts = 2")
    row = await atelier.row(456)
    assert row["generation_error"].startswith("Network")
    assert row["image_url"] is None


async def test_a_refused_prompt_is_replaced_by_the_fallback_in_the_same_claim(atelier: Atelier) -> None:
    await atelier.token(789, "Violent battle scene")
    atelier.standin.always(on="create", prompt="Violent", fail="nsfw")
    async with atelier.at_work():
        await atelier.until("status = 'uploading'")
    row = await atelier.row(789)
    assert (row["generation_attempts"], row["generation_error"], row["prompt_source"]) == (1, None, "fallback")
    assert [entry["prompt"][:12] for entry in atelier.standin.log("create")] == ["Violent batt", FALLBACK]
    assert await atelier.outcomes() == ["refused", "done"]
    assert await atelier.connection.fetchval("SELECT epoch FROM tokens_s0") == 2, "one claim"
    told = await atelier.connection.fetchval("SELECT data FROM events WHERE data ? 'censored'")
    assert '"token_id": "789"' in told
    assert '"original_prompt": "Violent battle scene"' in told


async def test_the_third_failure_is_the_last(atelier: Atelier) -> None:
    await atelier.token(321, attempts=2)
    atelier.standin.always(on="create", status_code=429, retry_after_s=1)
    async with atelier.at_work(atelier.settings(max_wait=0)):
        await atelier.until("status = 'failed'")
    row = await atelier.row(321)
    assert row["generation_attempts"] == 3
    assert row["generation_error"].startswith("Max retries exceeded after rate limit errors: ")


# Every row of its table of transitions that the examples leave out


async def test_a_permanent_error_fails_at_once_and_uses_no_attempt(atelier: Atelier) -> None:
    await atelier.token()
    atelier.standin.always(on="create", status_code=422)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"]) == ("failed", 0)
    assert "422" in row["generation_error"]
    assert atelier.charged() == 0


@pytest.mark.parametrize("name", ["interrupted", "director", "overload"])
async def test_a_prediction_that_failed_in_a_way_that_may_pass_is_ordered_again(atelier: Atelier, name: str) -> None:
    await atelier.token()
    atelier.standin.script(on="create", fail=name, charged=False)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"], row["generation_error"]) == ("uploading", 1, None)
    seeds = [attempt["seed"] for attempt in await atelier.attempts()]
    assert len(set(seeds)) == 2, "another order, another seed"
    assert atelier.charged() == 1


async def test_a_fallback_that_is_refused_too_fails(atelier: Atelier) -> None:
    await atelier.token()
    atelier.standin.always(on="create", fail="sensitive")
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"]) == ("failed", 1)
    assert "E005" in row["generation_error"]
    assert await atelier.outcomes() == ["refused", "refused"]


async def test_a_fallback_that_fails_in_passing_is_not_counted_twice_and_not_undone(atelier: Atelier) -> None:
    await atelier.token(1, "Violent battle scene")
    atelier.standin.always(on="create", prompt="Violent", fail="all_nsfw")
    atelier.standin.script(on="create", prompt=FALLBACK, fail="overload", charged=False)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"], row["prompt_source"]) == ("uploading", 1, "fallback")
    prompts = [entry["prompt"].startswith("Violent") for entry in atelier.standin.log("create")]
    assert prompts == [True, False, False], "the refused prompt is never sent again"


async def test_refused_on_the_last_attempt_and_told_to_come_back_later(atelier: Atelier) -> None:
    await atelier.token(1, "Violent battle scene", attempts=2)
    atelier.standin.always(on="create", prompt="Violent", fail="nsfw")
    atelier.standin.script(on="create", prompt=FALLBACK, status_code=429, retry_after_s=1)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"], row["prompt_source"]) == ("uploading", 2, "fallback")


# What Replicate may answer


@pytest.mark.parametrize(
    "plan",
    [
        {"output": "string"},
        {"output": "list"},
        {"output_as": "data"},
        {"runs_for_s": 0.05, "starts_after_s": 0.05},
    ],
    ids=str,
)
async def test_every_shape_of_success_is_one(atelier: Atelier, plan: dict[str, Any]) -> None:
    await atelier.token()
    atelier.standin.always(on="create", **plan)
    row = await atelier.drawn()
    assert row["status"] == "uploading"
    assert row["image_url"].startswith("http")
    assert (atelier.charged(), atelier.created()) == (1, 1)


@pytest.mark.parametrize("end", ["canceled", "aborted"])
async def test_what_replicate_gave_up_is_ordered_again(atelier: Atelier, end: str) -> None:
    await atelier.token()
    atelier.standin.script(on="create", ends_as=end)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"]) == ("uploading", 1)
    assert [attempt["error_code"] for attempt in await atelier.attempts()] == [end, None]


@pytest.mark.parametrize(
    "fault", [{"drop": "after"}, {"drop": "mid_body"}, {"status_code": 502, "taken": True}], ids=str
)
async def test_an_order_whose_answer_was_lost_is_found_and_not_placed_again(
    atelier: Atelier, fault: dict[str, Any]
) -> None:
    await atelier.token()
    atelier.standin.script(on="create", **fault)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"]) == ("uploading", 0)
    assert (atelier.charged(), atelier.created(), await atelier.outcomes()) == (1, 1, ["done"])


async def test_an_order_that_is_listed_late_is_still_found(atelier: Atelier) -> None:
    """Longer after than one claim has patience for: the next claim looks again, before it orders."""
    await atelier.token()
    atelier.standin.script(on="create", drop="after", listed_after_s=0.5)
    row = await atelier.drawn(flow=TOKEN)
    assert row["status"] == "uploading"
    assert (atelier.charged(), atelier.created()) == (1, 1)


async def test_a_picture_that_is_gone_before_we_had_it_is_drawn_again(atelier: Atelier) -> None:
    """Replicate removes everything an hour after the prediction."""
    await atelier.token()
    atelier.standin.freeze()
    atelier.standin.script(on="create", runs_for_s=None)
    async with atelier.at_work():
        await atelier.standin.reached("create")
        atelier.standin.go(to="end")
        atelier.standin.advance(3700)
        await atelier.until("status = 'uploading'")
    assert (await atelier.row())["generation_attempts"] in (0, 1)


@pytest.mark.parametrize(
    "fault", [{"download": "truncated"}, {"download": "html"}, {"drop": "mid_body"}, {"status_code": 500}], ids=str
)
async def test_a_picture_that_did_not_arrive_is_fetched_again_and_not_ordered_again(
    atelier: Atelier, fault: dict[str, Any]
) -> None:
    await atelier.token()
    atelier.standin.script(on="file", **fault)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"]) == ("uploading", 0)
    assert (len(atelier.standin.log("file")), atelier.charged()) == (2, 1)


@pytest.mark.parametrize("fault", ["truncated", "html", "oversized"])
async def test_what_is_no_picture_however_often_it_is_fetched_is_drawn_again(atelier: Atelier, fault: str) -> None:
    await atelier.token()
    atelier.standin.script(on="file", download=fault, times=1 if fault == "oversized" else 3)
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"]) == ("uploading", 1)
    assert [attempt["outcome"] for attempt in await atelier.attempts()] == ["failed", "done"]
    assert (await atelier.attempts())[0]["cost"] == Decimal("0.003"), "it was paid all the same"


@pytest.mark.parametrize("status", [403, 404, 429, 503])
async def test_a_picture_that_cannot_be_fetched_for_a_while_is_waited_for(atelier: Atelier, status: int) -> None:
    """It is drawn and paid for, and there for an hour: whatever its host says, no attempt is used."""
    await atelier.token()
    atelier.standin.script(on="file", status_code=status, times=3)
    async with atelier.at_work():
        await atelier.until("status = 'detected' AND generation_error LIKE 'The picture did not arrive%'")
        await atelier.connection.execute("UPDATE tokens_s0 SET not_before = now()")
        await atelier.until("status = 'uploading'")
    assert (await atelier.row())["generation_attempts"] == 0
    assert (atelier.charged(), atelier.created()) == (1, 1)


@pytest.mark.parametrize("status", [400, 404, 410, 500])
async def test_a_prediction_that_is_not_found_for_a_moment_is_not_ordered_again(atelier: Atelier, status: int) -> None:
    await atelier.token()
    atelier.standin.always(on="create", runs_for_s=0.2)
    atelier.standin.script(on="get", status_code=status)
    row = await atelier.drawn()
    assert row["status"] == "uploading"
    assert (atelier.charged(), atelier.created(), await atelier.outcomes()) == (1, 1, ["done"])


async def test_a_refusal_that_only_the_logs_tell_of_is_one_however_many_are_under_way(atelier: Atelier) -> None:
    """The filter drops every picture, calls that a success, and the list leaves the logs out."""
    for token_id in range(12):
        await atelier.token(token_id, f"Something naughty, the {token_id}th")
    atelier.standin.always(on="create", prompt="naughty", nsfw_dropped=1, runs_for_s=0.5)
    async with atelier.at_work():
        await atelier.until("status = 'uploading' AND prompt_source = 'fallback' AND generation_attempts = 1", n=12)
    assert len([entry for entry in atelier.standin.log("create") if "naughty" in entry["prompt"]]) == 12


@pytest.mark.parametrize("seconds", [-900, 900])
async def test_an_order_is_found_again_although_the_clocks_differ(atelier: Atelier, seconds: int) -> None:
    await atelier.token()
    atelier.standin.advance(seconds)
    atelier.standin.script(on="create", drop="after")
    row = await atelier.drawn()
    assert row["status"] == "uploading"
    assert (atelier.charged(), atelier.created()) == (1, 1)


async def test_a_replicate_that_cannot_be_reached_uses_no_attempt(atelier: Atelier) -> None:
    await atelier.token()
    async with atelier.at_work(atelier.settings(replicate_url="http://127.0.0.1:9")):
        await atelier.until("status = 'detected' AND generation_error LIKE 'Replicate cannot be reached%'")
    assert (await atelier.row())["generation_attempts"] == 0


async def test_a_model_that_does_not_exist_holds_the_lane(atelier: Atelier) -> None:
    await atelier.token()
    async with atelier.at_work(atelier.settings(replicate_model="black-forest-labs/flux-schnel")):
        await atelier.until("status = 'detected' AND generation_error LIKE '%GLISK_REPLICATE_MODEL%'")
    assert (await atelier.row())["generation_attempts"] == 0


# The picture


async def test_the_picture_is_kept_with_its_mark_and_its_hash(atelier: Atelier) -> None:
    await atelier.token()
    row = await atelier.drawn()
    data = await Objects.of(atelier.settings()).get(row["image_key"])
    assert data is not None
    assert is_marked(data)
    assert hashlib.sha256(data).digest() == row["image_sha256"]
    assert row["image_mime"] == "image/webp"
    (attempt,) = await atelier.attempts()
    assert hashlib.sha256(data).hexdigest() not in attempt["details"], (
        "the ledger has the hash of what the provider made"
    )


async def test_every_call_is_in_the_ledger_with_what_it_cost(atelier: Atelier) -> None:
    await atelier.token()
    await atelier.drawn()
    (attempt,) = await atelier.attempts()
    assert (attempt["provider"], attempt["model"]) == ("replicate", "black-forest-labs/flux-schnell")
    assert (attempt["prompt"], attempt["prompt_source"]) == ("A sunset over mountains", "author")
    assert attempt["cost"] == Decimal("0.003")
    assert attempt["receipt"] == atelier.standin.predictions()[0]["id"]


# Prompts


@pytest.mark.parametrize("prompt", ["", "   ", "bell\x07"])
async def test_a_prompt_that_cannot_be_drawn_fails_before_any_call(atelier: Atelier, prompt: str) -> None:
    await atelier.token(1, prompt)
    row = await atelier.drawn()
    assert row["status"] == "failed"
    assert row["generation_error"].startswith("The prompt cannot be drawn: it ")
    assert (atelier.standin.log("create"), await atelier.attempts()) == ([], [])


async def test_a_prompt_that_is_too_long_fails_before_any_call(atelier: Atelier) -> None:
    await atelier.token()
    await atelier.connection.execute("UPDATE tokens_s0 SET prompt = repeat('猫', 1001)")
    row = await atelier.drawn()
    assert "1001 characters" in row["generation_error"]


async def test_an_author_without_a_prompt_gets_the_default(atelier: Atelier) -> None:
    await atelier.token(1, None)
    row = await atelier.drawn(settings=atelier.settings(default_prompt="A quiet lake"))
    assert (row["status"], row["prompt_source"]) == ("uploading", "default")
    assert atelier.standin.log("create")[0]["prompt"] == "A quiet lake"


async def test_what_is_drawn_is_what_the_author_asked_for_when_the_token_was_detected(atelier: Atelier) -> None:
    await atelier.token(1, "A lighthouse")
    await atelier.connection.execute("UPDATE authors SET prompt_text = 'A submarine'")
    await atelier.drawn()
    assert atelier.standin.log("create")[0]["prompt"] == "A lighthouse"


async def test_a_refused_prompt_may_be_kept_out_of_logs_and_events(atelier: Atelier) -> None:
    await atelier.token(1, "Violent battle scene")
    atelier.standin.always(on="create", prompt="Violent", fail="nsfw")
    await atelier.drawn(settings=atelier.settings(redact_prompts=True))
    told = await atelier.connection.fetchval("SELECT data FROM events WHERE data ? 'censored'")
    assert "Violent" not in told
    assert hashlib.sha256(b"Violent battle scene").hexdigest() in told
    assert (await atelier.attempts())[0]["prompt"] == "Violent battle scene", "the ledger keeps it whole"


# Limits, money and permission


async def test_two_hundred_tokens_at_ten_a_second_are_all_drawn(atelier: Atelier) -> None:
    for token_id in range(200):
        await atelier.token(token_id, f"A sunset, the {token_id}th")
    atelier.standin.limit(per_s=10, burst=10)
    async with atelier.at_work():
        await atelier.until("status = 'uploading'", n=200)
    rows = await atelier.connection.fetch("SELECT DISTINCT generation_attempts FROM tokens_s0")
    assert [row[0] for row in rows] == [0], "no attempt was used"
    assert atelier.charged() == 200
    rates = atelier.standin.rates()["create"]
    assert (rates["accepted"], rates["most_in_a_second"] <= 20) == (200, True)


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_without_permission_nothing_fails_and_the_lane_is_held_until_a_person_mends_it(
    atelier: Atelier, status: int
) -> None:
    for token_id in range(5):
        await atelier.token(token_id, f"A sunset, the {token_id}th")
    atelier.standin.script(on="create", status_code=status, times=100)
    link = Link(atelier.url)
    async with atelier.at_work():
        await atelier.until("status = 'detected' AND generation_error IS NOT NULL")
        (lane,) = await lanes.every_lane(link)
        assert lane["state"] == "held"
        assert str(status) in lane["held_reason"]
        assert "glisk lanes resume replicate" in lane["held_reason"]
        assert "GLISK_REPLICATE_API_TOKEN" in lane["held_reason"]
        atelier.standin.reset()
        await lanes.resume(link, "replicate")
        await atelier.until("status = 'uploading' AND generation_attempts = 0 AND generation_error IS NULL", n=5)
    await link.close()


async def test_a_permission_that_is_withdrawn_while_a_prediction_runs_costs_nothing(atelier: Atelier) -> None:
    await atelier.token()
    atelier.standin.always(on="create", runs_for_s=None)
    link = Link(atelier.url)
    async with atelier.at_work():
        await atelier.standin.reached("get")
        atelier.standin.script(on="get", status_code=401)
        await atelier.until("status = 'detected' AND generation_error LIKE '%401%'")
        assert (await lanes.every_lane(link))[0]["state"] == "held"
        atelier.standin.go(to="end")
        await lanes.resume(link, "replicate")
        await atelier.connection.execute("UPDATE tokens_s0 SET not_before = now()")
        await atelier.until("status = 'uploading'")
    assert (atelier.charged(), (await atelier.row())["generation_attempts"]) == (1, 0)
    await link.close()


async def test_what_is_only_ordered_does_not_hold_the_lane_for_the_day(atelier: Atelier) -> None:
    for token_id in range(5):
        await atelier.token(token_id, f"A sunset, the {token_id}th")
    atelier.standin.script(on="create", fail="overload", charged=False, runs_for_s=0.2, times=2)
    async with atelier.at_work(atelier.settings(daily_budget=Decimal("0.007"))):
        await atelier.until("generation_error LIKE '%waiting for what is ordered'")
        await atelier.connection.execute("UPDATE tokens_s0 SET not_before = now() WHERE status = 'detected'")
        await atelier.until("status = 'uploading'", n=2)
    assert atelier.charged() == 2


async def test_a_size_that_the_model_cannot_draw_is_told_at_the_start(atelier: Atelier) -> None:
    with pytest.raises(BadSettings, match="GLISK_IMAGE_SIZE"):
        Generating(atelier.settings(image_size="512x512"))


async def test_a_budget_without_a_price_is_told_at_the_start(atelier: Atelier) -> None:
    settings = atelier.settings(daily_budget=Decimal(1), replicate_model="somebody/something")
    with pytest.raises(BadSettings, match="GLISK_PRICES"):
        Generating(settings)


async def test_without_permission_a_token_fails_if_that_is_how_it_is_set(atelier: Atelier) -> None:
    await atelier.token()
    atelier.standin.always(on="create", status_code=401)
    row = await atelier.drawn(settings=atelier.settings(on_auth_error="fail"))
    assert (row["status"], row["generation_attempts"]) == ("failed", 0)


async def test_when_the_days_budget_is_spent_the_lane_is_held_until_tomorrow(atelier: Atelier) -> None:
    for token_id in range(8):
        await atelier.token(token_id, f"A sunset, the {token_id}th")
    settings = atelier.settings(daily_budget=Decimal("0.01"))
    async with atelier.at_work(settings):
        await atelier.until("status = 'uploading'", n=3)
        await atelier.until("status = 'detected' AND generation_error LIKE '%budget%'")
    assert atelier.charged() == 3, "the fourth would be over it"
    link = Link(atelier.url)
    (lane,) = await lanes.every_lane(link)
    assert lane["state"] == "held"
    assert "GLISK_DAILY_BUDGET" in lane["held_reason"]
    assert timedelta() < lane["held_until"] - lane["held_at"] <= timedelta(days=1)
    await link.close()


async def test_a_storage_that_cannot_be_used_holds_the_lane_and_the_picture_is_not_paid_again(atelier: Atelier) -> None:
    link, objects = Link(atelier.url), atelier.data_dir / "objects"
    async with atelier.at_work():
        objects.rmdir()
        objects.write_text("in the way")
        await atelier.token()
        await atelier.until("status = 'detected' AND generation_error IS NOT NULL")
        assert (await lanes.every_lane(link))[0]["state"] == "held"
        objects.unlink()
        await atelier.connection.execute("UPDATE tokens_s0 SET not_before = now()")
        await lanes.resume(link, "replicate")
        await atelier.until("status = 'uploading'")
    assert (atelier.charged(), (await atelier.row())["generation_attempts"]) == (1, 0)
    await link.close()


# Others who draw, and for whom


async def test_the_embedded_studio_draws_without_anybody_else(atelier: Atelier) -> None:
    await atelier.token(1, "A lighthouse at night")
    settings = atelier.settings(image_provider="", replicate_api_token=SecretStr(""), port=8123)
    async with atelier.at_work(settings, painter=chosen.painter(settings)):
        await atelier.until("status = 'uploading'")
    row = await atelier.row()
    assert row["image_url"] == f"http://127.0.0.1:8123/objects/{row['image_key']}", "it has no address of its own"
    (attempt,) = await atelier.attempts()
    assert (attempt["provider"], attempt["outcome"], attempt["cost"]) == ("studio", "done", 0)


async def test_an_order_that_another_provider_took_is_not_waited_for(atelier: Atelier) -> None:
    """The operator has changed the provider meanwhile."""
    id = await atelier.token()
    insert = "INSERT INTO attempts (item_id, step, epoch, provider, seed, worker) VALUES ($1, 'generating', 1, 'other', 7, 'w')"
    await atelier.connection.execute(insert, id)
    row = await atelier.drawn()
    assert (row["status"], await atelier.outcomes()) == ("uploading", ["unknown", "done"])


async def test_an_order_that_can_no_longer_be_found_is_given_up_and_may_have_been_paid(atelier: Atelier) -> None:
    id = await atelier.token()
    insert = "INSERT INTO attempts (item_id, step, epoch, provider, seed, worker, started_at) VALUES ($1, 'generating', 1, 'replicate', 7, 'w', now() - interval '1 hour')"
    await atelier.connection.execute(insert, id)
    row = await atelier.drawn()
    assert (row["status"], await atelier.outcomes()) == ("uploading", ["unknown", "done"])


async def test_a_job_gets_its_picture_and_no_other_than_it_asked_for(atelier: Atelier) -> None:
    await atelier.connection.execute(
        "INSERT INTO jobs (workflow, payload) VALUES ('image_generation', '{\"prompt\": \"A cat\"}'), ('image_generation', '{\"prompt\": \"Violence\"}')"
    )
    atelier.standin.always(on="create", prompt="Violence", fail="nsfw")
    async with atelier.at_work(flow=IMAGE_GENERATION, waiting="pending"):
        await true(
            atelier.connection, "SELECT count(*) = 2 FROM jobs WHERE status IN ('ready-for-uploading', 'failed')"
        )
    drawn, refused = await atelier.connection.fetch("SELECT * FROM jobs ORDER BY id")
    assert (drawn["status"], drawn["result_url"][:4]) == ("ready-for-uploading", "http")
    assert "image_key" in drawn["payload"]
    assert "A cat" in drawn["payload"], "the prompt is still there"
    assert refused["status"] == "failed"
    assert "NSFW" in refused["error_message"]


# Losing interest, and losing the claim


async def test_what_was_left_open_when_a_token_ended_is_stopped_by_and_by(atelier: Atelier) -> None:
    """Nobody held it: its worker was dead when a person cancelled it."""
    id = await atelier.token()
    atelier.standin.always(on="create", runs_for_s=None)
    async with atelier.at_work() as worker:
        await atelier.standin.reached("get")
        for claim in worker.claims.values():
            claim.cancel()
        worker.stop()
    link, generating = Link(atelier.url), Generating(atelier.settings())
    await control.cancel(link, TOKENS, [id], "anna")
    assert await atelier.outcomes() == ["open"]
    (work,) = generating.works(link)
    await work.run()
    assert await atelier.outcomes() == ["cancelled"]
    assert atelier.standin.predictions()[0]["status"] == "canceled"
    await generating.close()
    await link.close()


async def test_what_was_left_open_for_a_job_is_stopped_too_whatever_its_step_is_called(atelier: Atelier) -> None:
    job = """INSERT INTO jobs (workflow, payload) VALUES ('r2_image', '{"prompt": "A fox"}') RETURNING id"""
    id = await atelier.connection.fetchval(job)
    atelier.standin.always(on="create", runs_for_s=None)
    async with atelier.at_work(flow=R2_IMAGE, waiting="pending") as worker:
        await atelier.standin.reached("get")
        for claim in worker.claims.values():
            claim.cancel()
        worker.stop()
    link, generating = Link(atelier.url), Generating(atelier.settings())
    await control.cancel(link, JOBS, [id], "anna")
    (work,) = generating.works(link)
    await work.run()
    assert await atelier.outcomes() == ["cancelled"]
    await generating.close()
    await link.close()


async def test_the_prediction_of_a_cancelled_token_is_cancelled_at_the_provider(atelier: Atelier) -> None:
    id = await atelier.token()
    atelier.standin.always(on="create", runs_for_s=None)
    link = Link(atelier.url)
    async with atelier.at_work():
        await atelier.standin.reached("get")
        await control.cancel(link, TOKENS, [id], "anna")
        await atelier.standin.reached("cancel")
    assert await atelier.outcomes() == ["cancelled"]
    assert atelier.standin.predictions()[0]["status"] == "canceled"
    await link.close()


async def test_the_prediction_of_a_lost_claim_is_left_to_the_next_holder(atelier: Atelier) -> None:
    id = await atelier.token()
    atelier.standin.always(on="create", runs_for_s=None)
    async with atelier.at_work():
        await atelier.standin.reached("get")
        await atelier.connection.execute(
            "UPDATE tokens_s0 SET epoch = epoch + 1, status = 'detected', leased_by = NULL, leased_until = NULL WHERE id = $1",
            id,
        )
        await atelier.connection.execute("SELECT pg_notify('glisk_lost', '')")
        await atelier.until("epoch >= 3 AND status = 'generating'")
        atelier.standin.go(to="end")
        await atelier.until("status = 'uploading'")
    assert (atelier.charged(), atelier.created(), await atelier.outcomes()) == (1, 1, ["done"])


async def test_a_worker_that_stops_leaves_the_order_to_the_next(atelier: Atelier) -> None:
    await atelier.token()
    atelier.standin.always(on="create", runs_for_s=None)
    async with atelier.at_work() as worker:
        await atelier.standin.reached("get")
        for claim in worker.claims.values():
            claim.cancel()  # as at the end of the time to drain
        worker.stop()
    assert (await atelier.row())["generation_attempts"] == 0
    atelier.standin.go(to="end")
    assert (await atelier.drawn())["status"] == "uploading"
    assert (atelier.charged(), atelier.created()) == (1, 1)
