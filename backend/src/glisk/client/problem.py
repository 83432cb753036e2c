"""The one error of the client: what went wrong, what it means, and what to do."""

from __future__ import annotations

import httpx
import msgspec
from msgspec import Struct


class Problem(Exception):
    """`code` as `glisk explain` knows it, empty if no Glisk said it; `status` is that of the answer, 0 if there was none."""

    def __init__(self, message: str, *, code: str = "", remedy: str = "", status: int = 0) -> None:
        super().__init__(" ".join(filter(None, [code, message, remedy])))
        self.code, self.message, self.remedy, self.status = code, message, remedy, status


class Told(Struct, frozen=True):
    code: str
    message: str
    remedy: str


def refused(answer: httpx.Response) -> Problem:
    try:
        told = msgspec.json.decode(answer.content, type=Told)
    except msgspec.MsgspecError:  # somebody between us and them has answered
        return Problem(f"The server answered {answer.status_code} {answer.reason_phrase}.", status=answer.status_code)
    return Problem(told.message, code=told.code, remedy=told.remedy, status=answer.status_code)


def lost(error: httpx.TransportError, *, may_be_done: bool) -> Problem:
    remedy = "It may have been done: look before you ask again." if may_be_done else "Try again later."
    return Problem(f"The server was not reached: {str(error) or type(error).__name__}.", remedy=remedy)
