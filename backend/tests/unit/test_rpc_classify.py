"""What nodes and providers really say, and what it means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.chain.rpc.call import NotThere, RangeTooWide, Refused, Rejected, RpcTrouble, Why
from glisk.chain.rpc.classify import SEND, BatchRefused, Faulty, RateLimited, trouble

LOGS = "eth_getLogs"
ALCHEMY_DENSE = (
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you"
    " can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this"
    " block range should work: [0xc5dc00, 0xc614a7]"
)
ALCHEMY_FREE = (
    "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range"
    " should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range."
)

# HTTP status, code, words, blocks that it takes at most, whether that is the plan's limit
WIDE: list[tuple[str, int, int, str, int | None, bool]] = [
    ("alchemy, free plan", 400, -32600, ALCHEMY_FREE, 10, True),
    ("alchemy, old plan", 400, -32600, "You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x123c9b2, 0x123cba5]", 500, True),
    ("alchemy, dense", 200, -32602, ALCHEMY_DENSE, 0x38A8, False),
    ("alchemy, dense, no range", 200, -32602, "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size", 2000, False),
    ("alchemy, slow", 400, -32000, "Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x5223c98, 0x5223e80]", 489, False),
    ("alchemy, bytes", 200, -32008, "Response size is larger than 150MB limit.", None, False),
    ("infura", 200, -32005, "query returned more than 10000 results", None, False),
    ("infura, with a range", 200, -32005, "query returned more than 10000 results. Try with this block range [0x2FAF080, 0x2FAF0FF].", 128, False),
    ("infura, plan", 200, -32602, "range 1000000 exceeds limit of 10000", 10_000, True),
    ("infura, slow", 200, -32005, "query timeout exceeded", None, False),
    ("quicknode", 413, -32614, "eth_getLogs is limited to a 10,000 range", 10_000, True),
    ("quicknode, trial", 413, -32615, "eth_getLogs is limited to a 5 range", 5, True),
    ("blockpi", 200, -32602, "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range", 10_000, True),
    ("1rpc", 200, -32000, "eth_getLogs is limited to 0 - 50 blocks range", 50, True),
    ("ankr", 200, -32600, "block range is too wide", None, True),
    ("ankr, premium", 200, -32062, "Block range is too large", None, True),
    ("publicnode", 200, -32701, "exceed maximum block range: 50000", 50_000, True),
    ("bsc", 200, -32000, "exceed maximum block range: 5000", 5000, True),
    ("bsc, dataseed", 200, -32005, "limit exceeded", None, False),
    ("drpc", 200, 35, "ranges over 10000 blocks are not supported on freetier", 10_000, True),
    ("drpc, slow", 200, 30, "Request timeout on the free tier, please upgrade your tier to the paid one", None, False),
    ("drpc, dense", 200, -32602, "query exceeds max results 20000, retry with the range 24383075-24383096", 22, False),
    ("base", 200, -32011, "block range too large", None, True),
    ("base, backend", 200, -32020, "backend response too large", None, False),
    ("coinbase", 200, -32602, "please limit the query to at most 1000 blocks", 1000, True),
    ("cloudflare", 200, -32000, "Max range: 800", 800, True),
    ("llama", 200, -32000, "range is too large, max is 1k blocks", 1000, True),
    ("tenderly", 200, -32005, "query returned more than 20000 results", None, False),
    ("chainstack", 200, -32000, "Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits", None, True),
    ("blast", 200, -32600, "requested block range exceeds the range allowed for your plan (5000 > 3000)", 3000, True),
    ("avalanche", 200, -32000, "requested too many blocks from 1 to 5001, maximum is set to 2048", 2048, True),
    ("cronos", 200, -32000, "maximum [from, to] blocks distance: 2000", 2000, True),
    ("moonbeam", 200, -32603, "block range is too wide (maximum 1024)", 1024, True),
    ("fantom", 200, -32000, "too wide blocks range, the limit is 100", 100, True),
    ("harmony", 200, -32000, "query must be smaller than size 1024", 1024, True),
    ("morph", 200, -32000, "block range is larger than max block range, block range = 5120, max block range = 5000", 5000, True),
    ("scroll", 200, -32000, "block range is bigger than maxBlockRange", None, True),
    ("candle", 200, -32600, "block range too high", None, True),
    ("hyperliquid", 200, -32602, "query exceeds max block range 1000", 1000, True),
    ("berachain", 200, -32602, "query exceeds max block range 100000", 100_000, True),
    ("arbitrum", 200, -32000, "logs matched by query exceeds limit of 10000", None, False),
    ("geth", 200, -32003, "response too large", None, False),
    ("erigon", 200, -32602, "query block range exceeds server limit, narrow your filter: 5", 5, True),
    ("nethermind", 200, -32005, "Too many logs requested. Max logs per response is 20000.", None, False),
    ("besu", 200, -32005, "Requested range exceeds maximum range limit", None, True),
    ("reth", 200, -32602, "query exceeds max block range 100000", 100_000, True),
    ("reth, results", 200, -32602, "query exceeds max results 20000, retry with the range 25766988-25775072", 8085, False),
    ("gelato", 200, -32000, "Block range too large; currently limited to 100 blocks", 100, True),
    ("allowed", 200, -32000, "block range exceeds the maximum allowed is 50 blocks", 50, True),
]  # fmt: skip

RATE: list[tuple[str, int, int | None, str]] = [
    ("anybody", 429, None, ""),
    ("anybody, about ranges", 429, -32005, "block range too large"),
    ("alchemy", 200, 429, "Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message."),
    ("alchemy, month", 200, -32000, "Monthly capacity limit exceeded. Visit https://dashboard.alchemy.com/settings/billing to upgrade your scaling policy."),
    ("infura", 402, -32005, "daily request count exceeded, request rate limited"),
    ("infura, second", 200, -32005, "project ID request rate exceeded"),
    ("tenderly", 200, -32005, "rate limit exceeded"),
    ("quicknode", 200, -32007, "50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com"),
    ("quicknode, day", 200, -32003, "daily request limit reached - upgrade your account at quicknode.com"),
    ("base", 200, -32016, "over rate limit"),
    ("base, passed on", 200, -32000, '429 Too Many Requests: {"jsonrpc":"2.0","error":{"code":-32016,"message":"over rate limit"},"id":2239375}'),
    ("polygon", 200, -32090, "Too many requests, reason: call rate limit exhausted, retry in 10s"),
    ("ankr", 200, -32029, "Too many requests"),
    ("drpc", 200, 15, "Too many request, try again later"),
    ("cloudflare", 200, -32097, "rate limited"),
    ("publicnode", 200, -32005, "request limit reached"),
]  # fmt: skip

NOT_THERE: list[tuple[str, int, str, str]] = [
    ("the specification", -32602, "block range extends beyond current head block", LOGS),
    ("geth, by hash", -32000, "unknown block", LOGS),
    ("geth, call", -32000, "header not found", "eth_call"),
    ("geth, before", -32602, "invalid block range params", LOGS),
    ("geth, state", -32000, "missing trie node 2ab34c (path ) state 0x1234 is not available, not found", "eth_call"),
    ("geth, tags", -39001, "safe block not found", "eth_getBlockByNumber"),
    ("hyperliquid", -32602, "invalid block range", LOGS),
    ("parity", -32000, "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found", LOGS),
    ("nethermind", -32001, "Block 0x1234 could not be found", LOGS),
    ("nethermind, range", -32602, "requested block range is in the future", LOGS),
    ("nethermind, resource", -32001, "Resource not found", LOGS),
    ("besu", -32000, "Block not found", "eth_call"),
    ("reth", -32001, "block not found: hash 0x0101010101010101010101010101010101010101010101010101010101010101", LOGS),
    ("reth, syncing", -32603, "block meta not found for block #32842493", LOGS),
    ("erigon", -32000, "block with hash 0xabc not found", LOGS),
    ("anvil", -32602, "BlockOutOfRangeError: block height is 10 but requested was 100", "eth_call"),
    ("avalanche", -32000, "cannot query unfinalized data", "eth_getBlockByNumber"),
    ("avalanche, logs", -32000, "requested from block 10 after last accepted block 5", LOGS),
    ("arbitrum", -32000, "header for hash not found", LOGS),
]  # fmt: skip

REFUSED: list[tuple[str, int, str, str, bool]] = [
    ("geth, revert", 3, "execution reverted: ERC721: invalid token ID", "eth_call", True),
    ("geth, plain revert", -32000, "execution reverted", "eth_call", True),
    ("parity", -32015, "VM execution error.", "eth_call", True),
    ("nethermind, revert", -32015, "revert", "eth_call", True),
    ("anvil, a halt", -32603, "EVM error InvalidFEOpcode", "eth_call", True),
    ("geth, opcode", -32000, "invalid opcode: INVALID", "eth_call", True),
    ("geth, gas", -32000, "out of gas", "eth_call", True),
    ("geth, method", -32601, "the method eth_foo does not exist/is not available", "eth_foo", False),
    ("base, method", -32001, "rpc method is not whitelisted", LOGS, False),
    ("publicnode, method", -32601, "Method not found", LOGS, False),
    ("geth, parameters", -32602, "invalid argument 0: hex string without 0x prefix", LOGS, False),
    ("publicnode, address", -32701, "Please specify an address in your request or, to remove restrictions, order a dedicated full node here", LOGS, False),
    ("geth, pruned", 4444, "pruned history unavailable", LOGS, False),
]  # fmt: skip

FAULTY: list[tuple[str, int, int | None, str, str]] = [
    ("a gateway", 502, None, "", LOGS),
    ("an empty 503", 503, None, "", LOGS),
    ("a wrong key", 401, -32600, "Must be authenticated!", LOGS),
    ("a wrong key, words", 403, -32600, "Invalid API key provided", LOGS),
    ("ankr, no key", 200, -32000, "Unauthorized: You must authenticate your request with an API key.", LOGS),
    ("anybody", 200, -32603, "Internal error", LOGS),
    ("base", 200, -32011, "no backends available for method", LOGS),
    ("drpc", 200, 19, "Temporary internal error. Please retry", LOGS),
    ("geth, slow", 200, -32002, "request timed out", "eth_call"),
    ("geth, trie, logs", 200, -32000, "missing trie node 2ab34c", LOGS),
    ("what nobody has heard before", 200, -31337, "the moon is in the wrong house", LOGS),
]  # fmt: skip

REJECTED: list[tuple[str, int, str, Why]] = [
    ("geth, known", -32000, "already known", "known"),
    ("geth, of old", -32000, "known transaction: 4b1c9e0d2a3f5e6b", "known"),
    ("erigon, known", -32000, "ALREADY_EXISTS: already known", "known"),
    ("erigon, same hash", -32000, "INTERNAL_ERROR: existing tx with same hash", "known"),
    ("nethermind, known", -32010, "AlreadyKnown", "known"),
    ("nethermind, own", -32010, "OwnNonceAlreadyUsed", "known"),
    ("besu, known", -32000, "Known transaction", "known"),
    ("parity, known", -32010, "Transaction with the same hash was already imported.", "known"),
    ("anvil, known", -32003, "transaction already imported", "known"),
    ("zksync, known", -32000, "known transaction. transaction with hash 0x12 is already in the system", "known"),
    ("moonbeam, known", -32603, "submit transaction to pool failed: Pool(AlreadyImported)", "known"),
    ("conflux, known", -32602, "tx already exist", "known"),
    ("harmony, mined", -32000, "transaction already finalized", "known"),
    ("geth, nonce", -32000, "nonce too low", "nonce"),
    ("op-geth, nonce", -32000, "nonce too low: next nonce 5, tx nonce 3", "nonce"),
    ("arbitrum, nonce", -32000, "nonce too low: address 0x9093dd96c4bb6b44A9E0A522e2DE49641F146223, tx: 3 state: 5", "nonce"),
    ("arbitrum, of old", -32000, "invalid transaction nonce", "nonce"),
    ("erigon, nonce", -32000, "INTERNAL_ERROR: nonce too low", "nonce"),
    ("nethermind, nonce", -32010, "OldNonce, Current nonce: 5, nonce of rejected tx: 3", "nonce"),
    ("besu, nonce", -32001, "Nonce too low", "nonce"),
    ("parity, nonce", -32010, "Transaction nonce is too low. Try incrementing the nonce.", "nonce"),
    ("zksync, nonce", 3, "nonce too low. allowed nonce range: 5 - 25, actual: 3", "nonce"),
    ("moonbeam, nonce", -32603, "submit transaction to pool failed: Pool(Stale)", "nonce"),
    ("cosmos, nonce", -32000, "tx nonce is lower than account nonce", "nonce"),
    ("alchemy, nonce", -32000, "nonce too low: next nonce 1207, tx nonce 1206", "nonce"),
    ("geth, replacement", -32000, "replacement transaction underpriced", "fee"),
    ("op-geth, replacement", -32000, "replacement transaction underpriced: new tx gas fee cap 1000 <= 1100 queued", "fee"),
    ("erigon, replacement", -32000, "INTERNAL_ERROR: could not replace existing tx", "fee"),
    ("nethermind, replacement", -32010, "ReplacementNotAllowed", "fee"),
    ("besu, replacement", -32000, "Replacement transaction underpriced", "fee"),
    ("reth, replacement", -32000, "insufficient gas price to replace existing transaction", "fee"),
    ("parity, replacement", -32010, "Transaction gas price 1wei is too low. There is another transaction with same nonce in the queue", "fee"),
    ("conflux, replacement", -32602, "Tx with same nonce already inserted. to replace it, you need to specify a gas price > 100", "fee"),
    ("klaytn, replacement", -32000, "there is another tx which has the same nonce in the tx pool", "fee"),
    ("geth, tip", -32000, "transaction underpriced: gas tip cap 0, minimum needed 1000000", "fee"),
    ("op-geth, tip", -32000, "transaction underpriced: tip needed 1000000, tip permitted 0", "fee"),
    ("geth, base fee", -32000, "max fee per gas less than block base fee: address 0x9093dd96c4bb6b44A9E0A522e2DE49641F146223, maxFeePerGas: 1, baseFee: 7", "fee"),
    ("infura, base fee", -32000, "err: max fee per gas less than block base fee: address 0x9093dd96c4bb6b44A9E0A522e2DE49641F146223, maxFeePerGas: 1 baseFee: 7 (supplied gas 12813618)", "fee"),
    ("geth, of old, base fee", -32000, "fee cap less than block base fee", "fee"),
    ("erigon, base fee", -32000, "INTERNAL_ERROR: fee too low", "fee"),
    ("erigon, underpriced", -32000, "INTERNAL_ERROR: underpriced", "fee"),
    ("nethermind, base fee", -32010, "FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 7, MaxPriorityFeePerGas:1, Block number: 5", "fee"),
    ("nethermind, to compete", -32010, "FeeTooLowToCompete", "fee"),
    ("besu, base fee", -32009, "Gas price below current base fee", "fee"),
    ("besu, minimum", -32009, "Gas price below configured minimum gas price", "fee"),
    ("parity, minimum", -32010, "Transaction gas price is too low. It does not satisfy your node's minimal gas price (minimal: 2, got: 1). Try increasing the gas price.", "fee"),
    ("anvil, base fee", -32003, "max fee per gas less than block base fee", "fee"),
    ("arbitrum, price", -32000, "gas price too low", "fee"),
    ("metis, price", -32000, "gas price too low: 1 wei, use at least tx.gasPrice = 7 wei", "fee"),
    ("celo, floor", -32000, "gasprice is less than gas price minimum floor", "fee"),
    ("geth, full", -32000, "txpool is full", "fee"),
    ("erigon, full", -32000, "INTERNAL_ERROR: pending sub-pool is full", "fee"),
    ("parity, full", -32010, "There are too many transactions in the queue. Your transaction was dropped due to limit. Try increasing the fee.", "fee"),
    ("geth, funds", -32000, "insufficient funds for gas * price + value: balance 0, tx cost 21000000, overshot 21000000", "funds"),
    ("geth, queued", -32000, "insufficient funds for gas * price + value: balance 9, queued cost 5, tx cost 7, overshot 3", "funds"),
    ("geth, overdraft", -32000, "transaction would cause overdraft", "funds"),
    ("op-geth, funds", -32000, "insufficient funds for gas * price + value: address 0x9093dd96c4bb6b44A9E0A522e2DE49641F146223 have 0 want 7", "funds"),
    ("erigon, funds", -32000, "INTERNAL_ERROR: insufficient funds", "funds"),
    ("nethermind, funds", -32010, "InsufficientFunds, Account balance: 0, cumulative cost: 7", "funds"),
    ("besu, funds", -32004, "Upfront cost exceeds account balance", "funds"),
    ("parity, funds", -32010, "Insufficient funds. The account you tried to send transaction from does not have enough funds. Required 7 and got: 0.", "funds"),
    ("arbitrum, funds", -32000, "not enough funds for gas", "funds"),
    ("anvil, funds", -32003, "Insufficient funds for gas * price + value", "funds"),
    ("geth, gas", -32000, "intrinsic gas too low: gas 20000, minimum needed 21000", "content"),
    ("geth, floor", -32000, "insufficient gas for floor data gas cost: gas 20000, minimum needed 21000", "content"),
    ("geth, block", -32000, "exceeds block gas limit", "content"),
    ("geth, cap", -32000, "transaction gas limit too high (cap: 16777216, tx: 20000000)", "content"),
    ("geth, fee", -32000, "tx fee (1.50 ether) exceeds the configured cap (1.00 ether)", "content"),
    ("geth, size", -32000, "oversized data: transaction size 140000, limit 131072", "content"),
    ("geth, sender", -32000, "invalid sender", "content"),
    ("geth, gap", -32000, "nonce too high", "content"),
    ("geth, chain", -32000, "invalid chain id for signer: have 1 want 8453", "content"),
    ("geth, tip above fee", -32000, "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: 2, maxFeePerGas: 1", "content"),
    ("erigon, gas", -32000, "INTERNAL_ERROR: IntrinsicGas", "content"),
    ("erigon, size", -32000, "INTERNAL_ERROR: RLPTooLong", "content"),
    ("nethermind, gap", -32010, "NonceGap, Future nonce. Expected nonce: 5", "content"),
    ("nethermind, block", -32010, "GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 40000000", "content"),
    ("nethermind, sender", -32010, "SenderIsContract", "content"),
    ("nethermind, size", -32010, "MaxTxSizeExceeded", "content"),
    ("besu, gas", -32003, "Intrinsic gas exceeds gas limit", "content"),
    ("besu, block", -32005, "Transaction gas limit exceeds block gas limit", "content"),
    ("besu, sender", -32007, "Sender account not authorized to send transactions", "content"),
    ("besu, chain", -32000, "Wrong chainId", "content"),
    ("besu, fee", -32000, "Transaction fee cap exceeded", "content"),
    ("anvil, gas", -32003, "intrinsic gas too low", "content"),
    ("anvil, block", -32003, "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit", "content"),
    ("anvil, bytes", -32602, "Failed to decode transaction", "content"),
]  # fmt: skip

BATCH: list[tuple[str, int, int, str, int | None]] = [
    ("drpc", 500, 31, "Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org", 3),
    ("geth", 200, -32600, "batch too large", None),
    ("jsonrpsee", 200, -32005, "Batched requests are not supported by this server", None),
    ("reth", 200, -32010, "The batch request was too large Exceeded max limit of 100", 100),
    ("besu", 200, -32600, "Number of requests in batch exceeds --rpc-max-batch-size.", None),
    ("nethermind", 200, -32005, "Batch size limit exceeded", None),
    ("erigon", 200, -32000, "batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 200", 100),
]  # fmt: skip


def said(status: int, code: int | None, words: str, method: str = LOGS, **options: Any) -> RpcTrouble:
    return trouble(status, {}, code, words, method=method, **options)


def ids(table: list[Any]) -> list[str]:
    return [row[0] for row in table]


@pytest.mark.parametrize("row", WIDE, ids=ids(WIDE))
def test_a_range_that_is_too_wide_is_known_with_its_limit(row: tuple[str, int, int, str, int | None, bool]) -> None:
    _, status, code, words, at_most, is_plan = row
    found = said(status, code, words)
    assert isinstance(found, RangeTooWide), found
    assert (found.at_most, found.is_plan) == (at_most, is_plan)


@pytest.mark.parametrize("row", RATE, ids=ids(RATE))
def test_a_limited_rate_never_shrinks_a_range(row: tuple[str, int, int | None, str]) -> None:
    assert isinstance(said(*row[1:]), RateLimited)


@pytest.mark.parametrize("row", NOT_THERE, ids=ids(NOT_THERE))
def test_a_block_that_is_not_there_is_no_fault(row: tuple[str, int, str, str]) -> None:
    found = said(200, *row[1:])
    assert isinstance(found, NotThere), type(found)


@pytest.mark.parametrize("row", REFUSED, ids=ids(REFUSED))
def test_a_refusal_says_whether_the_contract_reverted(row: tuple[str, int, str, str, bool]) -> None:
    found = said(200, *row[1:4])
    assert isinstance(found, Refused), type(found)
    assert found.is_revert is row[4]


@pytest.mark.parametrize("row", FAULTY, ids=ids(FAULTY))
def test_everything_else_is_the_endpoints_fault(row: tuple[str, int, int | None, str, str]) -> None:
    found = said(*row[1:])
    assert isinstance(found, Faulty), type(found)


@pytest.mark.parametrize("row", BATCH, ids=ids(BATCH))
def test_a_refused_batch_is_known_with_its_limit(row: tuple[str, int, int, str, int | None]) -> None:
    found = said(*row[1:4], calls=200)
    assert isinstance(found, BatchRefused), type(found)
    assert found.at_most == row[4]


@pytest.mark.parametrize("row", REJECTED, ids=ids(REJECTED))
def test_why_a_transaction_is_not_taken_is_known(row: tuple[str, int, str, Why]) -> None:
    _, code, words, why = row
    for status in (200, 400, 403, 500):
        found = said(status, code, words, SEND)
        assert isinstance(found, Rejected), type(found)
        assert found.why == why


@pytest.mark.parametrize("row", RATE, ids=ids(RATE))
def test_a_limited_rate_says_nothing_about_a_transaction(row: tuple[str, int, int | None, str]) -> None:
    assert isinstance(said(*row[1:], SEND), RateLimited)


@pytest.mark.parametrize("row", FAULTY, ids=ids(FAULTY))
def test_a_fault_says_nothing_about_a_transaction(row: tuple[str, int, int | None, str, str]) -> None:
    assert isinstance(said(*row[1:4], SEND), Faulty)


@pytest.mark.parametrize("row", REJECTED, ids=ids(REJECTED))
def test_the_same_words_about_something_else_are_no_rejection(row: tuple[str, int, str, Why]) -> None:
    assert not isinstance(said(200, *row[1:3], "eth_call"), Rejected)


def test_what_was_no_batch_is_not_refused_as_one() -> None:
    assert not isinstance(said(200, -32600, "batch too large"), BatchRefused)


def test_words_about_ranges_mean_nothing_for_calls_without_one() -> None:
    assert isinstance(said(200, -32603, "response too large", "eth_call"), Faulty)


@pytest.mark.parametrize(
    ("headers", "words", "seconds"),
    [
        ({"retry-after": "7"}, "", 7),
        ({"retry-after": "0"}, "", 1),
        ({"retry-after": "9e99"}, "", 3600),
        ({"retry-after": "soon"}, "", None),
        ({}, "Too many requests, reason: call rate limit exhausted, retry in 10s", 10),
        ({}, "slow down, try again in 1500ms", 1.5),
        ({}, "rate limited", None),
    ],
)
def test_how_long_to_wait_is_read(headers: dict[str, str], words: str, seconds: float | None) -> None:
    found = trouble(429, headers, None, words)
    assert isinstance(found, RateLimited)
    assert found.after == (None if seconds is None else timedelta(seconds=seconds))


def test_how_long_to_wait_may_be_a_date() -> None:
    when = datetime.now(UTC) + timedelta(seconds=60)
    found = trouble(503, {"retry-after": format_datetime(when, usegmt=True)}, None, "")
    assert isinstance(found, RateLimited)
    assert found.after is not None
    assert timedelta(seconds=50) < found.after < timedelta(seconds=61)


@given(st.integers(100, 599), st.none() | st.integers(), st.text(), st.sampled_from([LOGS, "eth_call", ""]))
def test_whatever_is_said_means_something(status: int, code: int | None, words: str, method: str) -> None:
    found = said(status, code, words, method)
    if isinstance(found, RangeTooWide):
        assert found.at_most is None or found.at_most >= 0


@given(st.integers(0, 2**40), st.integers(1, 10**6), st.booleans())
def test_a_suggested_range_is_as_wide_as_it_says(first: int, width: int, is_hex: bool) -> None:
    shown = hex if is_hex else str
    found = said(
        200,
        -32005,
        f"query returned more than 10000 results. Try with this block range [{shown(first)}, {shown(first + width - 1)}].",
    )
    assert isinstance(found, RangeTooWide)
    assert found.at_most == width
