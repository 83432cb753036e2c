"""The web UI behind the port: what is asked, what comes back, and every way in which it does not."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime

import pytest

from glisk.dev.standins.sd_webui import Fault, StandIn, serving, told
from glisk.errors import BadOrder, NotAllowed, ProviderFailed, RateLimited
from glisk.pauses import SHORTEST
from glisk.providers.port import Order, Painter, Receipt
from glisk.providers.sd_webui import Options, SdWebui
from glisk.providers.studio.painter import painted
from tests.commands import a_free_port

ORDER = Order("a quiet harbour", seed=7, width=64, height=96)
JSON = {"Content-Type": "application/json"}


async def forget(value: str) -> None:
    raise AssertionError("the web UI gives no receipts")


RECEIPT = Receipt(keep=forget)


@pytest.fixture(autouse=True)
def no_proxy_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
async def web_ui() -> AsyncIterator[tuple[StandIn, str]]:
    stand_in = StandIn()
    async with serving(stand_in) as url:
        yield stand_in, url


@pytest.fixture
async def painter(web_ui: tuple[StandIn, str]) -> AsyncIterator[SdWebui]:
    painter = SdWebui(Options(web_ui[1], timeout=timedelta(seconds=20)))
    yield painter
    await painter.close()


@pytest.fixture
def fails(web_ui: tuple[StandIn, str]) -> Callable[[Fault], None]:
    return web_ui[0].faults.append


async def test_it_is_a_painter(painter: Painter) -> None:
    assert (painter.name, painter.model) == ("sd_webui", "the loaded checkpoint")


async def test_a_picture_comes_back_as_it_was_made_and_costs_nothing(painter: SdWebui) -> None:
    picture = await painter.draw(ORDER, RECEIPT)
    assert picture.data == painted(ORDER)
    assert (picture.url, picture.cost) == (None, Decimal(0))


async def test_the_order_is_asked_for_in_its_words(web_ui: tuple[StandIn, str]) -> None:
    stand_in, url = web_ui
    painter = SdWebui(Options(url + "/", checkpoint="sdxl.safetensors", sampler="Euler a", steps=12))
    await painter.draw(ORDER, RECEIPT)
    await painter.close()
    (wanted,) = stand_in.orders
    assert (wanted.prompt, wanted.seed, wanted.width, wanted.height) == ("a quiet harbour", 7, 64, 96)
    assert (wanted.steps, wanted.sampler_name) == (12, "Euler a")
    assert wanted.override_settings == {"sd_model_checkpoint": "sdxl.safetensors"}
    assert painter.model == "sdxl.safetensors"


@pytest.mark.parametrize(("seed", "asked"), [(2**40 + 5, 5), (-1, 2**32 - 1)])
async def test_a_seed_it_cannot_take_is_folded_and_never_means_any(
    painter: SdWebui, web_ui: tuple[StandIn, str], seed: int, asked: int
) -> None:
    await painter.draw(Order("x", seed, 64, 64), RECEIPT)
    assert web_ui[0].orders[0].seed == asked


async def test_an_order_that_may_have_been_drawn_already_is_drawn(painter: SdWebui) -> None:
    resumed = Receipt(keep=forget, is_resumed=True)
    assert (await painter.draw(ORDER, resumed)).data == painted(ORDER)


async def test_abandoning_asks_nothing_of_it(painter: SdWebui, web_ui: tuple[StandIn, str]) -> None:
    assert await painter.abandon(ORDER, RECEIPT) == Decimal(0)
    assert web_ui[0].orders == []


async def test_a_data_uri_is_a_picture_too(painter: SdWebui, fails: Callable[[Fault], None]) -> None:
    uri = f"data:image/png;base64,{b64encode(b'picture').decode()}"
    fails(Fault(200, json.dumps({"images": [uri], "info": "{}", "parameters": {}}).encode(), JSON))
    assert (await painter.draw(ORDER, RECEIPT)).data == b"picture"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html>Gateway</html>", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "without a picture"),
        (b"{}", "without a picture"),
        (b'{"images": []}', "without a picture"),
        (b'{"images": [""]}', "without a picture"),
        (b'{"images": [null]}', "without a picture"),
        (b'{"images": "abcd"}', "without a picture"),
        (b'{"images": ["%%%%"]}', "not valid base64"),
        (b'{"images": ["abc"]}', "not valid base64"),
        ('{"images": ["é"]}'.encode(), "not valid base64"),
    ],
)
async def test_an_answer_without_a_picture_is_worth_another_try(
    painter: SdWebui, fails: Callable[[Fault], None], content: bytes, said: str
) -> None:
    fails(Fault(200, content, JSON))
    with pytest.raises(ProviderFailed, match=said):
        await painter.draw(ORDER, RECEIPT)


@pytest.mark.parametrize(("username", "password"), [("", ""), ("glisk", "wrong")])
async def test_a_wrong_password_is_not_allowed_and_the_right_one_is(username: str, password: str) -> None:
    async with serving(StandIn("glisk", "right")) as url:
        stranger = SdWebui(Options(url, username, password))
        with pytest.raises(NotAllowed, match=r"\(401\): Incorrect username or password"):
            await stranger.draw(ORDER, RECEIPT)
        friend = SdWebui(Options(url, "glisk", "right"))
        assert (await friend.draw(ORDER, RECEIPT)).data
        await stranger.close()
        await friend.close()


async def test_without_its_api_nobody_gets_in(painter: SdWebui, fails: Callable[[Fault], None]) -> None:
    fails(Fault(404, b'{"detail": "Not Found"}', JSON))
    with pytest.raises(NotAllowed, match="--api"):
        await painter.draw(ORDER, RECEIPT)


async def test_a_refused_field_is_a_bad_order_that_names_it(web_ui: tuple[StandIn, str]) -> None:
    painter = SdWebui(Options(web_ui[1], steps=0))
    with pytest.raises(BadOrder, match=r"\(422\): steps: Input should be greater than or equal to 1"):
        await painter.draw(ORDER, RECEIPT)
    await painter.close()


async def test_an_unknown_sampler_is_a_bad_order(web_ui: tuple[StandIn, str]) -> None:
    painter = SdWebui(Options(web_ui[1], sampler="Eulr"))
    with pytest.raises(BadOrder, match="Sampler not found"):
        await painter.draw(ORDER, RECEIPT)
    await painter.close()


@pytest.mark.parametrize(
    ("status", "header", "after"),
    [(429, "12", 12), (503, "3", 3), (429, "", 30), (429, "soon", 30), (429, "0", 1), (429, "9" * 30, 3600)],
)
async def test_a_pause_it_asks_for_is_kept(
    painter: SdWebui, fails: Callable[[Fault], None], status: int, header: str, after: int
) -> None:
    fails(told(status, "HTTPException", "Queue is full", **({"Retry-After": header} if header else {})))
    with pytest.raises(RateLimited, match="Queue is full") as raised:
        await painter.draw(ORDER, RECEIPT)
    assert raised.value.after == timedelta(seconds=after)


@pytest.mark.parametrize(
    ("ahead", "after"),
    [(timedelta(minutes=2), timedelta(minutes=2)), (timedelta(minutes=-2), SHORTEST)],
)
async def test_a_pause_may_be_a_date(
    painter: SdWebui, fails: Callable[[Fault], None], ahead: timedelta, after: timedelta
) -> None:
    until = format_datetime(datetime.now(UTC) + ahead, usegmt=True)
    fails(told(503, "HTTPException", "Busy", **{"Retry-After": until}))
    with pytest.raises(RateLimited) as raised:
        await painter.draw(ORDER, RECEIPT)
    assert after - timedelta(seconds=30) <= raised.value.after <= after


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (told(500, "OutOfMemoryError", errors="CUDA out of memory."), "OutOfMemoryError", "CUDA out of memory"),
        (told(503, "HTTPException", "Loading"), "503", "Loading"),
        (Fault(502, b"<html>Bad Gateway</html>"), "502", "Bad Gateway"),
        (Fault(500, b'["what?"]', JSON), "500", "Internal Server Error"),
        (told(500, "RuntimeError", errors="x" * 5000), "RuntimeError", "x" * 300),
    ],
)
async def test_a_server_that_stumbles_is_worth_another_try(
    painter: SdWebui, fails: Callable[[Fault], None], fault: Fault, code: str, said: str
) -> None:
    fails(fault)
    with pytest.raises(ProviderFailed, match=said) as raised:
        await painter.draw(ORDER, RECEIPT)
    assert (raised.value.provider_code, raised.value.category) == (code, "transient")
    assert len(raised.value.said) < 400


async def test_a_connection_that_breaks_is_the_network(painter: SdWebui, fails: Callable[[Fault], None]) -> None:
    fails(Fault(200, b'{"images": ["', JSON, is_cut=True))
    with pytest.raises(ProviderFailed, match="connection") as raised:
        await painter.draw(ORDER, RECEIPT)
    assert raised.value.category == "network"


async def test_a_server_that_is_not_there_is_the_network_and_no_password_is_told() -> None:
    port = a_free_port()
    painter = SdWebui(Options(f"http://glisk:hunter2@127.0.0.1:{port}"))
    with pytest.raises(ProviderFailed, match=f"127.0.0.1:{port}") as raised:
        await painter.draw(ORDER, RECEIPT)
    assert raised.value.category == "network"
    assert "hunter2" not in str(raised.value)
    await painter.close()


async def test_a_server_that_says_nothing_is_not_waited_for_for_ever(web_ui: tuple[StandIn, str]) -> None:
    stand_in, url = web_ui
    stand_in.faults.append(Fault(is_mute=True))
    painter = SdWebui(Options(url, timeout=timedelta(seconds=0.2)))
    with pytest.raises(ProviderFailed, match=r"did not answer within 0.2 s") as raised:
        await painter.draw(ORDER, RECEIPT)
    assert raised.value.category == "timeout"
    await painter.close()


async def test_orders_do_not_wait_for_each_other_here(painter: SdWebui) -> None:
    orders = [Order("x", seed, 64, 64) for seed in range(6)]
    pictures = await asyncio.gather(*(painter.draw(order, RECEIPT) for order in orders))
    assert [picture.data for picture in pictures] == [painted(order) for order in orders]


def test_options_do_not_show_the_password() -> None:
    assert "hunter2" not in repr(Options("http://localhost:7860", "glisk", "hunter2"))
