"""glisk explain: what an error code means and what to do."""

from __future__ import annotations

from typing import Annotated

import typer

from glisk.cli import output
from glisk.errors import catalogue


def mount(app: typer.Typer) -> None:
    app.command()(explain)


def explain(
    code: Annotated[str, typer.Argument(help="A code such as GLK-101; without one, all are listed.")] = "",
    as_json: output.Json = False,
) -> None:
    """What an error code means and what to do about it."""
    known = catalogue()
    wanted = code.upper().removeprefix("GLK-")
    chosen = [leaf for name, leaf in known.items() if wanted in ("", name.removeprefix("GLK-"))]
    if not chosen:
        raise typer.BadParameter(f"There is no error {code!r}. The codes: {', '.join(known)}.")
    records = [{"code": leaf.code, "meaning": leaf.summary, "remedy": leaf.remedy} for leaf in chosen]
    if code and not as_json:
        typer.echo(f"{records[0]['code']}  {records[0]['meaning']}\n         Fix    {records[0]['remedy']}")
    else:
        output.rows(records, as_json=as_json, empty="None.")
