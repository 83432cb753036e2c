"""The process that keeps an embedded server alive while anybody uses it, and stops it when the last user is gone.

A server that ends under its users is started again, where they will look for it: on the same port.
Users hold a shared lock on `users.lock`. The kernel drops it when a user ends, even by SIGKILL, so waiting for the
exclusive lock is waiting for the last user, with no count that could go wrong. Started by `sharing.py`, which hands
over the held `keeper.lock`: there is one keeper for a directory, or none.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

LOOPBACK = "127.0.0.1"
SHORTEST_REST_S, LONGEST_REST_S = 0.1, 5.0
KILL_DEADLINE_S = 5.0


def leave_starter() -> None:
    """Whoever started us need not wait for us, and is free to end before us."""
    if os.fork():
        os._exit(0)


class Keeper(ABC):
    """Of one kind of server, which says how it is started. The main thread starts servers, because a death signal
    comes when the thread that started the child ends."""

    def __init__(self, home: Path, data: Path) -> None:
        self.home, self.data = home, data
        self.server: subprocess.Popen[bytes] | None = None
        self.is_over = threading.Event()

    @abstractmethod
    def launch(self, port: int) -> subprocess.Popen[bytes]: ...

    @abstractmethod
    def is_ready(self, server: subprocess.Popen[bytes], port: int) -> bool:
        """Waits until the server is, or ends."""

    @abstractmethod
    def clear_remains(self) -> None:
        """Of a server that was killed."""

    def stop(self, server: subprocess.Popen[bytes]) -> None:
        server.send_signal(signal.SIGINT)

    def run(self) -> None:
        with open(self.home / "users.lock") as users:
            threading.Thread(target=self.stop_after, args=(users,), daemon=True).start()
            self.keep()
            os._exit(0)  # both locks go with the process: a user who waited for the one never meets the other

    def stop_after(self, users: IO[str]) -> None:
        """Waits for the last user, and from then on keeps the next one waiting."""
        fcntl.flock(users, fcntl.LOCK_EX)
        self.is_over.set()
        if self.server:
            self.stop(self.server)

    def keep(self) -> None:
        server, port = self.first_start()
        rest, began = SHORTEST_REST_S, time.monotonic()
        while self.is_missed(server):
            rest = next_rest(rest, time.monotonic() - began)
            say(f"the server ended {how(server.returncode)} while in use; it is started again in {rest:.1f} s")
            if self.is_over.wait(rest):
                return
            began = time.monotonic()
            server = self.start_again(port) or server

    def is_missed(self, server: subprocess.Popen[bytes]) -> bool:
        """Waits for its end. Where the whole directory was taken away, there is nothing to start again."""
        server.wait()
        (self.home / "server.json").unlink(missing_ok=True)  # who comes now waits until it is there again
        return not self.is_over.is_set() and self.data.exists()

    def first_start(self) -> tuple[subprocess.Popen[bytes], int]:
        self.clear_remains()
        for port in ports(self.home / "port"):
            server = self.start(port)
            if server.poll() is None:
                return server, port
            if not is_taken(port):
                break
        sys.exit(1)  # its last words are in the log, for the user who waits

    def start_again(self, port: int) -> subprocess.Popen[bytes] | None:
        """On no other port, even if this one is taken for the moment: nobody would look there."""
        try:
            self.clear_remains()
            return self.start(port)
        except (OSError, subprocess.SubprocessError) as error:  # no memory for it, perhaps, or no room
            say(f"the server could not be started: {error}")
            return self.server

    def start(self, port: int) -> subprocess.Popen[bytes]:
        """Returns when it is ready, or has ended."""
        self.server = server = self.launch(port)
        if self.is_over.is_set():  # the last user left before there was a server to stop
            self.stop(server)
        if self.is_ready(server, port):
            publish(self.home, port)
            if (
                self.is_over.is_set()
            ):  # who does not listen yet, or was told to ignore it as a shell tells its background, missed it
                self.stop(server)
        return server


def next_rest(rest: float, lived: float) -> float:
    """Twice as long for a server that ends as soon as it is started; short again after one that served a while."""
    return SHORTEST_REST_S if lived > LONGEST_REST_S else min(2 * rest, LONGEST_REST_S)


def how(returncode: int) -> str:
    return f"by signal {-returncode}" if returncode < 0 else f"with {returncode}"


def say(sentence: str) -> None:
    """Into the server's log, in the shape of PostgreSQL's own lines."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    sys.stderr.write(f"{now} [{os.getpid()}] KEEPER:  {sentence}\n")
    sys.stderr.flush()


def ended_leftovers(name: str, directory: Path) -> bool:
    """Of a killed keeper or server: what is busy or stopped does not end by itself."""
    deadline = time.monotonic() + KILL_DEADLINE_S
    while (left := leftovers(name, directory)) and time.monotonic() < deadline:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.005)
    return not left


def leftovers(name: str, directory: Path) -> list[psutil.Process]:
    """By their directory, which no other server has; a zombie has none any more."""
    of_ours = {"name": name, "cwd": str(directory.resolve())}
    return [process for process in psutil.process_iter(list(of_ours)) if process.info == of_ours]


def ports(last: Path) -> Iterator[int]:
    """The last one first: whoever knew the server's address finds it again after a restart."""
    if last.exists() and not is_taken(port := int(last.read_text())):
        yield port
    while True:
        with socket.create_server((LOOPBACK, 0)) as probe:
            port = probe.getsockname()[1]
        last.write_text(str(port))
        yield port


def is_taken(port: int) -> bool:
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError:
        return True
    return False


def publish(home: Path, port: int) -> None:
    draft = home / "server.json.new"
    draft.write_text(json.dumps({"port": port}))
    draft.rename(home / "server.json")
