"""What is a reason to call a person? Pure: from what was read, and from what the operator wants to be called for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from glisk import addresses
from glisk.repositories.alert_board import Cause, Failed, HeldLane, Means, Oldest, Reading, Snapshot, Stuck
from glisk.settings import Settings
from glisk.values import text

SOON = timedelta(seconds=10)  # what passes within it was none
BUDGET = "the day's budget"  # as the purse says it
TOO_MANY_TRIES = 5
IDLE_S = HELD_BACK_S = 120.0
CATCHING_UP = 300  # blocks: fewer than these are read within seconds
CODE = re.compile(r"GLK-\d{3}")


def causes(seen: Snapshot, settings: Settings) -> list[Cause]:
    """Each once. A lane that is held is one cause, whatever else follows from it."""
    return [
        *(lane(each) for each in seen.lanes),
        *(cause for each in seen.chains if is_followed(each, settings) for cause in chain(each, settings)),
        *(cause for each in seen.means for cause in means(each, settings)),
        *(failed(each) for each in seen.failed),
        *age(seen.oldest, settings),
        *idle(seen.waited_s),
        *(stuck(each) for each in seen.outboxes if each.tries >= TOO_MANY_TRIES),
        *held_back(seen.held_back_s),
    ]


def patience(settings: Settings) -> dict[str, timedelta]:
    """By kind, how long each has to last."""
    kinds = ("lane", "budget", "halted", "alarm", "balance", "failed", "age", "idle", "outbox", "transaction")
    return dict.fromkeys(kinds, SOON) | {"lag": SOON, "catching up": timedelta(seconds=settings.alert_lag)}


def lane(held: HeldLane) -> Cause:
    fix = f"Mend the cause, then: glisk lanes resume {held.lane}"
    if BUDGET in held.reason:
        message = f"The budget of the day is reached, and the lane {held.lane} is held: {held.reason}"
        return Cause(f"budget:{held.lane}", "budget", message, "Raise GLISK_DAILY_BUDGET, or wait for the day.")
    return Cause(f"lane:{held.lane}", "lane", f"The lane {held.lane} is held: {held.reason or 'no reason'}", fix)


def is_followed(read: Reading, settings: Settings) -> bool:
    """What an operator has taken from their list is nobody's trouble any more."""
    wanted = addresses.contracts_in(settings.contracts)
    chain, _, address = read.contract.partition(":")
    return not wanted or any(address == one and str(on or chain) == chain for on, one in wanted)


def chain(read: Reading, settings: Settings) -> Iterator[Cause]:
    """What halted is not read, and need not be told twice."""
    name = read.contract
    if read.halted:
        yield Cause(f"halted:{name}", "halted", f"{name} is not followed any more: {read.halted}", "glisk chain replay")
        return
    if read.alarm:
        yield Cause(f"alarm:{name}", "alarm", f"{name}: {read.alarm}", "glisk chain status; glisk chain audit")
    if problem := lag(read, settings):
        fix = "Is `glisk listen` running, and do the endpoints in GLISK_RPC_URLS answer? glisk chain status"
        yield Cause(f"lag:{name}", "lag", f"{name}: {problem}", fix)
    elif read.behind > CATCHING_UP:
        message = f"{name} is {read.behind} blocks behind the head of its chain"
        yield Cause(f"catching up:{name}", "catching up", message, "It is catching up, or its endpoints are slow.")


def lag(read: Reading, settings: Settings) -> str | None:
    """A chain of one's own may have no block for long; one of the world's has them all the time."""
    if read.unread_s > settings.alert_lag:
        return f"nobody has read the chain for {spoken(read.unread_s)}"
    if read.still_s > settings.alert_lag and text(settings.rpc_urls):
        return f"the endpoints have shown no new block for {spoken(read.still_s)}"
    return None


def means(wallet: Means, settings: Settings) -> Iterator[Cause]:
    if wallet.reveals_left is not None and wallet.reveals_left < settings.alert_reveals_left:
        message = (
            f"The keeper {wallet.address} on chain {wallet.chain} can pay for {wallet.reveals_left:.0f} more reveals"
        )
        fix = "Send it some of the chain's currency; for the next reveals a few cents do."
        yield Cause(f"balance:{wallet.chain}:{wallet.address}", "balance", message, fix)


def failed(group: Failed) -> Cause:
    """One for all that failed alike."""
    what = "1 token has failed" if group.many == 1 else f"{group.many} tokens have failed"
    explained = f"glisk explain {group.code}; " if CODE.fullmatch(group.code) else ""
    message = f"{what} ({group.code}), the newest is {group.newest}: {group.error}"
    return Cause(f"failed:{group.code}", "failed", message, f"{explained}glisk tokens retry {group.newest}")


def age(oldest: Oldest | None, settings: Settings) -> Iterator[Cause]:
    if oldest and oldest.age_s > settings.alert_age:
        message = f"Token {oldest.token_id} is not revealed after {spoken(oldest.age_s)}; it is {oldest.status}"
        yield Cause("age", "age", message, f"glisk tokens show {oldest.token_id}")


def idle(waited_s: float | None) -> Iterator[Cause]:
    if waited_s is not None and waited_s > IDLE_S:
        message = f"Nobody works: tokens have waited for {spoken(waited_s)}, and no worker has any in hand"
        yield Cause("idle", "idle", message, "Start one: glisk work")


def stuck(outbox: Stuck) -> Cause:
    message = f"Nobody takes our webhooks ({outbox.name}), tried {outbox.tries} times: {outbox.error}"
    return Cause(f"outbox:{outbox.name}", "outbox", message, "Mend the server at GLISK_WEBHOOK_URL.")


def held_back(seconds: float) -> Iterator[Cause]:
    """What happens is read in the order in which it became certain; whoever keeps a transaction open keeps that from being told."""
    if seconds > HELD_BACK_S:
        message = f"Somebody has kept a transaction open in PostgreSQL for {spoken(seconds)}: webhooks and live pages wait for it"
        yield Cause("transaction", "transaction", message, "Find it in pg_stat_activity (xact_start), and end it.")


def spoken(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
