"""Pinata and Kubo behind the port: what is put there is there under its own CID, and every way in which it is not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest
import structlog
from pydantic import SecretStr

from glisk.dev.standins import pin_control
from glisk.dev.standins.pin_control import PinControl
from glisk.errors import BadSettings, PinDown, PinError, PinForbidden, PinLimited, PinRefused, WrongCid
from glisk.settings import Settings
from glisk.storage.ipfs import chosen
from glisk.storage.ipfs.car import written
from glisk.storage.ipfs.kubo import Kubo
from glisk.storage.ipfs.pinata import Pinata
from glisk.storage.ipfs.port import Pinner
from glisk.storage.ipfs.unixfs import dag
from tests.commands import a_free_port
from tests.standins import JWT

SMALL, LARGE = dag(b"a quiet harbour"), dag(b"".join(n.to_bytes(4) for n in range(640_000)))
LABEL = "glisk-1-7-image"
PUTS = {"pinata": "upload", "kubo": "import"}
ASKS = {"pinata": "list", "kubo": "pins"}


@pytest.fixture(autouse=True)
def no_proxy_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def service(name: str) -> Iterator[PinControl]:
    with pin_control.pinata() if name == "pinata" else pin_control.kubo() as control:
        yield control


@pytest.fixture
async def pinner(name: str, service: PinControl) -> AsyncIterator[Pinner]:
    async with reaching(name, service.url) as pinner:
        yield pinner


@asynccontextmanager
async def reaching(name: str, url: str, auth: str = "", **options: Any) -> AsyncIterator[Pinner]:
    pinner = Pinata(auth or JWT, url, url, **options) if name == "pinata" else Kubo(url, auth, **options)
    yield pinner
    await pinner.close()


both = pytest.mark.parametrize("name", ["pinata", "kubo"], indirect=True)
on_pinata = pytest.mark.parametrize("name", ["pinata"], indirect=True)
on_kubo = pytest.mark.parametrize("name", ["kubo"], indirect=True)


@both
async def test_what_is_put_is_there_under_its_own_cid(pinner: Pinner, service: PinControl) -> None:
    for content in (SMALL, LARGE):
        assert not await pinner.has(content.root)
        await pinner.put(content, LABEL)
        assert await pinner.has(content.root)
    assert service.cids() == [SMALL.root, LARGE.root]


@both
async def test_what_is_put_twice_is_there_once(pinner: Pinner, service: PinControl) -> None:
    await pinner.put(SMALL, LABEL)
    await pinner.put(SMALL, LABEL)
    assert service.cids() == [SMALL.root]


@both
async def test_what_the_service_has_lost_is_not_there(pinner: Pinner, service: PinControl) -> None:
    await pinner.put(SMALL, LABEL)
    service.drop(SMALL.root)
    assert not await pinner.has(SMALL.root)


@both
async def test_another_cid_than_ours_is_an_error_that_tells_both(pinner: Pinner, service: PinControl) -> None:
    service.script(cid=LARGE.root)
    with pytest.raises(WrongCid, match=rf"{SMALL.root}.*{LARGE.root}"):
        await pinner.put(SMALL, LABEL)


@both
@pytest.mark.parametrize("drop", ["after", "mid_body"])
async def test_an_answer_that_is_lost_may_pass_and_the_pin_is_there(
    pinner: Pinner, service: PinControl, drop: str
) -> None:
    service.script(drop=drop, reset=True)
    with pytest.raises(PinDown, match="connection"):
        await pinner.put(SMALL, LABEL)
    assert await pinner.has(SMALL.root)
    await pinner.put(SMALL, LABEL)
    assert service.cids() == [SMALL.root]


@both
async def test_a_file_with_a_missing_or_a_false_block_is_not_pinned(pinner: Pinner, service: PinControl) -> None:
    false = replace(LARGE.blocks[0], data=b"something else")
    with pytest.raises((PinDown, PinRefused), match="not what it says"):
        await pinner.put(replace(LARGE, blocks=[false, *LARGE.blocks[1:]]), LABEL)
    with pytest.raises((PinDown, PinRefused), match=LARGE.blocks[0].cid):
        await pinner.put(replace(LARGE, blocks=LARGE.blocks[1:]), LABEL)
    assert service.cids() == []


@both
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *product((401, 402, 403), [PinForbidden]),
        *product((400, 413, 422), [PinRefused]),
        *product((404, 405, 500, 502, 504), [PinDown]),
    ],
)
async def test_a_refusal_is_told_by_its_status(
    pinner: Pinner, service: PinControl, name: str, status: int, kind: type[PinError]
) -> None:
    for on in (PUTS[name], ASKS[name]):
        service.script(on=on, status_code=status, body="<html><b>No</b>,  today</html>", content_type="text/html")
    with pytest.raises(kind, match=f"{status}: No , today"):
        await pinner.put(SMALL, LABEL)
    with pytest.raises(kind, match=f"{status}: No , today"):
        await pinner.has(SMALL.root)
    assert service.cids() == []


@on_pinata
@pytest.mark.parametrize(("status", "told", "after"), [(429, 7, 7), (429, None, 60), (429, 10**9, 3600), (503, 5, 5)])
async def test_a_pause_it_asks_for_is_kept(
    pinner: Pinner, service: PinControl, status: int, told: int | None, after: int
) -> None:
    service.script(status_code=status, retry_after_s=told)
    with pytest.raises(PinLimited) as raised:
        await pinner.put(SMALL, LABEL)
    assert raised.value.after == timedelta(seconds=after)


@both
@pytest.mark.parametrize(
    "body", ["", "<html></html>", "[]", "{}", "{", '{"data": null}', '{"data": {"cid": 7}}', '{"Root": {}}']
)
async def test_an_answer_that_cannot_be_read_may_pass(pinner: Pinner, service: PinControl, body: str) -> None:
    service.script(body=body)
    with pytest.raises(PinDown):
        await pinner.put(SMALL, LABEL)


@both
@pytest.mark.parametrize("body", ["", "<html></html>", "[]", "{", '{"data": 7, "Keys": 7}'])
async def test_an_unreadable_list_is_not_an_empty_one(
    pinner: Pinner, service: PinControl, name: str, body: str
) -> None:
    await pinner.put(SMALL, LABEL)
    service.script(on=ASKS[name], body=body)
    with pytest.raises(PinDown):
        await pinner.has(SMALL.root)


@both
async def test_a_service_that_is_not_there_may_come_back(name: str) -> None:
    async with reaching(name, f"http://127.0.0.1:{a_free_port()}") as pinner:
        with pytest.raises(PinDown, match="connection"):
            await pinner.put(SMALL, LABEL)


@both
async def test_a_service_that_says_nothing_is_not_waited_for_for_ever(name: str, service: PinControl) -> None:
    service.always(on=PUTS[name], hold="for ever")
    service.always(on=ASKS[name], hold="for ever")
    async with reaching(name, service.url, timeout=httpx.Timeout(0.2)) as pinner:
        with pytest.raises(PinDown, match="said nothing"):
            await pinner.put(SMALL, LABEL)
        with pytest.raises(PinDown, match="said nothing"):
            await pinner.has(LARGE.root)


@on_pinata
async def test_a_slow_answer_is_waited_for_while_it_flows(name: str, service: PinControl) -> None:
    service.script(pause_s=0.1)
    async with reaching(name, service.url, timeout=httpx.Timeout(0.6)) as pinner:
        await pinner.put(SMALL, LABEL)
    assert service.cids() == [SMALL.root]


@on_pinata
async def test_but_not_for_longer_than_the_limit(name: str, service: PinControl) -> None:
    service.script(pause_s=0.1)
    async with reaching(name, service.url, limit=timedelta(seconds=0.4)) as pinner:
        with pytest.raises(PinDown, match="said nothing"):
            await pinner.put(SMALL, LABEL)


@on_pinata
async def test_files_are_sent_to_the_public_network_with_their_name(pinner: Pinner, service: PinControl) -> None:
    await pinner.put(SMALL, LABEL)
    (pin,) = service.pins()
    assert (pin["network"], pin["name"]) == ("public", LABEL)


@on_pinata
async def test_a_private_file_is_not_one_that_the_world_has(pinner: Pinner, service: PinControl) -> None:
    file = {"file": ("x.car", written(SMALL))}
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {JWT}"}) as client:
        answer = await client.post(f"{service.url}/v3/files", data={"car": "true"}, files=file)
    assert answer.json()["data"]["network"] == "private"
    assert service.cids() == [SMALL.root]
    assert not await pinner.has(SMALL.root)


@on_pinata
async def test_a_duplicate_is_told_by_pinata(service: PinControl) -> None:
    file, told = {"file": ("x.car", written(SMALL))}, []
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {JWT}"}) as client:
        for _ in range(2):
            answer = await client.post(f"{service.url}/v3/files", data={"car": "true"}, files=file)
            told.append((answer.json()["data"]["is_duplicate"], answer.json()["data"]["cid"]))
    assert told == [(False, SMALL.root), (True, SMALL.root)]


@on_pinata
async def test_a_list_may_be_late(pinner: Pinner, service: PinControl) -> None:
    service.freeze()
    service.script(shown_after_s=30)
    await pinner.put(SMALL, LABEL)
    assert not await pinner.has(SMALL.root)
    service.advance(31)
    assert await pinner.has(SMALL.root)


@on_pinata
@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"status_code": 401}, "INVALID_CREDENTIALS"),
        ({"status_code": 403}, "FORBIDDEN: Account blocked due to plan usage limit"),
        ({"status_code": 403, "reason": "NO_SCOPES_FOUND"}, "NO_SCOPES_FOUND: This key does not have"),
        ({"status_code": 403, "reason": "API_KEY_REVOKED"}, "API_KEY_REVOKED"),
        ({"status_code": 403, "body": '{"error": "Account blocked"}'}, "403: Account blocked"),
        ({"status_code": 403, "body": '{"message": "Forbidden"}'}, "403: Forbidden"),
        ({"status_code": 403, "body": '{"error": {"reason": 7}}'}, "403: Forbidden"),
    ],
)
async def test_whom_pinata_does_not_let_in_learns_why(
    pinner: Pinner, service: PinControl, scenario: dict[str, Any], said: str
) -> None:
    service.script(**scenario)
    with pytest.raises(PinForbidden, match=said):
        await pinner.put(SMALL, LABEL)


@on_pinata
async def test_a_cid_that_is_not_known_yet_is_asked_for_again(pinner: Pinner, service: PinControl) -> None:
    service.script(cid="pending")
    with pytest.raises(PinDown, match="not worked out"):
        await pinner.put(SMALL, LABEL)
    await pinner.put(SMALL, LABEL)


@on_pinata
async def test_a_wrong_key_does_not_open(name: str, service: PinControl) -> None:
    async with reaching(name, service.url, auth="no-key") as pinner:
        with pytest.raises(PinForbidden, match="INVALID_CREDENTIALS"):
            await pinner.has(SMALL.root)


@on_pinata
async def test_the_rate_that_is_allowed_is_kept_by_who_waits(pinner: Pinner, service: PinControl) -> None:
    service.limit(1 / 60, bucket="upload")
    await pinner.put(SMALL, LABEL)
    with pytest.raises(PinLimited) as raised:
        await pinner.put(LARGE, LABEL)
    assert timedelta(seconds=50) < raised.value.after <= timedelta(seconds=60)


@both
async def test_a_key_is_never_told_though_the_service_repeats_it(name: str, service: PinControl) -> None:
    auth = JWT if name == "pinata" else "token-of-the-node"
    body = f'{{"error": "{auth} is unknown", "Message": "{auth} is unknown"}}'
    service.script(status_code=403, body=body)
    with structlog.testing.capture_logs() as logs:
        async with reaching(name, service.url, auth=auth) as pinner:
            with pytest.raises(PinForbidden, match="… is unknown") as raised:
                await pinner.put(SMALL, LABEL)
            assert auth not in f"{raised.value!r} {logs} {vars(pinner)}"


@pytest.mark.parametrize("auth", ["glisk:hunter2", "a-token"])
async def test_kubo_lets_in_whom_it_knows(auth: str) -> None:
    with pin_control.kubo(auth) as service:
        async with reaching("kubo", service.url, auth=auth) as friend:
            await friend.put(SMALL, LABEL)
            assert await friend.has(SMALL.root)
        for wrong in ("", "glisk:wrong", "wrong"):
            async with reaching("kubo", service.url, auth=wrong) as stranger:
                with pytest.raises(PinForbidden, match="Access Denied"):
                    await stranger.has(SMALL.root)


@on_kubo
async def test_what_kubo_could_not_pin_is_not_pinned(pinner: Pinner, service: PinControl) -> None:
    service.script(pin_error="no space left on device")
    with pytest.raises(PinDown, match="no space left on device"):
        await pinner.put(SMALL, LABEL)
    assert not await pinner.has(SMALL.root)


@on_kubo
async def test_another_error_of_kubo_is_not_taken_for_a_missing_pin(pinner: Pinner, service: PinControl) -> None:
    service.script(on="pins", status_code=500, message="someone else has the lock")
    with pytest.raises(PinDown, match="someone else has the lock"):
        await pinner.has(SMALL.root)


@on_kubo
async def test_statistics_and_an_error_at_the_end_are_read(pinner: Pinner, service: PinControl) -> None:
    root = f'{{"Root":{{"Cid":{{"/":"{SMALL.root}"}},"PinErrorMsg":""}}}}'
    service.script(body=f'{root}\n{{"Stats":{{"BlockCount":1,"BlockBytesCount":15}}}}\n\n')
    await pinner.put(SMALL, LABEL)
    service.script(body=f'{root}\n{{"Message":"disk quota exceeded","Code":0,"Type":"error"}}\n')
    with pytest.raises(PinDown, match="disk quota"):
        await pinner.put(SMALL, LABEL)


@both
async def test_many_at_once_do_not_get_in_each_others_way(pinner: Pinner, service: PinControl) -> None:
    many = [dag(str(n).encode()) for n in range(20)]
    await asyncio.gather(*(pinner.put(content, LABEL) for content in many))
    assert sorted(service.cids()) == sorted(content.root for content in many)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ["local"]),
        ({"kubo_url": "http://127.0.0.1:5001"}, ["kubo"]),
        ({"kubo_url": "http://127.0.0.1:5001", "pinata_jwt": SecretStr(JWT)}, ["pinata"]),
        ({"pinners": "local,pinata", "pinata_jwt": SecretStr(JWT)}, ["local", "pinata"]),
    ],
)
async def test_who_pins_is_as_the_settings_say(given: dict[str, Any], names: list[str]) -> None:
    found = chosen.pinners(Settings(**given))
    assert [pinner.name for pinner in found] == names
    for pinner in found:
        await pinner.close()


@pytest.mark.parametrize(("pinners", "said"), [("pinata", "GLISK_PINATA_JWT"), ("local,kubo", "GLISK_KUBO_URL")])
def test_a_key_that_is_missing_is_told_at_the_start(pinners: str, said: str) -> None:
    with pytest.raises(BadSettings, match=said):
        chosen.pinners(Settings(pinners=pinners))
