"""GET /ready and /metrics over real HTTP, and the dashboard that is drawn from them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from glisk import __version__
from glisk.api.metrics import OURS, exposed
from glisk.engine import lanes
from glisk.engine.link import Link
from glisk.hosting import Home, application
from glisk.repositories.health_board import HealthBoard
from glisk.settings import Settings
from tests.builders import CHAIN, CONTRACT, MANY_TOKENS, PINNED, a_token_row
from tests.serving import served
from tests.sse import following
from tests.visiting import Visit, visiting

PARTS = ("database", "migrations", "listener", "lanes")
DOCS = Path(__file__).parents[3] / "docs"
ADDRESS = "0x" + "ab" * 20
NOW = datetime(2026, 1, 1, tzinfo=UTC)
WHERE = {"chain": str(CHAIN), "contract": CONTRACT}
CURSOR = f"""
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, head_no, updated_at)
    VALUES ({CHAIN}, '{CONTRACT}', 1, 90, $1, 80, $1, 100, now() - $2::interval)"""
KEEPER = f"""
    INSERT INTO chain_sender (chain_id, address, balance_wei, fee_wei, gas_per_token) VALUES ({CHAIN}, '{ADDRESS}', 1000000, 10, 1000)"""
REORG = """
    INSERT INTO events (to_status, actor, data) SELECT 'reorg', 'listener', jsonb_build_object('chain_id', $1::bigint, 'contract', $2::text)
    FROM generate_series(1, 3)"""
PAID = """
    INSERT INTO attempts (item_id, step, epoch, provider, outcome, cost, worker, finished_at)
    VALUES ($1, 'generating', 1, 'replicate', 'done', 0.25, 'w', now())"""
WAITING = "INSERT INTO jobs (workflow) SELECT 'danbooru_tagger' FROM generate_series(1, 3)"
ALERT = "INSERT INTO alerts (cause, kind, message, fix) VALUES ('lane:x', 'lane held', 'x is held', 'resume it')"


@pytest.fixture
async def visit(database_url: str) -> AsyncIterator[Visit]:
    async with visiting(database_url) as visit:
        yield visit


async def scraped(visit: Visit) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by its name and labels."""
    answer = (await visit.operator.get("/metrics")).raise_for_status()
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = (sample for family in text_string_to_metric_families(answer.text) for sample in family.samples)
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def of(found: dict[Any, float], name: str, **labels: str) -> float:
    return found[name, tuple(sorted(labels.items()))]


async def test_a_server_that_can_serve_is_ready(visit: Visit) -> None:
    public, operator = await visit.public.get("/ready"), await visit.operator.get("/ready")
    assert (public.status_code, public.json()) == (200, {"status": "ready"})
    checks = operator.json()["checks"]
    assert {name: check["state"] for name, check in checks.items()} == dict.fromkeys(PARTS, "ok")
    assert public.headers["cache-control"] == "no-store"


async def test_what_is_not_well_elsewhere_is_a_warning(visit: Visit, connection: Any) -> None:
    await lanes.make(visit.link, "painter", 4)
    await lanes.hold(visit.link, "painter", "401 Unauthorized")
    await connection.execute(CURSOR, bytes(32), timedelta(seconds=2 * visit.settings.alert_lag))
    ready = await visit.operator.get("/ready")
    held, behind = (ready.json()["checks"][name] for name in ("lanes", "listener"))
    assert (ready.status_code, held) == (200, {"state": "warning", "seen": "painter is held: 401 Unauthorized"})
    assert behind["state"] == "warning"
    assert f"{CHAIN}:{CONTRACT} was last looked at" in behind["seen"]
    assert (await visit.public.get("/ready")).json() == {"status": "ready"}
    await connection.execute("UPDATE chain_cursor SET halted = 'too deep'")
    halted = await visit.operator.get("/ready")
    assert (halted.status_code, halted.json()["checks"]["listener"]["state"]) == (200, "broken")
    assert "is halted" in halted.json()["checks"]["listener"]["seen"]


async def test_on_another_schema_it_is_not_ready(visit: Visit, connection: Any) -> None:
    await connection.execute("UPDATE alembic_version SET version_num = '001'")
    ready = await visit.operator.get("/ready")
    assert (ready.status_code, ready.json()["status"]) == (503, "not ready")
    migrations = ready.json()["checks"]["migrations"]
    assert (migrations["state"], "glisk migrate" in migrations["seen"]) == ("broken", True)


