"""Keeps an embedded development chain, and saves it over and over: what it runs on is only in its memory.

The chain's own saving writes over the file that it starts from, and whoever is killed meanwhile leaves half a file. So
the keeper asks for the state and puts it in place as a whole.
"""

from __future__ import annotations

import gzip
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

from glisk.dev.chain_rpc import ask
from glisk.dev.child import becoming
from glisk.dev.keeping import LOOPBACK, Keeper, ended_leftovers, leave_starter, say
from glisk.errors import EmbeddedChainFailed

CHAIN_ID = 31337
SHORTEST_REST_S = 1.0  # between saves: what a kill can lose
REST_PER_WORK = 20  # a long chain takes long to save, and then is saved more rarely
KEPT_STATES = (
    100  # of the newest blocks; a chain that runs for days would fill the memory and then the disk with the rest
)


def main() -> None:
    leave_starter()
    home, program, rhythm = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    keeper = ChainKeeper(home, program, rhythm)
    threading.Thread(target=keeper.save_over_and_over, daemon=True).start()
    keeper.run()


def arguments(port: int, cache: Path) -> list[str | Path]:
    """Cancun is what the contract is compiled for; later ones keep a contract of their own with the last 8192 block
    hashes, and copy it with every block."""
    return [
        *("--quiet", "--host", LOOPBACK, "--port", str(port), "--chain-id", str(CHAIN_ID), "--hardfork", "cancun"),
        *("--slots-in-an-epoch", "1"),  # so that `safe` is one block behind, not 32
        *("--cache-path", cache),  # or else the home directory of whoever runs it
    ]


class ChainKeeper(Keeper):
    def __init__(self, home: Path, program: Path, rhythm: list[str]) -> None:
        super().__init__(home, home)
        self.program, self.rhythm = program, rhythm
        self.state, self.cache = home / "state.json", home / "cache"
        self.saving = threading.Lock()
        self.serving: int | None = None  # the port of a chain that is there to be saved

    def launch(self, port: int) -> subprocess.Popen[bytes]:
        load: list[str | Path] = ["--load-state", self.state] if self.state.exists() else []
        kept = ["--prune-history", str(KEPT_STATES)]
        command = [self.program, *arguments(port, self.cache), *kept, *self.rhythm, *load]
        # Without a chance to clean up: it has nothing to save.
        return subprocess.Popen(command, preexec_fn=becoming(None, signal.SIGKILL), cwd=self.home)

    def is_ready(self, server: subprocess.Popen[bytes], port: int) -> bool:
        while server.poll() is None:
            if is_listening(server.pid, port):
                self.serving = port
                return True
            time.sleep(0.005)
        return False

    def clear_remains(self) -> None:
        self.serving = None
        ended_leftovers(self.program.name, self.home)
        shutil.rmtree(self.cache, ignore_errors=True)

    def stop(self, server: subprocess.Popen[bytes]) -> None:
        self.save()
        server.kill()

    def save_over_and_over(self) -> None:
        rest = SHORTEST_REST_S
        while not self.is_over.wait(rest):
            began = time.monotonic()
            self.save()
            rest = max(SHORTEST_REST_S, REST_PER_WORK * (time.monotonic() - began))

    def save(self) -> None:
        with self.saving:
            if self.serving is None:
                return
            try:
                packed = ask(self.serving, "anvil_dumpState")
                draft = self.home / "state.json.new"
                draft.write_bytes(gzip.decompress(bytes.fromhex(packed[2:])))
                draft.rename(self.state)
            except (EmbeddedChainFailed, OSError) as error:  # it was killed just now, or there is no room
                say(f"the chain could not be saved: {error}")


def is_listening(pid: int, port: int) -> bool:
    """The process itself, not whoever else may have taken the port."""
    with suppress(psutil.NoSuchProcess):
        taken = psutil.Process(pid).net_connections("tcp4")
        return any(at.laddr.port == port and at.status == psutil.CONN_LISTEN for at in taken)
    return False


if __name__ == "__main__":
    main()
