"""What each family of models is asked, and where the picture is in what it returns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from glisk.errors import BadOrder, ProviderFailed, Refused
from glisk.providers.port import Order
from glisk.providers.prices import Price, price_of
from glisk.providers.replicate import output
from glisk.providers.replicate.inputs import inputs, target
from glisk.providers.replicate.prediction import Prediction

SCHNELL = "black-forest-labs/flux-schnell"
HASH = "a" * 64
ORDER = Order("a cat", 7)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (SCHNELL, {"aspect_ratio": "1:1", "num_outputs": 1, "output_format": "webp", "output_quality": 95}),
        ("black-forest-labs/flux-1.1-pro", {"aspect_ratio": "1:1", "output_format": "png"}),
        ("black-forest-labs/flux-kontext-pro", {"aspect_ratio": "1:1", "output_format": "png"}),
        (f"stability-ai/sdxl:{HASH}", {"width": 1024, "height": 1024, "num_outputs": 1}),
        ("somebody/something", {}),
        (HASH, {}),
    ],
)
def test_each_family_is_asked_in_its_own_words(model: str, expected: dict[str, Any]) -> None:
    assert inputs(model, ORDER, {}) == {**expected, "prompt": "a cat", "seed": 7}


def test_the_operators_inputs_stand_above_ours_but_not_above_the_order() -> None:
    found = inputs(SCHNELL, ORDER, {"output_format": "png", "go_fast": False, "seed": 1, "prompt": "a dog"})
    assert (found["output_format"], found["go_fast"], found["seed"], found["prompt"]) == ("png", False, 7, "a cat")


def test_a_size_that_the_model_cannot_draw_is_told_with_those_it_can() -> None:
    with pytest.raises(BadOrder, match=r"1000x1000.*1024x1024"):
        inputs(SCHNELL, Order("a cat", 7, 1000, 1000), {})


def test_line_breaks_are_spaces_to_the_model() -> None:
    assert inputs(SCHNELL, Order("a cat\r\non a mat", 7), {})["prompt"] == "a cat on a mat"


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (SCHNELL, {"model": SCHNELL}),
        (f"stability-ai/sdxl:{HASH}", {"version": HASH}),
        (HASH, {"version": HASH}),
        ("deployments/we/ours", {"deployment": "we/ours"}),
    ],
)
def test_a_model_is_named_as_the_package_wants_it(model: str, expected: dict[str, str]) -> None:
    assert target(model) == expected


def a_prediction(status: str = "succeeded", result: Any = None, **further: Any) -> Prediction:
    known: dict[str, Any] = {
        "input": {"seed": 7},
        "error": None,
        "logs": "",
        "seconds": 2.0,
        "created_at": "",
    } | further
    return Prediction(id="x", status=status, output=result, **known)


URL = "https://replicate.delivery/x/out.webp"


@pytest.mark.parametrize("result", [URL, [URL], [None, URL], {"image": URL}, [URL, "https://replicate.delivery/2"]])
@pytest.mark.parametrize("status", ["succeeded", "processing"])
def test_the_picture_is_found_in_whatever_shape_it_comes(status: str, result: Any) -> None:
    prediction = a_prediction(status, result)
    assert output.is_over(prediction)
    assert output.address(prediction, None) == URL


def test_a_picture_may_come_inline() -> None:
    assert output.address(a_prediction(result="data:image/png;base64,aGk="), None).startswith("data:")


@pytest.mark.parametrize("status", ["starting", "processing"])
def test_without_a_picture_it_is_not_over(status: str) -> None:
    assert not output.is_over(a_prediction(status))


@pytest.mark.parametrize(
    ("prediction", "kind", "said"),
    [
        (a_prediction("failed", error="NSFW content detected"), Refused, "NSFW"),
        (a_prediction("failed"), ProviderFailed, "does not say why"),
        (a_prediction("canceled"), ProviderFailed, "canceled"),
        (a_prediction("aborted"), ProviderFailed, "aborted"),
        (a_prediction(input={}), ProviderFailed, "an hour"),
        (
            a_prediction(result=[], logs="NSFW content detected in image 0\nTotal safe images: 0 out of 1"),
            Refused,
            "NSFW",
        ),
        (a_prediction(result=[]), ProviderFailed, "without a picture"),
        (a_prediction(result=42), ProviderFailed, "without a picture"),
        (a_prediction("failed", result=[URL], error="boom"), ProviderFailed, "boom"),
    ],
)
def test_an_end_without_a_picture_has_its_reason(prediction: Prediction, kind: Any, said: str) -> None:
    assert output.is_over(prediction)
    with pytest.raises(kind, match=said):
        output.address(prediction, None)


@pytest.mark.parametrize(
    ("prediction", "price", "cost"),
    [
        (a_prediction(result=[URL]), Price(image=Decimal("0.003")), "0.003"),
        (a_prediction(result=[URL, URL]), Price(image=Decimal("0.003")), "0.006"),
        (a_prediction("failed"), Price(image=Decimal("0.003")), "0"),
        (a_prediction("failed"), Price(second=Decimal("0.001")), "0.002"),
        (a_prediction("canceled"), Price(second=Decimal("0.001")), "0.002"),
        (a_prediction("aborted"), Price(second=Decimal("0.001")), "0"),
    ],
)
def test_a_prediction_costs_what_the_price_says(prediction: Prediction, price: Price, cost: str) -> None:
    assert output.cost(prediction, price) == Decimal(cost)
    assert output.cost(prediction, None) is None


def test_the_operators_prices_stand_above_ours() -> None:
    mine = Price(image=Decimal(1))
    assert price_of(SCHNELL, {SCHNELL: mine}) is mine
    assert price_of(f"{SCHNELL}:{HASH}", {}) == Price(image=Decimal("0.003"))
    assert price_of("somebody/something", {}) is None


@pytest.mark.parametrize(
    ("model", "asked", "sent"), [("flux-schnell", 20, 4), ("flux-dev", 20, 20), ("flux-dev", 99, 50)]
)
def test_steps_are_those_asked_for_as_far_as_the_model_goes(model: str, asked: int, sent: int) -> None:
    found = inputs(f"black-forest-labs/{model}", Order("a cat", 7, steps=asked), {})
    assert found["num_inference_steps"] == sent
    assert "num_inference_steps" not in inputs(f"black-forest-labs/{model}", ORDER, {})
