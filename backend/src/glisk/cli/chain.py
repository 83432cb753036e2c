"""glisk chain: how far contracts have been read, what was reorganised; and reading again what is in doubt."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from glisk import service, settings
from glisk.cli import output, progress, stretch
from glisk.cli.stretch import First, Last, Stretch, Which
from glisk.repositories.chain_board import ChainBoard
from glisk.repositories.token_board import ANY

if TYPE_CHECKING:
    from glisk.chain.auditing import Audit
    from glisk.chain.repair import Difference, Replayed

app = typer.Typer(
    help="See how far contracts have been read, and read again what is in doubt.",
    epilog="Start with: glisk chain status",
    no_args_is_help=True,
)
T = TypeVar("T")


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="chain")


def on_the_board(action: Callable[[ChainBoard], Awaitable[T]]) -> T:
    return service.over_a_link(settings.load(), lambda link: action(ChainBoard(link)))


@app.command(epilog="For a script: glisk chain status --json")
def status(contract: Which = None, as_json: output.Json = False) -> None:
    """Every contract that is followed: how far it was read, what there is, and what is wrong if something is.

    Up to the tip every block was read once, up to the confirmed block twice: the second time when enough others had come after it."""
    found = on_the_board(lambda board: board.status(contract or ANY))
    if as_json or not found or not sys.stdout.isatty():
        output.rows(found, as_json=as_json, empty="Nothing has been read yet: glisk listen")
        return
    for n, record in enumerate(found):
        typer.echo("\n" * (n > 0) + f"{record['chain']}:{record['contract']}")
        output.rows([{"": name, " ": told} for name, told in aloud(record).items()], as_json=False, empty="")


@app.command(epilog="For a script: glisk chain reorgs --limit 1000 --json")
def reorgs(contract: Which = None, limit: output.Limit = 50, as_json: output.Json = False) -> None:
    """The reorganisations that were noticed, the newest first.

    One that went below a confirmed block is `halted`: so is the listener, until `glisk chain replay`."""
    found = on_the_board(lambda board: board.reorgs(limit, contract or ANY))
    output.rows(found, as_json=as_json, empty="None was noticed.")


@app.command(epilog="For instance: glisk chain backfill --from 1000000 --to 1250000")
def backfill(first: First = None, last: Last = None, contract: Which = None) -> None:
    """Read these blocks and add the tokens that are missing.

    Blocks from before the one that reading began at can be added so. It can be stopped at any time, and says how far it came."""
    with stretch.chosen(contract, first, last) as at, progress.shown("Backfill") as told:
        from glisk.chain import repair  # here and below: a status need not wait for what asks nodes to load

        try:
            done = at.run(lambda link, rpc: repair.backfill(link, rpc, at.contract, at.first, at.last, told))
        except KeyboardInterrupt:
            tell_how_far(at, told.done, "backfill")
            raise
    typer.echo(
        f"{done.blocks:,} blocks read: {done.tokens:,} tokens of {done.mints:,} mints were missing and are added."
    )


@app.command(epilog="For a script, which learns from exit code 1 that something is missing: glisk chain audit --json")
def audit(contract: Which = None, as_json: output.Json = False) -> None:
    """Compare the tokens with what the contract itself counts, up to the confirmed block.

    Where ids are missing the blocks around them are read again, and what is found is added.

    Exit code 1: some are still missing."""
    with stretch.chosen(contract) as at, progress.shown("Audit") as told:
        from glisk.chain import auditing, repair

        found = at.run(lambda link, rpc: repair.audit(link, rpc, at.contract, told))
    show_audit(found, as_json)
    if not found.is_whole:
        raise auditing.missing(found)


@app.command(epilog="For instance, to look only: glisk chain replay --from 1000000 --to 1000500 --dry-run")
def replay(
    first: First = None,
    last: Last = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the difference and change nothing. Exit code 1: there is one.")
    ] = False,
    contract: Which = None,
    yes: output.Yes = False,
    as_json: output.Json = False,
) -> None:
    """Read these blocks again, show how the tokens differ from them, and make them agree.

    What is missing is added, and a token whose mint is not there (a ghost) is orphaned; its picture is kept.

    A listener that was halted by a deep reorganisation goes on afterwards."""
    with stretch.chosen(contract, first, last) as at:
        if dry_run or not yes:
            trial = compare(at, dry_run=True)
            show_difference(trial.found, as_json)
            if dry_run:
                raise typer.Exit(1 if trial.found else 0)
            output.confirm(f"Make the tokens agree with blocks {trial.first} to {at.last}?", yes=not trial.found)
        done = compare(at, dry_run=False)
        if yes:
            show_difference(done.found, as_json)
    if done.left:
        typer.echo("These could not be mended:", err=True)
        show_difference(done.left, as_json)
        raise typer.Exit(1)
    typer.echo(f"Blocks {done.first} to {at.last} and their tokens agree.", err=True)
    if done.is_halted:
        typer.echo(
            "The listener is still halted: it goes on after a replay up to the confirmed block (without --to).",
            err=True,
        )
        raise typer.Exit(1)


def compare(at: Stretch, *, dry_run: bool) -> Replayed:
    from glisk.chain import repair

    with progress.shown("Compare" if dry_run else "Repair") as told:
        try:
            return at.run(
                lambda link, rpc: repair.replay(link, rpc, at.contract, at.first, at.last, told, dry_run=dry_run)
            )
        except KeyboardInterrupt:
            tell_how_far(at, told.done, "replay")
            raise


def tell_how_far(at: Stretch, done: int, command: str) -> None:
    rest = f"glisk chain {command} --from {at.first + done} --to {at.last}"
    came = f"after block {at.first + done - 1}" if done else "before the first block"
    typer.echo(f"Stopped {came}. What was done is kept. The rest: {output.typeable(rest)}", err=True)


def aloud(record: Mapping[str, Any]) -> dict[str, Any]:
    """A status for a person: what belongs together on one line, and what is not there left out."""
    told = {
        "head": record["head"],
        "read": f"{record['tip']}, {record['tip_lag']} behind",
        "confirmed": f"{record['confirmed']}, {record['confirmed_lag']} behind",
        "safe": record["safe"],
        "last moved": f"{record['seconds_ago']} s ago",
        "tokens": f"{record['tokens']:,}" + f", and {record['orphaned']:,} orphaned" * bool(record["orphaned"]),
        "undecodable logs": record["undecodable"] or None,
        "reorganisations": record["reorgs"]
        and f"{record['reorgs']}, the last at {output.shown(record['last_reorg_at'])}",
        "keeper": record["keeper"]
        and f"{record['keeper']}, has {record['balance']}, enough for {record['reveals_left']} reveals",
        "HALTED": record["halted"],
        "ALARM": record["alarm"],
    }
    return {name: value for name, value in told.items() if value is not None}


def show_audit(found: Audit, as_json: bool) -> None:
    gaps = [
        {"first": str(gap.first), "last": str(gap.last), "from_block": gap.from_block, "to_block": gap.to_block}
        for gap in found.gaps
    ]
    if as_json:
        output.document(
            {
                "expected": found.expected,
                "found": found.found,
                "repaired": found.repaired,
                "missing": gaps,
                "not_minted": found.beyond,
            }
        )
        return
    says = (
        "The contract does not count its tokens"
        if found.expected is None
        else f"The contract has {found.expected:,} tokens"
    )
    typer.echo(f"{says}; {found.found:,} are known, of which {found.repaired:,} were missing until now.")
    if gaps:
        output.rows(gaps, as_json=False, empty="")


def show_difference(found: Difference, as_json: bool) -> None:
    missing = [
        differing("missing", mint.first_token_id, mint.quantity, block=mint.block_number, author=mint.author)
        for mint in found.missing
    ]
    ghosts = [differing("ghost", ghost.token_id, block=ghost.block) for ghost in found.ghosts]
    others = [differing("author", other.token_id, author=other.has, instead_of=other.had) for other in found.others]
    output.rows([*missing, *ghosts, *others], as_json=as_json, empty="There is no difference.")


def differing(how: str, first: int, quantity: int = 1, **more: Any) -> dict[str, Any]:
    none = dict.fromkeys(("block", "author", "instead_of"))
    return {"difference": how, "first": str(first), "last": str(first + quantity - 1), **none, **more}
