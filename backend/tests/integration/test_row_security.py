"""A user sees what is theirs and nothing else, whatever SQL the API might send for them."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from glisk.engine.link import Link
from glisk.repositories.own import BECOME, Own

THINGS = """
    INSERT INTO users VALUES ('anna'), ('ben');
    INSERT INTO conversations SELECT 'chat of ' || user_id, 'dm', user_id FROM users;
    INSERT INTO projects (user_id) SELECT user_id FROM users;
    INSERT INTO jobs (workflow, user_id) SELECT 'r2_image', user_id FROM users;
    INSERT INTO jobs (workflow) VALUES ('r2_image');
    INSERT INTO events (item_id, to_status, actor) SELECT id, 'pending', 'test' FROM jobs;
    INSERT INTO events (to_status, actor) VALUES ('lane held', 'test');
    INSERT INTO files (user_id, name, object_key, mime, size) SELECT user_id, 'a.png', 'sha256/aa', 'image/png', 1 FROM users"""
OWNED = ["users", "conversations", "projects", "jobs", "files"]
SECRET = ["api_keys", "attempts", "tokens_s0", "requests", "leftovers", "job_inputs", "authors", "alembic_version"]


@pytest.fixture
async def anna(connection: Any) -> Any:
    """The connection as the API has it while it answers anna."""
    await connection.execute(THINGS)
    await connection.execute("BEGIN")
    await connection.execute("SELECT set_config('glisk.user_id', 'anna', true), set_config('role', 'glisk_user', true)")
    return connection


@pytest.mark.parametrize("table", OWNED)
async def test_a_user_sees_their_own_rows_alone(table: str, anna: Any) -> None:
    assert [row["user_id"] for row in await anna.fetch(f"SELECT user_id FROM {table}")] == ["anna"]
    assert await anna.fetch(f"SELECT FROM {table} WHERE user_id = 'ben'") == []


async def test_a_user_sees_what_happened_to_their_own_jobs_alone(anna: Any) -> None:
    rows = await anna.fetch("SELECT j.user_id FROM events e LEFT JOIN jobs j ON j.id = e.item_id")
    assert [row["user_id"] for row in rows] == ["anna"]


@pytest.mark.parametrize("table", SECRET)
async def test_a_user_sees_nothing_of_what_is_nobodys(table: str, anna: Any) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await anna.fetch(f"SELECT * FROM {table}")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE jobs SET priority = 9",
        "DELETE FROM files",
        "INSERT INTO jobs (workflow, user_id) VALUES ('r2_image', 'anna')",
        "INSERT INTO users VALUES ('eve')",
        "TRUNCATE jobs",
        "ALTER TABLE jobs DISABLE ROW LEVEL SECURITY",
    ],
)
async def test_a_user_changes_nothing(change: str, anna: Any) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await anna.execute(change)


async def test_without_a_name_nobodys_rows_are_seen(anna: Any) -> None:
    await anna.execute("SELECT set_config('glisk.user_id', '', true)")
    assert [await anna.fetchval(f"SELECT count(*) FROM {table}") for table in OWNED] == [0] * len(OWNED)


async def test_the_role_can_neither_log_in_nor_pass_by_the_rules(connection: Any) -> None:
    role = await connection.fetchrow(
        "SELECT rolcanlogin, rolbypassrls, rolsuper FROM pg_roles WHERE rolname = 'glisk_user'"
    )
    assert dict(role) == {"rolcanlogin": False, "rolbypassrls": False, "rolsuper": False}


async def test_a_link_is_nobody_again_after_it_was_a_user(database_url: str, connection: Any) -> None:
    await connection.execute(THINGS)
    own = Own([Link(database_url)])
    assert len(await own.fetch("anna", "SELECT FROM jobs")) == 1
    assert len(await own.fetch(None, "SELECT FROM jobs")) == 3
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await own.fetch("anna", "SELECT FROM api_keys")
    assert len(await own.fetch("ben", "SELECT FROM jobs")) == 1
    assert await own.one("ben", "SELECT current_user::text AS role") == {"role": "glisk_user"}
    assert await own.one(None, "SELECT current_user = session_user AS nobody") == {"nobody": True}
    await own.close()


async def test_those_who_ask_at_once_on_one_connection_are_each_themselves(database_url: str, connection: Any) -> None:
    """Also when one of them goes away in the middle."""
    await connection.execute(THINGS)
    own = Own([Link(database_url)])
    people = ["anna", "ben", "nobody"] * 10
    asking = [asyncio.create_task(own.fetch(each, "SELECT user_id FROM jobs, pg_sleep(0.01)")) for each in people]
    await asyncio.sleep(0)
    for gone in asking[1::7]:
        gone.cancel()
    for each, seen in zip(people, await asyncio.gather(*asking, return_exceptions=True), strict=True):
        if not isinstance(seen, asyncio.CancelledError):
            assert not isinstance(seen, BaseException)
            assert [row["user_id"] for row in seen] == [each] * (each != "nobody")
    assert await own.fetch("", "SELECT FROM jobs") == []
    await own.close()


async def test_one_who_is_not_the_owner_but_works_for_us_sees_everything(connection: Any) -> None:
    await connection.execute(THINGS)
    await connection.execute("CREATE ROLE a_worker_of_ours")
    try:
        await connection.execute("BEGIN; GRANT SELECT ON jobs TO a_worker_of_ours; SET LOCAL ROLE a_worker_of_ours")
        assert await connection.fetchval("SELECT count(*) FROM jobs") == 3
    finally:
        await connection.execute("ROLLBACK; DROP ROLE a_worker_of_ours")


async def test_opening_to_users_again_changes_nothing(connection: Any) -> None:
    await connection.execute("SELECT open_to_users()")
    await connection.execute(THINGS)
    async with connection.transaction():
        await connection.execute(BECOME.replace("$1", "'anna'"))
        assert await connection.fetchval("SELECT count(*) FROM jobs") == 1
