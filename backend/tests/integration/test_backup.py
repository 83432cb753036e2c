"""Backups: whole or refused, restored all or not at all, and at home on a server that counts its transactions from the start."""

from __future__ import annotations

import hashlib
import io
import random
import tarfile
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from glisk.backup import archive, database, restoring, saving
from glisk.db import server
from glisk.errors import BackupUnusable, DatabaseUnreachable, NotEmpty, SchemaBehind
from glisk.settings import Settings
from glisk.storage.objects import Objects
from tests.builders import PINNED, a_token_row
from tests.s3 import serving, settings_for

PICTURE, BLOCK = b"a picture" * 1000, b"a block"
EVENT = "INSERT INTO events (item_id, workflow, to_status, actor) VALUES ($1, 'token', 'detected', 'listener')"


def nothing(name: str, size: int) -> None:
    """Nobody listens."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "old")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "new")


@pytest.fixture
async def file(settings: Settings, database_url: str, connection: Any, tmp_path: Path) -> Path:
    """Of a token with its picture, a block, a key and an embedded chain."""
    kept = await Objects.of(settings).put(PICTURE, "image/png", "png")
    await Objects.of(settings, room="ipfs").put(BLOCK, "application/vnd.ipld.raw", "raw")
    id = await a_token_row(connection, 7, status="ready", **(PINNED | {"image_key": kept.key}))
    await connection.execute(EVENT, id)
    for name in ("keys/provenance.key", "chain/state.json", "chain/contract.json"):
        restoring.write(settings.data_dir / name, holding(f"what is in {name}"))
    file = tmp_path / "glisk.backup"
    assert await saving.save(settings, database_url, file, nothing) == []
    return file


def holding(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())


async def restored(file: Path, settings: Settings, url: str) -> None:
    head = restoring.checked(file, nothing)
    await restoring.require_empty(settings, url, head)
    await restoring.restore(settings, url, file, head, nothing)


async def one(url: str, sql: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def files_in(place: Path) -> list[str]:
    return sorted(
        str(path.relative_to(place)) for path in place.rglob("*") if path.is_file() and path.suffix != ".lock"
    )


async def test_all_of_it_comes_back(
    file: Path, settings: Settings, elsewhere: Settings, empty_database_url: str
) -> None:
    await restored(file, elsewhere, empty_database_url)
    assert files_in(elsewhere.data_dir) == files_in(settings.data_dir)
    key = await one(empty_database_url, "SELECT image_key FROM tokens_s0")
    assert await Objects.of(elsewhere).get(key) == PICTURE
    assert (elsewhere.data_dir / "keys/provenance.key").stat().st_mode & 0o777 == 0o600
    assert await one(empty_database_url, "SELECT count(*) FROM events") == 1


def test_nobody_else_can_read_it_and_nothing_is_left_beside_it(file: Path) -> None:
    assert file.stat().st_mode & 0o777 == 0o600, "there is a key in it"
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


async def test_a_place_with_data_in_it_is_refused(file: Path, elsewhere: Settings, database_url: str) -> None:
    with pytest.raises(NotEmpty):
        await restored(file, elsewhere, database_url)
    assert not elsewhere.data_dir.exists()


@pytest.mark.parametrize("name", ["keys/provenance.key", "chain/state.json"])
async def test_a_key_or_a_chain_that_is_there_is_not_written_over(
    name: str, file: Path, elsewhere: Settings, empty_database_url: str
) -> None:
    restoring.write(elsewhere.data_dir / name, holding("another"))
    with pytest.raises(NotEmpty):
        await restored(file, elsewhere, empty_database_url)
    assert (elsewhere.data_dir / name).read_text() == "another"


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_refused(part: float, file: Path) -> None:
    data = file.read_bytes()
    end = len(data.rstrip(b"\0"))  # a tar ends in zeros
    file.write_bytes(data[: int(end * part)])
    with pytest.raises(BackupUnusable):
        restoring.checked(file, nothing)


def test_whatever_bit_is_changed_it_is_refused_or_of_no_account(file: Path) -> None:
    """The tar has room between its members that nobody reads."""
    whole, chance = file.read_bytes(), random.Random(7)
    used = [at for at in range(len(whole)) if whole[at]]
    refused = 0
    for at in chance.sample(used, 150):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        try:
            restoring.checked(file, nothing)
        except BackupUnusable:
            refused += 1
    assert refused == 150


def test_a_member_that_was_taken_out_or_put_in_is_noticed(file: Path, tmp_path: Path) -> None:
    for change in ("out", "in"):
        other = tmp_path / change
        with tarfile.open(file) as old, tarfile.open(other, "w") as new:
            for info in old:
                if change == "out" and info.name.startswith("ipfs/"):
                    continue
                if change == "in" and info.name == archive.TAIL:
                    add(
                        new,
                        f"objects/sha256/{hashlib.sha256(b'x').hexdigest()[:2]}/{hashlib.sha256(b'x').hexdigest()}.png",
                    )
                new.addfile(info, old.extractfile(info))
        with pytest.raises(BackupUnusable):
            restoring.checked(other, nothing)


def add(tar: tarfile.TarFile, name: str) -> None:
    info = tarfile.TarInfo(name)
    info.size = 1
    tar.addfile(info, io.BytesIO(b"x"))


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.tar"
    with tarfile.open(other, "w") as tar:
        add(tar, "../../etc/passwd")
    (garbage := tmp_path / "garbage").write_bytes(random.Random(1).randbytes(5000))
    for file in (other, garbage, tmp_path / "not there"):
        with pytest.raises(BackupUnusable):
            restoring.checked(file, nothing)


def test_one_of_a_newer_glisk_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "versions" / "001_first.py").touch()
    monkeypatch.setattr(server, "SCRIPTS", tmp_path)
    with pytest.raises(BackupUnusable):
        restoring.checked(file, nothing)


async def test_a_restore_that_fails_leaves_nothing_in_use_and_can_be_done_again(
    file: Path, elsewhere: Settings, empty_database_url: str
) -> None:
    head = restoring.checked(file, nothing)
    nowhere = empty_database_url.rpartition("/")[0] + "/nowhere"
    with pytest.raises(DatabaseUnreachable):
        await restoring.restore(elsewhere, nowhere, file, head, nothing)
    assert {name.partition("/")[0] for name in files_in(elsewhere.data_dir)} == {"objects", "ipfs"}
    await restored(file, elsewhere, empty_database_url)
    assert await one(empty_database_url, "SELECT count(*) FROM tokens_s0") == 1


async def test_a_dump_that_breaks_off_is_not_committed(file: Path, empty_database_url: str, tmp_path: Path) -> None:
    dump = tmp_path / "half.dump"
    data = next(stream.read() for name, _, stream in archive.members(file) if name == saving.DUMP)
    for part in (0.3, 0.6, 0.9, 0.99):
        restoring.write(dump, io.BytesIO(data[: int(len(data) * part)]))
        with pytest.raises(DatabaseUnreachable):
            database.restore(empty_database_url, dump)
        await database.require_empty(empty_database_url)


async def test_events_of_an_older_server_lie_in_the_past_and_whoever_is_told_of_them_hears_the_rest(
    settings: Settings, elsewhere: Settings, database_url: str, connection: Any, empty_database_url: str, tmp_path: Path
) -> None:
    far = 2**40
    for n in (1, 2, 3):
        await connection.execute("INSERT INTO events (xact, to_status, actor) VALUES ($1, 'x', 'a')", far + n)
    await connection.execute(f"INSERT INTO outbox (name, xact, event_id) VALUES ('told', '{far + 2}', 2)")
    file = tmp_path / "glisk.backup"
    await saving.save(settings, database_url, file, nothing)
    await restored(file, elsewhere, empty_database_url)
    seen = "SELECT count(*) FROM events WHERE xact < pg_snapshot_xmin(pg_current_snapshot())"
    assert await one(empty_database_url, seen) == 3
    left = "SELECT count(*) FROM events e, outbox o WHERE (e.xact, e.event_id) > (o.xact, o.event_id)"
    assert await one(empty_database_url, left) == 1


async def test_a_picture_that_is_damaged_where_it_lies_is_left_out_and_named(
    settings: Settings, database_url: str, tmp_path: Path
) -> None:
    kept = await Objects.of(settings).put(PICTURE, "image/png", "png")
    (settings.data_dir / "objects" / kept.key).write_bytes(b"something else")
    file = tmp_path / "glisk.backup"
    assert await saving.save(settings, database_url, file, nothing) == [kept.key]
    restoring.checked(file, nothing)


async def test_pictures_in_a_bucket_come_back_from_there_too(
    database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    with serving(tmp_path / "s3") as endpoint:
        old, new = (
            settings_for(endpoint, s3_prefix=name).model_copy(update={"data_dir": tmp_path / name})
            for name in ("old", "new")
        )
        kept = await Objects.of(old).put(PICTURE, "image/png", "png")
        block = await Objects.of(old, room="ipfs").put(BLOCK, "application/vnd.ipld.raw", "raw")
        await saving.save(old, database_url, tmp_path / "glisk.backup", nothing)
        await restored(tmp_path / "glisk.backup", new, empty_database_url)
        assert await Objects.of(new).get(kept.key) == PICTURE
        assert await Objects.of(new, room="ipfs").get(block.key) == BLOCK
        assert [key async for key in Objects.of(new).listed()] == [kept.key], "rooms are kept apart"


async def test_there_is_nothing_to_back_up_before_the_first_migration(
    settings: Settings, empty_database_url: str, tmp_path: Path
) -> None:
    with pytest.raises(SchemaBehind):
        await saving.save(settings, empty_database_url, tmp_path / "glisk.backup", nothing)
    assert not (tmp_path / "glisk.backup").exists()


@pytest.mark.parametrize(
    ("url", "place", "password"),
    [
        ("postgresql://u:p%40ss@h:5/d", "postgresql://u@h:5/d", "p@ss"),
        ("postgresql://h/d?sslmode=require", "postgresql://h/d?sslmode=require", ""),
        ("postgresql://u@h/d", "postgresql://u@h/d", ""),
    ],
)
def test_no_password_stands_on_a_command_line(url: str, place: str, password: str) -> None:
    assert database.without_password(url) == (place, password)
