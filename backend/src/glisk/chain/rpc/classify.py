"""What does a node mean by its error? By HTTP status and error code where those say it, else by its words: one table each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

import httpx

from glisk import pauses
from glisk.chain.rpc.call import NotThere, RangeTooWide, Refused, Rejected, RpcTrouble, Why

LOGS = "eth_getLogs"
SEND = "eth_sendRawTransaction"
STATE = ("eth_call", "eth_getCode", "eth_getStorageAt", "eth_getBalance", "eth_getTransactionCount")

# So many answers, so many bytes, so much time: a matter of these blocks, not of how many they are.
DENSE = re.compile(
    r"more than [\d,.]+k? (results|logs)|too many (logs|results)|max(imum)? (results|logs)|logs matched|response (is )?(size|too (large|big))"
    r"|size (exceed|limit)|query timeout|timeout on the free|reduc\w+ your block range|^limit exceeded$",
    re.IGNORECASE,
)
RANGE = re.compile(
    r"block ?range|ranges?\b|blocks? (distance|span)|too (many|wide) blocks|at most [\d,.]+k? blocks|query must be",
    re.IGNORECASE,
)
TOO_WIDE = re.compile(
    r"too (wide|large|big|high|many)|exceed|limit|max|bigger|larger|smaller|up to|over \d|allowed|at most",
    re.IGNORECASE,
)
BEYOND_HEAD = re.compile(
    r"beyond (the )?(current )?(head|latest|tip)|(is|are) in the future|invalid block range|block ?out ?of ?range|block height is"
    r"|(greater|higher|larger|newer) than (the )?(latest|current|head|best)|after (the )?last accepted|unfinalized data",
    re.IGNORECASE,
)
UNKNOWN = re.compile(
    r"unknown (block|header)|\b(header|blocks?)\b[^.;]{0,90}\bnot (be )?(found|available|exist)|\bblocks?\b[^.;]{0,60}cannot be found"
    r"|(could not|cannot|can't) find (the )?(block|header)|resource not found|header for hash|no (such )?block|block unknown",
    re.IGNORECASE,
)
NO_STATE = re.compile(
    r"missing trie node|state\b.{0,60}\b(not|un)\s?available|historical state|state (has been )?pruned|state histories|proof window|no state",
    re.IGNORECASE,
)
RATE = re.compile(
    r"rate.?limit|too many (request|connection|call)|request (count|limit|quota)|requests? per|(call|request)s? rate|compute units|throughput"
    r"|(daily|monthly|usage|free tier) (request )?(limit|quota|cap)|quota|max usage|/second|capacity exceeded|slow down|credits|throttl",
    re.IGNORECASE,
)
REVERT = re.compile(
    r"execution reverted|\brevert|(vm execution|evm) error|invalid opcode|invalid jump|out of gas|stack (under|over)flow",
    re.IGNORECASE,
)
UNTAKEN = re.compile(
    r"method\b.{0,80}\bnot (found|supported|available|allowed|whitelisted|exist)|(not supported|unsupported|unknown|disabled) method"
    r"|does not exist|invalid (argument|param|request)|missing value|pruned history|history (has been )?pruned|specify an address|archive",
    re.IGNORECASE,
)
REJECTED: tuple[tuple[Why, re.Pattern[str]], ...] = (
    (
        "known",
        re.compile(
            r"already ?known|known transaction|already ?(imported|exist|finalized|in (the )?((mem)?pool|system))|transaction already"
            r"|existing tx with same hash|own ?nonce ?already ?used",
            re.IGNORECASE,
        ),
    ),
    (
        "nonce",
        re.compile(
            r"nonce (is )?(too low|lower)|old ?nonce|nonce (has )?already been used|invalid (transaction )?nonce|\(stale\)",
            re.IGNORECASE,
        ),
    ),
    (
        "fee",
        re.compile(
            r"underpriced|fee ?too ?low|max ?fee ?per ?gas (less|lower|too low)|fee ?cap (less|lower|cannot be lower)"
            r"|less than (block base fee|gas price minimum)|gas price( \w+)? (is )?(too )?(low|below)|below (the )?minimum"
            r"|could not replace|to replace|replacement ?not ?allowed|same nonce in the|pool is full|too many transactions",
            re.IGNORECASE,
        ),
    ),
    (
        "funds",
        re.compile(
            r"insufficient ?(funds|balance)|(doesn't have|not) enough funds|cause overdraft|cost exceeds account balance",
            re.IGNORECASE,
        ),
    ),
    (
        "content",
        re.compile(
            r"intrinsic ?gas|gas ?limit|insufficient gas|oversized|size ?exceeded|\brlp|decode (signed )?transaction|transaction type"
            r"|(invalid|wrong) (sender|signature|chain ?id)|sender ?(is ?contract|not an eoa|account not authorized)"
            r"|exceeds (the )?(max|cap|configured)|fee cap exceeded|tx ?fee.*exceeds|higher than max fee|nonce ?(too high|gap)",
            re.IGNORECASE,
        ),
    ),
)
BATCH = re.compile(r"\bbatch(es|ed|ing)?\b|batch_", re.IGNORECASE)
NOT_LET_IN = (401, 402, 403, 407)
RATE_CODES = (429, -32005, -32007, -32016, -32029, -32090, -32097)
REVERT_CODES = (3, -32015)
UNTAKEN_CODES = (-32601, -32602, -32600, -32004, 4444)

NUMBER = r"(\d[\d,._]*\d|\d)\s?([kKmM]\b)?"
SUGGESTED = re.compile(
    r"\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]|range\s*(\d+)\s*-\s*(\d+)\b(?! ?block)", re.IGNORECASE
)
UP_TO = re.compile(rf"up to an? {NUMBER}", re.IGNORECASE)
AT_MOST = tuple(
    re.compile(pattern.replace("N", NUMBER), re.IGNORECASE)
    for pattern in (
        r"limited to (?:a )?(?:\d+ - )?N",
        r"(?:\bmax\w*|limit\w*|allowed|at most)[^\d\n]{0,40}?N",
        r"over N blocks",
        r"smaller than size N",
        r"> ?N\)",
    )
)


class RateLimited(RpcTrouble):
    """It wants to be left alone. `after`: for how long it says; None: it does not say."""

    def __init__(self, said: str, after: timedelta | None = None) -> None:
        super().__init__(said)
        self.after = after


class Faulty(RpcTrouble):
    """The endpoint does not work, or not now. `is_slow`: no answer in time, which may be the question's fault."""

    def __init__(self, said: str, *, is_slow: bool = False) -> None:
        super().__init__(said)
        self.is_slow = is_slow


