"""The story of one row of work: what happened to it, each claim with what it cost and how long it took, in order.

Events say what moved; the ledger says what was paid. A claim that ordered something has a row in each: they become one entry.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from glisk.engine.link import Link
from glisk.engine.workflow import FAILED, REVIEW, Workflow
from glisk.workflows import WORKFLOWS

Row: TypeAlias = Mapping[str, Any]

# The newest: a row that has waited for years has been looked at very often.
EVENTS = """
    SELECT * FROM (
      SELECT event_id, at, workflow, from_status, to_status, epoch, actor, claimed_at, data FROM events
      WHERE item_id = $1 ORDER BY event_id DESC LIMIT 2000) e
    ORDER BY event_id"""
ATTEMPTS = """
    SELECT * FROM (
      SELECT attempt_id, step, epoch, provider, model, prompt_source, outcome, error_code, error, cost, wei, worker,
        started_at, finished_at, COALESCE(details ->> 'tx', receipt) AS receipt, (details ->> 'batch')::int AS batch,
        (details ->> 'gas')::bigint AS gas, details ->> 'code' AS code
      FROM attempts WHERE item_id = $1 ORDER BY attempt_id DESC LIMIT 2000) a
    ORDER BY attempt_id"""
FACTS = """
    SELECT mint_block AS block, '0x' || encode(mint_tx, 'hex') AS tx, mint_log AS log, image_cid, metadata_cid
    FROM tokens_s0 WHERE id = $1"""
BY_HAND, BY_CHAIN = "by hand", "chain"
MINED_AGAIN = "mined again"
CODE = re.compile(r"\bGLK-\d{3}\b")
NOT_DONE = ("refused", "failed", "unknown")
LATER = ("429", "unreachable")
WAITED_FOR = "A job this one waits for failed"


class Entry(Struct, frozen=True):
    """One line. `at` is when the work of it began, where it is work; `number` counts what was done in a step."""

    at: datetime
    step: str
    number: int | None
    verdict: str
    text: str
    code: str | None = None
    waited_s: float | None = None
    worked_s: float | None = None
    cost: Decimal | None = None
    wei: int | None = None
    worker: str | None = None
    receipt: str | None = None
    actor: str | None = None


class Story(Struct, frozen=True):
    """What was paid in all, what is still open not counted."""

    entries: list[Entry]
    cost: Decimal
    wei: int
    first_at: datetime | None
    last_at: datetime | None


async def story(link: Link, id: int) -> Story:
    events, attempts = await link.fetch(EVENTS, id), await link.fetch(ATTEMPTS, id)
    facts = await link.fetch(FACTS, id)
    decoded = [{**event, "data": event["data"] and json.loads(event["data"])} for event in map(dict, events)]
    return told(decoded, [dict(attempt) for attempt in attempts], dict(facts[0]) if facts else {})


def told(events: Sequence[Row], attempts: Sequence[Row], facts: Row | None = None) -> Story:
    """`facts`: how a token was minted and what it is known by now."""
    entries = numbered(sorted(lines(events, attempts, facts or {}), key=lambda entry: entry.at))
    closed = [attempt for attempt in attempts if attempt["outcome"] != "open"]
    moments = [event["at"] for event in events] + [entry.at for entry in entries]
    return Story(
        entries,
        sum((attempt["cost"] or Decimal(0) for attempt in closed), Decimal(0)),
        sum(int(attempt["wei"] or 0) for attempt in closed),
        min(moments, default=None),
        max(moments, default=None),
    )


def lines(events: Sequence[Row], attempts: Iterable[Row], facts: Row) -> Iterator[Entry]:
    """One for every event and every attempt, but one for both where a claim's end is told by its event and its last attempt."""
    of_claim = defaultdict[tuple[str, int], list[Row]](list)
    for attempt in attempts:
        of_claim[attempt["step"], attempt["epoch"]].append(attempt)
    before: Row | None = None
    for event in events:
        paid = of_claim.pop((event["from_status"], event["epoch"] - 1), []) if is_end_of_claim(event) else []
        yield from (paid_for(attempt, since(before, attempt["started_at"])) for attempt in paid[:1] if len(paid) > 1)
        yield from (paid_for(attempt) for attempt in paid[1:-1])
        yield line(event, paid, before, facts)
        before = event
    yield from (paid_for(attempt) for left in of_claim.values() for attempt in left)


def line(event: Row, paid: Sequence[Row], before: Row | None, facts: Row) -> Entry:
    if is_end_of_claim(event):
        return ended(event, paid, before, facts)
    if event["from_status"] is None:
        return Entry(event["at"], "minted" if event["workflow"] == "token" else "created", None, "", minted(facts))
    if event["from_status"] == event["to_status"]:
        return noted(event)
    return decided(event)


def is_end_of_claim(event: Row) -> bool:
    """By its worker, or by whoever found the worker dead. What people do to a row that is at work tells no claim and no error;
    events of old tell no claim either."""
    if event["from_status"] == event["to_status"] or event["epoch"] is None:
        return False
    is_active = event["from_status"] in step_names(event)
    is_success = is_active and event["to_status"] == success(event)
    return is_active and (event["claimed_at"] is not None or is_success or "error" in (event["data"] or {}))


def ended(event: Row, paid: Sequence[Row], before: Row | None, facts: Row) -> Entry:
    last: Row = paid[-1] if paid else {}
    data: Row = event["data"] or {}
    begun = [moment for moment in (event["claimed_at"], last.get("started_at")) if moment]
    at, verdict = max(begun, default=event["at"]), verdict_of(event, last)
    text = outcome_text(event, last, facts) if verdict == "done" else str(data.get("error") or last.get("error") or "")
    return Entry(
        *(at, step_names(event)[event["from_status"]], 0, verdict, text),
        code=None if verdict == "done" else code_in(text, last),
        waited_s=since(before, event["claimed_at"]) if len(paid) < 2 else None,
        worked_s=seconds(at, event["at"]) if begun else None,
        cost=last.get("cost"),
        wei=last.get("wei"),
        worker=data.get("lost_by") or event["actor"],
        receipt=last.get("receipt"),
    )


