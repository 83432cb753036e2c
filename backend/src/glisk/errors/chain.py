"""Something about following a contract on its chain."""

from __future__ import annotations

from glisk.errors.base import GliskError


class ChainError(GliskError):
    """Something about following a contract on its chain."""


class RpcUnreachable(ChainError):
    code = "GLK-201"
    summary = "No RPC endpoint of the chain answers."
    remedy = "Nothing is lost: it is read when one answers again. If it lasts, check GLISK_RPC_URLS, or add another endpoint."


class WrongChain(ChainError):
    code = "GLK-202"
    summary = "An RPC endpoint serves another chain than the contract is on."
    remedy = "Correct GLISK_RPC_URLS, or the chain id in GLISK_CONTRACTS (chain:address)."
    exit_code = 2


class NotFollowable(ChainError):
    code = "GLK-203"
    summary = "The contract cannot be followed."
    remedy = (
        "Give the address of an ERC-721 collection in GLISK_CONTRACTS, and an endpoint of its chain in GLISK_RPC_URLS."
    )
    exit_code = 2


class StartUnknown(ChainError):
    code = "GLK-204"
    summary = "The block in which the contract was deployed could not be found out."
    remedy = "Set GLISK_START_BLOCK to it (any block before the first mint will do), or use an endpoint with the whole history."
    exit_code = 2


class DeepReorg(ChainError):
    code = "GLK-205"
    summary = "The chain was reorganised below a block that was confirmed. Nothing more is read, so that nothing wrong is done."
    remedy = "Compare with a block explorer. If the new chain is the right one: glisk chain replay"


class MintsMissing(ChainError):
    code = "GLK-206"
    summary = "The contract has minted tokens that no endpoint shows a log of."
    remedy = "Add another endpoint to GLISK_RPC_URLS, then: glisk chain audit"


class NotFollowed(ChainError):
    code = "GLK-207"
    summary = "This contract is not followed yet."
    remedy = "Set GLISK_CONTRACTS and GLISK_RPC_URLS, then: glisk listen"


class EmbeddedChainFailed(ChainError):
    code = "GLK-208"
    summary = "The embedded development chain did not start."
    remedy = "Run `make run` or `make test` once, which installs it; or set GLISK_RPC_URLS and GLISK_CONTRACTS to a real one."


class RpcBehind(ChainError):
    code = "GLK-209"
    summary = "The RPC endpoints do not have the blocks that were asked for."
    remedy = "Wait until they have caught up, or ask others: GLISK_RPC_URLS. A chain that was set back to its beginning is another one: start anew with an empty database."


class GhostTokens(ChainError):
    code = "GLK-210"
    summary = "There are tokens that the contract has not minted."
    remedy = "Look at them, then let them be orphaned: glisk chain replay"
