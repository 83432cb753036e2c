"""Every change of a token is told to the operator's server: in order, at least once, whatever happens to either of us."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.engine.link import Link
from glisk.settings import Settings
from glisk.telling import outbox, running
from glisk.telling.outbox import MOST_TRIES, Outbox, rest_after
from glisk.telling.posting import Receiver
from tests.builders import CHAIN, CONTRACT, PINNED, a_token_row
from tests.receiver import SECRET, Hearer, hearing

EVENT = "INSERT INTO events (item_id, workflow, from_status, to_status, actor) VALUES ($1, 'token', $2, $3, 'test')"
STANDS = "SELECT tries, error, next_at > now() AS waits FROM outbox"
CERTAIN = "SELECT max(xact) < pg_snapshot_xmin(pg_current_snapshot()) FROM events"
SHOWN = frozenset({"revealed"})


@pytest.fixture
async def hearer() -> AsyncIterator[Hearer]:
    async with hearing() as found:
        yield found


@pytest.fixture
async def sender(link: Link, hearer: Hearer) -> AsyncIterator[Outbox]:
    """It has been started once, so what comes now is told."""
    found = Outbox(link, Receiver(hearer.url, SECRET, patience=0.5), SHOWN)
    await found.run()
    yield found
    await found.receiver.close()


@pytest.fixture
def moves(connection: Any) -> Callable[..., Any]:
    """What happens to a token."""

    async def move(item: int, *statuses: str) -> None:
        for was, status in zip(("detected", *statuses), statuses, strict=False):
            await connection.execute(EVENT, item, was, status)

    return move


async def heard(sender: Outbox, hearer: Hearer, many: int) -> None:
    """Runs until so many were told: a transaction of another test, on the same server, holds back what is certain."""
    async with asyncio.timeout(20):
        while len(hearer.heard) < many:
            await sender.run()


async def tried(sender: Outbox, connection: Any, times: int) -> None:
    async with asyncio.timeout(20):
        while await connection.fetchval("SELECT tries FROM outbox") < times:
            await sender.run()


async def due(connection: Any) -> None:
    """The rest is over."""
    await connection.execute("UPDATE outbox SET next_at = now()")


async def test_every_change_is_told_in_order_and_signed(
    sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    first, second = await a_token_row(connection, 7, **PINNED), await a_token_row(connection, 2**255)
    await moves(first, "uploading", "ready")
    await moves(second, "failed")
    await moves(first, "revealed")
    await heard(sender, hearer, 4)
    assert hearer.types == ["token.uploading", "token.ready", "token.failed", "token.revealed"]
    assert [message["data"]["token_id"] for message in hearer.heard] == ["7", "7", str(2**255), "7"]
    assert hearer.forged == 0
    assert len(set(hearer.ids)) == 4
    told = hearer.heard[3]["data"]
    assert told["collection"] == f"{CHAIN}:{CONTRACT}"
    assert (told["metadata"], told["image"]) == ("ipfs://bafymetadata", "ipfs://bafyimage")
    assert "image" not in hearer.heard[1]["data"]  # nobody is to know before it is revealed
    await sender.run()
    assert len(hearer.heard) == 4


async def test_the_first_start_does_not_begin_at_the_beginning_of_time(
    link: Link, hearer: Hearer, connection: Any, moves: Any
) -> None:
    item = await a_token_row(connection)
    await moves(item, "uploading")
    while not await connection.fetchval(CERTAIN):
        pass  # a transaction of another test, on the same server, is older
    sender = Outbox(link, Receiver(hearer.url, SECRET), SHOWN)
    await sender.run()
    await moves(item, "ready")
    await heard(sender, hearer, 1)
    await sender.receiver.close()
    assert hearer.types == ["token.ready"]


async def test_what_is_no_change_of_a_token_is_passed_over(
    sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    item = await a_token_row(connection)
    for status in ("lane held", "key made", "reorg"):
        await connection.execute("INSERT INTO events (to_status, actor) VALUES ($1, 'test')", status)
    await connection.execute(EVENT.replace("'token'", "'llm_task'"), 5, "waiting", "completed")
    await connection.execute(EVENT, item, "generating", "generating")  # a note in the middle of a step
    await sender.run()
    assert hearer.heard == []
    await moves(item, "uploading")
    await heard(sender, hearer, 1)
    assert hearer.types == ["token.uploading"]


async def test_a_long_queue_is_told_at_once(sender: Outbox, hearer: Hearer, connection: Any) -> None:
    item = await a_token_row(connection)
    many = 2 * outbox.AT_ONCE + 1
    await connection.executemany(EVENT, [(item, None, f"n{n}") for n in range(many)])
    await heard(sender, hearer, many)
    assert hearer.types == [f"token.n{n}" for n in range(many)]


@pytest.mark.parametrize("trouble", ["500", "404", "redirect", "slow", "down"])
async def test_what_is_not_taken_is_told_again_and_nothing_goes_past_it(
    trouble: str, sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    item, url = await a_token_row(connection), hearer.url
    await moves(item, "uploading", "ready")
    hearer.is_slow = trouble == "slow"
    hearer.status = {"redirect": 307, "500": 500, "404": 404}.get(trouble, 200)
    sender.receiver.url = "http://127.0.0.1:9/hook" if trouble == "down" else url
    await tried(sender, connection, 1)
    await sender.run()  # it rests first
    stands = await connection.fetchrow(STANDS)
    assert (stands["tries"], stands["waits"]) == (1, True)
    assert url not in stands["error"]
    await due(connection)
    await tried(sender, connection, 2)
    assert set(hearer.types) <= {"token.uploading"}
    hearer.is_slow, hearer.status, sender.receiver.url = False, 200, url
    hearer.let_go.set()
    await due(connection)
    await heard(sender, hearer, (0 if trouble == "down" else 2) + 2)
    seen = dict(zip(hearer.ids, hearer.types, strict=True))  # whoever gets doubles knows them by their id
    assert list(seen.values()) == ["token.uploading", "token.ready"]
    assert tuple(await connection.fetchrow(STANDS)) == (0, None, False)


async def test_whoever_dies_between_sending_and_noting_it_has_told_it_all_the_same(
    database_url: str, sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    await moves(await a_token_row(connection), "uploading")
    hearer.is_slow = True
    dying = Outbox(Link(database_url), Receiver(hearer.url, SECRET), SHOWN)
    run = asyncio.create_task(heard(dying, hearer, 1))
    await hearer.has(1)
    await dying.link.close()  # as it is when a process is killed: its connections are gone, and nothing more is written
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    hearer.is_slow = False
    hearer.let_go.set()
    await heard(sender, hearer, 2)  # the database may need a moment to see that the other is gone
    assert hearer.ids[0] == hearer.ids[1]
    await dying.receiver.close()
    await dying.link.close()


async def test_no_transaction_is_open_while_we_wait_for_an_answer(
    sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    await moves(await a_token_row(connection), "uploading")
    hearer.is_slow = True
    run = asyncio.create_task(heard(sender, hearer, 1))
    await hearer.has(1)
    states = await connection.fetch(
        "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert "idle in transaction" not in {row["state"] for row in states}
    hearer.let_go.set()
    await run


async def test_of_many_processes_one_tells_at_a_time(
    database_url: str, sender: Outbox, hearer: Hearer, connection: Any
) -> None:
    item = await a_token_row(connection)
    await connection.executemany(EVENT, [(item, None, f"n{n}") for n in range(40)])
    others = [Outbox(Link(database_url), Receiver(hearer.url, SECRET), SHOWN) for _ in range(4)]
    await asyncio.gather(*(heard(each, hearer, 40) for each in (*others, sender)))
    assert hearer.types == [f"token.n{n}" for n in range(40)]
    for each in others:
        await each.receiver.close()
        await each.link.close()


async def test_what_commits_later_but_began_earlier_is_not_left_out(
    database_url: str, sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    item, slow = await a_token_row(connection), await asyncpg.connect(database_url)
    transaction = slow.transaction()
    await transaction.start()
    await slow.execute(EVENT, item, "detected", "early")
    await moves(item, "late")
    await sender.run()
    assert hearer.heard == []  # else the early one would be passed by
    await transaction.commit()
    await heard(sender, hearer, 2)
    assert hearer.types == ["token.early", "token.late"]
    await slow.close()


async def test_after_a_day_in_vain_it_is_given_up_and_the_audit_log_says_so(
    sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    item = await a_token_row(connection)
    await moves(item, "uploading", "ready")
    hearer.status = 500
    await connection.execute("UPDATE outbox SET tries = $1", MOST_TRIES - 1)
    await heard(sender, hearer, 1)
    given_up = await connection.fetchval("SELECT data ->> 'event' FROM events WHERE to_status = 'webhook given up'")
    assert given_up == hearer.ids[0]
    hearer.status = 200
    await heard(sender, hearer, 2)
    assert hearer.types == ["token.uploading", "token.ready"]


async def test_a_database_from_a_backup_does_not_silence_it(
    sender: Outbox, hearer: Hearer, connection: Any, moves: Any
) -> None:
    """Its transactions are counted anew, so the place up to which all was told lies far ahead."""
    await connection.execute("UPDATE outbox SET xact = '999999999'")
    await sender.run()
    await moves(await a_token_row(connection), "uploading")
    await heard(sender, hearer, 1)
    assert hearer.types == ["token.uploading"]
    assert await connection.fetchval("SELECT count(*) FROM events WHERE to_status = 'webhook restarted'") == 1


@given(st.integers(0, 1000), st.floats(0, 1))
def test_rests_grow_to_ten_minutes_and_no_further(tries: int, jitter: float) -> None:
    rest = rest_after(tries, jitter)
    assert timedelta(seconds=0.5) <= rest <= timedelta(minutes=10)
    assert rest_after(tries + 1, jitter) >= rest


def test_all_tries_together_take_a_day() -> None:
    whole = sum((rest_after(n, 0.5) for n in range(MOST_TRIES)), timedelta())
    assert timedelta(hours=17) < whole < timedelta(hours=25)


async def test_a_process_tells_within_seconds(
    database_url: str, sender: Outbox, hearer: Hearer, connection: Any, moves: Any, tmp_path: Any
) -> None:
    settings = Settings(data_dir=tmp_path, webhook_url=hearer.url, webhook_secret=SECRET)
    telling = asyncio.create_task(running.tell(database_url, settings))
    await moves(await a_token_row(connection), "uploading")
    await hearer.has(1)
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)
    assert hearer.types == ["token.uploading"]
