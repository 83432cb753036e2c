"""Every command says what it is for, and what each of its words means; lists speak JSON, and what destroys can be told not to ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from glisk.cli.main import app

DESTROYS = re.compile(
    r"(cancel|reject|revoke|prune|clean|rerun|accept|replay|restore)$"
)  # verbs after which something is gone, or paid
LISTS = re.compile(r"(ls|dead|retrying|reorgs|spend|doctor|status)$")


def every(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Each command that does something, by what a person types."""
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from every(command.get_command(context, name), (*path, name))
    else:
        yield " ".join(path), command


def all_commands() -> dict[str, Any]:
    return dict(every(typer.main.get_command(app)))


COMMANDS = all_commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_it_says_what_it_is_for_and_what_each_word_means(name: str) -> None:
    command = COMMANDS[name]
    assert len((command.help or "").split()) >= 3, f"glisk {name} says too little"
    for param in (param for param in command.params if not getattr(param, "hidden", False)):
        assert (getattr(param, "help", None) or "").strip(), f"glisk {name}: {param.name} has no help"


@pytest.mark.parametrize("name", [name for name in COMMANDS if LISTS.search(name)])
def test_a_list_speaks_json(name: str) -> None:
    assert "--json" in [option for param in COMMANDS[name].params for option in param.opts]


@pytest.mark.parametrize("name", [name for name in COMMANDS if DESTROYS.search(name) and name != "clean"])
def test_what_destroys_can_be_told_not_to_ask(name: str) -> None:
    assert "--yes" in [option for param in COMMANDS[name].params for option in param.opts]


@pytest.mark.parametrize(
    "name",
    [
        *("up", "listen", "work", "serve", "migrate", "doctor", "explain", "spend", "bench", "backup", "restore"),
        *(f"tokens {verb}" for verb in ("ls", "show", "watch", "retry", "cancel", "rerun", "accept", "reject")),
        *(f"jobs {verb}" for verb in ("ls", "show", "retry", "cancel", "dead")),
        *(f"lanes {verb}" for verb in ("ls", "hold", "resume", "limit")),
        *(f"chain {verb}" for verb in ("status", "backfill", "audit", "replay", "reorgs")),
        *("authors ls", "authors set-prompt", "workflows ls", "workflows show", "config show", "config example"),
        *("keys create", "keys ls", "keys revoke"),
    ],
)
def test_what_was_promised_is_there(name: str) -> None:
    assert any(known == name or known.startswith(f"{name} ") for known in COMMANDS)
