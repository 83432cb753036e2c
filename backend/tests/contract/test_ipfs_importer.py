"""Our files and CARs beside those of the JavaScript side: another hand, another language, the same CIDs."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from glisk.storage.ipfs import car
from glisk.storage.ipfs.unixfs import KUBO, V1_2025, Profile, dag

CONTRACTS = Path(__file__).parents[3] / "contracts"  # where npm has put its parts
SCRIPT = Path(__file__).with_name("importer.mjs").read_text()
MIB = 1024 * 1024
SIZES = [0, 10, 300_000, MIB, MIB + 1, 3_000_000]
TREES = [(175, 174), (2100, 1024), (3000, 10), (1001, 10)]  # leaves, and how many to a node


class Imported(msgspec.Struct):
    root: str
    blocks: list[str]


class Unpacked(msgspec.Struct):
    roots: list[str]
    blocks: list[str]


class Told(msgspec.Struct):
    imported: Imported
    unpacked: Unpacked


@pytest.mark.parametrize("profile", [V1_2025, KUBO], ids=["1 MiB", "256 KiB"])
def test_files_of_all_sizes_have_the_blocks_that_the_importer_gives_them(profile: Profile, tmp_path: Path) -> None:
    require_the_same([(random.randbytes(size), profile) for size in SIZES], tmp_path)


def test_trees_of_several_levels_have_the_blocks_that_the_importer_gives_them(tmp_path: Path) -> None:
    require_the_same([(random.randbytes(leaves * 64 - 5), Profile(64, width)) for leaves, width in TREES], tmp_path)


def test_a_file_that_repeats_itself_has_each_block_once(tmp_path: Path) -> None:
    require_the_same([(bytes(300 * 64), Profile(64, 10)), (bytes(3 * MIB), V1_2025)], tmp_path)


def require_the_same(files: list[tuple[bytes, Profile]], folder: Path) -> None:
    dags = [dag(data, profile) for data, profile in files]
    orders = list[dict[str, str | int]]()
    for number, ((data, profile), made) in enumerate(zip(files, dags, strict=True)):
        path, packed = folder / f"{number}", folder / f"{number}.car"
        path.write_bytes(data)
        packed.write_bytes(car.written(made))
        orders.append({"path": str(path), "car": str(packed), "chunk": profile.chunk, "width": profile.width})
    for made, told in zip(dags, told_by_node(orders), strict=True):
        blocks = sorted(block.cid for block in made.blocks)
        assert told == Told(Imported(made.root, blocks), Unpacked([made.root], blocks))


def told_by_node(orders: list[dict[str, str | int]]) -> list[Told]:
    path = os.pathsep.join([os.environ["PATH"], str(Path(sys.executable).parent)])  # node may come from our own set-up
    run = subprocess.run(
        ["node", "--input-type=module", "--eval", SCRIPT],
        input=msgspec.json.encode(orders),
        cwd=CONTRACTS,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    return msgspec.json.decode(run.stdout, type=list[Told])