class BatchRefused(RpcTrouble):
    """It does not take so many calls in a request. `at_most`: how many it says it takes; None: it did not say."""

    def __init__(self, said: str, at_most: int | None = None) -> None:
        super().__init__(said)
        self.at_most = at_most


def trouble(
    status: int, headers: Mapping[str, str], code: int | None, message: str, *, method: str = "", calls: int = 1
) -> RpcTrouble:
    """Of an answer that is an error; `calls`: how many were in the request. Never shrinks a range for a 429, nor rests for a
    range. What nobody has seen before is the endpoint's fault: another one may know better."""
    said = f"{message.strip() or f'it answered {status}'}{f' ({code})' if code is not None else ''}"
    if status == 429 or code == 429:
        return RateLimited(said, retry_after(status, headers, message))
    if method == SEND and (rejection := rejected(said, message)):
        return rejection
    if calls > 1 and BATCH.search(message):
        return BatchRefused(said, number_near_batch(message))
    if method == LOGS and is_about_range(message):
        return range_too_wide(said, message)
    if code in REVERT_CODES or REVERT.search(message):
        return Refused(said, is_revert=True)
    if code in RATE_CODES or RATE.search(message) or (status == 503 and "retry-after" in headers):
        return RateLimited(said, retry_after(status, headers, message))
    if status in NOT_LET_IN:
        return Faulty(said)
    if BEYOND_HEAD.search(message) or UNKNOWN.search(message) or (method in STATE and NO_STATE.search(message)):
        return NotThere(said)
    if code in UNTAKEN_CODES or UNTAKEN.search(message):
        return Refused(said)
    return Faulty(said)


def rejected(said: str, message: str) -> Rejected | None:
    """Of a transaction that was sent. None: it says nothing about that."""
    return next((Rejected(said, why) for why, words in REJECTED if words.search(message)), None)


def is_about_range(message: str) -> bool:
    if BEYOND_HEAD.search(message):
        return False
    return bool(DENSE.search(message) or (RANGE.search(message) and TOO_WIDE.search(message)))


def range_too_wide(said: str, message: str) -> RangeTooWide:
    """A suggested range stands above a number in words: it was found for these very blocks."""
    is_dense = DENSE.search(message) is not None
    return RangeTooWide(said, suggested(message) or stated(message, is_dense), is_plan=not is_dense)


def suggested(message: str) -> int | None:
    if not (hit := SUGGESTED.search(message)):
        return None
    first, last = (int(text, 16 if text.lower().startswith("0x") else 10) for text in hit.groups() if text)
    return last - first + 1 if last >= first else None


def stated(message: str, is_dense: bool) -> int | None:
    """The least of its numbers: one of them may be what was asked for. Where it is about logs, so are most numbers."""
    patterns = (UP_TO,) if is_dense else (UP_TO, *AT_MOST)
    found = [amount(*hit.groups()) for pattern in patterns for hit in pattern.finditer(message)]
    return min((number for number in found if number), default=None)


def amount(digits: str, unit: str | None) -> int:
    return int(re.sub(r"[,._]", "", digits)) * {"k": 1_000, "m": 1_000_000}.get((unit or "").lower(), 1)


def number_near_batch(message: str) -> int | None:
    hit = re.search(
        r"(?:more than|limit(?: is| of|:)?|max(?:imum)?(?: batch)?(?: size)?(?: is| of|:)?|up to|at most) (\d+)",
        message,
        re.IGNORECASE,
    )
    return int(hit[1]) if hit else None


def retry_after(status: int, headers: Mapping[str, str], message: str) -> timedelta | None:
    """From its header, else from its words: "retry in 10s"."""
    hit = re.search(r"(?:retry|try again|wait)\D{0,20}?([\d.]+) ?(ms|m\b|min|s)", message, re.IGNORECASE)
    seconds = float(hit[1].rstrip(".") or 0) * {"m": 60, "min": 60, "ms": 0.001}.get(hit[2].lower(), 1) if hit else None
    return pauses.asked(httpx.Response(status, headers=dict(headers)), seconds)
