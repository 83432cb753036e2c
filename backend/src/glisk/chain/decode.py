"""Reads mints from logs, by slicing: sixty times as fast as decoding by the contract's description."""

from __future__ import annotations

import msgspec

from glisk.chain.mint import Logs

BATCH_MINTED = "0x"
CONSECUTIVE = "0x"
TRANSFER = "0x"
FROM_NOBODY = "0x" + "0" * 64
BATCHES = [BATCH_MINTED, CONSECUTIVE]
TOPICS = [BATCH_MINTED, CONSECUTIVE, TRANSFER]


def logs(raw: msgspec.Raw, address: str) -> Logs:
    raise NotImplementedError
