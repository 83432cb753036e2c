"""The first minutes of somebody new: `glisk up`, a mint, a picture, without any setting."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chains import CONTRACTS
from tests.commands import a_free_port, glisk, lines_until_ready, started, stopped

WANTED_S = 15.0
TRIES = 3
PATIENCE_S = 30.0


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("GLISK_PORT", str(port := a_free_port()))
    return f"http://127.0.0.1:{port}"


def test_the_first_picture_is_there_within_fifteen_seconds_of_the_first_line(tmp_path: Path, address: str) -> None:
    """Each time somewhere new, as other tests may want the machine at the same time."""
    assert any(seconds_to_the_first_picture(tmp_path / f"try-{n}", address) < WANTED_S for n in range(TRIES))


def seconds_to_the_first_picture(home: Path, address: str) -> float:
    home.mkdir()
    (home / "contracts").symlink_to(CONTRACTS)
    with started("up", cwd=home) as process, httpx.Client(base_url=address, timeout=PATIENCE_S) as visitor:
        assert process.stdout
        process.stdout.readline()
        began = time.monotonic()
        lines_until_ready(process, home)
        key = str(first_revealed(visitor)["picture"]["url"]).rpartition("/objects/")[2]
        page = visitor.get("/").text
        took = time.monotonic() - began
        assert key in page
        picture = visitor.get(f"/objects/{key}")
        assert (picture.status_code, picture.headers["content-type"].partition("/")[0]) == (200, "image")
        assert glisk("doctor", cwd=home).returncode == 0
        assert "goes on with it" in stopped(process)
    print(f"revealed and on the page {took:.1f} s after the first line")
    return took


def first_revealed(visitor: httpx.Client) -> dict[str, Any]:
    """As soon as the server tells of it."""
    with visitor.stream("GET", "/events") as events:
        for line in events.iter_lines():
            if line.startswith("data:") and '"revealed"' in line:
                break
    (token,) = visitor.get("/tokens", params={"status": "revealed", "limit": 1}).json()["tokens"]
    return dict(token)
