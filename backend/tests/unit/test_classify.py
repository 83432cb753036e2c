"""What Replicate's answers mean: a test per row of the tables, and what is not in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from glisk.errors import BadOrder, NotAllowed, ProviderError, ProviderFailed, RateLimited, Refused, Uncertain
from glisk.providers.replicate import classify

MEANS = {"not allowed": NotAllowed, "bad order": BadOrder, "transient": ProviderFailed, "policy": Refused}
ASK, ORDER = httpx.Request("GET", "https://r/v1/predictions/x"), httpx.Request("POST", "https://r/v1/predictions")


def an_answer(status: int, body: Any = None, request: httpx.Request = ASK, **headers: str) -> ProviderError:
    return classify.answer(httpx.Response(status, json=body or {}, headers=headers, request=request))


@pytest.mark.parametrize(("status", "meaning"), classify.BY_STATUS.items())
def test_every_status_of_the_table_means_what_it_says(status: int, meaning: str) -> None:
    of_an_order = {**MEANS, "transient": Uncertain} | ({"bad order": NotAllowed} if status == 404 else {})
    assert type(an_answer(status, request=ORDER)) is of_an_order[meaning]
    of_a_question = {**MEANS, "bad order": ProviderFailed}
    assert type(an_answer(status)) is of_a_question[meaning], "a question that fails says nothing about the order"


def test_a_model_that_nobody_knows_is_the_operators_mistake() -> None:
    assert "GLISK_REPLICATE_MODEL" in an_answer(404, request=ORDER).said


@pytest.mark.parametrize("status", [500, 502, 503, 504, 520, 599])
def test_a_stumble_may_pass_but_an_order_may_have_been_taken(status: int) -> None:
    page = httpx.Response(status, html="<h1>Bad gateway</h1>", request=ORDER)
    assert type(an_answer(status)) is ProviderFailed
    assert type(classify.answer(page)) is Uncertain
    assert classify.answer(page).is_open


@pytest.mark.parametrize("status", [402, 403, 404, 418, 422])
def test_an_order_that_was_turned_down_is_not_open(status: int) -> None:
    assert not an_answer(status, request=ORDER).is_open


def test_the_words_of_an_answer_are_those_of_its_title_and_detail() -> None:
    error = an_answer(422, {"title": "Input validation failed", "detail": "- input: prompt is required\n"}, ORDER)
    assert error.said.endswith("Input validation failed: - input: prompt is required")
    assert error.provider_code == "422"


@pytest.mark.parametrize("body", [{"title": 7, "detail": ["a"]}, {"detail": None}, {}])
def test_a_body_of_another_shape_is_no_reason_to_break(body: Any) -> None:
    assert "404" in an_answer(404, body).said


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "7"}, {}, 7),
        ({}, {"retry_after": 12}, 12),
        ({"retry-after": "3"}, {"retry_after": 99}, 3),
        ({}, {}, 10),
        ({"retry-after": "soon"}, {}, 10),
        ({"retry-after": "-4"}, {}, 1),
        ({"retry-after": "999999"}, {}, 3600),
        ({"retry-after": "nan"}, {}, 10),
        (
            {"retry-after": "Mon, 16 Nov 2026 13:00:30 GMT", "date": "Mon, 16 Nov 2026 13:00:00 GMT"},
            {},
            30,
        ),
    ],
)
def test_a_pause_is_as_long_as_it_was_asked_for(headers: dict[str, str], body: Any, seconds: int) -> None:
    error = an_answer(429, body, ORDER, **headers)
    assert isinstance(error, RateLimited)
    assert error.after == timedelta(seconds=seconds)
    assert not error.is_open


@pytest.mark.parametrize(
    "error", [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full")]
)
def test_what_was_never_sent_can_wait(error: httpx.TransportError) -> None:
    found = classify.broken(error, "POST")
    assert (type(found), found.is_open, found.provider_code) == (RateLimited, False, "unreachable")


@pytest.mark.parametrize(
    "error",
    [
        *(httpx.ReadTimeout("slow"), httpx.WriteTimeout("slow"), httpx.ReadError("reset"), httpx.WriteError("pipe")),
        *(httpx.RemoteProtocolError("Server disconnected"), httpx.CloseError("closed")),
    ],
)
def test_what_was_sent_may_have_been_taken(error: httpx.TransportError) -> None:
    assert type(classify.broken(error, "POST")) is Uncertain
    assert type(classify.broken(error, "GET")) is ProviderFailed


def test_a_timeout_is_called_one() -> None:
    error = classify.broken(httpx.ReadTimeout("30 s"), "GET")
    assert isinstance(error, ProviderFailed)
    assert (error.category, error.said) == ("timeout", "Network timeout: 30 s")


@pytest.mark.parametrize(("code", "meaning"), classify.BY_CODE.items())
def test_every_code_of_the_table_means_what_it_says(code: str, meaning: str) -> None:
    error = classify.failure(f"Prediction failed: ModelError: something happened ({code}) (uIJ6l3ruRD)")
    assert type(error) is MEANS[meaning]
    assert error.provider_code == code


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("NSFW content detected. Try running it again, or try a different prompt.", Refused),
        ("All generated images contained NSFW content. Try running it again with a different prompt.", Refused),
        ("The input or output was flagged as sensitive. Please try again with different inputs. (E005)", Refused),
        (
            "Prediction failed: Async prediction failed: ModelError: The input or output was flagged as sensitive. Please try again with different inputs. (E005) (uIJ6l3ruRD)",
            Refused,
        ),
        ("Content was flagged by the safety system", Refused),
        ("Your input was rejected", Refused),
        ("Blocked by our content policy", Refused),
        ("Prediction interrupted; please retry (code: PA)", ProviderFailed),
        ("Director: unexpected error handling prediction (E9828)", ProviderFailed),
        ("Service is currently unavailable due to high demand. Please try again later. (E003)", ProviderFailed),
        ("The model timed out", ProviderFailed),
        ("CUDA out of memory", ProviderFailed),
        ("", ProviderFailed),
        ("Error 401 in layer 429 of 503", ProviderFailed),
    ],
)
def test_a_failed_prediction_means_what_its_words_say(text: str, kind: type[ProviderError]) -> None:
    assert type(classify.failure(text)) is kind


def test_a_code_counts_more_than_words() -> None:
    assert type(classify.failure("Blocked by moderation? No: (E003)")) is ProviderFailed
