"""glisk standin: the paid services, played on this machine."""

from __future__ import annotations

import asyncio
import socket
from typing import Annotated

import typer

from glisk.dev.standins import running
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


@app.command()
def pinata(port: Annotated[int, typer.Option(min=1, max=LARGEST_PORT, help="Where it listens.")] = 8910) -> None:
    """Play Pinata's v3 API: files are taken as CARs and checked, and forgotten with it."""
    listeners = [listening(port)]
    (url,) = running.urls(listeners)
    typer.echo(f"Pinata's stand-in is at {url} (Ctrl-C stops). To use it:\n")
    typer.echo(f"  GLISK_PINATA_URL={url}\n  GLISK_PINATA_UPLOAD_URL={url}\n  GLISK_PINATA_JWT={KEY}\n")
    typer.echo(f"What it was asked: {url}/__log   What it has: {url}/__pins")
    asyncio.run(running.until_stopped(Pinata(), listeners))


@app.command()
def kubo(port: Annotated[int, typer.Option(min=1, max=LARGEST_PORT, help="Where it listens.")] = 8920) -> None:
    """Play the RPC of a Kubo node: files are taken as CARs and checked, and forgotten with it."""
    listeners = [listening(port)]
    (url,) = running.urls(listeners)
    typer.echo(f"Kubo's stand-in is at {url} (Ctrl-C stops). To use it:\n\n  GLISK_KUBO_URL={url}\n")
    typer.echo(f"What it was asked: {url}/__log   What it has: {url}/__pins")
    asyncio.run(running.until_stopped(Kubo(), listeners))


@app.command()
def openai(port: Annotated[int, typer.Option(min=1, max=LARGEST_PORT, help="Where it listens.")] = 8930) -> None:
    """Play OpenAI's API: edits come back as patterns, a chat says what it was told, and none costs anything."""
    listeners = [listening(port)]
    (url,) = running.urls(listeners)
    typer.echo(f"OpenAI's stand-in is at {url} (Ctrl-C stops). To use it:\n")
    typer.echo(f"  GLISK_OPENAI_URL={url}\n  GLISK_OPENAI_API_KEY=sk-standin\n")
    typer.echo(f"What it was asked: {url}/__log   What it would have charged: {url}/__charges")
    asyncio.run(running.until_stopped(OpenAI(), listeners))


def listening(port: int) -> socket.socket:
    try:
        return running.listener(port)
    except OSError as error:
        raise typer.BadParameter(f"Nothing can listen on port {port}: {error.strerror}. Say another --port.") from error
