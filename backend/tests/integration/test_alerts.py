"""Trouble is told once, and once more when it is over; whoever tells may die in between, and whoever hears may be away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.repositories.alert_board import AlertBoard
from glisk.settings import Settings
from glisk.telling import alerts
from glisk.telling.alerts import Alerts
from glisk.telling.posting import Receiver
from glisk.telling.pulse import Pulse
from tests.builders import MANY_TOKENS, PINNED, a_token_row
from tests.receiver import SECRET, Hearer, hearing

LATER = """
    UPDATE alerts SET raised_at = raised_at - interval '1 day', told_at = told_at - interval '1 day',
      cleared_at = cleared_at - interval '1 day'"""
CURSOR = """
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, head_no, head_at,
      updated_at) VALUES (1, '0x' || repeat('c0', 20), 0, 5, sha256('a'), 5, sha256('a'), 5, now(), now())"""
SENDER = """
    INSERT INTO chain_sender (chain_id, address, balance_wei, fee_wei, gas_per_token)
    VALUES (1, '0x' || repeat('aa', 20), 1e15, 1e9, 50000)"""
FAILED = "UPDATE tokens_s0 SET status = 'failed', generation_error = $1, finished_at = now() WHERE token_id = $2"
Do = Callable[[Link, Any], Awaitable[Any]]


@pytest.fixture
async def hearer() -> AsyncIterator[Hearer]:
    async with hearing() as found:
        yield found


def told_to(url: str, **more: Any) -> Settings:
    return Settings(data_dir=Path("."), alert_url=url, alert_secret=SECRET, **more)


@pytest.fixture
async def watch(link: Link, hearer: Hearer) -> AsyncIterator[Alerts]:
    found = Alerts(link, told_to(hearer.url), Receiver(hearer.url, SECRET, patience=0.5))
    yield found
    assert found.receiver
    await found.receiver.close()


async def looks(watch: Alerts, connection: Any) -> None:
    """Twice, with a day in between: enough for anything to be told."""
    await watch.run()
    await connection.execute(LATER)
    await watch.run()


async def hold(link: Link, reason: str = "GLK-305 the token is refused") -> None:
    await lanes.make(link, "replicate", 2)
    await lanes.hold(link, "replicate", reason)


async def test_trouble_is_told_once_and_once_when_it_is_over(
    watch: Alerts, hearer: Hearer, link: Link, connection: Any
) -> None:
    await looks(watch, connection)
    assert hearer.heard == []
    await hold(link)
    for _ in range(3):
        await looks(watch, connection)
    assert hearer.types == ["alert.raised"]
    assert "GLK-305" in hearer.heard[0]["data"]["message"]
    assert "glisk lanes resume replicate" in hearer.heard[0]["data"]["fix"]
    await lanes.resume(link, "replicate")
    for _ in range(3):
        await looks(watch, connection)
    assert hearer.types == ["alert.raised", "alert.cleared"]
    assert hearer.forged == 0
    assert await connection.fetchval("SELECT count(*) FROM alerts") == 0
    await hold(link)
    await looks(watch, connection)
    assert hearer.types == ["alert.raised", "alert.cleared", "alert.raised"]
    assert len(set(hearer.ids)) == 3


async def test_what_passes_at_once_is_not_told(watch: Alerts, hearer: Hearer, link: Link, connection: Any) -> None:
    await hold(link)
    await watch.run()
    await lanes.resume(link, "replicate")
    await looks(watch, connection)
    assert hearer.heard == []
    assert await connection.fetchval("SELECT count(*) FROM alerts") == 0


async def test_what_comes_and_goes_is_one_trouble(watch: Alerts, hearer: Hearer, link: Link, connection: Any) -> None:
    await hold(link)
    await looks(watch, connection)
    for _ in range(5):
        await lanes.resume(link, "replicate")
        await watch.run()
        await hold(link)
        await watch.run()
    assert hearer.types == ["alert.raised"]


async def test_whoever_did_not_take_it_is_told_later_even_if_it_is_over_by_then(
    watch: Alerts, hearer: Hearer, link: Link, connection: Any
) -> None:
    await hold(link)
    hearer.status = 500
    await looks(watch, connection)
    await looks(watch, connection)
    assert hearer.types == ["alert.raised"]  # and then it was left alone for a while
    await lanes.resume(link, "replicate")
    await looks(watch, connection)
    hearer.status, watch.tries_at = 200, 0.0
    await looks(watch, connection)
    assert hearer.types == ["alert.raised", "alert.raised", "alert.cleared"]


@pytest.mark.parametrize("trouble", ["slow", "redirect", "down"])
async def test_a_receiver_in_trouble_loses_nothing(
    trouble: str, watch: Alerts, hearer: Hearer, link: Link, connection: Any
) -> None:
    assert watch.receiver
    await hold(link)
    hearer.is_slow, hearer.status = trouble == "slow", 307 if trouble == "redirect" else 200
    watch.receiver.url = "http://127.0.0.1:9/" if trouble == "down" else hearer.url
    await looks(watch, connection)
    assert await connection.fetchval("SELECT told_at FROM alerts") is None
    hearer.is_slow, hearer.status, watch.receiver.url, watch.tries_at = False, 200, hearer.url, 0.0
    hearer.let_go.set()
    await watch.run()
    assert hearer.types[-1] == "alert.raised"
    assert await connection.fetchval("SELECT told_at FROM alerts") is not None


async def test_whoever_dies_between_sending_and_noting_it_has_told_it_all_the_same(
    database_url: str, watch: Alerts, hearer: Hearer, link: Link, connection: Any
) -> None:
    await hold(link)
    await watch.run()
    await connection.execute(LATER)
    dying = Alerts(Link(database_url), watch.settings, Receiver(hearer.url, SECRET))
    hearer.is_slow = True
    run = asyncio.create_task(dying.run())
    await hearer.has(1)
    await dying.link.close()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    hearer.is_slow = False
    hearer.let_go.set()
    async with asyncio.timeout(20):
        while len(hearer.heard) < 2:
            await watch.run()
    assert hearer.ids[0] == hearer.ids[1]
    assert dying.receiver
    await dying.receiver.close()
    await dying.link.close()


async def test_of_many_processes_one_tells(
    database_url: str, watch: Alerts, hearer: Hearer, link: Link, connection: Any
) -> None:
    others = [Alerts(Link(database_url), watch.settings, Receiver(hearer.url, SECRET)) for _ in range(4)]
    await hold(link)
    await watch.run()
    await connection.execute(LATER)
    for _ in range(3):
        await asyncio.gather(*(each.run() for each in (watch, *others)))
    assert hearer.types == ["alert.raised"]
    for each in others:
        assert each.receiver
        await each.receiver.close()
        await each.link.close()


async def test_without_a_receiver_it_is_in_the_log_and_in_the_table(
    link: Link, connection: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    watch = Alerts(link, Settings(data_dir=Path(".")), None)
    await hold(link)
    await looks(watch, connection)
    await looks(watch, connection)
    assert capsys.readouterr().out.count("alert raised") == 1
    assert await connection.fetchval("SELECT told_at IS NOT NULL FROM alerts")


async def test_discord_is_told_in_its_own_way(link: Link, hearer: Hearer, connection: Any) -> None:
    """In few enough characters, and calling nobody by name."""
    watch = Alerts(link, told_to(hearer.url, alert_format="discord"), Receiver(hearer.url, SECRET))
    await hold(link, "@everyone " + "x" * 3000)
    await looks(watch, connection)
    (message,) = hearer.heard
    assert message["allowed_mentions"] == {"parse": []}
    assert "replicate" in message["content"]
    assert len(message["content"]) <= alerts.LONGEST_CONTENT
    assert watch.receiver
    await watch.receiver.close()


@pytest.mark.parametrize(
    ("url", "format", "is_theirs"),
    [
        ("https://discord.com/api/webhooks/1/x", "", True),
        ("https://ptb.discord.com/api/webhooks/1/x", "", True),
        ("https://notdiscord.com/x", "", False),
        ("https://discord.com/x", "json", False),
        ("https://mine.example/x", "discord", True),
        ("", "", False),
    ],
)
def test_an_address_of_discord_is_known(url: str, format: Any, is_theirs: bool) -> None:
    assert Settings(data_dir=Path("."), alert_url=url, alert_format=format).is_discord is is_theirs


async def test_a_database_that_does_not_answer_is_told_without_it(hearer: Hearer, database_url: str) -> None:
    """By each process for itself: there is nowhere to write down who has done it."""
    clock = [datetime(2026, 1, 1, tzinfo=UTC)]
    settings, receiver = told_to(hearer.url), Receiver(hearer.url, SECRET)
    pulse = Pulse(Link("postgresql://127.0.0.1:9/none"), settings, receiver, now=lambda: clock[0])
    await pulse.look()
    assert hearer.heard == []
    clock[0] += timedelta(seconds=settings.alert_lag)
    hearer.status = 500
    await pulse.look()
    hearer.status = 200
    await pulse.look()
    await pulse.look()
    assert [message["data"]["kind"] for message in hearer.heard] == ["database", "database"]
    assert hearer.ids[0] == hearer.ids[1]
    pulse.link = Link(database_url)
    await pulse.look()
    await pulse.look()
    assert hearer.types == ["alert.raised", "alert.raised", "alert.cleared"]
    await pulse.link.close()
    await receiver.close()


async def lagging(link: Link, connection: Any) -> None:
    await connection.execute(CURSOR)
    await connection.execute("UPDATE chain_cursor SET updated_at = now() - interval '1 hour'")


async def poor(link: Link, connection: Any) -> None:
    await connection.execute(CURSOR)
    await connection.execute(SENDER)


async def broken(link: Link, connection: Any) -> None:
    await a_token_row(connection, 1)
    await connection.execute(FAILED, "No (GLK-302)", 1)


async def old(link: Link, connection: Any) -> None:
    await lanes.make(link, "replicate", 1)
    await lanes.place(link, {("token", "generating"): "replicate"})
    await lanes.hold(link, "replicate", "by a person")
    await a_token_row(connection, 1)
    await connection.execute("UPDATE tokens_s0 SET detected_at = now() - interval '2 hours'")


async def abandoned(link: Link, connection: Any) -> None:
    await a_token_row(connection, 1)
    await connection.execute("UPDATE tokens_s0 SET detected_at = now() - interval '10 minutes'")


async def halted(link: Link, connection: Any) -> None:
    await connection.execute(CURSOR)
    await connection.execute("UPDATE chain_cursor SET halted = 'Too deep'")


async def unheard(link: Link, connection: Any) -> None:
    await connection.execute(
        "INSERT INTO outbox (name, xact, event_id, tries, error) VALUES ('tokens', '1', 1, 9, 'x')"
    )


async def overspent(link: Link, connection: Any) -> None:
    await hold(link, "$5 of $5 are spent or ordered today: the day's budget.")


@pytest.mark.parametrize(
    ("trouble", "kinds"),
    [
        (lagging, {"lag"}),
        (poor, {"balance"}),
        (broken, {"failed"}),
        (old, {"age", "lane"}),
        (abandoned, {"idle"}),
        (halted, {"halted"}),
        (unheard, {"outbox"}),
        (overspent, {"budget"}),
    ],
)
async def test_every_trouble_is_found_in_the_database(
    trouble: Do, kinds: set[str], watch: Alerts, hearer: Hearer, link: Link, connection: Any
) -> None:
    await trouble(link, connection)
    await looks(watch, connection)
    assert {message["data"]["kind"] for message in hearer.heard} == kinds


async def test_a_transaction_that_is_kept_open_is_told(link: Link, connection: Any, database_url: str) -> None:
    """Behind it nothing can be told in order."""
    lazy = await asyncpg.connect(database_url)
    await lazy.execute("BEGIN; INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('11', 20))")
    await connection.execute("INSERT INTO events (to_status, actor, at) VALUES ('x', 'y', now() - interval '1 hour')")
    seen = await AlertBoard(link).snapshot({"detected": "generating"}, 10)
    await lazy.execute("ROLLBACK")
    await lazy.close()
    assert seen.held_back_s > 3500


async def test_tokens_that_failed_alike_are_told_once_with_their_number_and_it_clears_when_none_is_left(
    watch: Alerts, hearer: Hearer, connection: Any
) -> None:
    for n in range(3):
        await a_token_row(connection, n)
        await connection.execute(FAILED, "No (GLK-302)", n)
    await looks(watch, connection)
    await a_token_row(connection, 9)
    await connection.execute(FAILED, "No again (GLK-302)", 9)
    await looks(watch, connection)
    assert [message["data"]["message"][:22] for message in hearer.heard] == ["3 tokens have failed ("]
    await connection.execute("UPDATE tokens_s0 SET status = 'detected', generation_error = NULL, finished_at = NULL")
    await looks(watch, connection)
    assert hearer.types == ["alert.raised", "alert.cleared"]


async def test_a_worker_that_has_something_in_hand_is_somebody(link: Link, connection: Any) -> None:
    await abandoned(link, connection)
    await a_token_row(connection, 2)
    await connection.execute(
        "UPDATE tokens_s0 SET status = 'generating', leased_by = 'w', leased_until = now() + interval '1 minute' WHERE token_id = 2"
    )
    seen = await AlertBoard(link).snapshot({"detected": "generating"}, 10)
    assert seen.waited_s is None


async def test_where_nothing_is_revealed_pinned_tokens_have_arrived(link: Link, connection: Any) -> None:
    settings = Settings(data_dir=Path("."), reveal="off")
    await a_token_row(connection, status="ready", **PINNED)
    await connection.execute("UPDATE tokens_s0 SET detected_at = now() - interval '1 day'")
    seen = await AlertBoard(link).snapshot(alerts.steps(settings), 10)
    assert (seen.oldest, seen.waited_s) == (None, None)


async def test_a_look_stays_quick_with_very_many_tokens(link: Link, connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 50_000, ["detected", "uploading", "failed"], 0)
    await connection.execute("ANALYZE tokens_s0")
    loop = asyncio.get_running_loop()
    await AlertBoard(link).snapshot({"detected": "generating"}, alerts.MOST)
    start = loop.time()
    await AlertBoard(link).snapshot({"detected": "generating", "uploading": "pinning"}, alerts.MOST)
    assert loop.time() - start < 1
