"""Something about pinning what was drawn, or about revealing it."""

from __future__ import annotations

from datetime import timedelta

from glisk.errors.base import GliskError


class PinError(GliskError):
    """Something about keeping what was drawn on IPFS."""


class PinForbidden(PinError):
    """Nothing can be pinned there until a person has mended the cause: the key, the plan, the account."""

    code = "GLK-501"
    summary = "The pinning service does not let us in."
    remedy = "Pinata: check GLISK_PINATA_JWT, its scopes (files: read and write) and the account's plan. Kubo: check GLISK_KUBO_AUTH."


class PinLimited(PinError):
    """`after`: for how long it wants to be left alone."""

    code = "GLK-502"
    summary = "The pinning service asks us to come back later."
    remedy = "Nothing to do: it is asked again. If it lasts, the account's plan is too small, or the lane's rate too high: glisk lanes limit"

    def __init__(self, seen: str = "", *, after: timedelta = timedelta(seconds=30)) -> None:
        super().__init__(seen)
        self.after = after


class PinDown(PinError):
    """It may pass."""

    code = "GLK-503"
    summary = "The pinning service does not answer."
    remedy = "Nothing to do: it is asked again. If it lasts, check that it runs and that its URL is right."


class WrongCid(PinError):
    code = "GLK-504"
    summary = "The pinning service has kept something else than what was sent: its CID is another one."
    remedy = "Nothing is revealed with it, and it is tried again by itself. If it lasts, pin elsewhere: GLISK_PINNERS=…, and start the workers anew."


class PinRefused(PinError):
    code = "GLK-505"
    summary = "The pinning service refuses what was sent to it."
    remedy = "Read what it says; if it is too large, draw smaller pictures: GLISK_IMAGE_SIZE."


class BadCid(PinError):
    code = "GLK-506"
    summary = "This is not a CID that we know how to read."
    remedy = "CIDs of version 1 in base32 are wanted, like bafkrei…: of raw blocks or UnixFS files, with SHA-256."


class NotHere(PinError):
    code = "GLK-507"
    summary = "There is no such content here."
    remedy = "Check the CID; what was pinned elsewhere is found through a public gateway."


class RevealError(GliskError):
    """Something about telling the chain where a token's picture is."""


class KeyUnusable(RevealError):
    code = "GLK-511"
    summary = "A private key cannot be read."
    remedy = "A file with 64 hex digits, or an encrypted keystore (JSON) and a file with its password, readable only by you (chmod 600)."
    exit_code = 2


class NotTheKeeper(RevealError):
    code = "GLK-512"
    summary = "The collection does not let this key reveal tokens."
    remedy = "Let its owner call setKeeper with the address, or give the keeper's key in GLISK_REVEAL_KEY_FILE."


class BalanceTooLow(RevealError):
    code = "GLK-513"
    summary = "The keeper has too little left to pay for the gas of a reveal."
    remedy = "Send it some of the chain's coin. It goes on by itself a minute later, or at once with: glisk lanes resume chain"


class FeeTooHigh(RevealError):
    code = "GLK-514"
    summary = "Gas costs more than may be paid for it now."
    remedy = "Nothing to do: it goes on when gas is cheaper. To go on now, raise GLISK_MAX_FEE_GWEI."


class NonceMissing(RevealError):
    code = "GLK-515"
    summary = "A transaction of the keeper's that was not ours has left the chain, and ours wait behind the gap in its nonces."
    remedy = "Send any transaction with that nonce from the keeper's wallet, for instance nothing to itself. And let nobody else use its key."
