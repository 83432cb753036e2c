"""The process that keeps an embedded PostgreSQL alive while anybody uses it, and stops it when the last user is gone.

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
from pathlib import Path

import psutil

from glisk.dev.child import account_for, becoming

SUPERUSER = "glisk"
LOOPBACK = "127.0.0.1"


def main() -> None:
    if os.fork():
        os._exit(0)  # whoever started us need not wait for us, and is free to end before us
    home, binaries, options = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    if not (home / "data").exists():
        create(home, binaries)
    clear_stale_pid(home / "data")
    server, port = start(home / "data", binaries, options)
    publish(home, port)
    threading.Thread(target=end_with, args=(server,), daemon=True).start()
    with open(home / "users.lock") as users:
        fcntl.flock(users, fcntl.LOCK_EX)
        (home / "server.json").unlink(missing_ok=True)
        server.send_signal(signal.SIGINT)  # fast shutdown: open transactions roll back, nothing committed is lost
        server.wait()


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


def clear_stale_pid(data: Path) -> None:
    """PostgreSQL itself copes with a pid that is gone; not with one that now belongs to somebody else, as after a
    reboot, nor with a server of this directory whose keeper was killed where no death signal exists."""
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
    pid_file.unlink(missing_ok=True)


def start(data: Path, binaries: Path, options: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    become = becoming(account_for(data, binaries))
    for port in ports(data.parent / "port"):
        settings = {"listen_addresses": LOOPBACK, "port": str(port), "unix_socket_directories": "", "timezone": "UTC"}
        arguments = [part for name, value in (settings | options).items() for part in ("-c", f"{name}={value}")]
        server = subprocess.Popen([binaries / "postgres", "-D", data, *arguments], preexec_fn=become, cwd="/")
        if is_ready(data, server):
            return server, port
        if not is_taken(port):
            break
    sys.exit(1)  # its last words are in the log


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


def end_with(server: subprocess.Popen[bytes]) -> None:
    """A server that died by itself takes the keeper along, so that the next user starts a new one."""
    os._exit(0 if server.wait() == 0 else 1)


if __name__ == "__main__":
    main()
