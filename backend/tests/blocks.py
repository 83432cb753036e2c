"""A store of blocks, in a directory and in a bucket, as fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from glisk.settings import Settings
from glisk.storage.ipfs.blocks import Blocks
from tests.s3 import serving, settings_for


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("s3")) as url:
        yield url


@pytest.fixture(params=["directory", "bucket"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    if request.param == "directory":
        return Settings(data_dir=tmp_path)
    return settings_for(request.getfixturevalue("endpoint"), s3_prefix=tmp_path.name)


@pytest.fixture
def blocks(settings: Settings) -> Blocks:
    return Blocks.of(settings)
