"""A stand-in in a process of its own, on listeners that it was given: `python -m glisk.dev.standins replicate 5 6`."""

from __future__ import annotations

import asyncio
import importlib
import socket
import sys

from glisk.dev.standins.running import until_stopped


def main() -> None:
    name, *files = sys.argv[1:]
    listeners = [socket.socket(fileno=int(file)) for file in files]
    standin = importlib.import_module(f"glisk.dev.standins.{name}").standin()
    asyncio.run(until_stopped(standin, listeners, lifeline=True))


if __name__ == "__main__":
    main()
