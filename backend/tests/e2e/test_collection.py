"""The collection on a real chain: what it promises to a listener, to holders, and against its own keeper."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from eth_abi.abi import decode

from glisk.dev.chain_contract import KEEPER, MINT_PRICE, OWNER
from tests.chains import AUTHOR, MINTER, STRANGER, Chain, Refused, a_node, reached, read_artifact, request, topic

MISSING, LOCKED, UNCHANGED, UNREVEALED = range(4)
ZERO = f"0x{0:040x}"
URI = "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52{:02}"  # as long as those we write
GAS_OF_50_REVEALS = 4_631_770  # as measured; four slots of 22,100 each are 4,420,000 of it


def events(receipt: dict[str, Any], signature: str) -> list[tuple[Any, ...]]:
    """The arguments of each event of that kind, indexed ones first."""
    types = signature.partition("(")[2].rstrip(")").split(",")
    found = [log for log in receipt["logs"] if log["topics"][0] == topic(signature)]
    return [tuple(decode(types, b"".join(map(bare, [*log["topics"][1:], log["data"]])))) for log in found]


def bare(text: str) -> bytes:
    return bytes.fromhex(text[2:])


@asynccontextmanager
async def refused(error: str) -> AsyncIterator[None]:
    with pytest.raises(Refused) as caught:
        yield
    assert caught.value.is_error(error), caught.value.data


class Collection:
    def __init__(self, chain: Chain, address: str) -> None:
        self.chain, self.address = chain, address

    async def do(self, sender: str, signature: str, *args: Any, value: int = 0) -> dict[str, Any]:
        return await self.chain.transact(request(self.address, signature, *args, sender=sender, value=value))

    async def mint(self, quantity: int, author: str = AUTHOR) -> dict[str, Any]:
        return await self.do(MINTER, "mint(address,uint256)", author, quantity, value=quantity * MINT_PRICE)

    async def reveal(self, uris: dict[int, str], sender: str = KEEPER) -> dict[str, Any]:
        return await self.do(sender, "revealTokens(uint256[],string[])", list(uris), list(uris.values()))

    async def lock(self, *token_ids: int, sender: str = KEEPER) -> dict[str, Any]:
        return await self.do(sender, "lockTokens(uint256[])", token_ids)

    async def read(self, signature: str, *args: Any, returns: str) -> Any:
        return await self.chain.call(self.address, signature, *args, returns=returns)

    async def uri(self, token_id: int) -> str:
        return str(await self.read("tokenURI(uint256)", token_id, returns="string"))

    async def uris(self, token_ids: Sequence[int]) -> list[str]:
        return [await self.uri(token_id) for token_id in token_ids]


@pytest.fixture(scope="module")
def node() -> Iterator[int]:
    """One for all: every test has a collection of its own on it."""
    with a_node() as port:
        yield port


@pytest.fixture
async def chain(node: int) -> AsyncIterator[Chain]:
    async with reached(node) as chain:
        yield chain


@pytest.fixture
def glisk(chain: Chain, collection: str) -> Collection:
    return Collection(chain, collection)


def updates(receipt: dict[str, Any]) -> list[tuple[int, ...]]:
    """In the order of the events; a single token is a range of one number."""
    kinds = {topic("MetadataUpdate(uint256)"): 1, topic("BatchMetadataUpdate(uint256,uint256)"): 2}
    told = [(kinds[log["topics"][0]], log["data"]) for log in receipt["logs"] if log["topics"][0] in kinds]
    return [tuple(decode(["uint256"] * count, bare(data))) for count, data in told]


def skipped(receipt: dict[str, Any], what: str = "Reveal") -> list[tuple[Any, ...]]:
    return events(receipt, f"{what}Skipped(uint256,uint8)")


# Minting


async def test_a_mint_says_who_what_and_for_how_much(glisk: Collection) -> None:
    receipt = await glisk.mint(3)
    assert events(receipt, "BatchMinted(address,address,uint256,uint256,uint256)") == [
        (MINTER, AUTHOR, 1, 3, 3 * MINT_PRICE)
    ]


async def test_ids_run_without_a_gap_over_mints_of_many_sizes(glisk: Collection) -> None:
    sizes, expected = [1, 50, 2, 7], 1
    for size in sizes:
        [(_, _, start, quantity, _)] = events(
            await glisk.mint(size), "BatchMinted(address,address,uint256,uint256,uint256)"
        )
        assert (start, quantity) == (expected, size)
        expected += size
    assert await glisk.read("nextTokenId()", returns="uint256") == expected
    assert [token.token_id for token in await glisk.chain.mints()] == list(range(1, expected))


async def test_a_token_remembers_its_author_and_belongs_to_its_minter(glisk: Collection) -> None:
    await glisk.mint(2, AUTHOR)
    await glisk.mint(1, STRANGER)
    authors = [await glisk.read("tokenPromptAuthor(uint256)", n, returns="address") for n in (1, 2, 3)]
    assert authors == [AUTHOR, AUTHOR, STRANGER]
    assert await glisk.read("ownerOf(uint256)", 3, returns="address") == MINTER
    async with refused("ERC721NonexistentToken(uint256)"):
        await glisk.read("tokenPromptAuthor(uint256)", 4, returns="address")


@pytest.mark.parametrize("paid", [0, 2 * MINT_PRICE - 1, 2 * MINT_PRICE + 1])
async def test_any_other_payment_is_refused(paid: int, glisk: Collection) -> None:
    async with refused("WrongPayment(uint256,uint256)"):
        await glisk.do(MINTER, "mint(address,uint256)", AUTHOR, 2, value=paid)


@pytest.mark.parametrize("quantity", [0, 51, 2**256 - 1])
async def test_a_quantity_out_of_range_is_refused(quantity: int, glisk: Collection) -> None:
    async with refused("QuantityOutOfRange(uint256,uint256)"):
        await glisk.do(MINTER, "mint(address,uint256)", AUTHOR, quantity)


async def test_nobody_is_no_author(glisk: Collection) -> None:
    async with refused("ZeroPromptAuthor()"):
        await glisk.mint(1, ZERO)


# Revealing


async def test_a_reveal_gives_each_token_its_uri_and_the_others_keep_the_placeholder(glisk: Collection) -> None:
    await glisk.mint(3)
    await glisk.do(OWNER, "setPlaceholderURI(string)", "ipfs://soon")
    await glisk.reveal({1: "ipfs://one", 3: URI.format(3)})
    assert await glisk.uris([1, 2, 3]) == ["ipfs://one", "ipfs://soon", URI.format(3)]
    async with refused("ERC721NonexistentToken(uint256)"):
        await glisk.uri(4)


async def test_what_is_locked_missing_or_unchanged_is_skipped_and_told_and_the_rest_is_revealed(
    glisk: Collection,
) -> None:
    await glisk.mint(4)
    await glisk.reveal({1: "ipfs://frozen", 2: "ipfs://same"})
    await glisk.lock(1)
    receipt = await glisk.reveal(
        {0: "x", 1: "ipfs://other", 2: "ipfs://same", 3: "ipfs://new", 5: "x", 2**256 - 1: "x"}
    )
    assert skipped(receipt) == [(0, MISSING), (1, LOCKED), (2, UNCHANGED), (5, MISSING), (2**256 - 1, MISSING)]
    assert updates(receipt) == [(3,)]
    assert len(receipt["logs"]) == 6
    assert await glisk.uris([1, 2, 3, 4]) == ["ipfs://frozen", "ipfs://same", "ipfs://new", ""]


async def test_a_batch_that_is_sent_again_changes_nothing(glisk: Collection) -> None:
    await glisk.mint(3)
    batch = {token_id: URI.format(token_id) for token_id in (1, 2, 3)}
    assert skipped(await glisk.reveal(batch)) == []
    again = await glisk.reveal(batch)
    assert skipped(again) == [(1, UNCHANGED), (2, UNCHANGED), (3, UNCHANGED)]
    assert updates(again) == []


@pytest.mark.parametrize("better", ["", "short", "x" * 31, "x" * 32, URI.format(2), "x" * 500])
async def test_a_reveal_can_be_repeated_with_another_uri(better: str, glisk: Collection) -> None:
    await glisk.mint(1)
    await glisk.reveal({1: URI.format(1)})
    assert updates(await glisk.reveal({1: better})) == [(1,)]
    assert await glisk.uri(1) == better
    await glisk.reveal({1: URI.format(1)})
    assert await glisk.uri(1) == URI.format(1)


async def test_lists_of_different_lengths_are_refused(glisk: Collection) -> None:
    await glisk.mint(2)
    async with refused("LengthsDiffer(uint256,uint256)"):
        await glisk.do(KEEPER, "revealTokens(uint256[],string[])", [1, 2], ["ipfs://one"])


async def test_an_empty_batch_says_nothing(glisk: Collection) -> None:
    assert (await glisk.reveal({}))["logs"] == []


@pytest.mark.parametrize(
    ("token_ids", "ranges"),
    [
        ([1, 2, 3, 7, 8], [(1, 3), (7, 8)]),
        ([5], [(5,)]),
        ([1, 3, 5], [(1,), (3,), (5,)]),
        ([3, 2, 1], [(3,), (2,), (1,)]),
        ([8, 9, 1, 2, 4], [(8, 9), (1, 2), (4,)]),
        ([1, 2, 6, 3, 4], [(1, 4)]),  # 6 is locked
        ([4, 5, 6, 7], [(4, 5), (7,)]),
        ([9, 10, 11], [(9, 10)]),  # there is no 11
    ],
)
async def test_updates_are_told_as_ranges_of_consecutive_ids(
    token_ids: list[int], ranges: list[tuple[int, ...]], glisk: Collection
) -> None:
    await glisk.mint(10)
    await glisk.reveal({6: "ipfs://six"})
    await glisk.lock(6)
    receipt = await glisk.reveal({token_id: URI.format(token_id) for token_id in token_ids})
    assert updates(receipt) == ranges


async def test_a_new_placeholder_is_told_for_every_token_there_is(glisk: Collection) -> None:
    assert updates(await glisk.do(OWNER, "setPlaceholderURI(string)", "ipfs://early")) == []
    await glisk.mint(3)
    assert updates(await glisk.do(OWNER, "setPlaceholderURI(string)", "ipfs://soon")) == [(1, 3)]


async def test_fifty_reveals_cost_little_more_than_the_room_they_take(glisk: Collection) -> None:
    await glisk.mint(50)
    batch = {token_id: URI.format(token_id) for token_id in range(1, 51)}
    receipt = await glisk.reveal(batch)
    assert int(receipt["gasUsed"], 16) < GAS_OF_50_REVEALS * 1.1
    assert len(receipt["logs"]) == 1
    again = await glisk.reveal(batch)
    assert int(again["gasUsed"], 16) < int(receipt["gasUsed"], 16) / 4


# Locking


async def test_a_locked_token_keeps_its_uri_for_good(glisk: Collection) -> None:
    await glisk.mint(2)
    await glisk.reveal({1: "ipfs://one", 2: "ipfs://two"})
    assert events(await glisk.lock(1), "TokenLocked(uint256)") == [(1,)]
    await glisk.reveal({1: "ipfs://other", 2: "ipfs://other"})
    await glisk.do(OWNER, "setPlaceholderURI(string)", "ipfs://soon")
    assert await glisk.uris([1, 2]) == ["ipfs://one", "ipfs://other"]
    assert [await glisk.read("isLocked(uint256)", n, returns="bool") for n in (1, 2)] == [True, False]


async def test_what_is_missing_locked_or_unrevealed_is_not_locked_and_told(glisk: Collection) -> None:
    await glisk.mint(3)
    await glisk.reveal({1: "ipfs://one", 2: "ipfs://two"})
    await glisk.lock(1)
    receipt = await glisk.lock(0, 1, 2, 3, 4, 2)
    assert skipped(receipt, "Lock") == [(0, MISSING), (1, LOCKED), (3, UNREVEALED), (4, MISSING), (2, LOCKED)]
    assert events(receipt, "TokenLocked(uint256)") == [(2,)]


async def test_a_token_of_another_number_is_not_locked_along(glisk: Collection) -> None:
    for _ in range(6):
        await glisk.mint(50)
    await glisk.reveal(dict.fromkeys((1, 255, 256, 257), "ipfs://x"))
    await glisk.lock(1, 256)
    assert [await glisk.read("isLocked(uint256)", n, returns="bool") for n in (1, 255, 256, 257)] == [1, 0, 1, 0]


# Who may do what

OF_THE_OWNER: dict[str, tuple[Any, ...]] = {
    "setKeeper(address)": (STRANGER,),
    "setPlaceholderURI(string)": ("ipfs://soon",),
    "setContractURI(string)": ("ipfs://all",),
    "setRoyalty(address,uint96)": (STRANGER, 1000),
    "withdraw()": (),
    "transferOwnership(address)": (STRANGER,),
    "renounceOwnership()": (),
}
OF_THE_KEEPER: dict[str, tuple[Any, ...]] = {
    "revealTokens(uint256[],string[])": ([1], ["ipfs://one"]),
    "lockTokens(uint256[])": ([1],),
}
OF_EVERYBODY = {
    *("mint(address,uint256)", "approve(address,uint256)", "setApprovalForAll(address,bool)"),
    *("transferFrom(address,address,uint256)", "safeTransferFrom(address,address,uint256)"),
    "safeTransferFrom(address,address,uint256,bytes)",
}


def test_whoever_may_write_is_listed_here() -> None:
    functions = [each for each in read_artifact("GliskCollection")["abi"] if each["type"] == "function"]
    writing = [each for each in functions if each["stateMutability"] in ("nonpayable", "payable")]
    signatures = {f"{each['name']}({','.join(given['type'] for given in each['inputs'])})" for each in writing}
    assert signatures == {*OF_THE_OWNER, *OF_THE_KEEPER, *OF_EVERYBODY}


@pytest.mark.parametrize("sender", [KEEPER, STRANGER], ids=["keeper", "stranger"])
@pytest.mark.parametrize("signature", OF_THE_OWNER)
async def test_what_is_the_owner_s_nobody_else_can_do(signature: str, sender: str, glisk: Collection) -> None:
    await glisk.mint(1)
    async with refused("OwnableUnauthorizedAccount(address)"):
        await glisk.do(sender, signature, *OF_THE_OWNER[signature])
    await glisk.do(OWNER, signature, *OF_THE_OWNER[signature])


@pytest.mark.parametrize("sender", [OWNER, STRANGER], ids=["owner", "stranger"])
@pytest.mark.parametrize("signature", OF_THE_KEEPER)
async def test_what_is_the_keeper_s_nobody_else_can_do(signature: str, sender: str, glisk: Collection) -> None:
    await glisk.mint(1)
    async with refused("NotTheKeeper(address)"):
        await glisk.do(sender, signature, *OF_THE_KEEPER[signature])
    await glisk.do(KEEPER, signature, *OF_THE_KEEPER[signature])


async def test_the_keeper_pays_for_a_mint_like_everybody(glisk: Collection) -> None:
    async with refused("WrongPayment(uint256,uint256)"):
        await glisk.do(KEEPER, "mint(address,uint256)", AUTHOR, 1)


async def test_the_keeper_cannot_move_a_token_of_somebody_else(glisk: Collection) -> None:
    await glisk.mint(1)
    async with refused("ERC721InsufficientApproval(address,uint256)"):
        await glisk.do(KEEPER, "transferFrom(address,address,uint256)", MINTER, KEEPER, 1)


async def test_a_new_collection_has_no_keeper(chain: Chain) -> None:
    glisk = Collection(chain, await chain.deploy("GliskCollection", "Glisk", "GLISK", OWNER, MINT_PRICE))
    assert await glisk.read("keeper()", returns="address") == ZERO
    for sender in (OWNER, KEEPER):
        async with refused("NotTheKeeper(address)"):
            await glisk.lock(1, sender=sender)


async def test_a_replaced_keeper_can_do_nothing_any_more(glisk: Collection) -> None:
    receipt = await glisk.do(OWNER, "setKeeper(address)", STRANGER)
    assert events(receipt, "KeeperChanged(address)") == [(STRANGER,)]
    await glisk.mint(1)
    async with refused("NotTheKeeper(address)"):
        await glisk.reveal({1: "ipfs://one"}, sender=KEEPER)
    await glisk.reveal({1: "ipfs://one"}, sender=STRANGER)


async def test_owner_and_keeper_are_never_one(glisk: Collection) -> None:
    async with refused("OwnerCannotBeKeeper(address)"):
        await glisk.do(OWNER, "setKeeper(address)", OWNER)
    async with refused("OwnerCannotBeKeeper(address)"):
        await glisk.do(OWNER, "transferOwnership(address)", KEEPER)


async def test_without_a_keeper_the_ownership_can_still_be_given_up(glisk: Collection) -> None:
    await glisk.do(OWNER, "setKeeper(address)", ZERO)
    await glisk.do(OWNER, "renounceOwnership()")
    assert await glisk.read("owner()", returns="address") == ZERO


async def test_the_owner_withdraws_all_that_was_paid(glisk: Collection) -> None:
    await glisk.mint(5)
    before = int(await glisk.chain.ask("eth_getBalance", OWNER, "latest"), 16)
    receipt = await glisk.do(OWNER, "withdraw()")
    fee = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    assert int(await glisk.chain.ask("eth_getBalance", OWNER, "latest"), 16) == before + 5 * MINT_PRICE - fee
    assert await glisk.chain.ask("eth_getBalance", glisk.address, "latest") == "0x0"


# Standards


async def test_a_royalty_is_a_share_of_the_price(glisk: Collection) -> None:
    await glisk.mint(1)
    assert await glisk.read("royaltyInfo(uint256,uint256)", 1, 10_000, returns="address,uint256") == (ZERO, 0)
    await glisk.do(OWNER, "setRoyalty(address,uint96)", STRANGER, 750)
    assert await glisk.read("royaltyInfo(uint256,uint256)", 1, 10_000, returns="address,uint256") == (STRANGER, 750)
    async with refused("ERC2981InvalidDefaultRoyalty(uint256,uint256)"):
        await glisk.do(OWNER, "setRoyalty(address,uint96)", STRANGER, 10_001)


async def test_the_description_of_the_collection_can_change_and_says_so(glisk: Collection) -> None:
    assert await glisk.read("contractURI()", returns="string") == ""
    receipt = await glisk.do(OWNER, "setContractURI(string)", "ipfs://all")
    assert [log["topics"] for log in receipt["logs"]] == [[topic("ContractURIUpdated()")]]
    assert await glisk.read("contractURI()", returns="string") == "ipfs://all"


@pytest.mark.parametrize(
    ("interface", "is_supported"),
    [
        ("01ffc9a7", True),  # ERC-165
        ("80ac58cd", True),  # ERC-721
        ("5b5e139f", True),  # its metadata
        ("49064906", True),  # ERC-4906
        ("2a55205a", True),  # ERC-2981
        ("e8a3d485", True),  # ERC-7572
        ("d9b67a26", False),  # ERC-1155
        ("ffffffff", False),  # as ERC-165 wants it
    ],
)
async def test_it_knows_what_it_supports(interface: str, is_supported: bool, glisk: Collection) -> None:
    found = await glisk.read("supportsInterface(bytes4)", bytes.fromhex(interface), returns="bool")
    assert found is is_supported
