"""`glisk work` as an operator runs it: real processes, killed and signalled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from glisk.workflows import DANBOORU_TAGGER
from tests.commands import GLISK, glisk
from tests.drawing import A_TOKEN
from tests.engines import enqueue, finished, true

BACKEND = Path(__file__).parents[2]
ERRANDS = ("work", "--processors", "tests.errands", "--workflow", DANBOORU_TAGGER.name)
HOLD, HOLD_ONCE, BLOCK = (f"""payload='{{"do": "{order}"}}'::jsonb""" for order in ("hold", "hold once", "block"))
TWO, ONE = ("--processes", "2"), ("--processes", "1")


@pytest.fixture(autouse=True)
def environment(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    monkeypatch.setenv("PYTHONPATH", str(BACKEND))


class Running:
    """A `glisk work` and what it and its children say."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def hears(self, event: str) -> dict[str, Any]:
        """The next line of the log that tells of this event."""
        assert self.process.stderr
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if line.startswith("{") and (said := json.loads(line))["event"] == event:
                found: dict[str, Any] = said
                return found
        raise AssertionError("it ended without a word of that: " + "".join(lines))

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def signal_until_it_ends(self, number: int) -> None:
        """Again and again: what comes in the first moment counts as the same signal."""
        while self.process.poll() is None:
            self.signal(number)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.1)

    def ended(self) -> tuple[int, str]:
        """The exit code and the rest of its words. They end when the last of its processes has ended."""
        assert self.process.stderr
        words = self.process.stderr.read()
        return self.process.wait(), words


