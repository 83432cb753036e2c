"""`glisk serve` as it is run in production: a process of its own, with people who watch."""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.commands import a_free_port, lines_until_ready, started, stopped

ENOUGH_S = 8.0  # less than it would wait for somebody who does not end


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once_though_people_follow_the_events(
    by: int, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    monkeypatch.setenv("GLISK_PORT", str(port := a_free_port()))
    address = f"http://127.0.0.1:{port}"
    with started("serve", cwd=tmp_path) as process, httpx.Client(base_url=address) as browser, ExitStack() as stack:
        lines_until_ready(process, tmp_path)
        streams = [stack.enter_context(browser.stream("GET", "/events")) for _ in range(5)]
        followed = [stream.iter_lines() for stream in streams]
        assert all(next(lines).startswith("retry: ") for lines in followed)
        began = time.monotonic()
        stopped(process, by)
        assert time.monotonic() - began < ENOUGH_S
        assert process.returncode == 0
        assert all(list(lines)[-1] == "" for lines in followed)  # whole answers, not cut off
