"""How an embedded server is started as a child: without root, and never outliving the process that started it."""

from __future__ import annotations

import ctypes
import os
import pwd
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_SECUREBITS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 1, 28, 47, 2
SECBIT_NO_SETUID_FIXUP = 1 << 2
CAP_DAC_OVERRIDE = 1
CAPABILITY_VERSION_3 = 0x20080522


@dataclass(frozen=True, slots=True)
class Account:
    """Whom a child runs as; `crosses` lets it pass directories that are closed to it."""

    uid: int
    gid: int
    crosses: bool = False


def account_for(directory: Path, binaries: Path) -> Account | None:
    """None when we are not root. Servers like PostgreSQL refuse to run as root, so root hands over to the
    owner of the directory, or to nobody."""
    if os.geteuid() != 0:
        return None
    owner = directory.stat().st_uid
    entry = pwd.getpwuid(owner) if owner != 0 else pwd.getpwnam("nobody")
    closed = any(is_closed(path, entry) for leaf in (directory, binaries) for path in leaf.resolve().parents)
    return Account(entry.pw_uid, entry.pw_gid, crosses=closed)


def is_closed(path: Path, entry: pwd.struct_passwd) -> bool:
    mode, owner, group = (stat := path.stat()).st_mode, stat.st_uid, stat.st_gid
    search = 0o100 if owner == entry.pw_uid else 0o010 if group == entry.pw_gid else 0o001
    return not mode & search


def becoming(account: Account | None, death_signal: int = signal.SIGINT) -> Callable[[], None]:
    """The `preexec_fn` of a child. Everything it needs is looked up here: between fork and exec it only calls."""
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

    def become() -> None:
        if account is not None:
            drop_to(account, libc)
        if libc is not None:
            # After the change of user, which clears it. Where there is no such call (macOS) the keeper's own exit stops the child.
            libc.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)

    return become


def drop_to(account: Account, libc: ctypes.CDLL | None) -> None:
    crosses = account.crosses and libc is not None
    if libc is not None and crosses:
        # Without this bit access(2) would still answer as if the capability were not there, and initdb asks it.
        require(libc.prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0))
    os.setgroups([])
    os.setgid(account.gid)
    os.setuid(account.uid)
    os.umask(0o077)
    if libc is not None and crosses:
        keep_crossing(libc)


def keep_crossing(libc: ctypes.CDLL) -> None:
    """Keeps the one capability that lets the child reach files below a closed directory, instead of opening that
    directory to everybody. All others go."""
    bit = 1 << CAP_DAC_OVERRIDE
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0)  # effective, permitted, inheritable; then their upper halves
    require(libc.capset(header, sets))
    require(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0))


def require(result: int) -> None:
    if result != 0:
        raise PermissionError(ctypes.get_errno(), "root may not keep the capability to cross closed directories")
