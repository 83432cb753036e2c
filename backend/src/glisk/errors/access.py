"""Somebody asks over HTTP for what they may not have, or in a way that cannot be answered."""

from __future__ import annotations

from glisk.errors.base import GliskError


class RequestError(GliskError):
    """A request that cannot be answered as it is; nothing was changed."""


class KeyWanted(RequestError):
    code = "GLK-801"
    summary = "This is for the operator alone."
    remedy = "Make a key with `glisk keys create` and send it: Authorization: Bearer glk_…, or log in at /login."


class KeyRefused(RequestError):
    code = "GLK-802"
    summary = "This key is not known here, or was revoked."
    remedy = "Make another: glisk keys create"


class CrossSite(RequestError):
    code = "GLK-803"
    summary = "The request comes from a page of another site."
    remedy = "Use Glisk's own pages, or a client that is no browser. Behind a proxy, set GLISK_PUBLIC_URL."


class StrangeHost(RequestError):
    code = "GLK-804"
    summary = "The request is for a host that is not this one."
    remedy = "Use the address that Glisk printed at its start; behind a proxy, set GLISK_PUBLIC_URL."


class TokenMissing(RequestError):
    code = "GLK-805"
    summary = "There is no such token."
    remedy = "Check its id, and its collection if there are several."


class BadQuery(RequestError):
    code = "GLK-806"
    summary = "A part of the request cannot be used."
    remedy = "Correct the part that is named; /docs describes each."


class PageMissing(RequestError):
    code = "GLK-807"
    summary = "There is no such page."
    remedy = "Start at the gallery, which is at /."


class BodyTooLarge(RequestError):
    code = "GLK-808"
    summary = "The body of the request is too large."
    remedy = "Send less; /docs describes what is wanted."


class StreamsFull(RequestError):
    code = "GLK-809"
    summary = "As many follow the events already as can be served."
    remedy = "Try again in a minute, or ask for /tokens now and then instead."


class PromptHidden(RequestError):
    code = "GLK-810"
    summary = "The prompt of this token is not public."
    remedy = "Only its author can change that."


class PromptUnusable(RequestError):
    code = "GLK-811"
    summary = "The prompt cannot be drawn."
    remedy = "Write 1 to 1000 characters, without control characters."


class SignatureWrong(RequestError):
    code = "GLK-812"
    summary = "The signature is not one of the author's wallet for this prompt."
    remedy = "Sign exactly what /authors/WALLET/typed-data gives, with the wallet of that address."


class SignatureLate(RequestError):
    code = "GLK-813"
    summary = "The signature's deadline has passed, or lies too far ahead."
    remedy = "Sign again: what is signed holds for an hour."


class NonceUsed(RequestError):
    code = "GLK-814"
    summary = "This signature is not the author's next one."
    remedy = "Load the page again and sign anew: each signature counts once, in order."


class KeyNameTaken(RequestError):
    code = "GLK-815"
    summary = "There is a key of this name already."
    remedy = "Give this one another name (glisk keys create NAME), or end that one first: glisk keys ls, glisk keys revoke ID"


class UserKeyWanted(RequestError):
    code = "GLK-816"
    summary = "This belongs to somebody, so a key is wanted that says who asks."
    remedy = "Make one with `glisk keys create NAME --scope user` and send it: Authorization: Bearer glk_…"


class TooOften(RequestError):
    code = "GLK-817"
    summary = "This key asks more often than it may."
    remedy = "Wait for as many seconds as Retry-After says; or make a key with a higher --rate."

    def __init__(self, rate: int = 0, after: float = 0.0) -> None:
        super().__init__(f"It may ask {rate} times a minute.")
        self.after = after


class NotTheirs(RequestError):
    code = "GLK-818"
    summary = "The request names a user who is not the one of this key."
    remedy = "Leave the user out, or use a key of theirs; an operator's key acts for any."


class JobMissing(RequestError):
    code = "GLK-819"
    summary = "There is no such job."
    remedy = "Check its id. A job is gone some time after it has ended, and its result once it was fetched."


class FileMissing(RequestError):
    code = "GLK-820"
    summary = "There is no such file."
    remedy = "Check its key, USER/NAME; a file that was fetched by /images/USER is gone."


class ProjectMissing(RequestError):
    code = "GLK-821"
    summary = "There is no such project."
    remedy = "Check its id, or make one: POST /projects"


class ConversationMissing(RequestError):
    code = "GLK-822"
    summary = "There is no such conversation."
    remedy = "Check its id, or make one: POST /conversations"


class KeyReused(RequestError):
    code = "GLK-823"
    summary = "This Idempotency-Key was used for another request."
    remedy = "Use a new one for each job; the same one only to send the same request again."


class WrongMoment(RequestError):
    code = "GLK-824"
    summary = "The job is not in a state in which this can be done to it."
    remedy = (
        "Look at it: GET /jobs/ID. Only what is open can be cancelled or paused, only what has ended can be retried."
    )


class ResultLost(RequestError):
    code = "GLK-825"
    summary = "The job is ready, and its picture is not there."
    remedy = "Draw it again: POST /jobs. The operator finds what happened by `glisk jobs show ID`."


class OpenJobsFull(RequestError):
    code = "GLK-826"
    summary = "No more jobs of this user are taken for now."
    remedy = "As many are open as are allowed (GLISK_OPEN_JOBS). Wait until some have ended, or cancel some."


class PreviewsSpent(RequestError):
    code = "GLK-827"
    summary = "No more previews can be drawn today."
    remedy = "They go on tomorrow (UTC). An operator can raise GLISK_PREVIEW_DAILY_LIMIT, or give you a key with a --daily-limit of its own."


class ConversationTaken(RequestError):
    code = "GLK-828"
    summary = "There is another conversation of this id."
    remedy = "Leave the id out, and one is made; or take another."


class UserMissing(RequestError):
    code = "GLK-829"
    summary = "There is no such user."
    remedy = "Check the id: GET /jobs shows whose each job is."
