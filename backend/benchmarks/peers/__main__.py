"""One measurement in one process: `python -m benchmarks.peers PEER ACTION URL N [NAME=VALUE …]` prints seconds and CPU."""

from __future__ import annotations

import importlib
import json
import sys
import time

import uvloop


def main(peer: str, action: str, url: str, n: str, *options: str) -> None:
    module = importlib.import_module(f"benchmarks.peers.{peer}")
    if action == "install":
        module.install(url)
        return
    terms = {name: int(value) for name, value in (option.split("=") for option in options)}
    before = time.process_time()
    seconds = uvloop.run(getattr(module, action)(url, int(n), **terms))
    print(json.dumps({"seconds": seconds, "cpu": time.process_time() - before, "done": uvloop.run(module.done(url))}))


main(*sys.argv[1:])