def verdict_of(event: Row, last: Row) -> str:
    to, outcome = event["to_status"], last.get("outcome")
    if to == success(event):
        return "done"
    if "lost_by" in (event["data"] or {}):
        return "lost"
    if to == REVIEW:
        return REVIEW
    flow = flow_of(event)
    if flow is None or flow.is_final(to):
        return "refused" if outcome == "refused" else FAILED
    is_asked_to_wait = last.get("error_code") in LATER
    return str(outcome) if outcome in NOT_DONE and not is_asked_to_wait else "waiting"


def outcome_text(event: Row, last: Row, facts: Row) -> str:
    if last.get("batch"):
        return f"batch of {last['batch']} · {last['gas']} gas"
    if last:
        return " · ".join(str(last[name]) for name in ("provider", "model") if last[name])
    is_known = event["from_status"] == "pinning" and facts.get("metadata_cid")
    return f"{facts['metadata_cid']} · picture {facts['image_cid']}" if is_known else ""


def paid_for(attempt: Row, waited_s: float | None = None) -> Entry:
    """What was ordered on the way to another order, or is not over yet."""
    is_open = attempt["outcome"] == "open"
    named = " · ".join(str(attempt[name]) for name in ("provider", "model") if attempt[name])
    text = attempt["error"] or named
    return Entry(
        *(attempt["started_at"], attempt["step"], 0, "at work" if is_open else attempt["outcome"], text),
        code=code_in(text, attempt),
        waited_s=waited_s,
        worked_s=None if attempt["finished_at"] is None else seconds(attempt["started_at"], attempt["finished_at"]),
        cost=attempt["cost"],
        wei=attempt["wei"],
        worker=attempt["worker"],
        receipt=attempt["receipt"],
    )


def noted(event: Row) -> Entry:
    """In the middle of something."""
    data: dict[str, Any] = event["data"] or {}
    at, actor, status = event["at"], event["actor"], event["to_status"]
    match data:
        case {"censored": True}:
            return Entry(at, status, None, "censored", "prompt refused, drawing the fallback", worker=actor)
        case {"paused": is_paused}:
            return Entry(at, BY_HAND, None, "paused" if is_paused else "resumed", "", actor=actor)
        case {"archived": {**kept}}:
            text = f"the picture for {kept.get('author')} is kept: {kept.get('image_key')}"
            return Entry(at, BY_CHAIN, None, "archived", text, actor=actor)
        case _:
            return Entry(at, status, None, "noted", shown(data), worker=actor)


def decided(event: Row) -> Entry:
    """By a person, by the chain, or because nobody knows how to go on."""
    data: Row = event["data"] or {}
    said = str(data.get("reason") or data.get("error") or "")
    if "error" in data:
        return Entry(event["at"], event["from_status"], None, FAILED, said, code_in(said), actor=event["actor"])
    if "orphaned" in (event["from_status"], event["to_status"]) or said.startswith(MINED_AGAIN):
        verdict = "orphaned" if event["to_status"] == "orphaned" else MINED_AGAIN
        return Entry(event["at"], BY_CHAIN, None, verdict, said or where(event), actor=event["actor"])
    if event["actor"] == "engine":
        return Entry(event["at"], event["from_status"], None, FAILED, said or WAITED_FOR, actor=event["actor"])
    text = f"{said} ({where(event)})" if said else where(event)
    return Entry(event["at"], BY_HAND, None, decision(event), text, actor=event["actor"])


def decision(event: Row) -> str:
    """What a person would call it."""
    match event["from_status"], event["to_status"]:
        case _, "failed":
            return "cancelled"
        case _, "review":
            return "held"
        case "review", "detected":
            return "rejected"
        case "review", _:
            return "accepted"
        case "failed", _:
            return "retried"
        case _:
            return "sent back"


def where(event: Row) -> str:
    return f"{event['from_status']} → {event['to_status']}"


def minted(facts: Row) -> str:
    if facts.get("block") is None:
        return ""
    return f"block {facts['block']} · tx {facts['tx']} · log {facts['log']}"


def numbered(entries: Iterable[Entry]) -> list[Entry]:
    counts = Counter[str]()
    found = []
    for entry in entries:
        if entry.number is not None:
            counts[entry.step] += 1
            entry = msgspec.structs.replace(entry, number=counts[entry.step])
        found.append(entry)
    return found


def flow_of(event: Row) -> Workflow | None:
    return WORKFLOWS.get(event["workflow"] or "")


def step_names(event: Row) -> dict[str, str]:
    """The processes by their active statuses."""
    flow = flow_of(event)
    return {flow.active(waiting): step.process for waiting, step in flow.steps.items()} if flow else {}


def success(event: Row) -> str | None:
    flow = flow_of(event)
    found = {flow.active(waiting): step.success for waiting, step in flow.steps.items()} if flow else {}
    return found.get(event["from_status"])


def code_in(text: str, attempt: Row | None = None) -> str | None:
    """Ours, where it is known; else the provider's."""
    found, told = CODE.search(text), attempt or {}
    return found[0] if found else told.get("code") or told.get("error_code")


def since(before: Row | None, moment: datetime | None) -> float | None:
    return seconds(before["at"], moment) if before and moment else None


def seconds(begin: datetime, end: datetime) -> float:
    """Never less than none: a transaction's time is that of its beginning."""
    return max(0.0, (end - begin).total_seconds())


def shown(data: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in data.items())
