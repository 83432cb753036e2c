"""A chain and the branches it left behind. The same seed and the same moves make the same tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from random import Random

from tests.simulator import log
from tests.simulator.log import Log, Order

CHAIN = 31337
ADDRESS = "0x" + "c0" * 20
STRANGER = "0x" + "5a" * 20  # another collection, in the same blocks
DEPLOYED = 20
GENESIS_AT = 1_750_000_000
WALLETS = [f"0x{n:040x}" for n in range(0xA0, 0xAA)]


class Kind(StrEnum):
    GLISK = "ids without a gap, batches, nextTokenId"
    PLAIN = "transfers only, ids of any size and in any order"


@dataclass(frozen=True, slots=True)
class Minted:
    """How a token came into being, on one branch."""

    token_id: int
    minter: str
    author: str
    block_hash: bytes
    tx: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    number: int
    hash: bytes
    parent: Block | None
    orders: tuple[Order, ...]
    logs: tuple[Log, ...]
    minted: tuple[Minted, ...]
    next_token_id: int  # after this block

    @property
    def timestamp(self) -> int:
        return GENESIS_AT + 2 * self.number

    def back(self) -> Iterator[Block]:
        """Itself, its parent, and so on to the first."""
        block: Block | None = self
        while block:
            yield block
            block = block.parent

    def at(self, number: int) -> Block | None:
        """That block on the branch that ends here."""
        return next((block for block in self.back() if block.number == number), None) if number >= 0 else None


class Tree:
    def __init__(self, seed: int, kind: Kind = Kind.GLISK, *, is_busy: bool = True) -> None:
        """`is_busy`: people mint. Otherwise a block holds only what it is given."""
        self.seed, self.kind, self.is_busy = seed, kind, is_busy
        self.random = Random(f"tree {seed}")
        self.sent = 0  # orders so far, each with a hash of its own
        self.pool: list[Order] = []  # orders that wait, most of them because their block left the chain
        self.canonical: list[Block] = []
        while len(self.canonical) <= DEPLOYED:
            self.grow([])

    @property
    def head(self) -> Block:
        return self.canonical[-1]

    def grow(self, orders: Sequence[Order] | None = None) -> Block:
        """One more block: with these orders, or with whatever people send."""
        self.canonical.append(self.mine(self.canonical[-1] if self.canonical else None, orders))
        return self.head

    def reorganise(self, depth: int, branch: Sequence[Sequence[Order]] | None = None) -> Block:
        """So many of the newest blocks are replaced by a longer branch: by this one, or by one in which most of their orders are
        mined again, in another order, some of them after somebody else was faster."""
        depth = min(depth, self.head.number - DEPLOYED)
        left = self.canonical[-depth:]
        del self.canonical[-depth:]
        if branch is None:
            self.pool += self.sent_again(order for block in left for order in block.orders)
            self.random.shuffle(self.pool)
            for _ in range(depth + self.random.choice((1, 1, 1, 2, 3))):
                self.grow()
        else:
            assert len(branch) > depth, "only a longer branch replaces another"
            for orders in branch:
                self.grow(orders)
        return self.head

    def sent_again(self, orders: Iterable[Order]) -> Iterator[Order]:
        for order in orders:
            luck = self.random.random()
            if luck < 0.05:
                continue
            yield self.order(order.quantity, order.token_ids) if luck < 0.2 else order

    def mine(self, parent: Block | None, orders: Sequence[Order] | None) -> Block:
        number = parent.number + 1 if parent else 0
        if orders is None:
            orders = self.chosen() if self.is_busy and number > DEPLOYED else []
        next_token_id = parent.next_token_id if parent else 1
        logs, minted = list[Log](), list[tuple[Order, int]]()
        for order in orders:
            ids = order.token_ids or tuple(range(next_token_id, next_token_id + order.quantity))
            next_token_id += order.quantity
            logs += self.noise(number)
            logs += log.minted(order, ADDRESS, ids, has_batches=self.kind is Kind.GLISK)
            minted += [(order, token_id) for token_id in ids]
        logs += self.noise(number)
        contents = f"{self.seed} {number} {self.random.random()}"  # two branches never agree by chance
        hash = sha256((parent.hash if parent else b"") + contents.encode()).digest()
        made = tuple(Minted(token_id, order.minter, order.author, hash, order.tx) for order, token_id in minted)
        return Block(number, hash, parent, tuple(orders), tuple(logs), made, next_token_id)

    def chosen(self) -> list[Order]:
        """What goes into a block: some of what waits, and what is new."""
        waiting = [order for order in self.pool if self.random.random() < 0.5]
        self.pool = [order for order in self.pool if order not in waiting]
        new = self.random.choices((0, 1, 2, 3), (50, 30, 15, 5))[0]
        return waiting + [self.order(self.random.randint(1, 5)) for _ in range(new)]

    def order(self, quantity: int, token_ids: tuple[int, ...] = ()) -> Order:
        self.sent += 1
        minter, author = self.random.choice(WALLETS), self.random.choice(WALLETS)
        if self.kind is Kind.PLAIN:
            author = minter
            token_ids = token_ids or tuple(
                self.random.getrandbits(self.random.choice((60, 256))) for _ in range(quantity)
            )
        return Order(self.tx(self.sent), minter, author, quantity, token_ids)

    def noise(self, number: int) -> Iterator[Log]:
        """Logs that are not a mint of ours, or cannot be read."""
        if not self.is_busy or number <= DEPLOYED:
            return
        seller, buyer = self.random.sample(WALLETS, 2)
        tx, luck = self.tx(self.random.getrandbits(60)), self.random.random()
        if luck < 0.1:
            yield log.transfer(tx, ADDRESS, seller, buyer, self.random.randint(1, 50))
        elif luck < 0.2:
            yield from log.minted(replace(self.stranger, tx=tx), STRANGER, (1, 2), has_batches=True)
        elif luck < 0.21:
            yield log.unreadable(tx, ADDRESS, seller)

    @property
    def stranger(self) -> Order:
        return Order(b"", WALLETS[0], WALLETS[1], 2)

    def tx(self, number: int) -> bytes:
        return sha256(f"tx {self.seed} {number}".encode()).digest()

    def canonical_mints(self, up_to: int) -> dict[int, Minted]:
        """The truth: every token there is, and how it came to be."""
        blocks = self.canonical[: up_to + 1]
        return {minted.token_id: minted for block in blocks for minted in block.minted}

    def canonical_logs(self, up_to: int) -> dict[tuple[bytes, int], Log]:
        """Those that say they are mints of the collection, by block and place."""
        return {
            (block.hash, index): entry
            for block in self.canonical[: up_to + 1]
            for index, entry in enumerate(block.logs)
            if entry.is_mint(ADDRESS)
        }
