"""glisk bench: the project's own measurements, where its source is."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import typer

from glisk.settings import project_root


def mount(root: typer.Typer) -> None:
    root.command()(bench)


def bench(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help="Only these: claim, engine, generation, chain … Without: all, for minutes."),
    ] = None,
) -> None:
    """Measure this machine: claims a second, the whole pipeline, growth, beside the peers that are installed.

    It needs a checkout of Glisk, in which `make bench` installs what it measures against; results are in docs/benchmarks.md."""
    backend = project_root() / "backend"
    if not (backend / "benchmarks" / "__main__.py").exists():
        typer.echo("The benchmarks are in Glisk's source: run `make bench` in a checkout of it.", err=True)
        raise typer.Exit(1)
    ended = subprocess.run([sys.executable, "-m", "benchmarks", *(parts or [])], cwd=backend, check=False)
    raise typer.Exit(ended.returncode)
