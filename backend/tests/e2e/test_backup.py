"""A gallery is backed up while it runs, wiped, and restored: every picture, every line of metadata, all of its history."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chains import CONTRACTS
from tests.commands import a_free_port, glisk, glisk_up, stopped

ALL = "SELECT token_id::text, status, image_key, image_cid, metadata_cid, token_uri FROM tokens_s0 ORDER BY token_id"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where everything is embedded."""
    (tmp_path / "contracts").symlink_to(CONTRACTS)
    monkeypatch.setenv("GLISK_IMAGE_SIZE", "64x64")
    return tmp_path


def asked(home: Path, sql: str) -> list[list[str]]:
    done = glisk("psql", "--", "--no-psqlrc", "-At", "-F", "\t", "-c", sql, cwd=home)
    assert done.returncode == 0, done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()]


def shown(port: str, row: list[str]) -> tuple[bytes, Any]:
    """The picture and the metadata, as the world gets them."""
    base = f"http://127.0.0.1:{port}/ipfs"
    picture, metadata = httpx.get(f"{base}/{row[3]}"), httpx.get(f"{base}/{row[4]}")
    assert (picture.status_code, metadata.status_code) == (200, 200)
    return picture.content, metadata.json()


@pytest.mark.timeout(240)
def test_what_is_backed_up_while_it_runs_comes_back_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = str(a_free_port())
    monkeypatch.setenv("GLISK_PORT", port)
    with glisk_up(home) as (process, _):
        until_revealed(home, 2)
        before = [row for row in asked(home, ALL) if row[1] == "revealed"]
        assert glisk("keys", "create", "anna", cwd=home).returncode == 0
        saved = glisk("backup", "all.backup", cwd=home)
        assert (saved.returncode, saved.stdout.startswith("all.backup: ")) == (0, True), saved.stderr
        stopped(process)
    pictures = [picture_of(home, row[2]) for row in before]
    shutil.rmtree(home / "glisk")

    restored = glisk("restore", "all.backup", "--yes", cwd=home)
    assert (restored.returncode, restored.stdout.startswith("Restored: ")) == (0, True), restored.stderr
    after = {row[0]: row for row in asked(home, ALL)}
    assert [after[row[0]] for row in before] == before
    assert [picture_of(home, row[2]) for row in before] == pictures
    story = glisk("tokens", "show", before[0][0], cwd=home).stdout
    assert "generating #1 done" in story
    assert re.search(r"revealing  #\d+ done", story)
    assert asked(home, "SELECT count(*) FROM events WHERE xact >= pg_current_xact_id()") == [["0"]]
    again = glisk("restore", "all.backup", "--yes", cwd=home)
    assert (again.returncode, "GLK-111" in again.stderr) == (2, True)

    with glisk_up(home) as (process, _):
        for row, picture in zip(before, pictures, strict=True):
            seen, metadata = shown(port, row)
            assert seen == picture
            assert metadata["image"] == f"ipfs://{row[3]}"
        until_revealed(home, len([row for row in after.values() if row[1] == "revealed"]) + 1)
        stopped(process)
    assert asked(home, "SELECT count(*) FROM tokens_s0 WHERE status = 'orphaned'") == [["0"]]


def until_revealed(home: Path, n: int) -> None:
    sql = f"SELECT count(*) >= {n} FROM tokens_s0 WHERE status = 'revealed'"
    while asked(home, sql) != [["t"]]:
        pass


def picture_of(home: Path, key: str) -> bytes:
    return (home / "glisk" / "objects" / key).read_bytes()


def test_a_restore_asks_first_and_what_is_damaged_is_refused_with_nothing_written(
    database_url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    assert glisk("backup", "all.backup", cwd=home).returncode == 0
    assert glisk("backup", "all.backup", cwd=home).returncode == 2, "there is one already"
    monkeypatch.delenv("GLISK_DATABASE_URL")
    monkeypatch.setenv("GLISK_DATA_DIR", str(home / "new"))
    asked_first = glisk("restore", "all.backup", cwd=home)
    assert (asked_first.returncode, "add --yes" in " ".join(asked_first.stderr.split())) == (2, True)
    data = (home / "all.backup").read_bytes()
    (home / "half.backup").write_bytes(data[: len(data) // 2])
    refused = glisk("restore", "half.backup", "--yes", cwd=home)
    assert (refused.returncode, refused.stderr.startswith("GLK-110")) == (2, True)
    assert not (home / "new").exists()
