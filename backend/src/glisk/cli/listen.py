"""glisk listen: the process that follows contracts on their chain."""

from __future__ import annotations

import typer

from glisk import logs, settings
from glisk.cli.output import say


def mount(app: typer.Typer) -> None:
    app.command(
        epilog="For instance, with a real chain: GLISK_RPC_URLS=https://mainnet.base.org GLISK_CONTRACTS=8453:0x… glisk listen"
    )(listen)


def listen() -> None:
    """Follow the contracts on their chain: every mint becomes a token, and what leaves the chain is orphaned.

    Without GLISK_RPC_URLS and GLISK_CONTRACTS it is the embedded development chain.

    Start as many as you like: one writes, the others stand by and take over when it is gone. A signal ends it, and the next one
    goes on where it was."""
    from glisk import following  # a list of commands need not wait for it to load

    found = settings.load()
    logs.configure(found)
    following.listen(found, say)
    typer.echo("Stopped. What was read is kept; the next one goes on from there.")
