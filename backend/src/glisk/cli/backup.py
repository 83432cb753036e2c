"""glisk backup, glisk restore: all of it in one file, and back."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from glisk import service, settings
from glisk.backup import restoring, saving
from glisk.cli import output
from glisk.dev import data_dir, sharing
from glisk.errors import AlreadyRunning

LINE_EVERY_S = 2.0


def mount(root: typer.Typer) -> None:
    root.command()(backup)
    root.command()(restore)


class Counting:
    """Tells now and then how far it is, on standard error."""

    def __init__(self, what: str) -> None:
        self.what, self.members, self.bytes, self.said_at = what, 0, 0, time.monotonic()

    def __call__(self, name: str, size: int) -> None:
        self.members, self.bytes = self.members + 1, self.bytes + size
        if time.monotonic() - self.said_at >= LINE_EVERY_S:
            self.said_at = time.monotonic()
            print(f"{self.what}: {self}", file=sys.stderr, flush=True)

    def __str__(self) -> str:
        return f"{self.members:,} files, {self.bytes / 2**20:,.1f} MB"


def backup(
    file: Annotated[Path, typer.Argument(dir_okay=False, help="Where to write it; it must not exist yet.")],
) -> None:
    """Write everything into one file, also while Glisk is at work: database, pictures, IPFS blocks, the embedded chain.

    The key that signs where pictures come from is in it, if Glisk made it: keep the file as you keep keys. Settings, and keys
    that you made yourself, are not: back up .env and the keeper's key on your own. Exit code 1: some pictures are damaged
    where they lie, and were left out."""
    if file.exists():
        raise typer.BadParameter(f"{file} is there already: choose another name.")
    found, told = settings.load(), Counting("Backup")
    with service.database(found) as url:
        damaged = asyncio.run(saving.save(found, url, file.absolute(), told))
    typer.echo(f"{file}: {told}.")
    for key in damaged:
        typer.echo(f"Left out, since it is damaged: {key}", err=True)
    if damaged:
        raise typer.Exit(1)


def restore(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="One that `glisk backup` wrote.")],
    yes: output.Yes = False,
) -> None:
    """Read a backup into an empty place: a new data directory, an empty database (GLISK_DATA_DIR, GLISK_DATABASE_URL).

    The file is checked from end to end before anything is written. What fails can be done again. Never let the original go on
    beside it: both would reveal the same tokens."""
    found = settings.load()
    head = restoring.checked(file, Counting("Check"))
    output.confirm(f"Restore the backup of {head.made_at} into {found.shown_dir}?", yes=yes)
    with data_dir.owned(found.data_dir), service.database(found) as url:
        if sharing.is_used(found.data_dir / "chain"):
            raise AlreadyRunning(f"A command still uses the development chain in {found.data_dir}.")
        asyncio.run(restoring.require_empty(found, url, head))
        told = Counting("Restore")
        asyncio.run(restoring.restore(found, url, file, head, told))
    typer.echo(f"Restored: {told}. Next: {output.typeable('glisk up')}")