async def test_without_a_database_it_is_not_ready_and_tells_what_it_knows() -> None:
    settings = Settings()
    home = Home(settings, settings, "postgresql://nobody@127.0.0.1:1/nothing")
    async with application(home) as app, served(app) as address, httpx.AsyncClient(base_url=address) as browser:
        ready, told = await browser.get("/ready"), (await browser.get("/metrics")).text
        assert (await browser.get("/health")).status_code == 200
    states = {name: check["state"] for name, check in ready.json()["checks"].items()}
    assert (ready.status_code, states) == (503, dict.fromkeys(PARTS, "warning") | {"database": "broken"})
    assert "glisk_database_up 0.0" in told
    assert "process_resident_memory_bytes" in told
    assert "glisk_tokens" not in told


async def test_the_numbers_are_the_databases(visit: Visit, connection: Any) -> None:
    await connection.execute(MANY_TOKENS, 10, ["detected", "failed"], 0)
    ended = NOW.replace(second=30)
    revealed = {"status": "revealed", "detected_at": NOW, "finished_at": ended, "token_uri": "ipfs://x"}
    id = await a_token_row(connection, 11, **PINNED | revealed)
    await connection.execute(PAID, id)
    await connection.execute(WAITING)
    await connection.execute(CURSOR, bytes(32), timedelta())
    await connection.execute(KEEPER)
    await connection.execute(REORG, CHAIN, CONTRACT)
    await lanes.make(visit.link, "painter", 4)
    await lanes.hold(visit.link, "painter", "no")
    async with following(visit.public) as told:
        await anext(told)
        found = await scraped(visit)
    statuses = {
        status: of(found, "glisk_tokens", status=status) for status in ("detected", "failed", "revealed", "ready")
    }
    assert statuses == {"detected": 5, "failed": 5, "revealed": 1, "ready": 0}
    assert of(found, "glisk_jobs", workflow="danbooru_tagger", status="pending") == 3
    assert of(found, "glisk_mint_to_reveal_seconds", quantile="0.95") == 30
    assert of(found, "glisk_spend_dollars_today") == 0.25
    assert of(found, "glisk_listener_lag_blocks", **WHERE) == 10
    assert of(found, "glisk_listener_lag_seconds", **WHERE) < 60
    assert of(found, "glisk_reorgs_total", **WHERE) == 3
    assert of(found, "glisk_reveals_left", chain=str(CHAIN), keeper=ADDRESS) == 100
    assert of(found, "glisk_lane_held", lane="painter") == of(found, "glisk_stream_clients") == 1
    assert (of(found, "glisk_lane_limit", lane="painter"), of(found, "glisk_lane_in_flight", lane="painter")) == (4, 0)
    assert of(found, "glisk_build_info", version=__version__) == 1
    assert 0 <= of(found, "glisk_oldest_unrevealed_seconds") < 60
    assert of(found, "glisk_database_up") == 1


async def test_trouble_that_is_not_over_is_counted(link: Link, connection: Any) -> None:
    await connection.execute(ALERT)
    assert b'glisk_alerts{kind="lane held"} 1.0' in exposed(await HealthBoard(link).numbers(), clients=0)
    await connection.execute("UPDATE alerts SET cleared_at = now()")
    assert (await HealthBoard(link).numbers()).alerts == {}


async def test_metrics_are_the_operators_alone(visit: Visit) -> None:
    for headers in ({}, {"Authorization": "Bearer glk_nonsense"}):
        assert (await visit.public.get("/metrics", headers=headers)).status_code == 401


async def test_many_who_scrape_share_a_reading(visit: Visit, connection: Any) -> None:
    first = of(await scraped(visit), "glisk_tokens", status="detected")
    await a_token_row(connection, 1)
    again = await asyncio.gather(*(scraped(visit) for _ in range(5)))
    assert {of(each, "glisk_tokens", status="detected") for each in again} == {first}


async def test_the_dashboard_names_only_what_is_told(visit: Visit, connection: Any) -> None:
    await connection.execute(CURSOR, bytes(32), timedelta())
    board = json.loads((DOCS / "grafana.json").read_text())
    asked = {name for panel in board["panels"] for target in panel["targets"] for name in names_in(target["expr"])}
    told = {name for name, _ in await scraped(visit)} | {metric.name for metric in OURS}
    assert asked <= told
    assert {metric.name for metric in OURS} <= asked
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    assert all(
        target["datasource"]["uid"] == "${DS_PROMETHEUS}" for panel in board["panels"] for target in panel["targets"]
    )


def names_in(expression: str) -> set[str]:
    return set(re.findall(r"\b(?:glisk|process|python)_\w+", expression))


def test_every_metric_is_documented_as_it_is() -> None:
    page = (DOCS / "metrics.md").read_text()
    for metric in OURS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        assert (
            f"| `{metric.name}` | {labels} | {metric.meaning} | {f'`{metric.alert}`' if metric.alert else ''} |\n"
            in page
        )
    assert page.count("| `glisk_") == len(OURS)
