"""The doctor: sees what is there and what is wrong with it, whatever that is, in time, and tells no secret."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from glisk.dev.standins.pin_control import PinControl
from glisk.dev.standins.replicate_control import ReplicateControl
from glisk.doctor import Check, examine, finding, is_well
from glisk.doctor.finding import Finding, Patient, Probe, looked_at
from glisk.settings import Settings
from tests.builders import a_token_row
from tests.standins import JWT

SECRET = "r8_very_secret"


def settings_in(place: Path, **changes: Any) -> Settings:
    return Settings(**({"data_dir": place / "data"} | changes))


def by_part(checks: list[Check]) -> dict[str, Check]:
    return {check.part: check for check in checks}


async def test_a_fresh_place_is_well_and_every_part_says_what_makes_it_real(database_url: str, tmp_path: Path) -> None:
    checks = await examine(settings_in(tmp_path), database_url)
    assert [check for check in checks if check.state != "ok"] == []
    assert is_well(checks)
    embedded = {check.part: check.variable for check in checks if check.kind == "embedded"}
    assert embedded == {
        "PostgreSQL": "GLISK_DATABASE_URL",
        "chain": "GLISK_RPC_URLS",
        "keeper": "GLISK_REVEAL_KEY_FILE",
        "studio": "GLISK_REPLICATE_API_TOKEN",
        "darkroom": "GLISK_OPENAI_API_KEY",
        "IPFS, local": "GLISK_PINATA_JWT",
        "objects": "GLISK_S3_BUCKET",
    }
    assert all(check.ms >= 0 for check in checks)


async def test_nothing_is_left_behind_where_pictures_lie(database_url: str, tmp_path: Path) -> None:
    await examine(settings_in(tmp_path), database_url)
    assert [path for path in (tmp_path / "data" / "objects").rglob("*") if path.is_file()] == []


async def test_a_database_that_is_not_there_is_told_and_the_rest_is_looked_at(tmp_path: Path) -> None:
    url = "postgresql://anna:hidden-word@127.0.0.1:1/nowhere"
    checks = await examine(settings_in(tmp_path, database_url=SecretStr(url)), url)
    found = by_part(checks)
    assert not is_well(checks)
    assert (found["PostgreSQL"].state, found["PostgreSQL"].kind) == ("broken", "real")
    assert found["PostgreSQL"].fix
    assert found["studio"].state == "ok"
    assert "hidden-word" not in repr(checks)


async def test_a_schema_that_nobody_migrated_is_told_once(empty_database_url: str, tmp_path: Path) -> None:
    found = by_part(await examine(settings_in(tmp_path), empty_database_url))
    assert found["PostgreSQL"].seen.startswith("GLK-703")
    assert (found["leases"].state, found["leases"].fix) == ("warning", "glisk migrate")


async def test_replicate_is_asked_for_nothing_that_costs(
    database_url: str, standin: ReplicateControl, tmp_path: Path
) -> None:
    settings = settings_in(tmp_path, replicate_api_token=SecretStr(SECRET), replicate_url=standin.url)
    found = by_part(await examine(settings, database_url))["Replicate"]
    assert (found.state, found.kind) == ("ok", "real")
    assert "$0.003" in found.seen
    assert standin.charges()["total"] == 0
    assert standin.log("create") == []


async def test_a_token_that_replicate_refuses_is_told_and_not_shown(
    database_url: str, standin: ReplicateControl, tmp_path: Path
) -> None:
    standin.always(on="account", status_code=401)
    settings = settings_in(tmp_path, replicate_api_token=SecretStr(SECRET), replicate_url=standin.url)
    checks = await examine(settings, database_url)
    found = by_part(checks)["Replicate"]
    assert (found.state, found.variable) == ("broken", "GLISK_REPLICATE_API_TOKEN")
    assert SECRET not in repr(checks)


async def test_a_model_that_there_is_not_is_told(database_url: str, standin: ReplicateControl, tmp_path: Path) -> None:
    standin.always(on="model", status_code=404)
    settings = settings_in(tmp_path, replicate_api_token=SecretStr(SECRET), replicate_url=standin.url)
    assert "there is no model" in by_part(await examine(settings, database_url))["Replicate"].seen


async def test_pinners_are_asked_whether_they_let_us_in(
    database_url: str, pinata_service: PinControl, kubo_service: PinControl, tmp_path: Path
) -> None:
    settings = settings_in(
        tmp_path,
        pinners="pinata,kubo",
        pinata_jwt=SecretStr(JWT),
        pinata_url=pinata_service.url,
        kubo_url=kubo_service.url,
    )
    kubo_service.always(on="pins", status_code=403)
    found = by_part(await examine(settings, database_url))
    assert found["IPFS, pinata"].state == "ok"
    assert (found["IPFS, kubo"].state, found["IPFS, kubo"].kind) == ("broken", "real")


async def test_what_lies_still_in_the_database_is_a_warning(database_url: str, connection: Any, tmp_path: Path) -> None:
    await a_token_row(
        connection, 1, status="generating", leased_by="dead", leased_until=datetime(2026, 1, 1, tzinfo=UTC)
    )
    await connection.execute("INSERT INTO jobs (workflow, status) VALUES ('simple', 'of-another-version')")
    await connection.execute(
        "INSERT INTO lanes (lane, max_concurrency, held_at, held_reason) VALUES ('x', 1, now(), 'no')"
    )
    checks = await examine(settings_in(tmp_path), database_url)
    found = by_part(checks)
    assert found["leases"].seen == "1 left behind by dead"
    assert found["statuses"].seen == "unknown: simple/of-another-version"
    assert (found["lanes"].seen, found["lanes"].fix) == ("held: x: no", "Mend the cause, then: glisk lanes resume x")
    assert is_well(checks), "warnings are no illness"


async def test_what_nobody_looks_at_is_a_warning(database_url: str, connection: Any, tmp_path: Path) -> None:
    await connection.execute("INSERT INTO jobs (workflow, status) VALUES ('image_generation', 'completed')")
    await connection.execute("INSERT INTO jobs (workflow, status) VALUES ('danbooru_tagger', 'tagging')")
    found = by_part(await examine(settings_in(tmp_path), database_url))["statuses"]
    assert found.seen == "nobody looks at danbooru_tagger/tagging, image_generation/completed"
    assert found.fix == "Any worker brings them in: glisk up, or glisk work."


async def test_an_address_beyond_this_machine_wants_a_key(database_url: str, tmp_path: Path) -> None:
    found = by_part(await examine(settings_in(tmp_path, host="0.0.0.0"), database_url))
    assert found["access"].state == "broken"


async def test_what_never_answers_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(finding, "LIMIT_S", 0.05)
    patient = Patient(settings_in(tmp_path), settings_in(tmp_path), "postgresql://x")

    async def never() -> Finding:
        await asyncio.Event().wait()
        raise AssertionError

    found = await looked_at(Probe("silent", never), patient)
    assert (found.state, found.seen) == ("broken", "It did not answer within 0.05 s.")


async def test_a_look_that_takes_nothing_is_not_said_to_take_what_others_do(tmp_path: Path) -> None:
    patient = Patient(settings_in(tmp_path), settings_in(tmp_path), "postgresql://x")

    async def slow() -> Finding:
        time.sleep(0.2)  # noqa: ASYNC251 (as an import would, which lets nobody else go on)
        return finding.ok("")

    async def quick() -> Finding:
        return finding.ok("")

    looks = [looked_at(Probe("", look), patient) for look in (slow, quick)]
    long, short = await asyncio.gather(*looks)
    assert long.ms >= 200
    assert short.ms < 100


async def test_a_mistake_of_ours_is_a_line_and_no_traceback(tmp_path: Path) -> None:
    patient = Patient(settings_in(tmp_path), settings_in(tmp_path), "postgresql://x")

    async def wrong() -> Finding:
        raise KeyError("odd")

    found = await looked_at(Probe("odd", wrong), patient)
    assert (found.state, found.seen) == ("broken", "KeyError: 'odd'")
