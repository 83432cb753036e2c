"""The data directory remembers that real services were paid for what is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from glisk.dev import data_dir
from glisk.dev.locks import open_private, try_lock
from glisk.errors import AlreadyRunning, DataUnwritable, NotOurData, WouldDestroyPaidWork
from glisk.settings import Settings


@pytest.fixture
def embedded(tmp_path: Path) -> Settings:
    data_dir.prepare(tmp_path / "data")
    return Settings(data_dir=tmp_path / "data")


def test_what_is_not_ours_is_neither_used_nor_wiped(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    for attempt in (data_dir.prepare, lambda path: data_dir.wipe(Settings(data_dir=path), force=True)):
        with pytest.raises(NotOurData):
            attempt(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataUnwritable, match="file is no directory but a file"):
        data_dir.prepare(tmp_path / "file")


def test_to_look_whether_another_runs_there_makes_nothing(embedded: Settings, tmp_path: Path) -> None:
    data_dir.require_idle(tmp_path / "new")
    data_dir.require_idle(embedded.data_dir)
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["data", data_dir.MARK]
    with data_dir.owned(embedded.data_dir), pytest.raises(AlreadyRunning):
        data_dir.require_idle(embedded.data_dir)


def test_a_link_to_a_data_directory_is_followed(embedded: Settings, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(embedded.data_dir)
    assert data_dir.wipe(Settings(data_dir=tmp_path / "link"), force=False)
    assert not embedded.data_dir.exists()


def test_a_real_part_is_remembered_when_it_is_no_longer_set(embedded: Settings) -> None:
    data_dir.remember_real_parts(embedded.model_copy(update={"database_url": SecretStr("postgresql://db/x")}))
    data_dir.remember_real_parts(embedded)
    with pytest.raises(WouldDestroyPaidWork, match="GLISK_DATABASE_URL"):
        data_dir.wipe(embedded, force=False)
    assert data_dir.wipe(embedded, force=True)


def test_play_can_be_wiped(embedded: Settings) -> None:
    data_dir.remember_real_parts(embedded)
    assert data_dir.wipe(embedded, force=False)
    assert not data_dir.wipe(embedded, force=False)


def test_a_running_glisk_is_not_wiped_away_under_itself(embedded: Settings) -> None:
    with data_dir.owned(embedded.data_dir), pytest.raises(AlreadyRunning):
        data_dir.wipe(embedded, force=True)


@pytest.mark.parametrize("part", data_dir.SHARED)
def test_what_a_command_still_uses_is_not_wiped(tmp_path: Path, part: str) -> None:
    settings = Settings(data_dir=tmp_path / "glisk")
    data_dir.prepare(settings.data_dir)
    (settings.data_dir / part).mkdir()
    with open_private(settings.data_dir / part / "keeper.lock") as keeper:
        assert try_lock(keeper)
        with pytest.raises(AlreadyRunning, match="still uses"):
            data_dir.wipe(settings, force=True)
    assert data_dir.wipe(settings, force=True)
