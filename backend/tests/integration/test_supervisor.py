"""The supervisor with real processes that do nothing but tell of their birth and wait for the end of their lifeline."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import chain, pairwise, repeat
from pathlib import Path

import pytest

from glisk.engine.link import LinkLost
from glisk.engine.workflow import Backoff
from glisk.workers.scaling import Load, Size
from glisk.workers.supervisor import Command, Rhythm, Supervisor

CHILD = """
import os, sys
with open(sys.argv[1], "ab", buffering=0) as diary:
    diary.write(b"born %d\\n" % os.getpid())
    os.read(int(sys.argv[2]), int(sys.argv[3]))
    diary.write(b"left %d\\n" % os.getpid())
"""
QUICK = Rhythm(
    every=timedelta(milliseconds=5),
    quiet_looks=5,
    rest=Backoff(first=timedelta(milliseconds=1), cap=timedelta(milliseconds=1)),
)
NOTHING = Load(0, 0)


class Diary:
    """What the children tell, in order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    def __enter__(self) -> Diary:
        self.file = open(
            os.open(self.path, os.O_RDWR), "rb", buffering=0
        )  # both ways: no child is ever the last writer
        self.lines = self.file_lines()
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def file_lines(self) -> Iterator[str]:
        rest = b""
        while True:
            *whole, rest = (rest + self.file.read(4096)).split(b"\n")
            yield from (line.decode() for line in whole)

    async def next(self, what: str, n: int = 1) -> list[int]:
        """The pids of the next so many, which must all be of this kind."""
        lines = [await asyncio.to_thread(next, self.lines) for _ in range(n)]
        assert {line.split()[0] for line in lines} == {what}
        return [int(line.split()[1]) for line in lines]

    def command(self, waits: bool = True) -> Command:
        return lambda lifeline: [sys.executable, "-S", "-c", CHILD, str(self.path), str(lifeline), str(int(waits))]


@pytest.fixture
def diary(tmp_path: Path) -> Iterator[Diary]:
    with Diary(tmp_path / "diary") as diary:
        yield diary


class Looks:
    """A load that the test sets, and how often it was looked at."""

    def __init__(self, load: Load | LinkLost = NOTHING) -> None:
        self.load, self.count = load, 0
        self.looked = asyncio.Event()

    async def __call__(self) -> Load:
        self.count += 1
        self.looked.set()
        if isinstance(self.load, LinkLost):
            raise self.load
        return self.load

    async def more(self, n: int) -> None:
        wanted = self.count + n
        while self.count < wanted:
            self.looked.clear()
            await self.looked.wait()


@asynccontextmanager
async def supervised(
    command: Command, size: Size, looks: Looks | None = None, rhythm: Rhythm = QUICK
) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(command, size, 10, looks or Looks(), rhythm)
    running = asyncio.create_task(supervisor.run())
    try:
        yield supervisor
    finally:
        supervisor.stop()
        await running


async def test_a_killed_process_is_replaced(diary: Diary) -> None:
    async with supervised(diary.command(), Size(2, 2)):
        one, other = await diary.next("born", 2)
        os.kill(one, signal.SIGKILL)
        (new,) = await diary.next("born")
    assert set(await diary.next("left", 2)) == {other, new}


async def test_processes_that_die_young_are_replaced_ever_more_slowly(diary: Diary) -> None:
    rhythm = Rhythm(rest=Backoff(first=timedelta(milliseconds=20), cap=timedelta(minutes=1)))
    births = []
    async with supervised(diary.command(waits=False), Size(1, 1), rhythm=rhythm):
        for _ in range(4):
            await diary.next("born")
            births.append(time.monotonic())
            await diary.next("left")
    rests = [after - before for before, after in pairwise(births)]
    assert [rest > wanted for rest, wanted in zip(rests, (0.02, 0.04, 0.08), strict=True)] == [True, True, True]


async def test_it_grows_with_the_load_and_shrinks_after_a_quiet_while(diary: Diary) -> None:
    looks = Looks()
    async with supervised(diary.command(), Size(1, 3), looks):
        (first,) = await diary.next("born")
        looks.load = Load(ready=25, live=0)
        later = await diary.next("born", 2)
        looks.load, looked = NOTHING, looks.count
        left = await diary.next("left", 2)
        assert set(left) == set(later)
        assert looks.count - looked >= QUICK.quiet_looks
    assert await diary.next("left") == [first]


async def test_busy_processes_are_not_sent_away_because_nothing_more_waits(diary: Diary) -> None:
    looks = Looks(Load(ready=30, live=0))
    async with supervised(diary.command(), Size(1, 3), looks) as supervisor:
        await diary.next("born", 3)
        looks.load = Load(ready=0, live=30)
        await looks.more(3 * QUICK.quiet_looks)
        assert len(supervisor.seats) == 3
    await diary.next("left", 3)


async def test_the_size_stays_while_the_database_is_away(diary: Diary) -> None:
    looks = Looks(Load(ready=30, live=0))
    async with supervised(diary.command(), Size(1, 3), looks) as supervisor:
        await diary.next("born", 3)
        looks.load = LinkLost("away")
        await looks.more(3 * QUICK.quiet_looks)
        assert len(supervisor.seats) == 3
    await diary.next("left", 3)


async def test_a_program_that_cannot_be_started_is_tried_again(diary: Diary) -> None:
    commands = chain([lambda _: ["/nowhere/glisk"]], repeat(diary.command()))
    async with supervised(lambda lifeline: next(commands)(lifeline), Size(1, 1)):
        await diary.next("born")
    await diary.next("left")


async def test_a_stop_during_the_start_ends_what_has_just_been_started(diary: Diary) -> None:
    supervisor = Supervisor(diary.command(), Size(2, 2), 10, Looks(), QUICK)
    supervisor.stop()
    await supervisor.run()
    assert not supervisor.keeping


async def test_a_bug_in_the_look_at_the_load_ends_everything(diary: Diary) -> None:
    async def broken() -> Load:
        await diary.next("born")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Supervisor(diary.command(), Size(1, 2), 10, broken, QUICK).run()
    await diary.next("left")
