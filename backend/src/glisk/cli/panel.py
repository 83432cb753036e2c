"""What the terminal shows while everything runs: a panel that stays, elsewhere a line now and then."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from rich.console import Console
from rich.live import Live
from rich.text import Text

from glisk import logs
from glisk.engine.link import LinkLost
from glisk.repositories.summary_board import Reading, Summary, Taken

# What waits for a step and what is at it are one: on its way to be drawn, pinned, revealed.
WAYS = {
    "drawing": ("detected", "generating"),
    "pinning": ("uploading", "pinning"),
    "revealing": ("ready", "revealing"),
    "revealed": ("revealed",),
}
LINE_EVERY_S, DRAWN_EVERY_S = 10.0, 1.0


async def show(read: Callable[[], Awaitable[Summary]], title: str) -> None:
    """For ever."""
    if sys.stdout.isatty():
        await stay(read, title)
    while True:
        await asyncio.sleep(LINE_EVERY_S)
        try:
            print(f"{datetime.now().astimezone():%H:%M:%S}  {line(await read())}", flush=True)
        except LinkLost as error:
            print(f"The database does not answer: {error}", flush=True)


async def stay(read: Callable[[], Awaitable[Summary]], title: str) -> None:
    """At the foot of the terminal; what is logged scrolls by above it."""
    console = Console(markup=False, emoji=False, highlight=False)
    with Live(Text(), console=console, auto_refresh=False) as live, logs.written_to(sys.stderr):
        while True:
            try:
                live.update(drawn(["", title, *panel(await read())]), refresh=True)
            except LinkLost as error:
                live.update(drawn(["", title, f"The database does not answer: {error}"]), refresh=True)
            await asyncio.sleep(DRAWN_EVERY_S)


def drawn(lines: Sequence[str]) -> Text:
    """What is too long for the terminal ends in …, so that a panel is as high as it has lines."""
    return Text("\n".join(" ".join(line.splitlines()) for line in lines), no_wrap=True, overflow="ellipsis")


def panel(now: Summary) -> list[str]:
    chains = [f"Chain   {read(chain)}" for chain in now.chains] or ["Chain   not read yet"]
    lanes = "   ".join(lane(one) for one in now.lanes) or "none yet"
    held = [f"Held    {one.name}: {one.held}" for one in now.lanes if one.held]
    return [*chains, f"Tokens  {tokens(now)}", f"Lanes   {lanes}", *held, f"Today   {today(now)}"]


def line(now: Summary) -> str:
    lag = max((chain.lag for chain in now.chains), default=0)
    held = [f"lane {one.name} is held: {one.held}" for one in now.lanes if one.held]
    return " · ".join([f"{tokens(now)}", f"lag {lag} blocks", today(now), *held])


def read(chain: Reading) -> str:
    parts = [f"{chain.chain}", f"head {told(chain.head)}", f"taken {told(chain.taken)}"]
    parts += [f"lag {chain.lag} blocks / {chain.seconds_ago:.1f} s"]
    parts += [f"reorgs {chain.reorgs} (healed)"] if chain.reorgs else []
    parts += ["HALTED: glisk chain status"] if chain.is_halted else []
    return "   ".join(parts)


def tokens(now: Summary) -> str:
    every = sum(many for status, many in now.tokens.items() if status != "orphaned")
    flow = " ▸ ".join(f"{name} {now.many(*statuses)}" for name, statuses in WAYS.items())
    trouble = [f"{name} {many}" for name in ("failed", "review", "orphaned") if (many := now.many(name))]
    return "   ".join([f"minted {every} ▸ {flow}", *trouble])


def lane(one: Taken) -> str:
    """Why it is held has a line of its own, and is told in full by `glisk lanes ls`."""
    return f"{one.name} {one.taken}/{one.most}{' HELD' if one.held else ''}"


def today(now: Summary) -> str:
    pace = "" if now.p50 is None else f"   mint→reveal p50 {now.p50:.1f} s  p95 {now.p95:.1f} s"
    return f"${now.spent:.4f}{pace}"


def told(number: int | None) -> str:
    return "unknown" if number is None else str(number)
