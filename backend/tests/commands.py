"""The command line as a person uses it: real processes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GLISK = [str(Path(sys.executable).parent / "glisk")]


def glisk(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GLISK, *arguments], cwd=cwd, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


@contextmanager
def glisk_up(cwd: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A running Glisk and the lines it printed until it was ready."""
    with subprocess.Popen(
        [*GLISK, "up"], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process, lines_until_ready(process)
        finally:
            process.kill()


def lines_until_ready(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.strip())
        if "http://" in line:
            return lines
    assert process.stderr
    raise AssertionError(f"it ended before it was ready: {lines} {process.stderr.read()}")


def stopped(process: subprocess.Popen[str], by: int = signal.SIGINT) -> str:
    """What it still said after the signal."""
    process.send_signal(by)
    out, _ = process.communicate(timeout=30)
    return out


def a_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
