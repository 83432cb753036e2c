"""glisk verify: is every token what it says it is, from the chain to the picture?"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from glisk import addresses, logs, settings, values, wallets
from glisk.cli import output, progress
from glisk.settings import Settings
from glisk.values import NodeUrls

if TYPE_CHECKING:
    from glisk.chain.mint import Contract
    from glisk.chain.rpc.pool import Rpc
    from glisk.following import Source
    from glisk.verifying.collection import Told
    from glisk.verifying.verdict import Report

LARGEST_ID = 2**256 - 1


def some_ids(text: str) -> str:
    span(text)
    return text


def span(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,78})(?:-([0-9]{1,78}))?", text)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if not first <= last <= LARGEST_ID:
        raise typer.BadParameter(f"{text!r} is neither a token's id nor a range of them, like 1-50.")
    return first, last


def a_contract(text: str) -> str:
    return readable(text, addresses.contract_in)


def a_node(text: str) -> str:
    return readable(text, addresses.nodes_in)


def readable(text: str, read: Callable[[str], object]) -> str:
    """As it was given, if it can be read so."""
    try:
        read(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from error
    return text


def a_gateway(text: str) -> str:
    try:
        return values.http_url(text)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r}: {error}, like https://ipfs.io (/ipfs is added).") from error


def a_signer(text: str) -> str:
    if not re.fullmatch(r"0x[0-9a-fA-F]{40}", text) or not addresses.is_typed_right(text):
        raise typer.BadParameter(f"{text!r} is no wallet: that is 0x and 40 hex digits.")
    return text.lower()


Tokens = Annotated[
    list[str] | None,
    typer.Argument(parser=some_ids, metavar="TOKEN", help="Ids, or ranges like 1-50. Default: every token."),
]
Which = Annotated[
    str | None,
    typer.Option("--contract", parser=a_contract, metavar="[CHAIN:]0x…", help="Of this one. Default: GLISK_CONTRACTS."),
]
Nodes = Annotated[
    list[str] | None,
    typer.Option(
        "--rpc", parser=a_node, metavar="URL", help="Ask this node; may be repeated. Default: GLISK_RPC_URLS."
    ),
]
Gateways = Annotated[
    list[str] | None,
    typer.Option(
        "--gateway",
        parser=a_gateway,
        metavar="URL",
        help="Read through this IPFS gateway; may be repeated. Default: GLISK_GATEWAYS, else our own HTTP server.",
    ),
]
Signer = Annotated[
    str | None,
    typer.Option(
        "--signer",
        parser=a_signer,
        metavar="0x…",
        help="Who must have signed the metadata. Default: our own key, where we have one; else whoever has signed most of it.",
    ),
]
AtOnce = Annotated[int, typer.Option("--at-once", min=1, max=256, help="So many tokens at the same time.")]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, max=3600, metavar="SECONDS", help="For one file through one gateway.")
]


def mount(app: typer.Typer) -> None:
    app.command(
        epilog="For instance: glisk verify 1-50 --contract 8453:0x… --rpc https://mainnet.base.org --gateway https://ipfs.io"
    )(verify)


def verify(
    tokens: Tokens = None,
    contract: Which = None,
    rpc: Nodes = None,
    gateway: Gateways = None,
    signer: Signer = None,
    as_json: output.Json = False,
    at_once: AtOnce = 16,
    timeout: Timeout = 60.0,
) -> None:
    """Check that tokens are what they say they are, from the chain to the metadata to the picture.

    Nobody is believed, and no database is needed: CIDs, hashes and signatures are computed again from what the chain and each
    gateway answer. `wrong` is what is not what was promised; `missing` is what could not be had, and may be there later.

    Exit code 1: something is wrong. What is only missing is said, and is no failure."""
    from glisk import following  # here and below: --help need not wait for what asks nodes to load
    from glisk.verifying.collection import verified
    from glisk.verifying.gateways import Patience
    from glisk.verifying.ids import Ids

    found = settings.load()
    logs.configure(found.model_copy(update={"log_level": "error"}))  # whatever matters is in the answer
    gateways = list(dict.fromkeys(gateway or addresses.parts_of(found.gateways) or [found.address]))
    wanted = signer or own_signer(found)
    ids, patience = Ids.of(map(span, tokens)) if tokens else None, Patience(whole=timeout)
    with following.source(with_nodes(found, rpc)) as source, shown_on_a_terminal() as told:

        def question(rpc: Rpc, of: Contract) -> Awaitable[Report]:
            return verified(rpc, of, ids, gateways, signer=wanted, at_once=at_once, patience=patience, told=told)

        report = asyncio.run(asked(source, contract, question))
    show(report, as_json)
    raise typer.Exit(1 if report.count("wrong") else 0)


def own_signer(found: Settings) -> str | None:
    """Whoever signs here, if anybody does: an operator knows who it must have been."""
    from glisk.publishing.metadata import key_file

    if not key_file(found).exists():
        return None
    return wallets.opened(key_file(found)).address.lower()


def with_nodes(found: Settings, rpc: Sequence[str] | None) -> Settings:
    if not rpc:
        return found
    urls = dict.fromkeys(addresses.parts_of(",".join(rpc)))
    return found.model_copy(update={"rpc_urls": NodeUrls(",".join(urls))})


async def asked(source: Source, contract: str | None, question: Callable[[Rpc, Contract], Awaitable[Report]]) -> Report:
    from glisk import following
    from glisk.chain import nodes
    from glisk.chain.mint import Contract
    from glisk.verifying.collection import Uncounted

    chain_id, address = addresses.contract_in(contract) if contract else the_only(source.contracts)
    if chain_id is None:
        chain_id = nodes.chain_in((None, address), await nodes.ask(addresses.questioned(source.urls)))
    of = Contract(chain_id, address)
    try:
        return await following.with_rpc(source, of, lambda rpc: question(rpc, of))
    except Uncounted as error:
        count = "" if error.supply is None else f", only that there are {error.supply:,}"
        raise typer.BadParameter(f"{of} does not say which tokens there are{count}. Name them, like 1-50.") from error


def the_only(contracts: Sequence[tuple[int | None, str]]) -> tuple[int | None, str]:
    if len(contracts) == 1:
        return contracts[0]
    named = ", ".join(address if chain is None else f"{chain}:{address}" for chain, address in contracts)
    raise typer.BadParameter(f"Which contract? Add --contract with {f'one of: {named}' if named else 'its address'}.")


class Bar(progress.Bar):
    def __call__(self, done: int, total: int, tokens: int = 0) -> None:
        self.done = done
        self.show(done, total, f"{done:,} of {total:,} tokens")


@contextmanager
def shown_on_a_terminal() -> Iterator[Told]:
    """Whoever reads a pipe waits for the answer."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    bar = Bar("Verify")
    try:
        yield bar
    finally:
        with suppress(BrokenPipeError):
            bar.close()


def show(report: Report, as_json: bool) -> None:
    from glisk.verifying import telling

    if as_json:
        output.document(telling.document(report))
        return
    output.rows(telling.rows(report), as_json=False, empty="Nothing is wrong, and nothing is missing.")
    typer.echo(telling.summary(report))
    if telling.is_deserted(report):
        through = f"Nothing could be had through {' or '.join(report.gateways)}."
        typer.echo(f"{through} Is it running? Or ask another one: --gateway https://ipfs.io", err=True)
