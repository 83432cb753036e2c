"""Something about fetching from an address that somebody gave us, or sending to it."""

from __future__ import annotations

from glisk.errors.base import GliskError


class FetchError(GliskError):
    """What somebody named could not be fetched. `may_pass`: another try may go better. `status`: what its server answered, if it did."""

    may_pass: bool = False

    def __init__(self, seen: str = "", *, status: int | None = None) -> None:
        super().__init__(seen)
        self.status = status


class UrlUnusable(FetchError):
    code = "GLK-901"
    summary = "This is no address that can be fetched."
    remedy = "Give an http or https URL, without a user or password in it."


class UrlForbidden(FetchError):
    code = "GLK-902"
    summary = "The address does not lead to a public server, so it is not fetched."
    remedy = "Give the address of a public server. An operator can allow one of their own network: GLISK_FETCH_ALLOW."


class FetchedTooLarge(FetchError):
    code = "GLK-903"
    summary = "What the address leads to is too large."
    remedy = "Give a smaller file."


class FetchedTooSlow(FetchError):
    code = "GLK-904"
    may_pass = True
    summary = "The server took too long."
    remedy = "Try again later, or put the file on a faster server."


class FetchedWrongType(FetchError):
    code = "GLK-905"
    summary = "What the address leads to is of another type than is wanted."
    remedy = "Give the address of the file itself, not of a page that shows it."


class NotFetched(FetchError):
    code = "GLK-906"
    may_pass = True
    summary = "The server did not give us what the address names."
    remedy = "Open the address in a browser that is not logged in: it must show the file."


class RedirectedTooOften(FetchError):
    code = "GLK-907"
    summary = "The address leads from one place to the next, and nowhere."
    remedy = "Give the address of the file itself."
