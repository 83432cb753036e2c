"""The keeper of an embedded server ends with the last user, however early that is."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from glisk.dev.keeping import Keeper, ports

# Deaf to the signal until it is ready, as a server is whose shell had told it to ignore the signal.
DEAF = """
import pathlib, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
pathlib.Path("begun").touch()
while not pathlib.Path("told").exists():
    time.sleep(0.001)
signal.signal(signal.SIGINT, signal.SIG_DFL)
pathlib.Path("ready").touch()
time.sleep(60)
"""


class OfADeafOne(Keeper):
    def launch(self, port: int) -> subprocess.Popen[bytes]:
        server = subprocess.Popen([sys.executable, "-c", DEAF], cwd=self.home)
        self.until("begun", server)
        return server

    def is_ready(self, server: subprocess.Popen[bytes], port: int) -> bool:
        (self.home / "told").touch()
        return self.until("ready", server)

    def until(self, name: str, server: subprocess.Popen[bytes]) -> bool:
        while server.poll() is None and not (self.home / name).exists():
            pass
        return server.poll() is None

    def clear_remains(self) -> None:
        pass


def test_a_server_that_did_not_hear_that_it_is_over_is_told_again(tmp_path: Path) -> None:
    keeper = OfADeafOne(tmp_path, tmp_path)
    keeper.is_over.set()
    server = keeper.start(next(ports(tmp_path / "port")))
    assert server.wait(30) == -signal.SIGINT
