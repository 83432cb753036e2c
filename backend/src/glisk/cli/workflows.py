"""glisk workflows: what follows what, as a table or as a diagram; and pausing all of one."""

from __future__ import annotations

from typing import Annotated

import typer

from glisk import reference, service, settings
from glisk.cli import output, person
from glisk.engine import control
from glisk.engine.workflow import Workflow
from glisk.workflows import WORKFLOWS

app = typer.Typer(help="Show the workflows (what follows what), pause and resume them.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The workflow's name.")]


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
    name: Name,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print a diagram for a Markdown page.")] = False,
    as_json: output.Json = False,
) -> None:
    """One workflow, step by step."""
    flow = required(name)
    if mermaid:
        typer.echo(reference.diagram(flow))
    else:
        output.rows(reference.steps(flow), as_json=as_json, empty="It has no steps.")


@app.command()
def pause(name: Name) -> None:
    """Start nothing more of a workflow, in any worker. What is at work goes on."""
    workflow, actor = required(name).name, person.name()
    paused = service.over_a_link(settings.load(), lambda link: control.pause_workflow(link, workflow, actor))
    typer.echo(f"{name} {'is paused' if paused else 'was paused already'}: glisk workflows resume {name}")


@app.command()
def resume(name: Name) -> None:
    """Go on with a workflow that was paused."""
    workflow, actor = required(name).name, person.name()
    resumed = service.over_a_link(settings.load(), lambda link: control.resume_workflow(link, workflow, actor))
    typer.echo(f"{name} {'goes on' if resumed else 'was not paused'}.")


@app.command()
def paused(as_json: output.Json = False) -> None:
    """The workflows that are paused, since when and by whom."""
    found = service.over_a_link(settings.load(), control.paused_workflows)
    output.rows(found, as_json=as_json, empty="None is paused.")


def required(name: str) -> Workflow:
    if name not in WORKFLOWS:
        raise typer.BadParameter(f"There is no workflow {name!r}. There are: {', '.join(WORKFLOWS)}.")
    return WORKFLOWS[name]
