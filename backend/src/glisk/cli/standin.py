"""glisk standin: the paid services, played on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import typer

from glisk.dev.standins import running
from glisk.dev.standins.base import Standin
from glisk.dev.standins.kubo import Kubo
from glisk.dev.standins.openai import OpenAI
from glisk.dev.standins.pinata import Pinata
from glisk.dev.standins.replicate import Replicate

app = typer.Typer(help="Play a paid service on this machine, to try Glisk without an account.", no_args_is_help=True)

LARGEST_PORT, AN_HOUR = 65_535, 3600
KEY = "eyJzdGFuZGluIjoxfQ.eyJzdGFuZGluIjoxfQ.c3RhbmRpbg"


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="standin")


@app.command()
def replicate(
    port: Annotated[
        int, typer.Option(min=1, max=LARGEST_PORT - 1, help="The API's; the files have the next one.")
    ] = 8900,
    seconds: Annotated[float, typer.Option(min=0, max=AN_HOUR, help="So long a picture takes.")] = 2.0,
) -> None:
    """Play Replicate's HTTP API: every picture is a pattern, and none costs anything."""
    standin = Replicate()
    standin.script.add({"times": None, "runs_for_s": seconds})
    listeners = [listening(port), listening(port + 1)]
    api, files = running.urls(listeners)
    typer.echo(f"Replicate's stand-in is at {api}, its files at {files} (Ctrl-C stops). To use it:\n")
    typer.echo(f"  GLISK_REPLICATE_URL={api}\n  GLISK_REPLICATE_API_TOKEN=r8_standin\n")
    typer.echo(f"What it was asked: {api}/__log   What it would have charged: {api}/__charges")
    asyncio.run(running.until_stopped(standin, listeners))


Port: TypeAlias = Annotated[int, typer.Option(min=1, max=LARGEST_PORT, help="Where it listens.")]


@app.command()
def pinata(port: Port = 8910) -> None:
    """Play Pinata's v3 API: files are taken as CARs and checked, and forgotten with it."""
    wanted = {"GLISK_PINATA_URL": "{url}", "GLISK_PINATA_UPLOAD_URL": "{url}", "GLISK_PINATA_JWT": KEY}
    play("Pinata", Pinata(), port, wanted, "What it has: {url}/__pins")


@app.command()
def kubo(port: Port = 8920) -> None:
    """Play the RPC of a Kubo node: files are taken as CARs and checked, and forgotten with it."""
    play("Kubo", Kubo(), port, {"GLISK_KUBO_URL": "{url}"}, "What it has: {url}/__pins")


@app.command()
def openai(port: Port = 8930) -> None:
    """Play OpenAI's API: edits come back as patterns, a chat says what it was told, and none costs anything."""
    wanted = {"GLISK_OPENAI_URL": "{url}", "GLISK_OPENAI_API_KEY": "sk-standin"}
    play("OpenAI", OpenAI(), port, wanted, "What it would have charged: {url}/__charges")


def play(name: str, standin: Standin[Any], port: int, wanted: Mapping[str, str], shows: str) -> None:
    """At one address, until it is told to stop. `wanted`: the settings with which Glisk uses it."""
    listeners = [listening(port)]
    (url,) = running.urls(listeners)
    typer.echo(f"{name}'s stand-in is at {url} (Ctrl-C stops). To use it:\n")
    typer.echo("".join(f"  {setting}={value.format(url=url)}\n" for setting, value in wanted.items()))
    typer.echo(f"What it was asked: {url}/__log   {shows.format(url=url)}")
    asyncio.run(running.until_stopped(standin, listeners))


def listening(port: int) -> socket.socket:
    try:
        return running.listener(port)
    except OSError as error:
        raise typer.BadParameter(f"Nothing can listen on port {port}: {error.strerror}. Say another --port.") from error
