"""Before everything starts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from glisk import everything, settings
from glisk.errors import DiskFull


def test_a_full_disk_is_told_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings.load(tmp_path)
    found.data_dir.mkdir()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**40, 2**40 - 2**20, 2**20))
    with pytest.raises(DiskFull, match="has 1 MB left"):
        everything.require_room(found)


def test_a_disk_with_room_is_fine(tmp_path: Path) -> None:
    found = settings.load(tmp_path)
    found.data_dir.mkdir()
    everything.require_room(found)
