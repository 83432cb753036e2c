"""The process that keeps an embedded PostgreSQL alive while anybody uses it, and stops it when the last user is gone.

A server that ends under its users is started again, where they will look for it: on the same port.
Users hold a shared lock on `users.lock`. The kernel drops it when a user ends, even by SIGKILL, so waiting for the
exclusive lock is waiting for the last user, with no count that could go wrong. Started by `postgres.py`, which hands
over the held `keeper.lock`: there is one keeper for a directory, or none.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from glisk.dev.child import account_for, becoming

SUPERUSER = "glisk"
LOOPBACK = "127.0.0.1"
SHORTEST_REST_S, LONGEST_REST_S = 0.1, 5.0
KILL_DEADLINE_S = 5.0


def main() -> None:
    if os.fork():
        os._exit(0)  # whoever started us need not wait for us, and is free to end before us
    home, binaries, options = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    if not (home / "data").exists():
        create(home, binaries)
    keeper = Keeper(home, binaries, options)
    with open(home / "users.lock") as users:
        threading.Thread(target=keeper.stop_after, args=(users,), daemon=True).start()
        keeper.keep()
        os._exit(0)  # both locks go with the process: a user who waited for the one never meets the other


class Keeper:
    """The main thread starts servers, because a death signal comes when the thread that started the child ends."""

    def __init__(self, home: Path, binaries: Path, options: dict[str, str]) -> None:
        self.home, self.data, self.binaries, self.options = home, home / "data", binaries, options
        self.server: subprocess.Popen[bytes] | None = None
        self.is_over = threading.Event()

    def stop_after(self, users: IO[str]) -> None:
        """Waits for the last user, and from then on keeps the next one waiting."""
        fcntl.flock(users, fcntl.LOCK_EX)
        self.is_over.set()
        if self.server:
            stop(self.server)

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
        clear_remains(self.data)
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
            clear_remains(self.data)
            return self.start(port)
        except (OSError, subprocess.SubprocessError) as error:  # no memory for it, perhaps, or no room
            say(f"the server could not be started: {error}")
            return self.server

    def start(self, port: int) -> subprocess.Popen[bytes]:
        """Returns when it is ready, or has ended."""
        settings = {"listen_addresses": LOOPBACK, "port": str(port), "unix_socket_directories": "", "timezone": "UTC"}
        arguments = [part for name, value in (settings | self.options).items() for part in ("-c", f"{name}={value}")]
        become = becoming(account_for(self.data, self.binaries))
        program: list[str | Path] = [self.binaries / "postgres", "-D", self.data, *arguments]
        self.server = server = subprocess.Popen(program, preexec_fn=become, cwd="/")
        if self.is_over.is_set():  # the last user left before there was a server to stop
            stop(server)
        if is_ready(self.data, server):
            publish(self.home, port)
        return server


def stop(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)  # fast shutdown: open transactions roll back, nothing committed is lost


def next_rest(rest: float, lived: float) -> float:
    """Twice as long for a server that ends as soon as it is started; short again after one that served a while."""
    return SHORTEST_REST_S if lived > LONGEST_REST_S else min(2 * rest, LONGEST_REST_S)


def how(returncode: int) -> str:
    return f"by signal {-returncode}" if returncode < 0 else f"with {returncode}"


def say(sentence: str) -> None:
    """Into the server's log, in the shape of its own lines."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    sys.stderr.write(f"{now} [{os.getpid()}] KEEPER:  {sentence}\n")
    sys.stderr.flush()


def create(home: Path, binaries: Path) -> None:
    """Made beside its place and renamed into it: a killed set-up leaves no half database behind."""
    fresh, password = home / "data.new", home / "password"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    account = account_for(fresh, binaries)
    write_private(password, secrets.token_urlsafe(24))
    write_private(handed := home / "password.new", password.read_text())
    if account:
        for path in (fresh, handed):
            os.chown(path, account.uid, account.gid)
    made = subprocess.run(
        [
            *(binaries / "initdb", "--pgdata", fresh, "--username", SUPERUSER, "--pwfile", handed),
            *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"),
            *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),  # needs no locale of the machine
        ],
        preexec_fn=becoming(account),
        cwd="/",
        check=False,
    )
    handed.unlink()
    if made.returncode:
        sys.exit(1)  # its last words are in the log
    fresh.rename(home / "data")


def write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)


def clear_remains(data: Path) -> None:
    """Of a server that was killed. PostgreSQL itself copes with a pid that is gone; not with one that now belongs to
    somebody else, as after a reboot, nor with a server of this directory whose keeper was killed where no death
    signal exists."""
    pid_file = data / "postmaster.pid"
    if not pid_file.exists():
        return
    try:
        process = psutil.Process(int(pid_file.read_text().split("\n")[0]))
        if process.cwd() == str(data.resolve()):
            process.send_signal(signal.SIGINT)
            process.wait()
            return
    except (ValueError, psutil.NoSuchProcess, psutil.AccessDenied):
        pass
    if ended_leftovers(data):  # or else the file stays, and with it PostgreSQL's own refusal to start
        pid_file.unlink(missing_ok=True)


def ended_leftovers(data: Path) -> bool:
    """The children of a killed server end by themselves when they notice; one that is busy or stopped does not, and
    while one is there PostgreSQL refuses to start."""
    deadline = time.monotonic() + KILL_DEADLINE_S
    while (left := leftovers(data)) and time.monotonic() < deadline:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(0.005)
    return not left


def leftovers(data: Path) -> list[psutil.Process]:
    """By their directory, which no other server has; a zombie has none any more."""
    of_ours = {"name": "postgres", "cwd": str(data.resolve())}
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


def is_ready(data: Path, server: subprocess.Popen[bytes]) -> bool:
    """Waits until the server says so in its pid file, or ends."""
    pid_file = data / "postmaster.pid"
    while server.poll() is None:
        lines = pid_file.read_text().splitlines() if pid_file.exists() else []
        if len(lines) >= 8 and lines[0] == str(server.pid) and lines[7].strip() == "ready":
            return True
        time.sleep(0.005)
    return False


def publish(home: Path, port: int) -> None:
    draft = home / "server.json.new"
    draft.write_text(json.dumps({"port": port}))
    draft.rename(home / "server.json")


if __name__ == "__main__":
    main()
