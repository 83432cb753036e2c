"""Pins are looked at on a schedule: what was lost comes back, replicas are made, and a service that is away loses nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

from glisk.dev.standins.pin_control import PinControl
from glisk.engine.link import Link
from glisk.engine.periodic import keep_time
from glisk.publishing import pins, tending
from glisk.publishing.pins import Pinnable
from glisk.publishing.tending import Tending
from glisk.settings import Settings
from glisk.storage.ipfs import chosen
from glisk.storage.ipfs.kubo import Kubo
from glisk.storage.ipfs.pinata import Pinata
from glisk.storage.ipfs.port import Pinner
from glisk.storage.ipfs.unixfs import dag
from glisk.storage.objects import Objects
from glisk.storage.s3 import Patience
from tests.builders import a_token_row
from tests.standins import JWT

A_DAY = timedelta(days=1)
HASTE = httpx.Timeout(5.0)
IMPATIENT = Patience(answer=timedelta(seconds=2))
DUE = "UPDATE pins SET check_at = now()"


@pytest.fixture
async def pinata(pinata_service: PinControl) -> AsyncIterator[Pinata]:
    pinner = Pinata(JWT, pinata_service.url, pinata_service.url, HASTE)
    yield pinner
    await pinner.close()


@pytest.fixture
async def kubo(kubo_service: PinControl) -> AsyncIterator[Kubo]:
    pinner = Kubo(kubo_service.url, timeout=HASTE)
    yield pinner
    await pinner.close()


class House:
    """A database with a token, a place for bytes, and whoever tends the pins."""

    def __init__(self, url: str, connection: Any, link: Link, objects: Objects) -> None:
        self.url, self.connection, self.link, self.objects = url, connection, link, objects

    async def file(self, data: bytes = b"a quiet harbour") -> Pinnable:
        stored = await self.objects.put(data, "image/png", "png")
        return Pinnable(dag(data).root, stored.key, f"file-{stored.sha256[:8]}")

    async def pinned(self, pinner: Pinner, *files: Pinnable, others: tuple[str, ...] = ()) -> None:
        """As the step that pins does it."""
        item = await a_token_row(self.connection, token_id=len(files))
        for file in files:
            await pinner.put(dag(await self.objects.get(file.object_key) or b""), file.label)
        await pins.kept(self.link.fetch, item, files, pinner.name, others, A_DAY)

    def tending(self, *pinners: Pinner, link: Link | None = None) -> Tending:
        return Tending(link or self.link, pinners, self.objects, A_DAY)

    async def tended(self, *pinners: Pinner) -> None:
        """All that is there is due, and somebody comes who was not there before."""
        await self.connection.execute(DUE)
        await self.tending(*pinners).run()

    async def row(self, pinner: str, cid: str = "") -> dict[str, Any]:
        found = await self.connection.fetchrow(
            """SELECT *, check_at - now() AS due_in, pinned_at IS NOT NULL AND missing_since IS NULL AS is_there
               FROM pins WHERE pinner = $1 AND $2 IN ('', cid)""",
            *(pinner, cid),
        )
        return dict(found)


@pytest.fixture
def house(database_url: str, connection: Any, link: Link, tmp_path: Path) -> House:
    return House(database_url, connection, link, Objects.of(Settings(data_dir=tmp_path / "data")))


def about(length: timedelta, minutes: float) -> bool:
    return abs(length - timedelta(minutes=minutes)) < timedelta(seconds=30)


async def test_what_was_pinned_is_looked_at_a_day_later(house: House, pinata: Pinata) -> None:
    await house.pinned(pinata, await house.file())
    row = await house.row("pinata")
    assert row["is_there"]
    assert about(row["due_in"], 24 * 60)


async def test_a_pin_that_is_there_is_only_asked_after(
    house: House, pinata: Pinata, pinata_service: PinControl
) -> None:
    await house.pinned(pinata, await house.file())
    before = await house.row("pinata")
    await house.tended(pinata)
    after = await house.row("pinata")
    assert after["pinned_at"] == before["pinned_at"]
    assert about(after["due_in"], 24 * 60)
    assert (len(pinata_service.log("list")), len(pinata_service.log("upload"))) == (1, 1)


@pytest.mark.parametrize("name", ["pinata", "kubo"])
async def test_a_pin_that_was_dropped_comes_back(
    house: House, pinata: Pinata, kubo: Kubo, pinata_service: PinControl, kubo_service: PinControl, name: str
) -> None:
    places: dict[str, tuple[Pinner, PinControl]] = {"pinata": (pinata, pinata_service), "kubo": (kubo, kubo_service)}
    pinner, service = places[name]
    small, large = await house.file(), await house.file(b"".join(n.to_bytes(4) for n in range(640_000)))
    await house.pinned(pinner, small, large)
    service.drop(large.cid)
    with structlog.testing.capture_logs() as logs:
        await house.tended(pinner)
    assert set(service.cids()) == {small.cid, large.cid}
    row = await house.row(name, large.cid)
    assert (row["is_there"], row["missing_since"], row["error"]) == (True, None, None)
    assert [log["cid"] for log in logs if log["event"] == "a pin is missing"] == [large.cid]


async def test_a_replica_is_made_by_and_by(house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl) -> None:
    files = [await house.file(), await house.file(b"{}")]
    await house.pinned(pinata, *files, others=("kubo",))
    assert not (await house.row("kubo"))["is_there"]
    await house.tending(pinata, kubo).run()
    assert sorted(kubo_service.cids()) == sorted(file.cid for file in files)
    assert (await house.row("kubo"))["is_there"]
    assert about((await house.row("kubo"))["due_in"], 24 * 60)


async def test_a_pinner_that_comes_later_gets_what_was_pinned_before(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [await house.file(str(n).encode()) for n in range(7)]
    await house.pinned(pinata, *files)
    monkeypatch.setattr(tending, "SPREAD", 3)
    tender, before = house.tending(pinata, kubo), await house.row("pinata")
    await tender.run()
    assert len(kubo_service.cids()) == 3, "a few at a time"
    await tender.run()
    await tender.run()
    assert sorted(kubo_service.cids()) == sorted(file.cid for file in files)
    await tender.run()
    await tender.run()
    assert len(kubo_service.log("import")) == 7, "each once"
    assert {**await house.row("pinata"), "due_in": None} == {**before, "due_in": None}


async def test_a_pinner_that_takes_the_place_of_another_gets_everything(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl
) -> None:
    file = await house.file()
    await house.pinned(pinata, file)
    await house.tending(kubo).run()
    assert kubo_service.cids() == [file.cid]
    row = await house.row("kubo")
    assert (row["object_key"], row["label"], row["is_there"]) == (file.object_key, file.label, True)


async def test_who_is_pinned_again_keeps_one_row_that_starts_anew(house: House, pinata: Pinata) -> None:
    file = await house.file()
    await house.pinned(pinata, file, others=("kubo",))
    await house.connection.execute("UPDATE pins SET missing_since = now(), pinned_at = NULL, error = 'x'")
    item = await house.connection.fetchval("SELECT item_id FROM pins LIMIT 1")
    await pins.kept(house.link.fetch, item, [file], "pinata", ["kubo"], A_DAY)
    assert await house.connection.fetchval("SELECT count(*) FROM pins") == 2
    assert (await house.row("pinata"))["is_there"]
    assert (await house.row("kubo"))["error"] == "x", "what is known of the other one is not about this"


async def test_a_service_that_is_away_is_asked_again_later_and_nothing_is_lost(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl
) -> None:
    files = [await house.file(str(n).encode()) for n in range(12)]
    await house.pinned(pinata, *files, others=("kubo",))
    kubo_service.always(status_code=502)
    tender = house.tending(pinata, kubo)
    with structlog.testing.capture_logs() as logs:
        await tender.run()
        await tender.run()
    assert len(kubo_service.log("import")) == tending.BATCH, "one batch finds out, the others wait"
    assert [log["event"] for log in logs].count("pins wait for their service") == 1
    troubled = await house.connection.fetch("SELECT check_at - now() AS due_in FROM pins WHERE error LIKE '%502%'")
    assert len(troubled) == tending.BATCH
    assert all(about(row["due_in"], 1) for row in troubled)
    kubo_service.reset()
    await house.tended(pinata, kubo)
    assert sorted(kubo_service.cids()) == sorted(file.cid for file in files)
    assert await house.connection.fetchval("SELECT count(*) FROM pins WHERE error IS NULL") == 24


async def test_a_pin_of_a_service_that_is_away_counts_as_there(
    house: House, pinata: Pinata, pinata_service: PinControl
) -> None:
    await house.pinned(pinata, await house.file())
    pinata_service.script(on="list", drop="before", reset=True)
    await house.tended(pinata)
    row = await house.row("pinata")
    assert row["is_there"]
    assert "connection" in row["error"]
    assert about(row["due_in"], 1)


async def test_who_waits_waits_twice_as_long_each_time(
    house: House, pinata: Pinata, pinata_service: PinControl
) -> None:
    await house.pinned(pinata, await house.file())
    pinata_service.always(on="list", status_code=500)
    tender, waits = house.tending(pinata), []
    for _ in range(8):
        await house.connection.execute(DUE)
        tender.places["pinata"].rest.until = 0
        await tender.run()
        waits.append(round((await house.row("pinata"))["due_in"] / timedelta(minutes=1)))
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_one_file_that_a_service_cannot_keep_waits_longer_each_time_alone(
    house: House, kubo: Kubo, kubo_service: PinControl
) -> None:
    await house.pinned(kubo, await house.file())
    (cid,) = kubo_service.cids()
    kubo_service.always(pin_error="no space left on device")
    for missing, wait in ((0, 1), (9, 9), (500, 60)):
        kubo_service.drop(cid)
        await house.connection.execute(
            "UPDATE pins SET check_at = now(), pinned_at = NULL, missing_since = now() - $1::interval",
            timedelta(minutes=missing),
        )
        await house.tending(kubo).run()
        row = await house.row("kubo")
        assert about(row["due_in"], wait)
        assert "no space left" in row["error"]


@pytest.mark.parametrize(
    ("scenario", "minutes"),
    [
        ({"status_code": 429, "retry_after_s": 600}, 10),
        ({"status_code": 429}, 1),
        ({"status_code": 403}, 60),
        ({"status_code": 401}, 60),
    ],
)
async def test_a_service_is_left_alone_for_as_long_as_it_says_or_as_a_person_needs(
    house: House, pinata: Pinata, pinata_service: PinControl, scenario: dict[str, Any], minutes: int
) -> None:
    await house.pinned(pinata, *[await house.file(str(n).encode()) for n in range(9)])
    await house.connection.execute(DUE)
    pinata_service.always(on="list", **scenario)
    tender = house.tending(pinata)
    with structlog.testing.capture_logs() as logs:
        await tender.run()
        await tender.run()
    assert [log["log_level"] for log in logs].count("warning") == 1
    assert JWT not in str(logs)
    waits = [
        row["due_in"]
        for row in await house.connection.fetch("SELECT check_at - now() AS due_in FROM pins WHERE error <> ''")
    ]
    assert len(waits) == tending.BATCH
    assert all(about(wait, minutes) for wait in waits)


async def test_a_stored_file_that_is_gone_or_another_is_told_loudly(
    house: House, pinata: Pinata, pinata_service: PinControl
) -> None:
    gone, other = await house.file(b"gone"), await house.file(b"other")
    await house.pinned(pinata, gone, other)
    for file in (gone, other):
        pinata_service.drop(file.cid)
    await house.objects.delete(gone.object_key)
    key = (await house.file(b"something else")).object_key
    await house.connection.execute("UPDATE pins SET object_key = $1 WHERE cid = $2", key, other.cid)
    with structlog.testing.capture_logs() as logs:
        await house.tended(pinata)
    loud = {log["cid"]: log["error"] for log in logs if log["log_level"] == "error"}
    assert set(loud) == {gone.cid, other.cid}
    assert gone.object_key in loud[gone.cid]
    assert dag(b"something else").root in loud[other.cid]
    assert (await house.row("pinata", other.cid))["error"] == loud[other.cid]
    assert pinata_service.cids() == []


async def test_while_the_stored_files_cannot_be_read_their_pins_wait(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl
) -> None:
    await house.pinned(pinata, *[await house.file(str(n).encode()) for n in range(9)], others=("kubo",))
    away = Objects.of(Settings(s3_bucket="away", s3_endpoint="http://127.0.0.1:1", s3_access_key_id="a"), IMPATIENT)
    with structlog.testing.capture_logs() as logs:
        await Tending(house.link, [kubo], away, A_DAY).run()
    assert [log["event"] for log in logs] == ["pins wait for their service"]
    assert kubo_service.cids() == []
    await house.tended(kubo)
    assert len(kubo_service.cids()) == 9


async def test_what_the_embedded_store_has_lost_or_spoiled_comes_back(house: House, tmp_path: Path) -> None:
    (local,) = chosen.pinners(Settings(data_dir=tmp_path / "data"))
    lost, spoiled = await house.file(b"lost"), await house.file(b"spoiled")
    await house.pinned(local, lost, spoiled)
    blocks = {file.read_bytes(): file for file in (tmp_path / "data" / "ipfs").rglob("*.raw")}
    blocks[b"lost"].unlink()
    blocks[b"spoiled"].write_bytes(b"spoilt!")
    await house.tended(local)
    assert [await local.has(file.cid) for file in (lost, spoiled)] == [True, True]
    assert (await house.row("local"))["is_there"]


async def test_a_service_that_answers_with_another_cid_is_told_loudly(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl
) -> None:
    await house.pinned(pinata, await house.file(), others=("kubo",))
    kubo_service.script(cid=dag(b"x").root)
    with structlog.testing.capture_logs() as logs:
        await house.tending(pinata, kubo).run()
    assert [log["log_level"] for log in logs] == ["error"]
    assert not (await house.row("kubo"))["is_there"]
    await house.tended(pinata, kubo)
    assert (await house.row("kubo"))["is_there"]


async def test_rows_of_a_pinner_that_is_not_used_any_more_are_left_alone(house: House, pinata: Pinata) -> None:
    await house.pinned(pinata, await house.file(), others=("kubo",))
    before = await house.row("kubo")
    await house.tended(pinata)
    after = await house.row("kubo")
    assert {**before, "check_at": None, "due_in": None} == {**after, "check_at": None, "due_in": None}
    assert after["due_in"] <= timedelta(0)


async def test_two_workers_tend_at_once_and_put_each_once(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl
) -> None:
    files = [await house.file(str(n).encode()) for n in range(30)]
    await house.pinned(pinata, *files, others=("kubo",))
    other = Link(house.url)
    await asyncio.gather(house.tending(kubo).run(), house.tending(kubo, link=other).run())
    await other.close()
    assert sorted(entry["subject"] for entry in kubo_service.log("import")) == sorted(file.cid for file in files)


async def test_what_a_dead_worker_had_taken_comes_again(house: House, pinata: Pinata, kubo: Kubo) -> None:
    await house.pinned(pinata, await house.file(), others=("kubo",))
    (taken,) = await pins.taken(house.link.fetch, ["kubo"], 10, tending.LEASE)
    assert await pins.taken(house.link.fetch, ["kubo"], 10, tending.LEASE) == []
    assert about((await house.row("kubo", taken.cid))["due_in"], tending.LEASE / timedelta(minutes=1))
    await house.tended(kubo)
    assert (await house.row("kubo"))["is_there"]


async def test_no_transaction_is_open_while_a_service_is_asked(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl
) -> None:
    await house.pinned(pinata, await house.file(), others=("kubo",))
    kubo_service.script(hold="a while")
    running = asyncio.create_task(house.tending(kubo).run())
    await kubo_service.reached("import")
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
    )
    assert await house.connection.fetchval(waiting) == 0
    kubo_service.release("a while")
    await running
    assert (await house.row("kubo"))["is_there"]


async def test_the_schedule_comes_round_by_itself(
    house: House, pinata: Pinata, kubo: Kubo, kubo_service: PinControl
) -> None:
    await house.pinned(pinata, await house.file(), others=("kubo",))
    work = tending.tending(house.link, [pinata, kubo], house.objects, A_DAY)
    timekeeper = asyncio.create_task(keep_time(house.link, [work], 0.05))
    await kubo_service.reached("import")
    timekeeper.cancel()
