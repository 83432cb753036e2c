"""One measurement in one process: `python -m benchmarks.peers PEER ACTION URL N [NAME=VALUE …]` prints what came of it."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from types import ModuleType
from typing import Any

import uvloop

from benchmarks.peers import actions


def main(peer: str, action: str, url: str, n: str, *options: str) -> None:
    module = importlib.import_module(f"benchmarks.peers.{peer}")
    terms = {name: int(value) for name, value in (option.split("=") for option in options)}
    result = module.install(url) if action == "install" else uvloop.run(named(action, module)(url, int(n), **terms))
    print(json.dumps(result))


def named(action: str, module: ModuleType) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The peer's own, or one that is the same for all."""
    own: Callable[..., Coroutine[Any, Any, Any]] | None = getattr(module, action, None)
    return own or partial(getattr(actions, action), module)


main(*sys.argv[1:])
