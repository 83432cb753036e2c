"""One PostgreSQL for the whole run, a migrated template in it, and a clone of the template for every test that asks."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel.ext.asyncio.session import AsyncSession

from glisk import wallets
from glisk.db import migrate
from glisk.db.session import engine_of, sessions
from glisk.dev import postgres
from glisk.settings import ELSEWHERE
from tests.builders import OWNERS

# Who runs us in the background ignores it, and so would all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)
wallets.library()  # before a test loads it by itself, and takes away Python's limit of recursion
PROVING = bool(os.environ.get("PROVE"))
# How long it takes depends on what else the machine does. `make test` tries the same cases every time, `make prove` others.
settings.register_profile(
    "glisk",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not PROVING,
    max_examples=500 if PROVING else 100,
)
settings.load_profile("glisk")
# A test may lose its data with the machine; not waiting for the disk makes the suite several times faster.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}
TEMPLATE = "glisk_template"
# Tells of every settled transition, so that a test can wait for one. Made before any worker starts: one that is stopped may hold a lock.
WATCHED = """
    CREATE OR REPLACE FUNCTION tell_the_test() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NOTIFY glisk_test;
      RETURN NULL;
    END $$;
    CREATE OR REPLACE TRIGGER tell_the_test AFTER INSERT ON events EXECUTE FUNCTION tell_the_test();
    CREATE OR REPLACE TRIGGER tell_the_test AFTER UPDATE ON jobs EXECUTE FUNCTION tell_the_test();
    CREATE OR REPLACE TRIGGER tell_the_test AFTER UPDATE ON tokens_s0 EXECUTE FUNCTION tell_the_test()"""


@pytest.fixture(autouse=True)
def no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("GLISK_") or name in ELSEWHERE.values()]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GLISK_DATA_DIR", str(tmp_path / "glisk"))


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A directory that all processes of this run of the tests share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def server_url(run_dir: Path) -> Iterator[str]:
    """TEST_DATABASE_URL names another server, to test other versions of PostgreSQL."""
    with ExitStack() as stack:
        yield os.environ.get("TEST_DATABASE_URL") or stack.enter_context(postgres.running(run_dir / "postgres", FAST))


@pytest.fixture(scope="session")
def template(server_url: str, run_dir: Path) -> str:
    name = f"{TEMPLATE}_{run_dir.name.replace('-', '_')}"
    with one_at_a_time(run_dir / "template.lock"):
        if not asyncio.run(fetchval(server_url, "SELECT count(*) FROM pg_database WHERE datname = $1", name)):
            asyncio.run(execute(server_url, f'CREATE DATABASE "{name}_new"'))
            migrate.upgrade(with_database(server_url, f"{name}_new"))
            asyncio.run(execute(server_url, f'ALTER DATABASE "{name}_new" RENAME TO "{name}"'))
    return name


@pytest.fixture
def empty_database_url(server_url: str) -> Iterator[str]:
    with a_database(server_url) as url:
        yield url


@pytest.fixture
def database_url(server_url: str, template: str) -> Iterator[str]:
    with a_database(server_url, template) as url:
        yield url


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    async with engine_of(database_url) as engine:
        yield engine


@pytest.fixture
async def session(engine: AsyncEngine) -> AsyncIterator[AsyncSession]:
    async with sessions(engine)() as session:
        yield session


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(database_url)
    await connection.execute(WATCHED)
    yield connection
    await connection.close()


@pytest.fixture
async def owners(connection: Any) -> None:
    """A user with a conversation and a project."""
    await connection.execute(OWNERS)


@contextmanager
def a_database(server_url: str, template: str = "template1") -> Iterator[str]:
    name = f"test_{uuid.uuid4().hex}"
    asyncio.run(execute(server_url, f'CREATE DATABASE "{name}" TEMPLATE "{template}"'))
    yield with_database(server_url, name)
    asyncio.run(execute(server_url, f'DROP DATABASE "{name}" WITH (FORCE)'))


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def with_database(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


async def execute(url: str, statement: str) -> None:
    await fetchval(url, statement)


async def fetchval(url: str, query: str, *arguments: Any) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query, *arguments)
    finally:
        await connection.close()
