"""Makes an embedded PostgreSQL and keeps it: as a user who is not root, with a password of its own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from glisk.dev.child import account_for, becoming
from glisk.dev.keeping import LOOPBACK, Keeper, ended_leftovers, leave_starter

SUPERUSER = "glisk"


def main() -> None:
    leave_starter()
    home, binaries, options = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    if not (home / "data").exists():
        create(home, binaries)
    PostgresKeeper(home, binaries, options).run()


class PostgresKeeper(Keeper):
    """Stopping is its fast shutdown: open transactions roll back, nothing committed is lost."""

    def __init__(self, home: Path, binaries: Path, options: dict[str, str]) -> None:
        super().__init__(home, home / "data")
        self.binaries, self.options = binaries, options

    def launch(self, port: int) -> subprocess.Popen[bytes]:
        settings = {"listen_addresses": LOOPBACK, "port": str(port), "unix_socket_directories": "", "timezone": "UTC"}
        arguments = [part for name, value in (settings | self.options).items() for part in ("-c", f"{name}={value}")]
        become = becoming(account_for(self.data, self.binaries))
        program: list[str | Path] = [self.binaries / "postgres", "-D", self.data, *arguments]
        return subprocess.Popen(program, preexec_fn=become, cwd="/")

    def is_ready(self, server: subprocess.Popen[bytes], port: int) -> bool:
        """It says so in its pid file."""
        pid_file = self.data / "postmaster.pid"
        while server.poll() is None:
            lines = pid_file.read_text().splitlines() if pid_file.exists() else []
            if len(lines) >= 8 and lines[0] == str(server.pid) and lines[7].strip() == "ready":
                return True
            time.sleep(0.005)
        return False

    def clear_remains(self) -> None:
        """PostgreSQL itself copes with a pid that is gone; not with one that now belongs to somebody else, as after
        a reboot, nor with a server of this directory whose keeper was killed where no death signal exists."""
        pid_file = self.data / "postmaster.pid"
        if not pid_file.exists():
            return
        try:
            process = psutil.Process(int(pid_file.read_text().split("\n")[0]))
            if process.cwd() == str(self.data.resolve()):
                process.send_signal(signal.SIGINT)
                process.wait()
                return
        except (ValueError, psutil.NoSuchProcess, psutil.AccessDenied):
            pass
        # While a child of a killed server is there, the file stays, and with it PostgreSQL's own refusal to start.
        if ended_leftovers("postgres", self.data):
            pid_file.unlink(missing_ok=True)


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


if __name__ == "__main__":
    main()
