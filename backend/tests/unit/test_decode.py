"""Which logs are mints, and of what."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import msgspec
import pytest
from eth_abi.abi import decode as abi_decode
from eth_utils.crypto import keccak
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glisk.chain import decode, mint
from glisk.chain.mint import Logs, Mint
from tests.wire import ADDRESS, BLOCK, TX, Wire, batch, consecutive, event, transfer

ALICE, BOB, NOBODY = "0x" + "a1" * 20, "0x" + "b0" * 20, decode.NOBODY
MINT = batch(ALICE, BOB, 7, 1)
PENDING = dict.fromkeys(["blockHash", "blockNumber", "transactionHash", "logIndex"])

addresses = st.binary(min_size=20, max_size=20).map(lambda found: f"0x{found.hex()}").filter(lambda a: a != NOBODY)
words = st.integers(0, 2**256 - 1)
ids = st.one_of(st.integers(0, 1000), st.integers(0, decode.IDS - decode.MOST))
quantities = st.integers(1, decode.MOST)


def test_the_topics_are_the_hashes_of_the_events() -> None:
    for topic, signature in {
        decode.TRANSFER: "Transfer(address,address,uint256)",
        decode.BATCH_MINTED: "BatchMinted(address,address,uint256,uint256,uint256)",
        decode.CONSECUTIVE: "ConsecutiveTransfer(uint256,uint256,address,address)",
    }.items():
        assert topic == f"0x{keccak(text=signature).hex()}"


def test_a_transfer_from_nobody_mints_one_token_and_its_minter_is_the_author() -> None:
    assert read(transfer(NOBODY, ALICE, 7)).mints == [minted(mint.TRANSFER, 7, 1, ALICE, ALICE)]


def test_a_batch_names_the_author_of_its_prompts() -> None:
    assert read(batch(ALICE, BOB, 7, 50)).mints == [minted(mint.BATCH_MINTED, 7, 50, ALICE, BOB)]


def test_the_last_token_of_a_consecutive_transfer_is_among_those_minted() -> None:
    assert read(consecutive(3, 5, NOBODY, BOB)).mints == [minted(mint.CONSECUTIVE, 3, 3, BOB, BOB)]


def test_where_a_log_stands_is_told_with_it() -> None:
    (found,) = read(MINT | {"logIndex": "0x1f", "blockNumber": "0x10"}).mints
    assert (found.block_number, found.block_hash, found.tx_hash, found.log_index) == (16, BLOCK, TX, 31)


@given(addresses, words)
def test_transfers_read_as_the_abi_says(minter: str, token: int) -> None:
    log = transfer(NOBODY, minter, token)
    _, to, found = by_abi(log, ["address", "address", "uint256"], [])
    assert read(log) == Logs([minted(mint.TRANSFER, found, 1, to, to)], [], 1)


@given(addresses, addresses, ids, quantities, words)
def test_batches_read_as_the_abi_says(minter: str, author: str, first: int, quantity: int, paid: int) -> None:
    log = batch(minter, author, first, quantity, paid)
    found = by_abi(log, ["address", "address", "uint256"], ["uint256", "uint256"])
    assert read(log) == Logs([minted(mint.BATCH_MINTED, found[2], found[3], found[0], found[1])], [], 1)


@given(ids, quantities, addresses)
def test_consecutive_transfers_read_as_the_abi_says(first: int, quantity: int, minter: str) -> None:
    log = consecutive(first, first + quantity - 1, NOBODY, minter)
    found, _, to, last = by_abi(log, ["uint256", "address", "address"], ["uint256"])
    assert read(log) == Logs([minted(mint.CONSECUTIVE, found, last - found + 1, to, to)], [], 1)


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(transfer(ALICE, BOB, 7), id="a transfer between owners"),
        pytest.param(transfer(ALICE, NOBODY, 7), id="a burn"),
        pytest.param(transfer(NOBODY, NOBODY, 7), id="from nobody to nobody"),
        pytest.param(consecutive(3, 5, ALICE, BOB), id="a range between owners"),
        pytest.param(consecutive(3, 5, NOBODY, NOBODY), id="a range to nobody"),
        pytest.param(MINT | {"address": ALICE}, id="of another contract"),
        pytest.param(MINT | {"removed": True}, id="removed"),
        pytest.param(MINT | {"topics": ["0x" + "12" * 32]}, id="another event"),
        pytest.param(MINT | {"topics": []}, id="an event without a name"),
        pytest.param(MINT | PENDING, id="in no block yet"),
        pytest.param(MINT | {"address": ALICE, "data": None}, id="broken, of another contract"),
        pytest.param(MINT | {"topics": ["0x12", None]}, id="broken, another event"),
        pytest.param(MINT | {"removed": True, "data": None}, id="broken and removed"),
    ],
)
def test_what_is_no_mint_of_the_contract_is_only_counted(log: Wire) -> None:
    assert read(log, MINT) == Logs([minted(mint.BATCH_MINTED, 7, 1, ALICE, BOB)], [], 2)


@pytest.mark.parametrize(
    ("log", "problem"),
    [
        (event(decode.TRANSFER, [NOBODY, ALICE], [7]), "ERC-20"),
        (event(decode.TRANSFER, [], [NOBODY, ALICE, 7]), "has 1 topics, not 4"),
        (event(decode.TRANSFER, [NOBODY, ALICE, 7], [1]), "has 32 bytes of data, not 0"),
        (event(decode.TRANSFER, [NOBODY, 2**160, 7], []), "longer than an address"),
        (event(decode.TRANSFER, [2**255, ALICE, 7], []), "longer than an address"),
        (event(decode.BATCH_MINTED, [ALICE, BOB], [7, 1, 0]), "has 3 topics, not 4"),
        (event(decode.BATCH_MINTED, [ALICE, BOB, 7], [1]), "has 32 bytes of data, not 64"),
        (event(decode.BATCH_MINTED, [ALICE, BOB, 7], [1, 0, 0]), "has 96 bytes of data, not 64"),
        (event(decode.BATCH_MINTED, [ALICE, 2**160, 7], [1, 0]), "longer than an address"),
        (event(decode.CONSECUTIVE, [1, NOBODY, ALICE], []), "has 0 bytes of data, not 32"),
        (event(decode.CONSECUTIVE, [1, NOBODY, 2**160], [7]), "longer than an address"),
        (event(decode.CONSECUTIVE, [1, 2**160, ALICE], [7]), "longer than an address"),
        (batch(ALICE, BOB, 7, 0), "mints no tokens"),
        (consecutive(5, 4, NOBODY, ALICE), "mints no tokens"),
        (consecutive(5, 0, NOBODY, ALICE), "mints no tokens"),
        (batch(ALICE, BOB, 7, 10**30), f"mints {10**30} tokens at once: more than 20000"),
        (consecutive(0, 20_000, NOBODY, ALICE), "mints 20001 tokens at once: more than 20000"),
        (batch(ALICE, BOB, decode.IDS - 1, 2), "beyond the last id"),
        (MINT | {"data": "0x" + "0" * 127}, "has 63.5 bytes of data, not 64"),
        (MINT | {"data": "0x" + "0" * 127 + "g"}, "hexadecimal"),
        (MINT | {"data": "0x" + "0" * 128 + " "}, "has 64.5 bytes of data, not 64"),
        (MINT | {"data": "  " + "0" * 128}, "without 0x"),
        (MINT | {"data": ""}, "without 0x"),
        (MINT | {"topics": [*MINT["topics"][:3], "0x7"]}, "not 32 bytes"),
        (MINT | {"topics": [*MINT["topics"][:3], "0x07"]}, "not 32 bytes"),
        (MINT | {"topics": [*MINT["topics"][:3], "0x" + "00 " * 21 + "0"]}, "hexadecimal"),
        (MINT | {"topics": [*MINT["topics"][:3], "0x" + "00 " * 20 + "0000"]}, "hexadecimal"),
        (MINT | {"topics": [*MINT["topics"][:3], "0x" + "٣" * 64]}, "hexadecimal"),
        (MINT | {"topics": [*MINT["topics"][:3], None]}, "$.topics[3]"),
        (MINT | {"topics": None}, "$.topics"),
        (MINT | {"data": None}, "$.data"),
        (MINT | {"address": None}, "$.address"),
        (MINT | {"removed": "no"}, "$.removed"),
        ({key: value for key, value in MINT.items() if key != "data"}, "`data`"),
    ],
)
def test_what_says_it_is_a_mint_and_cannot_be_read_is_kept_as_it_came(log: Wire, problem: str) -> None:
    found = read(MINT, log, MINT)
    assert found.mints == [minted(mint.BATCH_MINTED, 7, 1, ALICE, BOB)] * 2
    (kept,) = found.undecodable
    assert problem in kept.problem
    assert json.loads(bytes(kept.raw)) == log
    assert (kept.block_number, kept.block_hash, kept.tx_hash, kept.log_index, found.seen) == (1, BLOCK, TX, 0, 3)


def test_the_largest_batch_and_the_last_ids_there_can_be_are_read() -> None:
    for first in (0, decode.IDS - decode.MOST):
        assert read(batch(ALICE, BOB, first, decode.MOST)).mints[0].quantity == decode.MOST


def test_addresses_and_topics_may_be_in_any_case() -> None:
    log = transfer(NOBODY, ALICE, 0xABC)
    shouted = log | {
        "address": f"0x{ADDRESS[2:].upper()}",
        "topics": [f"0x{topic[2:].upper()}" for topic in log["topics"]],
    }
    raw = msgspec.json.encode([shouted])
    assert decode.logs(raw, ADDRESS.upper()).mints == [minted(mint.TRANSFER, 0xABC, 1, ALICE, ALICE)]


def test_a_log_need_not_say_whether_it_was_removed() -> None:
    silent = {key: value for key, value in MINT.items() if key != "removed"}
    assert len(read(silent, MINT | {"removed": None}).mints) == 2


@pytest.mark.parametrize("toxic", [b'"\\u0000"', b"1e999", b'"\xff"', b"1" * 200_000])
def test_a_log_that_postgresql_could_not_keep_as_it_is_is_kept_as_a_text(toxic: bytes) -> None:
    log = msgspec.json.encode(batch(ALICE, BOB, 7, 0))[:-1] + b',"more":' + toxic + b"}"
    (kept,) = decode.logs(b"[" + log + b"]", ADDRESS).undecodable
    text = json.loads(bytes(kept.raw))
    assert text == log.decode("ascii", "backslashreplace")


def test_what_is_kept_of_a_log_does_not_hold_the_whole_answer_in_memory() -> None:
    raw = msgspec.json.encode([batch(ALICE, BOB, 7, 0), *[MINT] * 100])
    (kept,) = decode.logs(raw, ADDRESS).undecodable
    held = memoryview(kept.raw).obj
    assert isinstance(held, msgspec.Raw)
    assert held.copy() is held  # a copy is made only of what is a part of something else


@pytest.mark.parametrize(
    "answer",
    [b"", b"null", b"{}", b"[", b"[null]", b"[[]]", b'["0x"]', b"[{}]", b'{"logs":[]}', b'["\xff"]', b"[" * 100_000],
)
def test_what_is_no_list_of_logs_is_the_fault_of_whoever_gave_it(answer: bytes) -> None:
    with pytest.raises(ValueError):
        decode.logs(answer, ADDRESS)


@pytest.mark.parametrize("broken", [{}, {"data": None}])
@pytest.mark.parametrize(
    "place",
    [
        {"blockHash": "0x" + "1" * 63},
        {"blockHash": "0x" + "1" * 65},
        {"blockHash": "0x" + " " * 64},
        {"blockHash": "11" * 33},
        {"blockHash": 17},
        {"transactionHash": None},
        {"transactionHash": "0x"},
        {"blockNumber": None},
        {"blockNumber": 17},
        {"blockNumber": "17"},
        {"blockNumber": "0x"},
        {"blockNumber": "-0x1"},
        {"blockNumber": "0x1_0"},
        {"blockNumber": "0x٣"},
        {"blockNumber": hex(2**63)},
        {"logIndex": None},
        {"logIndex": ""},
        {"logIndex": " 0x1"},
        {"logIndex": hex(2**31)},
    ],
)
def test_a_log_that_does_not_say_where_it_stands_spoils_the_answer(place: Wire, broken: Wire) -> None:
    with pytest.raises(ValueError):
        read(MINT | place | broken)


def test_a_hash_that_is_left_out_is_not_one_that_is_not_known_yet() -> None:
    with pytest.raises(ValueError):
        read({key: value for key, value in MINT.items() if key != "blockHash"})


def test_no_logs_are_an_answer() -> None:
    assert decode.logs(msgspec.Raw(b"[]"), ADDRESS) == Logs([], [], 0)


texts = st.one_of(
    st.text(max_size=10),
    st.binary(max_size=70).map(lambda found: f"0x{found.hex()}"),
    st.sampled_from([ADDRESS, *decode.TOPICS, decode.FROM_NOBODY, "0x", "0x0"]),
)
values = st.one_of(st.none(), st.booleans(), st.integers(), texts, st.lists(texts, max_size=5))
keys = st.sampled_from(["address", "topics", "data", "removed"])
any_keys = st.sampled_from(sorted(MINT))


@given(st.dictionaries(keys, values), st.sets(keys), st.sampled_from([MINT, transfer(NOBODY, BOB, 7)]))
def test_a_broken_log_leaves_the_others(junk: Wire, missing: set[str], log: Wire) -> None:
    odd = {key: value for key, value in (log | junk).items() if key not in missing}
    found = read(batch(ALICE, BOB, 1, 1), odd, transfer(NOBODY, BOB, 2))
    assert [mint.first_token_id for mint in found.mints if mint.first_token_id in (1, 2)] == [1, 2]
    assert len(found.mints) + len(found.undecodable) <= found.seen == 3


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=200), st.lists(st.dictionaries(any_keys, values)).map(msgspec.json.encode)))
@example(b'[{"address":"0x","topics":[]}]')
def test_whatever_comes_is_read_or_refused(answer: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert isinstance(decode.logs(answer, ADDRESS), Logs)


@settings(max_examples=200)
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=3))
def test_bytes_that_change_on_the_way_are_read_or_refused(at: int, others: bytes) -> None:
    raw = msgspec.json.encode([MINT, transfer(NOBODY, BOB, 2), consecutive(3, 5, NOBODY, BOB)])
    with contextlib.suppress(ValueError):
        found = decode.logs(raw[: at % len(raw)] + others + raw[at % len(raw) + len(others) :], ADDRESS)
        assert all(0 < mint.quantity <= decode.MOST and len(mint.block_hash) == 32 for mint in found.mints)


def read(*logs: Wire) -> Logs:
    return decode.logs(msgspec.json.encode(logs), ADDRESS)


def minted(kind: str, first: int, quantity: int, minter: str, author: str) -> Mint:
    return Mint(kind, 1, BLOCK, TX, 0, first, quantity, minter, author)


def by_abi(log: Wire, topics: list[str], data: list[str]) -> tuple[Any, ...]:
    indexed = b"".join(bytes.fromhex(topic[2:]) for topic in log["topics"][1:])
    return abi_decode(topics, indexed) + abi_decode(data, bytes.fromhex(log["data"][2:]))
