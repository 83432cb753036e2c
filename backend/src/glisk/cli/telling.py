"""A token's story as text: one line for everything that happened, the same on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import typer

from glisk.cli.output import on_one_line
from glisk.repositories.timeline import Entry, Story

FACTS = {
    "prompt": "prompt",
    "image_url": "picture",
    "image_cid": "image CID",
    "metadata_cid": "metadata",
    "token_uri": "on chain",
    "generation_error": "error",
}
WEI = 10**18


def token(whole: Mapping[str, Any], story: Story) -> None:
    typer.echo(headline(whole, story))
    for name, called in FACTS.items():
        if whole.get(name):
            typer.echo(f"  {called:10} {on_one_line(str(whole[name]))}")
    for line in lines(story):
        typer.echo(line)


def headline(whole: Mapping[str, Any], story: Story) -> str:
    parts = [
        f"Token {whole['token_id']}",
        short(whole["contract_address"]),
        f"author {short(whole['author'])}",
        whole["status"],
        lasted(whole, story),
        f"${story.cost.normalize():f}" if story.cost else "",
        f"{story.wei / WEI:.6g} for gas" if story.wei else "",
    ]
    return " · ".join(part for part in parts if part)


def lasted(whole: Mapping[str, Any], story: Story) -> str:
    if whole["finished_at"] is None or story.first_at is None:
        return ""
    return f"mint→{whole['status']} {(whole['finished_at'] - whole['detected_at']).total_seconds():.1f} s"


def lines(story: Story) -> Iterator[str]:
    """A new day is told, so that the times are clear."""
    day = None
    for entry in story.entries:
        if entry.at.date() != day:
            day = entry.at.date()
            yield f"  {day.isoformat()} (UTC)"
        yield line(entry)


def line(entry: Entry) -> str:
    number = f"#{entry.number} " if entry.number else ""
    said = " ".join(filter(None, [entry.verdict, f"({entry.code})" if entry.code else "", on_one_line(entry.text)]))
    told = [
        f"{number}{said}",
        f"{on_one_line(entry.receipt)}" if entry.receipt else "",
        f"waited {entry.waited_s:.1f} s" if entry.waited_s and entry.waited_s >= 0.05 else "",
        f"{entry.worked_s:.1f} s" if entry.worked_s is not None else "",
        f"${entry.cost:.4f}" if entry.cost is not None else "",
        f"worker {entry.worker}" if entry.worker else "",
        f"by {entry.actor}" if entry.actor else "",
    ]
    return f"  {clock(entry.at)}  {entry.step:10} " + "  ".join(part for part in told if part)


def clock(at: datetime) -> str:
    return f"{at:%H:%M:%S}.{at.microsecond // 100_000}"


def short(address: str) -> str:
    return f"{address[:6]}…{address[-4:]}"
