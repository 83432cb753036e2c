"""glisk workflows: what follows what, as a table or as a diagram."""

from __future__ import annotations

from typing import Annotated

import typer

from glisk import reference
from glisk.cli import output
from glisk.workflows import WORKFLOWS

app = typer.Typer(help="Show the workflows: what follows what.", no_args_is_help=True)


def mount(root: typer.Typer) -> None:
    root.add_typer(app, name="workflows")


@app.command()
def ls(as_json: output.Json = False) -> None:
    """Every workflow with its steps."""
    records = [
        {"workflow": flow.name, "table": flow.table.name, "steps": " > ".join([*flow.steps, *sorted(flow.goods())])}
        for flow in WORKFLOWS.values()
    ]
    output.rows(records, as_json=as_json, empty="None.")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The workflow's name.")],
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a diagram for a Markdown page.")] = False,
    as_json: output.Json = False,
) -> None:
    """One workflow, step by step."""
    if name not in WORKFLOWS:
        raise typer.BadParameter(f"There is no workflow {name!r}. There are: {', '.join(WORKFLOWS)}.")
    if mermaid:
        typer.echo(reference.diagram(WORKFLOWS[name]))
    else:
        output.rows(reference.steps(WORKFLOWS[name]), as_json=as_json, empty="It has no steps.")
