"""Which tokens can go through a step once more, and what they forget for it.

A picture that the world has seen is not changed any more: whoever has bought it may count on that. Such a token can only be
shown to the chain once more, which costs nothing where the chain shows it already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glisk.engine.workflow import FAILED, REVIEW
from glisk.workflows import TOKEN

if TYPE_CHECKING:
    from glisk.repositories.token_board import Seen

GENERATING, PINNING, REVEALING = (step.process for step in TOKEN.steps.values())
STEPS = (GENERATING, PINNING, REVEALING)
WAITING = {step.process: waiting for waiting, step in TOKEN.steps.items()}
REVEALED = "revealed"
# One that is pinned again is described again: with what is said of it now, and a salt that fits.
UNPINNED: dict[str, Any] = dict.fromkeys(("image_cid", "metadata_cid", "prompt_salt"))
ON_ITS_WAY = "its reveal is on its way, and cannot be called back"


def refusal(token: Seen, step: str) -> str | None:
    """Why not; None: it can."""
    if token.is_sent:
        return ON_ITS_WAY
    if token.status in (REVIEW, "orphaned"):
        return "in review; accept or reject it" if token.status == REVIEW else "its mint has left the chain"
    if step != REVEALING and (token.status == REVEALED or token.is_public):
        return "it is revealed, and the picture that the world has seen is not changed any more"
    return because_of_order(token, step)


def because_of_order(token: Seen, step: str) -> str | None:
    """A step that it has not come to yet, or is at, is no step to go back to."""
    if token.status in (WAITING[step], step):
        return f"{token.status} already"
    if step == PINNING and not token.is_whole:
        return "its picture is not all there; say --from generating, and another is drawn"
    if step == REVEALING and not token.is_pinned:
        return "it is not pinned yet"
    is_ahead = token.status in (FAILED, REVEALED) or order_of(token.status) > STEPS.index(step)
    return None if is_ahead else f"{token.status}: it comes to that by itself"


def order_of(status: str) -> int:
    return next((n for n, step in enumerate(STEPS) if status in (step, WAITING[step])), -1)
