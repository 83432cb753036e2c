"""How a report is told: what is the matter in a few lines for a person, everything for a script."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec

from glisk.verifying.ids import Ids
from glisk.verifying.verdict import Problem, Report, Verdict


def rows(report: Report) -> list[dict[str, str]]:
    """What is wrong first. What is the same with many tokens is one line: a gateway that is gone is told of once."""
    alike = defaultdict[Problem, list[tuple[int, Problem]]](list)
    for verdict in report.verdicts:
        for problem in verdict.problems:
            alike[without_cid(problem)].append((verdict.token_id, problem))
    told = [row(same, found) for same, found in alike.items()]
    return sorted(told, key=lambda each: each["found"], reverse=True)


def summary(report: Report) -> str:
    tokens, gateways = len(report.verdicts), len(report.gateways)
    sound, wrong, missing = (f"{report.count(status):,} {status}" for status in ("sound", "wrong", "missing"))
    return (
        f"{tokens:,} token{'s' * (tokens != 1)}: {sound}, {wrong}, {missing} "
        f"(not revealed: {report.count('not revealed'):,}) through {gateways} gateway{'s' * (gateways != 1)}"
        f"{f', signed by {report.signer}' if report.signer else ''}"
    )


def without_cid(problem: Problem) -> Problem:
    """As far as it can be the same with others."""
    return msgspec.structs.replace(problem, cid="")


def row(same: Problem, found: list[tuple[int, Problem]]) -> dict[str, str]:
    ids = Ids.of((token_id, token_id) for token_id, _ in found)
    only = found[0][1] if len(found) == 1 else same
    return {"token": str(ids), "found": only.kind, "what": only.what, "where": only.where, "why": only.why}


def document(report: Report) -> dict[str, Any]:
    return {
        "contract": str(report.contract),
        "gateways": list(report.gateways),
        "signer": report.signer,
        "sound": report.count("sound"),
        "wrong": report.count("wrong"),
        "missing": report.count("missing"),
        "not_revealed": report.count("not revealed"),
        "tokens": [record(verdict) for verdict in report.verdicts],
    }


def record(verdict: Verdict) -> dict[str, Any]:
    return {
        "token_id": str(verdict.token_id),
        "status": verdict.status,
        "uri": verdict.uri,
        "image_cid": verdict.image_cid,
        "signer": verdict.signer,
        "problems": [
            {"found": each.kind, "what": each.what, "where": each.where, "why": each.why} for each in verdict.problems
        ],
    }


def is_deserted(report: Report) -> bool:
    """Whether no gateway had anything."""
    asked = [verdict for verdict in report.verdicts if any(problem.gateway for problem in verdict.problems)]
    return bool(asked) and not any(verdict.is_whole or verdict.image_cid for verdict in report.verdicts)
