"""Something about the operator's machine or settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glisk.errors.base import GliskError


class SetupError(GliskError):
    """Something about the operator's machine or settings; nothing was done yet."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Problem:
    """One setting that cannot be used: its name, what it holds (secrets masked) and what it should hold."""

    name: str
    seen: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.name} is {self.seen}: {self.wanted}"


class BadSettings(SetupError):
    code = "GLK-101"
    summary = "Some settings cannot be used."
    remedy = "Correct them in the environment or in .env; .env.example describes each one."

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("".join(f"\n  {problem}" for problem in problems))
        self.problems = tuple(problems)


class PortTaken(SetupError):
    code = "GLK-102"
    summary = "Another program listens on the port of Glisk's HTTP server."
    remedy = "Stop that program, or choose another port: GLISK_PORT=8001 make run"


class AlreadyRunning(SetupError):
    code = "GLK-103"
    summary = "Another Glisk uses this data directory."
    remedy = "Stop it first (Ctrl-C in its terminal), or give this one its own: GLISK_DATA_DIR=.glisk-2"


class DataUnwritable(SetupError):
    code = "GLK-104"
    summary = "The data directory cannot be written."
    remedy = "Run Glisk as the user who made it, or point GLISK_DATA_DIR at a directory of your own."


class WouldDestroyPaidWork(SetupError):
    code = "GLK-105"
    summary = "Wiping the data would destroy work that real services were paid for."
    remedy = "If that is what you want: make clean FORCE=1"


class UnusableAddress(SetupError):
    code = "GLK-106"
    summary = "The HTTP server cannot listen on its address."
    remedy = "Set GLISK_HOST to an address of this machine (127.0.0.1 by default), and a GLISK_PORT you may use."


class NotOurData(SetupError):
    code = "GLK-107"
    summary = "The data directory has files in it that are not Glisk's."
    remedy = "Point GLISK_DATA_DIR at a directory that is empty or does not exist yet."


class OpenToTheWorld(SetupError):
    code = "GLK-108"
    summary = "The HTTP server would listen beyond this machine, and nobody has a key yet."
    remedy = "Make one first (glisk keys create), or leave GLISK_HOST at 127.0.0.1."


class DiskFull(SetupError):
    code = "GLK-109"
    summary = "There is hardly any room left on the disk of the data directory."
    remedy = "Make room, or point GLISK_DATA_DIR at a larger disk."


class BackupUnusable(SetupError):
    code = "GLK-110"
    summary = "This is no backup that can be used here."
    remedy = "Name a file that `glisk backup` wrote, and restore it with this version or a newer one."


class NotEmpty(SetupError):
    code = "GLK-111"
    summary = "There are data already where the backup would go."
    remedy = "Restore into an empty place (GLISK_DATA_DIR, GLISK_DATABASE_URL), or wipe this one first: make clean"