@contextmanager
def at_work(cwd: Path, *options: str, command: Sequence[str] = ERRANDS) -> Iterator[Running]:
    with subprocess.Popen(
        [*GLISK, *command, *options], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Running(process)
        finally:
            process.kill()


async def leased(connection: Any, n: int) -> set[str]:
    """Who is at work, as soon as so many rows are."""
    while len(rows := await connection.fetch("SELECT leased_by FROM jobs WHERE leased_by IS NOT NULL")) < n:
        pass
    return {row["leased_by"] for row in rows}


def pid_of(worker: str) -> int:
    return int(worker.rpartition("-")[2])


async def states(connection: Any) -> set[tuple[str, int, bool]]:
    rows = await connection.fetch("SELECT status, retry_count, leased_by IS NOT NULL FROM jobs")
    return {tuple(row) for row in rows}


async def test_two_processes_do_all_jobs_and_a_lane_is_made(tmp_path: Path, connection: Any) -> None:
    await enqueue(connection, 40, DANBOORU_TAGGER)
    with at_work(tmp_path, *TWO) as work:
        assert set((await finished(connection, 40)).values()) == {"completed"}
        work.signal(signal.SIGTERM)
        code, words = work.ended()
    assert (code, words.count("worker process left")) == (0, 2)
    assert await connection.fetchval("SELECT max_concurrency FROM lanes WHERE lane = 'tagger'") == 50


async def test_a_killed_child_is_replaced_and_its_job_is_done(tmp_path: Path, connection: Any) -> None:
    await enqueue(connection, 1, DANBOORU_TAGGER, columns=HOLD_ONCE)
    with at_work(tmp_path, *TWO, "--lease", "1") as work:
        born = {work.hears("started worker process")["pid"] for _ in range(2)}
        (holder,) = await leased(connection, 1)
        assert pid_of(holder) in born
        os.kill(pid_of(holder), signal.SIGKILL)
        died = work.hears("worker process died, starting another")
        assert (died["pid"], died["reason"]) == (pid_of(holder), "killed by SIGKILL")
        assert work.hears("started worker process")["pid"] not in born
        assert set((await finished(connection, 1)).values()) == {"completed"}
        work.signal(signal.SIGTERM)
        assert work.ended()[0] == 0


@pytest.mark.parametrize(("by", "size"), [(signal.SIGTERM, TWO), (signal.SIGINT, ONE)])
async def test_a_signal_parks_what_cannot_finish_and_uses_no_attempt(
    by: int, size: tuple[str, str], tmp_path: Path, connection: Any
) -> None:
    await enqueue(connection, 4, DANBOORU_TAGGER, columns=HOLD)
    with at_work(tmp_path, *size, "--concurrency", "4", "--drain", "0.1") as work:
        await leased(connection, 4)
        work.signal(by)
        code, _ = work.ended()
    assert code == 0
    assert await states(connection) == {("pending", 0, False)}


@pytest.mark.parametrize("size", [TWO, ONE])
async def test_a_second_signal_ends_everything_at_once_and_loses_nothing(
    size: tuple[str, str], tmp_path: Path, connection: Any
) -> None:
    await enqueue(connection, 4, DANBOORU_TAGGER, columns=HOLD)
    with at_work(tmp_path, *size, "--drain", "600") as work:
        await leased(connection, 4)
        work.signal(signal.SIGTERM)
        work.hears("worker finishes what it has")
        work.signal_until_it_ends(signal.SIGTERM)
        code, _ = work.ended()
    assert code == 130
    assert await states(connection) == {("generating", 0, True)}  # until the leases expire


async def test_a_second_signal_is_heard_while_a_processor_blocks_the_loop(tmp_path: Path, connection: Any) -> None:
    await enqueue(connection, 1, DANBOORU_TAGGER, columns=BLOCK)
    with at_work(tmp_path, "--drain", "600") as work:
        await leased(connection, 1)
        work.signal_until_it_ends(signal.SIGTERM)
        assert work.ended()[0] == 130


async def test_killing_the_supervisor_ends_its_children(tmp_path: Path, connection: Any) -> None:
    await enqueue(connection, 4, DANBOORU_TAGGER, columns=HOLD)
    with at_work(tmp_path, *TWO, "--concurrency", "2", "--drain", "0.1") as work:
        await leased(connection, 4)
        work.signal(signal.SIGKILL)
        code, words = work.ended()
    assert code == -signal.SIGKILL
    assert words.count("worker stopped") == 2
    assert await states(connection) == {("pending", 0, False)}


async def test_more_processes_come_when_more_waits(tmp_path: Path, connection: Any) -> None:
    await enqueue(connection, 4, DANBOORU_TAGGER, columns=HOLD)
    with at_work(tmp_path, "--min", "1", "--max", "2", "--concurrency", "2", "--drain", "0") as work:
        scaled = work.hears("scaled up")
        assert (scaled["before"], scaled["processes"], scaled["ready"]) == (1, 2, 4)
        assert len(await leased(connection, 4)) == 2
        work.signal(signal.SIGTERM)
        assert work.ended()[0] == 0


def test_a_missing_processor_is_told_before_anything_starts(tmp_path: Path) -> None:
    refused = glisk("work", "--processors", "tests.gap", "--workflow", "llm_task", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("GLK-606")
    assert "Unknown active state: thinking" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_without_a_key_nothing_is_revealed_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_RPC_URLS", "http://127.0.0.1:9")
    monkeypatch.setenv("GLISK_CONTRACTS", "1:0x" + "ab" * 20)
    refused = glisk("work", "--process", "revealing", cwd=tmp_path)
    assert (refused.returncode, "GLISK_REVEAL_KEY_FILE" in refused.stderr) == (2, True)
    with at_work(tmp_path, command=("work", "--workflow", "token")) as work:
        assert work.process.stderr
        assert work.process.stderr.readline().startswith("Revealing is off: tokens stay ready.")
        work.hears("worker started")
        work.signal(signal.SIGTERM)
        assert work.ended()[0] == 0


def test_it_refuses_a_schema_that_nobody_migrated(
    tmp_path: Path, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", empty_database_url)
    refused = glisk(*ERRANDS, cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("GLK-703")


async def test_a_token_is_drawn_by_the_embedded_studio_with_nothing_set(connection: Any, tmp_path: Path) -> None:
    await connection.execute(A_TOKEN, 7, "A lighthouse at night", 0)
    with at_work(tmp_path, command=("work", "--process", "generating", "--workflow", "token")) as running:
        await true(connection, "SELECT status = 'uploading' FROM tokens_s0")
        running.signal(signal.SIGTERM)
        assert running.ended()[0] == 0
    key = await connection.fetchval("SELECT image_key FROM tokens_s0")
    assert (tmp_path / "glisk" / "objects" / key).read_bytes().startswith(b"\x89PNG")


def test_a_process_that_nobody_knows_or_that_no_workflow_has_is_told(tmp_path: Path) -> None:
    unknown = glisk("work", "--process", "dreaming", cwd=tmp_path)
    assert (unknown.returncode, "There is no process dreaming" in unknown.stderr) == (2, True)
    idle = glisk("work", "--process", "generating", "--workflow", "llm_task", cwd=tmp_path)
    assert (idle.returncode, "None of these workflows" in idle.stderr) == (2, True)


def test_a_lane_that_no_step_goes_through_is_told_with_those_there_are(tmp_path: Path) -> None:
    refused = glisk("work", "--workflow", "token", "--process", "generating", "--lane", "replicate", cwd=tmp_path)
    assert (refused.returncode, "There are: studio" in refused.stderr) == (2, True)


async def test_only_the_steps_of_a_lane_are_served(connection: Any, tmp_path: Path) -> None:
    await connection.execute(A_TOKEN, 7, "A lighthouse at night", 0)
    steps = ("--process", "generating", "--process", "pinning", "--lane", "studio")
    with at_work(tmp_path, *steps, command=("work", "--workflow", "token")) as running:
        await true(connection, "SELECT status = 'uploading' FROM tokens_s0")
        running.signal(signal.SIGTERM)
        assert running.ended()[0] == 0
    assert await connection.fetchval("SELECT array_agg(lane) FROM lanes") == ["studio"]
