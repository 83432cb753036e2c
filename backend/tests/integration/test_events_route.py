"""GET /events over real HTTP: what happens, in order, to whom it may be told."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from glisk.api import events, stream
from glisk.api.events import kind
from glisk.api.stream import News
from glisk.engine import lanes, wakeup
from glisk.repositories.key_repository import KeyRepository
from tests.builders import CHAIN, CONTRACT, a_token_row
from tests.sse import following, next_event, settled
from tests.visiting import Visit, visiting

MOVED = """
    INSERT INTO events (item_id, workflow, from_status, to_status, actor, data)
    VALUES ($1, $2, $3, $4, 'worker-7', '{"error": "a secret of ours", "prompt": "A fox"}')"""
MANY = "INSERT INTO events (to_status, actor) SELECT 'noise', 'a test' FROM generate_series(1, $1::int)"
OTHER = "0x" + "d1" * 20


@pytest.fixture
async def visit(database_url: str, connection: Any) -> AsyncIterator[Visit]:
    async with visiting(database_url) as visit:
        await settled(connection)
        yield visit


@pytest.fixture
async def token(connection: Any) -> int:
    return await a_token_row(connection, 2**200)


async def moved(connection: Any, item: int | None, to: str = "uploading", workflow: str | None = "token") -> None:
    await connection.execute(MOVED, item, workflow, "generating", to)
    await wakeup.notify(connection.fetch, "")


async def test_a_move_of_a_token_is_told_to_the_world_without_what_is_ours(
    visit: Visit, connection: Any, token: int
) -> None:
    async with following(visit.public) as world, following(visit.operator) as operator:
        assert all([(await anext(told)).id for told in (world, operator)])
        await moved(connection, token)
        seen, whole = await next_event(world), await next_event(operator)
    assert (seen.id, seen.kind) == (whole.id, "token")
    at = seen.data.pop("at")
    collection = f"{CHAIN}:{CONTRACT}"
    assert at.endswith("Z")
    public = {"token_id": str(2**200), "collection": collection, "from": "generating", "status": "uploading"}
    assert seen.data == public
    assert whole.data["actor"] == "worker-7"
    assert whole.data["data"] == {"error": "a secret of ours", "prompt": "A fox"}
    assert whole.data["item_id"] == str(token)


async def test_what_is_done_to_lanes_and_keys_is_told_to_the_operator_alone(
    visit: Visit, connection: Any, token: int
) -> None:
    await lanes.make(visit.link, "painter", 4)
    async with following(visit.public) as world, following(visit.operator) as operator:
        await anext(world), await anext(operator)
        await lanes.hold(visit.link, "painter", "no money", actor="anna")
        await visit.key()
        await moved(connection, 99, workflow="image_edit")
        await moved(connection, token, to="generating")  # a note, no move
        await moved(connection, token, to="ready")
        told = [await next_event(operator) for _ in range(5)]
        seen = await next_event(world)
    assert [each.kind for each in told] == ["lane", "key", "job", "token", "token"]
    assert (told[0].data["status"], told[0].data["data"]["reason"]) == ("lane held", "no money")
    assert (seen.data["status"], seen.id) == ("ready", told[-1].id)


async def test_who_comes_back_goes_on_where_they_were(visit: Visit, connection: Any, token: int) -> None:
    async with following(visit.public) as world:
        start = (await anext(world)).id
    for status in ("uploading", "pinning", "ready"):
        await moved(connection, token, status)
    async with following(visit.public, f"/events?after={start}") as world:
        first = await next_event(world)
        assert first.data["status"] == "uploading"
    async with following(visit.public, f"/events?after={start}", **{"Last-Event-ID": first.id}) as world:
        assert [(await next_event(world)).data["status"] for _ in range(2)] == ["pinning", "ready"]


async def test_one_who_hears_nothing_of_theirs_still_learns_where_to_go_on(visit: Visit, connection: Any) -> None:
    async with following(visit.public) as world:
        start = await anext(world)
        await connection.execute(MANY, 3)
        told = await anext(world)
    assert (told.kind, told.data) == ("", None)
    assert told.id not in ("", start.id)


async def test_who_missed_too_much_is_told_to_look_anew_and_follows_from_there(
    visit: Visit, connection: Any, token: int
) -> None:
    async with following(visit.public) as world:
        start = (await anext(world)).id
    await connection.execute(MANY, stream.MOST_MISSED + 1)
    await settled(connection)
    async with following(visit.public, f"/events?after={start}") as world:
        reset = await anext(world)
        await moved(connection, token)
        assert (await next_event(world)).data["status"] == "uploading"
    assert (reset.kind, reset.id != start) == ("reset", True)


async def test_in_a_storm_those_who_follow_are_told_to_look_anew_and_follow_on(
    visit: Visit, connection: Any, token: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "STORM_S", 0.01)
    async with following(visit.public) as world:
        await anext(world)
        await connection.execute(MANY, stream.AT_ONCE + stream.MOST_MISSED + 1)
        reset = await next_event(world)
        await moved(connection, token)
        assert (reset.kind, (await next_event(world)).data["status"]) == ("reset", "uploading")


async def test_one_token_can_be_followed_by_itself(visit: Visit, connection: Any, token: int) -> None:
    other = await a_token_row(connection, 8)
    elsewhere = await a_token_row(connection, 2**200, contract_address=OTHER)
    path = f"/events?token={2**200}&contract={CHAIN}:{CONTRACT}"
    async with following(visit.public, path) as world, following(visit.operator, path) as operator:
        await anext(world), await anext(operator)
        for item, status in ((other, "a"), (elsewhere, "b"), (token, "c")):
            await moved(connection, item, status)
        for told in (await next_event(world), await next_event(operator)):
            assert told.data["status"] == "c"


@pytest.mark.parametrize("query", ["after=x", "after=1", "token=x", "token=-1", "token=1&contract=0x12"])
async def test_what_cannot_be_followed_is_refused(query: str, visit: Visit) -> None:
    refused = await visit.public.get(f"/events?{query}")
    assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806")


@pytest.mark.parametrize("known", ["x", "1", "9" * 40, f"{'9' * 19}-1"])
async def test_an_id_that_is_none_of_ours_is_told_to_look_anew(known: str, visit: Visit) -> None:
    async with following(visit.public, **{"Last-Event-ID": known}) as told:
        greeting = await anext(told)
    assert (greeting.kind, bool(greeting.id)) == ("reset", True)


async def test_one_who_hears_nothing_is_told_that_we_are_still_there(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "ALIVE_EVERY_S", 0.05)
    async with following(visit.public) as world:
        await anext(world)
        assert [(await anext(world)).comment for _ in range(3)] == ["still there"] * 3


async def test_no_more_follow_than_can_be_served_and_who_leaves_makes_room(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST", 2)
    async with AsyncExitStack() as stack:
        kept = [await stack.enter_async_context(following(visit.public)) for _ in range(2)]
        assert all([(await anext(each)).id for each in kept])
        refused = await visit.public.get("/events")
        assert (refused.status_code, refused.json()["code"]) == (503, "GLK-809")

    async with asyncio.timeout(15):
        while await first_status(visit.public) != 200:
            pass


async def test_a_batch_is_written_once_for_all_who_follow(
    visit: Visit, connection: Any, token: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, write = [], events.written

    def counted(*arguments: Any, **options: Any) -> bytes:
        written.append(options)
        return write(*arguments, **options)

    monkeypatch.setattr(events, "written", counted)
    async with AsyncExitStack() as stack:
        world = [await stack.enter_async_context(following(visit.public)) for _ in range(10)]
        for each in world:
            await anext(each)
        await moved(connection, token)
        for each in world:
            assert (await next_event(each)).data["status"] == "uploading"
    assert written == [{"is_operator": False}]


async def test_a_key_that_is_revoked_follows_no_more(visit: Visit) -> None:
    keys = KeyRepository(visit.link)
    secret = await visit.key()
    found = await keys.find(secret)
    assert found
    with_key = {"Authorization": f"Bearer {secret}"}
    async with following(visit.public, **with_key) as told:
        await keys.revoke(found.key_id, "a test")
        left = [each.kind async for each in told]
        assert left[-1] == "key"


async def test_after_the_database_was_away_it_can_be_followed_again(visit: Visit) -> None:
    await visit.link.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    async with asyncio.timeout(10):
        answers = [await first_status(visit.public) for _ in range(2)]
    assert answers[-1] == 200  # it has come back by itself


async def first_status(browser: httpx.AsyncClient) -> int:
    async with browser.stream("GET", "/events") as answer:
        return answer.status_code


async def test_curl_can_follow(visit: Visit, connection: Any, token: int) -> None:
    curl = await asyncio.create_subprocess_exec("curl", "-sN", f"{visit.address}/events", stdout=subprocess.PIPE)
    assert curl.stdout
    try:
        async with asyncio.timeout(15):
            greeting = await curl.stdout.readuntil(b"\n\n")
            await moved(connection, token)
            told = await curl.stdout.readuntil(b"\n\n")
    finally:
        curl.kill()
        await curl.wait()
    assert greeting.startswith(b"retry: %d\nid: " % events.RETRY_MS)
    assert [line.partition(b":")[0] for line in told.splitlines()] == [b"id", b"event", b"data", b""]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"item_id": 7, "workflow": "token"}, "token"),
        ({"item_id": 7, "workflow": "image_edit"}, "job"),
        ({"workflow": "image_edit", "to_status": "paused"}, "workflow"),
        ({"to_status": "reorg"}, "chain"),
        ({"to_status": "halted"}, "chain"),
        ({"to_status": "lane limited"}, "lane"),
        ({"to_status": "key revoked"}, "key"),
        ({"to_status": "something new"}, "other"),
    ],
)
def test_every_event_has_a_kind(fields: dict[str, Any], expected: str) -> None:
    usual: dict[str, Any] = dict.fromkeys(News.__struct_fields__) | {"to_status": "x"}
    assert kind(News(**usual | fields)) == expected
