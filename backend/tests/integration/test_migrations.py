"""Migrations: recorded, locked, reversible, and nobody loses a token."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from alembic import command

from glisk.db import migrate
from glisk.db.server import SCRIPTS, require_head
from glisk.errors import MigrationFailed, SchemaAhead, SchemaBehind, UnknownRevision
from tests.builders import CHAIN, CONTRACT, IMAGE, OWNERS, PROJECT, REVISIONS
from tests.conftest import execute, fetchval

NUMBERS = [name[:3] for name in REVISIONS]


def runs(url: str) -> list[tuple[str, str, bool]]:
    return [(run.name, run.direction, run.ok) for run in asyncio.run(migrate.status(url)).runs]


@pytest.fixture
def broken_scripts(tmp_path: Path) -> Path:
    """Our migrations and one more that fails after it has changed something."""
    scripts = tmp_path / "alembic"
    shutil.copytree(SCRIPTS, scripts)
    (scripts / "versions" / "999_broken.py").write_text(f"""
from alembic import op
revision, down_revision, branch_labels, depends_on = "999", "{NUMBERS[-1]}", None, None
def upgrade():
    op.execute("CREATE TABLE half (x int)")
    op.execute("SELECT 1 / 0")
""")
    return scripts


def test_a_run_is_recorded_in_order(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    assert runs(empty_database_url) == [(name, "up", True) for name in REVISIONS]


def test_migrating_again_does_nothing(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    migrate.upgrade(empty_database_url)
    assert len(runs(empty_database_url)) == len(REVISIONS)


def test_an_exception_is_recorded_although_its_migration_is_rolled_back(
    database_url: str, broken_scripts: Path
) -> None:
    with pytest.raises(MigrationFailed, match=r"999_broken .*division by zero"):
        migrate.upgrade(database_url, scripts=broken_scripts)
    status = asyncio.run(migrate.status(database_url))
    assert (status.runs[-1].name, status.runs[-1].direction, status.runs[-1].ok) == ("999_broken", "up", False)
    assert "division by zero" in str(status.runs[-1].exception)
    assert status.current == NUMBERS[-1]
    assert asyncio.run(fetchval(database_url, "SELECT to_regclass('half')")) is None


def test_a_mended_migration_goes_on_from_there(database_url: str, broken_scripts: Path) -> None:
    with pytest.raises(MigrationFailed):
        migrate.upgrade(database_url, scripts=broken_scripts)
    mended = broken_scripts / "versions" / "999_broken.py"
    mended.write_text(mended.read_text().replace("1 / 0", "1"))
    migrate.upgrade(database_url, scripts=broken_scripts)
    assert runs(database_url)[-2:] == [("999_broken", "up", False), ("999_broken", "up", True)]


@pytest.mark.parametrize("flaw", ["def upgrade(:", "raise RuntimeError('at import')"])
def test_a_migration_that_cannot_even_be_read_is_recorded(flaw: str, database_url: str, broken_scripts: Path) -> None:
    (broken_scripts / "versions" / "999_broken.py").write_text(flaw)
    with pytest.raises(MigrationFailed, match="999_broken"):
        migrate.upgrade(database_url, scripts=broken_scripts)
    assert runs(database_url)[-1] == ("999_broken", "up", False)


def test_an_exception_at_commit_is_recorded_too(database_url: str, broken_scripts: Path) -> None:
    late = broken_scripts / "versions" / "999_broken.py"
    late.write_text(
        late.read_text()
        .replace("(x int)", "(x int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        .replace("SELECT 1 / 0", "INSERT INTO half VALUES (1), (1)")
    )
    with pytest.raises(MigrationFailed, match="999_broken"):
        migrate.upgrade(database_url, scripts=broken_scripts)
    assert runs(database_url)[-1] == ("999_broken", "up", False)


def test_two_processes_at_once_migrate_once_and_both_succeed(empty_database_url: str) -> None:
    program = "import sys; from glisk.db import migrate; sys.stdin.read(1); migrate.upgrade(sys.argv[1])"
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program, empty_database_url], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdin
        process.stdin.write(b"g")
        process.stdin.flush()
    errors = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    assert runs(empty_database_url) == [(name, "up", True) for name in REVISIONS]


def test_models_and_migrations_do_not_drift(database_url: str) -> None:
    command.check(migrate.config(database_url))


@pytest.mark.parametrize("revision", [*NUMBERS, "base"])
def test_every_revision_goes_down_and_up_again(revision: str, database_url: str) -> None:
    before = asyncio.run(schema(database_url))
    migrate.downgrade(database_url, revision)
    migrate.upgrade(database_url)
    assert asyncio.run(schema(database_url)) == before


async def schema(url: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    columns = await connection.fetch("""
        SELECT table_name, column_name, data_type, is_nullable, column_default, generation_expression
        FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2""")
    constraints = await connection.fetch("""
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2""")
    indexes = await connection.fetch(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
    )
    await connection.close()
    return [tuple(row) for row in (*columns, *constraints, *indexes)]


PINNED = "image_key = 'k', image_cid = 'c', metadata_cid = 'm'"
LEASED = "leased_by = 'w', leased_until = now()"
# A token in each status; where it must be after a round trip to the schema of seed 003's day (001), and one step down.
LIVES = [
    ("detected", "", "detected", "detected"),
    ("detected", "generation_attempts = 2, generation_error = 'no'", "detected", "detected"),
    ("generating", LEASED, "detected", "generating"),
    ("uploading", f"image_url = '{IMAGE}'", "review", "uploading"),
    ("pinning", f"image_url = '{IMAGE}', {LEASED}", "review", "pinning"),
    ("ready", f"image_url = '{IMAGE}', {PINNED}", "review", "ready"),
    ("revealing", f"image_url = '{IMAGE}', {PINNED}, {LEASED}", "review", "revealing"),
    ("revealed", f"image_url = '{IMAGE}', {PINNED}, token_uri = 'ipfs://m', finished_at = now()", "review", "revealed"),
    ("failed", "generation_error = 'no', finished_at = now()", "failed", "failed"),
    ("orphaned", "finished_at = now()", "orphaned", "orphaned"),
    ("review", "", "review", "review"),
]


async def insert_lives(url: str) -> None:
    connection = await asyncpg.connect(url)
    author = await connection.fetchval(
        "INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('a', 40)) RETURNING author_id"
    )
    for token_id, (status, columns, *_) in enumerate(LIVES):
        await connection.execute(
            "INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id) VALUES ($1, $2, $3, $4)",
            *(CHAIN, CONTRACT, token_id, author),
        )
        changes = ", ".join(filter(None, [f"status = '{status}'", columns]))
        await connection.execute(f"UPDATE tokens_s0 SET {changes} WHERE token_id = $1", token_id)
    await connection.close()


def statuses(url: str) -> list[str]:
    query = "SELECT array_agg(status ORDER BY token_id) FROM tokens_s0"
    return list(asyncio.run(fetchval(url, query)))


def test_one_step_down_and_up_changes_no_token(database_url: str) -> None:
    asyncio.run(insert_lives(database_url))
    before = asyncio.run(fetchval(database_url, "SELECT jsonb_agg(to_jsonb(t) ORDER BY id) FROM tokens_s0 t"))
    migrate.downgrade(database_url)
    migrate.upgrade(database_url)
    assert asyncio.run(fetchval(database_url, "SELECT jsonb_agg(to_jsonb(t) ORDER BY id) FROM tokens_s0 t")) == before


@pytest.mark.parametrize("revision", NUMBERS[1:-1])
def test_no_token_is_lost_and_none_can_be_paid_twice_after_a_downgrade(revision: str, database_url: str) -> None:
    asyncio.run(insert_lives(database_url))
    migrate.downgrade(database_url, revision)
    assert len(statuses(database_url)) == len(LIVES)
    migrate.upgrade(database_url)
    after = statuses(database_url)
    if revision == "001":
        assert after == [expected for *_, expected, _ in LIVES]
    drawn = [was for (was, *_), now in zip(LIVES, after, strict=True) if now == "detected"]
    assert set(drawn) <= {"detected", "generating"}


# Every workflow of jobs, with an attempt each: what a round trip below 009 must not change.
WHOLE_JOBS = f"""
    {OWNERS};
    INSERT INTO jobs (workflow, name, user_id, conversation_id, project_id, status, output_r2_key, finished_at) VALUES
      ('image_generation', NULL, NULL, NULL, NULL, 'pending', NULL, NULL),
      ('llm_task', 'greet', 'anna', 'chat', NULL, 'waiting', NULL, NULL),
      ('image_edit', NULL, 'anna', NULL, '{PROJECT}', 'pending', NULL, NULL),
      ('r2_image', NULL, NULL, NULL, NULL, 'ready', 'k', now()),
      ('llm_task', NULL, NULL, NULL, NULL, 'completed', NULL, now());
    INSERT INTO attempts (item_id, step, epoch, provider, worker) SELECT id, 'x', 1, 'p', 'w' FROM jobs"""
ROWS = """SELECT jsonb_build_object('jobs', (SELECT jsonb_agg(to_jsonb(j) ORDER BY id) FROM jobs j),
                                    'attempts', (SELECT jsonb_agg(to_jsonb(a) ORDER BY attempt_id) FROM attempts a))"""


def test_one_step_down_and_up_changes_no_job_and_no_attempt(database_url: str) -> None:
    asyncio.run(run_script(database_url, WHOLE_JOBS))
    before = asyncio.run(fetchval(database_url, ROWS))
    migrate.downgrade(database_url, "008")
    migrate.upgrade(database_url)
    assert asyncio.run(fetchval(database_url, ROWS)) == before


# What 008 still allowed. Three wait for the first: one needs it, one does not care, one is further down.
INCOMPLETE_JOBS = """
    INSERT INTO jobs (name, workflow, status, has_children, dependency_count, finished_at, leased_by, leased_until) VALUES
      ('at work', 'image_edit', 'processing', true, 0, NULL, 'w', now()), ('needs it', 'r2_image', 'pending', true, 1, NULL, NULL, NULL),
      ('does not', 'r2_image', 'pending', false, 1, NULL, NULL, NULL), ('below', 'r2_image', 'pending', false, 1, NULL, NULL, NULL),
      ('keyless', 'r2_image', 'ready', false, 0, now(), NULL, NULL), ('over', 'llm_task', 'completed', false, 0, now(), NULL, NULL);
    INSERT INTO job_dependencies SELECT p.id, c.id, v.on_failure
    FROM (VALUES ('at work', 'needs it', 'fail'), ('at work', 'does not', 'ignore'), ('needs it', 'below', 'fail')) v(p, c, on_failure)
    JOIN jobs p ON p.name = v.p JOIN jobs c ON c.name = v.c"""


def test_a_job_that_lacks_what_it_needs_ends_and_nobody_waits_for_it(database_url: str) -> None:
    migrate.downgrade(database_url, "008")
    asyncio.run(run_script(database_url, INCOMPLETE_JOBS))
    migrate.upgrade(database_url)
    query = "SELECT array_agg(concat_ws(', ', name, status, dependency_count, epoch, leased_by) ORDER BY id) FROM jobs"
    assert asyncio.run(fetchval(database_url, query)) == [
        *("at work, failed, 0, 1", "needs it, failed, 0, 1", "does not, pending, 0, 0"),
        *("below, failed, 0, 1", "keyless, failed, 0, 1", "over, completed, 0, 0"),
    ]
    assert asyncio.run(fetchval(database_url, "SELECT count(*) FROM events WHERE actor = 'migration 009'")) == 4


async def run_script(url: str, script: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(script)
    await connection.close()


@pytest.mark.parametrize("target", ["000", "base"])
def test_tokens_are_never_dropped_by_a_downgrade(target: str, database_url: str) -> None:
    asyncio.run(insert_lives(database_url))
    with pytest.raises(MigrationFailed, match="there are tokens"):
        migrate.downgrade(database_url, target)
    assert len(statuses(database_url)) == len(LIVES)
    migrate.upgrade(database_url)


def test_a_role_that_may_not_create_tables_is_told_so(database_url: str, empty_database_url: str) -> None:
    name = f"poor_{uuid.uuid4().hex}"
    asyncio.run(execute(empty_database_url, f"CREATE ROLE {name} LOGIN PASSWORD 'x'"))
    asyncio.run(execute(empty_database_url, "REVOKE CREATE ON SCHEMA public FROM public"))
    parts = urlsplit(empty_database_url)
    poor = parts._replace(netloc=f"{name}:x@{parts.hostname}:{parts.port}").geturl()
    with pytest.raises(MigrationFailed, match="permission denied"):
        migrate.upgrade(poor)
    asyncio.run(execute(empty_database_url, f"DROP ROLE {name}"))


def test_an_exception_without_words_is_recorded(database_url: str, broken_scripts: Path) -> None:
    silent = broken_scripts / "versions" / "999_broken.py"
    silent.write_text(silent.read_text().replace('op.execute("SELECT 1 / 0")', "raise RuntimeError"))
    with pytest.raises(MigrationFailed, match="RuntimeError"):
        migrate.upgrade(database_url, scripts=broken_scripts)
    assert runs(database_url)[-1] == ("999_broken", "up", False)


def test_a_path_may_hold_a_percent_sign(database_url: str, tmp_path: Path) -> None:
    shutil.copytree(SCRIPTS, tmp_path / "50%" / "alembic")
    migrate.upgrade(database_url, scripts=tmp_path / "50%" / "alembic")


def alembic(*arguments: str, cwd: Path = SCRIPTS.parent) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "alembic", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_a_stamp_is_no_execution_and_sql_cannot_be_had(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", empty_database_url)
    migrate.upgrade(empty_database_url)
    before = runs(empty_database_url)
    assert alembic("stamp", "head").returncode == 0
    refused = alembic("upgrade", "head", "--sql")
    assert refused.returncode == 1
    assert refused.stderr.startswith("GLK-705")
    assert runs(empty_database_url) == before


def test_a_new_revision_takes_the_next_number(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    project = tmp_path / "project" / "backend"
    shutil.copytree(SCRIPTS, project / "alembic")
    shutil.copy(SCRIPTS.parent / "alembic.ini", project)
    made = alembic("revision", "-m", "add something", cwd=project)
    assert made.returncode == 0, made.stderr
    assert (project / "alembic" / "versions" / f"{len(REVISIONS):03}_add_something.py").exists()


def test_a_downgrade_to_nowhere_is_refused_with_a_sentence(database_url: str) -> None:
    with pytest.raises(UnknownRevision):
        migrate.downgrade(database_url, "777")
    migrate.downgrade(database_url, "base")
    with pytest.raises(UnknownRevision):
        migrate.downgrade(database_url)


def test_a_process_refuses_a_schema_that_is_behind(database_url: str, empty_database_url: str) -> None:
    asyncio.run(require_head(database_url))
    with pytest.raises(SchemaBehind, match="It is empty"):
        asyncio.run(require_head(empty_database_url))
    migrate.downgrade(database_url)
    with pytest.raises(SchemaBehind, match=f"at {NUMBERS[-2]}, this Glisk needs {NUMBERS[-1]}") as caught:
        asyncio.run(require_head(database_url))
    assert "make migrate" in caught.value.fix


def test_a_process_refuses_a_schema_that_is_ahead(database_url: str) -> None:
    asyncio.run(execute(database_url, "UPDATE alembic_version SET version_num = '999'"))
    with pytest.raises(SchemaAhead):
        asyncio.run(require_head(database_url))
    with pytest.raises(SchemaAhead):
        migrate.upgrade(database_url)


def test_alembic_typed_by_hand_does_the_same(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", empty_database_url)
    for arguments in (["upgrade", "head"], ["downgrade", "-1"], ["upgrade", "head"]):
        assert alembic(*arguments).returncode == 0
    last = REVISIONS[-1]
    assert runs(empty_database_url)[-3:] == [(last, "up", True), (last, "down", True), (last, "up", True)]
