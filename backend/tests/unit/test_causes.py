"""What a person is called for, and what not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.repositories.alert_board import Failed, HeldLane, Means, Oldest, Reading, Snapshot, Stuck
from glisk.settings import Settings
from glisk.telling.causes import causes, patience

EMBEDDED = Settings(data_dir=Path("."))
REAL = Settings(data_dir=Path("."), rpc_urls="https://node.example", contracts="1:0x" + "c0" * 20)
NAME = "1:0x" + "c0" * 20
BUDGET = "$5 of $5 are spent or ordered today: the day's budget. Raise it, then: glisk lanes resume replicate"


def found(settings: Settings = EMBEDDED, **seen: Any) -> dict[str, str]:
    return {cause.cause: cause.message for cause in causes(Snapshot(**seen), settings)}


def test_when_all_is_well_nobody_is_called() -> None:
    well = Snapshot(
        chains=[Reading(NAME, behind=3, unread_s=2, still_s=2)],
        means=[Means(1, "0xa", 51), Means(5, "0xa", None)],
        oldest=Oldest("7", "generating", 30),
        waited_s=3,
        outboxes=[Stuck("tokens", 1, "answered 500")],
    )
    assert causes(well, REAL) == []


@pytest.mark.parametrize(
    ("seen", "cause", "said"),
    [
        ({"lanes": [HeldLane("pinata", "GLK-501 refused")]}, "lane:pinata", "GLK-501"),
        ({"lanes": [HeldLane("replicate", BUDGET)]}, "budget:replicate", "$5 of $5"),
        ({"chains": [Reading(NAME, unread_s=121)]}, f"lag:{NAME}", "nobody has read the chain for 2 min"),
        ({"chains": [Reading(NAME, still_s=121)]}, f"lag:{NAME}", "no new block for 2 min"),
        ({"chains": [Reading(NAME, behind=301)]}, f"catching up:{NAME}", "301 blocks behind"),
        ({"chains": [Reading(NAME, halted="Too deep", unread_s=9999)]}, f"halted:{NAME}", "Too deep"),
        ({"chains": [Reading(NAME, alarm="Tokens miss")]}, f"alarm:{NAME}", "Tokens miss"),
        ({"means": [Means(8453, "0xa", 49.0)]}, "balance:8453:0xa", "49 more reveals"),
        ({"failed": [Failed("GLK-302", 3, "7", "no")]}, "failed:GLK-302", "3 tokens have failed"),
        ({"oldest": Oldest("7", "ready", 7300)}, "age", "not revealed after 2 h"),
        ({"waited_s": 121.0}, "idle", "Nobody works"),
        ({"held_back_s": 121.0}, "transaction", "kept a transaction open"),
        ({"outboxes": [Stuck("tokens", 5, "answered 500")]}, "outbox:tokens", "answered 500"),
    ],
)
def test_each_trouble_is_one_cause_with_a_remedy(seen: dict[str, Any], cause: str, said: str) -> None:
    (only,) = causes(Snapshot(**seen), REAL)
    assert only.cause == cause
    assert said in only.message
    assert only.fix
    assert only.kind in patience(REAL)


def test_a_chain_of_ones_own_may_have_no_block_for_long() -> None:
    assert found(EMBEDDED, chains=[Reading(NAME, still_s=9999)]) == {}
    assert found(EMBEDDED, chains=[Reading(NAME, unread_s=9999)]) != {}


def test_what_was_taken_from_the_list_is_nobodys_trouble() -> None:
    other, elsewhere = "1:0x" + "c1" * 20, "5:0x" + "c0" * 20
    for contract, is_ours in ((NAME, True), (other, False), (elsewhere, False)):
        assert bool(found(REAL, chains=[Reading(contract, unread_s=9999)])) is is_ours
    anywhere = Settings(data_dir=Path("."), rpc_urls="https://node.example", contracts="0x" + "c0" * 20)
    assert found(anywhere, chains=[Reading(elsewhere, unread_s=9999)])


def test_what_failed_alike_is_one_cause_and_what_failed_otherwise_another() -> None:
    groups = [Failed("GLK-302", 2, "7", "no"), Failed("pinning", 1, "9", "not there")]
    assert set(found(failed=groups)) == {"failed:GLK-302", "failed:pinning"}


@given(st.floats(0, 1e7), st.integers(1, 86_400), st.integers(1, 10**6))
def test_limits_are_the_operators(age: float, lag: int, most: int) -> None:
    settings = Settings(data_dir=Path("."), alert_lag=lag, alert_age=most)
    seen = found(settings, oldest=Oldest("7", "ready", age), chains=[Reading(NAME, unread_s=age)])
    assert ("age" in seen) is (age > most)
    assert (f"lag:{NAME}" in seen) is (age > lag)
    assert patience(settings)["catching up"] == timedelta(seconds=lag)
