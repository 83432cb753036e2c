"""What a person can do to a token as it stands, and what will happen then."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from glisk.repositories import token_board
from glisk.repositories.token_board import Not, Outcome, Seen, Way

Verb: TypeAlias = Literal["retry", "cancel", "accept", "reject", "hold", "rerun"]
Step: TypeAlias = Literal["generating", "pinning", "revealing"]


class Choice(Struct, frozen=True):
    verb: Verb
    label: str
    confirm: str
    explanation: str
    step: Step | Literal[""] = ""
    tone: str = ""


PAID_AGAIN = "A picture is drawn again, and paid for again."
RETRY = Choice(
    "retry",
    "Retry",
    "Retry",
    "It goes on at the first step whose result is missing. A picture that is there is not drawn again.",
)
ACCEPT = Choice("accept", "Accept", "Accept it", "It goes on with the picture that is there.")
REJECT = Choice("reject", "Reject", "Reject it", f"The picture is forgotten. {PAID_AGAIN}", tone="bad")
HOLD = Choice("hold", "Hold", "Hold it", "It is in review until you accept or reject it.")
CANCEL = Choice(
    "cancel",
    "Cancel",
    "Cancel it",
    "It ends as failed, whatever is being done to it. You can retry it later.",
    tone="bad",
)
DRAW = Choice("rerun", "Draw again…", "Draw it again", f"What was made is forgotten. {PAID_AGAIN}", "generating", "bad")
PIN = Choice(
    "rerun",
    "Pin again…",
    "Pin it again",
    "The picture stays. Its metadata is written and pinned anew, then revealed; the reveal costs gas.",
    "pinning",
)
REVEAL = Choice("rerun", "Reveal again…", "Reveal it again", "Nothing is made anew. The reveal is sent to the chain once more, which costs gas unless the chain shows it already.", "revealing")  # fmt: skip
WAYS: tuple[tuple[Choice, Way], ...] = (
    (RETRY, token_board.retried),
    (ACCEPT, token_board.accepted),
    (REJECT, token_board.rejected),
    (HOLD, token_board.held),
    *((choice, token_board.rerun_from(choice.step)) for choice in (DRAW, PIN, REVEAL)),
    (CANCEL, token_board.cancelled),
)
DONE: dict[Verb, str] = {
    "retry": "retried",
    "cancel": "cancelled",
    "accept": "accepted",
    "reject": "rejected",
    "hold": "held",
    "rerun": "sent back",
}


def choices(token: Seen) -> list[Choice]:
    return [choice for choice, way in WAYS if not isinstance(way(token), Not)]


def said(verb: Verb, token: Seen, outcome: Outcome) -> str:
    if outcome.moved:
        return f"Token {token.token_id} is {DONE[verb]}."
    reasons = ", ".join(outcome.left) or "it is gone"
    return f"Token {token.token_id} is not {DONE[verb]}: {reasons}."
