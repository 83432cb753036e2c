"""The pinner of our own, and the store of blocks behind it: in a directory and in a bucket of a real S3 server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import obstore
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as some

from glisk.errors import BadCid, NotHere, ObjectDamaged, StorageDown
from glisk.settings import Settings
from glisk.storage.ipfs import car
from glisk.storage.ipfs.blocks import Blocks, key
from glisk.storage.ipfs.cid import DAG_PB, RAW, of, parse
from glisk.storage.ipfs.local import Local
from glisk.storage.ipfs.port import Block, Dag, Pinner
from glisk.storage.ipfs.unixfs import Profile, dag
from glisk.storage.objects import Objects, Part
from tests.blocks import blocks, endpoint, settings
from tests.s3 import settings_for

__all__ = ["blocks", "endpoint", "settings"]  # fixtures

SMALL = Profile(chunk=10, width=3)
DATA = bytes(range(100))
TREE = dag(DATA, SMALL)  # ten leaves below four nodes below two below the root
ABSENT = str(of(RAW, b"nobody has put this"))


@pytest.fixture
def pinner(blocks: Blocks) -> Pinner:
    return Local(blocks)


async def read(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


async def damage(blocks: Blocks, block: Block, data: bytes) -> None:
    await obstore.put_async(blocks.objects.place.store, key(parse(block.cid)), data)


async def lose(blocks: Blocks, block: Block) -> None:
    await blocks.objects.delete(key(parse(block.cid)))


@pytest.mark.parametrize("size", [0, 10, 1_048_576, 1_048_577, 3_000_000])
async def test_what_is_pinned_is_there_under_its_cid(size: int, pinner: Pinner, blocks: Blocks) -> None:
    data = random.randbytes(size)
    whole = dag(data)
    assert not await pinner.has(whole.root)
    await pinner.put(whole, "token 7")
    assert await pinner.has(whole.root)
    assert (await read(blocks.open(whole.root)), await blocks.size(whole.root)) == (data, size)
    await pinner.close()


async def test_pinning_it_again_changes_nothing_and_many_may_do_it_at_once(pinner: Pinner, blocks: Blocks) -> None:
    await asyncio.gather(*(pinner.put(TREE, "token 7") for _ in range(5)))
    await pinner.put(TREE, "another label")
    assert await read(blocks.open(TREE.root)) == DATA


async def test_every_block_can_be_had_alone(blocks: Blocks) -> None:
    await blocks.put(TREE)
    assert [await blocks.block(block.cid) for block in TREE.blocks] == [block.data for block in TREE.blocks]


async def test_its_car_is_whole_and_starts_with_the_root(blocks: Blocks) -> None:
    await blocks.put(TREE)
    roots, found = car.read(await read(blocks.car(TREE.root)))
    assert (roots, found[0]) == ([TREE.root], TREE.blocks[-1])
    assert {block.cid for block in found} == {block.cid for block in TREE.blocks}


async def test_a_block_that_repeats_is_in_the_car_once(blocks: Blocks) -> None:
    same = dag(bytes(100), SMALL)
    await blocks.put(same)
    assert await read(blocks.open(same.root)) == bytes(100)
    assert len(car.read(await read(blocks.car(same.root)))[1]) == len(same.blocks)


async def test_blocks_lie_apart_from_the_images(settings: Settings, blocks: Blocks) -> None:
    await blocks.put(TREE)
    assert not [await Objects.of(settings).exists(key(parse(block.cid))) for block in TREE.blocks].count(True)


async def test_the_root_comes_last(blocks: Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
    put, order = blocks.objects.put, list[bytes]()

    async def noted(data: bytes, mime: str, extension: str) -> object:
        order.append(data)
        return await put(data, mime, extension)

    monkeypatch.setattr(blocks.objects, "put", noted)
    await blocks.put(TREE)
    assert order[-1] == TREE.blocks[-1].data


@pytest.mark.parametrize("number", range(len(TREE.blocks)))
async def test_a_file_that_lacks_one_block_is_not_there_until_it_is_pinned_again(number: int, tmp_path: Path) -> None:
    blocks = Blocks.of(Settings(data_dir=tmp_path))
    await blocks.put(TREE)
    await lose(blocks, TREE.blocks[number])
    assert not await blocks.has(TREE.root)
    for reading in (blocks.open(TREE.root), blocks.car(TREE.root)):
        with pytest.raises(NotHere, match=TREE.blocks[number].cid):
            await read(reading)
    await blocks.put(TREE)
    assert await blocks.has(TREE.root)


@pytest.mark.parametrize("leftover", [b"", b"\0" * 10, b"more than there was"], ids=len)
@pytest.mark.parametrize("number", [0, 5, -1])
async def test_a_damaged_block_is_found_is_not_handed_out_and_is_mended_by_pinning_again(
    number: int, leftover: bytes, blocks: Blocks
) -> None:
    await blocks.put(TREE)
    block = TREE.blocks[number]
    await damage(blocks, block, leftover)
    assert not await blocks.has(TREE.root)
    for reading in (blocks.open(TREE.root), blocks.car(TREE.root)):
        with pytest.raises(ObjectDamaged):
            await read(reading)
    with pytest.raises(ObjectDamaged):
        await blocks.block(block.cid)
    await blocks.put(TREE)
    assert await blocks.has(TREE.root)


@trying(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(some.integers(0, 99), some.integers(1, 100))
async def test_a_part_of_a_file_is_that_part(tmp_path: Path, start: int, length: int) -> None:
    blocks = Blocks.of(Settings(data_dir=tmp_path))
    await blocks.put(TREE)
    assert await read(blocks.open(TREE.root, Part(start, min(start + length, 100)))) == DATA[start : start + length]


async def test_a_part_is_read_without_the_leaves_that_it_does_not_need(blocks: Blocks) -> None:
    await blocks.put(TREE)
    for leaf in (block for block in TREE.blocks if parse(block.cid).codec == RAW and block.data != DATA[40:50]):
        await lose(blocks, leaf)
    assert await read(blocks.open(TREE.root, Part(42, 50))) == DATA[42:50]


async def test_the_first_leaf_comes_before_the_last_is_looked_for(blocks: Blocks) -> None:
    await blocks.put(TREE)
    await lose(blocks, next(block for block in TREE.blocks if block.data == DATA[90:]))
    assert await anext(blocks.open(TREE.root)) == DATA[:10]


async def test_what_was_never_pinned_is_not_here(blocks: Blocks) -> None:
    absent = str(of(DAG_PB, b"a node"))
    for cid in (ABSENT, absent):
        assert not await blocks.has(cid)
        for ask in (blocks.size(cid), blocks.block(cid), read(blocks.open(cid)), read(blocks.car(cid))):
            with pytest.raises(NotHere, match=cid):
                await ask


async def test_a_block_under_the_cid_of_another_is_refused(blocks: Blocks) -> None:
    with pytest.raises(BadCid, match=ABSENT):
        await blocks.put(Dag(ABSENT, [Block(ABSENT, b"something else")], 14))
    assert not await blocks.has(ABSENT)


async def test_what_is_no_cid_is_refused(blocks: Blocks) -> None:
    for ask in (blocks.has("x"), blocks.size("x"), blocks.block("x"), read(blocks.open("x")), read(blocks.car("x"))):
        with pytest.raises(BadCid):
            await ask


async def test_a_storage_in_trouble_is_told_as_such() -> None:
    pinner = Local(Blocks.of(settings_for("http://127.0.0.1:1")))
    with pytest.raises(StorageDown):
        await pinner.put(TREE, "token 7")
    with pytest.raises(StorageDown):
        await pinner.has(TREE.root)
