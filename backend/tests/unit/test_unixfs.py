"""Files as IPFS knows them: the CIDs that others have published for the same bytes."""

from __future__ import annotations

import hashlib
import random
from contextlib import suppress

import pytest
from Crypto.Cipher import ChaCha20
from hypothesis import given
from hypothesis import strategies as some

from glisk.errors import BadCid
from glisk.storage.ipfs import cid, node
from glisk.storage.ipfs.cid import DAG_PB, RAW
from glisk.storage.ipfs.unixfs import KUBO, V1_2025, Profile, dag, matches

MIB = 1024 * 1024
HELLO = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
EMPTY = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
profiles = some.builds(Profile, some.integers(1, 20), some.integers(2, 5))


def keystream(size: int, seed: str) -> bytes:
    """The bytes that Kubo's own tests of these CIDs are made from (test/cli/cid_profiles_test.go)."""
    return ChaCha20.new(key=hashlib.sha256(seed.encode()).digest(), nonce=bytes(8)).encrypt(bytes(size))


@pytest.mark.parametrize(
    ("data", "root"),
    [
        (b"", EMPTY),
        (b"hello world", HELLO),
        (keystream(MIB, "chunk-v1-seed"), "bafkreiacndfy443ter6qr2tmbbdhadvxxheowwf75s6zehscklu6ezxmta"),
        (keystream(MIB + 1, "chunk-v1-seed"), "bafybeigmix7t42i6jacydtquhet7srwvgpizfg7gjbq7627d35mjomtu64"),
    ],
    ids=["empty", "hello", "a leaf", "a leaf and a byte"],
)
def test_a_file_has_the_cid_that_was_published(data: bytes, root: str) -> None:
    assert dag(data).root == root
    assert matches(root, data)


@given(some.binary(max_size=400), profiles)
def test_the_leaves_below_the_root_are_the_file(data: bytes, profile: Profile) -> None:
    made = dag(data, profile)
    blocks = {block.cid: block.data for block in made.blocks}

    def below(name: str) -> bytes:
        links = node.read(blocks[name]) if cid.parse(name).codec == DAG_PB else ()
        assert len(links) <= profile.width
        parts = [below(str(link.cid)) for link in links]
        assert [len(part) for part in parts] == [link.size for link in links]
        return b"".join(parts) if links else blocks[name]

    assert (below(made.root), made.size) == (data, len(data))


@given(some.binary(max_size=400), profiles)
def test_every_block_is_named_by_its_bytes_is_there_once_and_after_those_it_links_to(
    data: bytes, profile: Profile
) -> None:
    made, seen = dag(data, profile), set[str]()
    for block in made.blocks:
        name = cid.parse(block.cid)
        assert name.names(block.data)
        assert block.cid not in seen
        if name.codec == DAG_PB:
            assert {str(link.cid) for link in node.read(block.data)} <= seen
        seen.add(block.cid)
    assert made.blocks[-1].cid == made.root


def test_a_link_tells_how_much_all_blocks_below_it_weigh() -> None:
    made = dag(random.randbytes(1000), Profile(10, 4))
    total = sum(len(block.data) for block in made.blocks)
    root = made.blocks[-1].data
    assert sum(link.weight for link in node.read(root)) + len(root) == total


@pytest.mark.parametrize("profile", [V1_2025, KUBO])
def test_a_file_matches_its_cid_however_it_was_cut(profile: Profile) -> None:
    data = random.randbytes(3 * MIB)
    root = dag(data, profile).root
    assert matches(root, data)
    assert not matches(root, data[:-1] + bytes([data[-1] ^ 1]))
    assert not matches(root, data + b"\0")


def test_a_leaf_of_any_length_matches() -> None:
    data = random.randbytes(2 * MIB)
    assert matches(str(cid.of(RAW, data)), data)
    assert not matches(str(cid.of(RAW, data)), data[1:])


def test_a_cid_that_we_cannot_read_is_not_called_wrong() -> None:
    with pytest.raises(BadCid, match="version 0"):
        matches("Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD", b"hello world")


@given(some.binary(max_size=200))
def test_garbage_is_no_node(data: bytes) -> None:
    with suppress(BadCid):
        assert node.written(node.read(data)) == data


@given(some.data())
def test_a_damaged_node_is_not_read_as_it_was(draw: some.DataObject) -> None:
    whole = dag(random.randbytes(100), Profile(10, 20)).blocks[-1].data
    at, bits = draw.draw(some.integers(0, len(whole) - 1)), draw.draw(some.integers(1, 255))
    with suppress(BadCid):
        assert node.read(whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :]) != node.read(whole)


@pytest.mark.parametrize(
    "data", [b"\x0a\x02\x08\x01", b"\x0a\x06\x08\x02\x12\x02hi\x18\x02"], ids=["directory", "data"]
)
def test_a_node_that_is_not_a_list_of_parts_is_refused(data: bytes) -> None:
    with pytest.raises(BadCid, match="no UnixFS file"):
        node.read(data)
