"""The stream of events: in the order in which they became certain, to everybody, none left out and none twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from glisk.api import stream as streams
from glisk.api.stream import News, Stream, TooFarBehind
from glisk.engine import wakeup
from glisk.errors import BadQuery, DatabaseUnreachable
from tests.builders import CHAIN, CONTRACT, a_token_row
from tests.sse import settled

ENOUGH_S = 15.0
AN_EVENT = "INSERT INTO events (item_id, workflow, to_status, actor, data) VALUES ($1, $2, $3, 'a test', $4)"
MANY = """
    INSERT INTO events (item_id, workflow, to_status, actor) SELECT n, 'image_edit', 'pending', 'a test'
    FROM generate_series(1, $1::int) n"""


@pytest.fixture
async def stream(database_url: str) -> AsyncIterator[Stream]:
    stream = Stream(database_url)
    running = asyncio.create_task(stream.run())
    yield stream
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def happened(connection: Any, what: str, item: int | None = None) -> None:
    await connection.execute(AN_EVENT, item, "token" if item else None, what, None)
    await wakeup.notify(connection.fetch, "")


async def some(batches: AsyncIterator[list[News]], count: int) -> list[News]:
    found: list[News] = []
    async with asyncio.timeout(ENOUGH_S):
        while len(found) < count:
            found += await anext(batches)
    return found


def names(news: list[News]) -> list[str]:
    return [each.to_status for each in news]


async def test_what_happens_is_told_to_everybody_with_the_name_of_its_token(stream: Stream, connection: Any) -> None:
    token = await a_token_row(connection, 2**255)
    await happened(connection, "before anybody followed")
    await settled(connection)
    async with stream.subscribe() as one, stream.subscribe() as other:
        await connection.execute(AN_EVENT, token, "token", "uploading", '{"error": "no"}')
        (told,) = await some(one, 1)
        assert await some(other, 1) == [told]
    assert (told.item_id, told.to_status, told.actor, told.data) == (token, "uploading", "a test", {"error": "no"})
    assert (told.token_id, told.chain_id, told.contract_address) == (str(2**255), CHAIN, CONTRACT)


async def test_who_comes_back_misses_nothing_and_hears_nothing_twice(stream: Stream, connection: Any) -> None:
    async with stream.subscribe() as batches:
        await happened(connection, "first")
        (first,) = await some(batches, 1)
    for n in range(1200):
        await happened(connection, f"while away {n}")
    async with stream.subscribe(first.key) as batches:
        await happened(connection, "last")
        assert names(await some(batches, 1201)) == [*(f"while away {n}" for n in range(1200)), "last"]


async def test_one_who_comes_back_while_others_follow_misses_nothing(stream: Stream, connection: Any) -> None:
    start = await stream.now()
    async with stream.subscribe() as steady:
        for n in range(8):
            await happened(connection, str(n))
            async with stream.subscribe(start) as batches:
                found = await some(batches, 1)
                assert len(found) == 1
                start = found[-1].key
        assert names(await some(steady, 8)) == [str(n) for n in range(8)]


async def test_an_event_of_a_transaction_that_took_long_is_not_passed_over(
    stream: Stream, connection: Any, database_url: str
) -> None:
    slow = await asyncpg.connect(database_url)
    async with stream.subscribe() as batches:
        async with slow.transaction():
            await happened(slow, "slow")
            await happened(connection, "quick")
            await happened(connection, "quick too")
        assert names(await some(batches, 3)) == ["slow", "quick", "quick too"]
    await slow.close()


async def test_one_who_follows_after_an_idle_hour_is_not_told_of_it(stream: Stream, connection: Any) -> None:
    async with stream.subscribe() as batches:
        await happened(connection, "early")
        await some(batches, 1)
    await connection.execute(MANY, 20_000)
    await settled(connection)
    async with stream.subscribe() as batches:
        await happened(connection, "late")
        assert names(await some(batches, 1)) == ["late"]


async def test_who_missed_too_much_is_told_to_look_anew(stream: Stream, connection: Any) -> None:
    start = await stream.now()
    await connection.execute(MANY, streams.MOST_MISSED)
    await settled(connection)
    async with stream.subscribe(start) as batches:
        assert len(await some(batches, streams.MOST_MISSED)) == streams.MOST_MISSED
    await happened(connection, "one more")
    await settled(connection)
    with pytest.raises(TooFarBehind):
        async with stream.subscribe(start):
            pass


async def test_a_place_in_the_log_of_another_database_is_told_to_look_anew(stream: Stream) -> None:
    with pytest.raises(TooFarBehind):
        async with stream.subscribe("999999999999-7"):
            pass


@pytest.mark.parametrize("key", ["", "7", "7-", "-7", "a-b", "1-2-3", "9" * 30 + "-1", "１-２x"])
async def test_what_is_no_place_in_the_log_is_refused(stream: Stream, key: str) -> None:
    with pytest.raises(BadQuery):
        async with stream.subscribe(key):
            pass


async def test_who_does_not_listen_is_let_go_and_others_hear_on(
    stream: Stream, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BATCHES_WAITING", 2)
    monkeypatch.setattr(streams, "AT_ONCE", 10)
    async with stream.subscribe() as slow, stream.subscribe() as quick:
        for _ in range(5):
            await connection.execute(MANY, 10)
            await some(quick, 10)
        had = [batch async for batch in slow]
        assert [len(batch) for batch in had] == [10, 10]
        async with stream.subscribe(had[-1][-1].key) as again:
            assert len(await some(again, 30)) == 30


async def test_a_storm_is_left_to_pass_and_then_what_is_new_is_told(
    stream: Stream, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "STORM_S", 0.01)
    async with stream.follow() as steady, stream.subscribe() as calm:
        await connection.execute(MANY, streams.AT_ONCE + streams.MOST_MISSED + 1)
        async with asyncio.timeout(ENOUGH_S):
            assert [len(batch) async for batch in aiter_until_reset(steady)] == [streams.AT_ONCE]
            assert len(await anext(calm)) == streams.AT_ONCE
            with pytest.raises(TooFarBehind):
                await anext(calm)
        await happened(connection, "after it")
        async with asyncio.timeout(ENOUGH_S):
            told = await anext(steady)
        assert isinstance(told, list)
        assert names(told) == ["after it"]


async def aiter_until_reset(batches: AsyncIterator[streams.Batch]) -> AsyncIterator[list[News]]:
    while isinstance(batch := await anext(batches), list):
        yield batch


async def test_a_mint_is_told_before_the_next_poll(
    stream: Stream, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "POLL_S", 3600.0)
    async with stream.subscribe() as batches:
        await connection.execute(AN_EVENT, None, None, "minted", None)
        await settled(connection)
        await wakeup.notify(connection.fetch, "")
        await some(batches, 1)


async def test_it_goes_on_after_the_database_was_away(stream: Stream, connection: Any) -> None:
    async with stream.subscribe() as batches:
        await happened(connection, "before")
        await some(batches, 1)
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await happened(connection, "after")
        assert names(await some(batches, 1)) == ["after"]


async def test_when_it_stops_everybodys_stream_ends(stream: Stream) -> None:
    async with asyncio.timeout(ENOUGH_S), stream.subscribe() as batches:
        stream.stop()
        assert [batch async for batch in batches] == []
        async with stream.subscribe() as late:
            assert [batch async for batch in late] == []


async def test_without_a_database_nobody_can_follow() -> None:
    stream = Stream("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(DatabaseUnreachable):
        async with stream.subscribe():
            pass
