"""The command line as a person uses it: real processes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import SystemRandom

GLISK = [str(Path(sys.executable).parent / "glisk")]


def glisk(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GLISK, *arguments], cwd=cwd, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@contextmanager
def glisk_up(cwd: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A running Glisk and the lines it printed until it was ready."""
    with started("up", *arguments, cwd=cwd) as process:
        yield process, lines_until_ready(process, cwd)


@contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Its log is a file, which never is full."""
    with (
        open(cwd / f"{arguments[0]}.log", "a") as log,
        subprocess.Popen([*GLISK, *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def lines_until_ready(process: subprocess.Popen[str], cwd: Path) -> list[str]:
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.strip())
        if "http://" in line:
            return lines
    raise AssertionError(f"it ended before it was ready: {lines} {(cwd / 'up.log').read_text()}")


def stopped(process: subprocess.Popen[str], by: int = signal.SIGINT) -> str:
    """What it still said after the signal."""
    process.send_signal(by)
    out, _ = process.communicate(timeout=30)
    return out


def a_free_port() -> int:
    """Free with the one after it, and below those that systems give away by themselves: nobody takes it until it is used."""
    while True:
        port = SystemRandom().randrange(20_000, 32_000, 2)
        doors = (("127.0.0.1", port), ("127.0.0.1", port + 1))
        with suppress(OSError), socket.create_server(doors[0]), socket.create_server(doors[1]):
            return port
