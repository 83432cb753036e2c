"""The pages made from the code: .env.example, the settings table and the error catalogue. A test fails when they are stale."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from pydantic.fields import FieldInfo

from glisk.engine.workflow import FAILED, Workflow
from glisk.errors import catalogue
from glisk.settings import Settings, variable
from glisk.values import text
from glisk.workflows import WORKFLOWS

HEADER = "<!-- Made by `make docs` from the code; edit there. -->\n"


def documents() -> dict[Path, str]:
    """Each page by its path from the project's root."""
    return {
        Path(".env.example"): env_example(),
        Path("docs/settings.md"): settings_page(),
        Path("docs/errors.md"): errors_page(),
        Path("docs/workflows.md"): workflows_page(),
    }


def write(root: Path) -> None:
    for path, page in documents().items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(page)


def env_example() -> str:
    head = "# Copy to .env and change what you need. An empty value means the embedded part.\n# Made by `make docs` from glisk/settings.\n"
    return head + "".join(
        f"\n{textwrap.fill(described(field), 110, initial_indent='# ', subsequent_indent='# ')}\n# {variable(name)}={quoted(default(field))}\n"
        for name, field in Settings.model_fields.items()
    )


def settings_page() -> str:
    rows = (
        f"| `{variable(name)}` | {f'`{value}`' if (value := default(field)) else 'empty'} | {described(field)} |"
        for name, field in Settings.model_fields.items()
    )
    return page("Settings", "Set in the environment or in `.env`.", "| variable | default | meaning |", rows)


def errors_page() -> str:
    rows = (f"| {code} | {leaf.summary} | {leaf.remedy} |" for code, leaf in catalogue().items())
    return page("Errors", "Also told by `glisk explain CODE`.", "| code | what it means | what to do |", rows)


def workflows_page() -> str:
    """A section a workflow: its steps and its diagram."""
    parts = [HEADER, "# Workflows", "", "What follows what; also told by `glisk workflows show NAME`.", ""]
    for flow in WORKFLOWS.values():
        rows = steps(flow)
        head = "| " + " | ".join(rows[0]) + " |"
        lines = (
            "| " + " | ".join("" if value is None else str(value) for value in row.values()) + " |" for row in rows
        )
        parts += [
            f"## {flow.name}",
            "",
            head,
            "|" + "---|" * len(rows[0]),
            *lines,
            "",
            "```mermaid",
            diagram(flow),
            "```",
            "",
        ]
    return "\n".join(parts)


def steps(flow: Workflow) -> list[dict[str, str | int | None]]:
    return [
        {
            "waiting": waiting,
            "process": step.process,
            "active": flow.active(waiting),
            "success": step.success,
            "failure": flow.failure(waiting),
            "counted": "yes" if step.count_failure else "no",
            "attempts": step.max_attempts,
        }
        for waiting, step in flow.steps.items()
    ]


def diagram(flow: Workflow) -> str:
    """Names with a dash are not allowed in a diagram, so each status has an alias."""
    alias = {status: status.replace("-", "_") for status in sorted(flow.statuses())}
    lines = [f"  {alias[status]}: {status}" for status in alias if alias[status] != status]
    lines.append(f"  [*] --> {alias[next(iter(flow.steps))]}")
    for waiting, step in flow.steps.items():
        active = alias[flow.active(waiting)]
        lines += [f"  {alias[waiting]} --> {active}: claim", f"  {active} --> {alias[step.success]}: success"]
        lines.append(f"  {active} --> {alias[flow.failure(waiting)]}: failure")
        if step.max_attempts:
            lines.append(f"  {active} --> {FAILED}: failure {step.max_attempts}")
    return "\n".join(["stateDiagram-v2", *lines, *(f"  {alias[good]} --> [*]" for good in sorted(flow.goods()))])


def page(title: str, lead: str, head: str, rows: Iterator[str]) -> str:
    rule = "|" + "---|" * (head.count("|") - 1)
    return "\n".join([HEADER, f"# {title}", "", lead, "", head, rule, *rows, ""])


def described(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    embedded = f" Empty: {extra['embedded']}." if isinstance(extra, dict) and "embedded" in extra else ""
    return f"{field.description}{embedded}"


def default(field: FieldInfo) -> str:
    """As an operator would write it; nothing where there is none."""
    value = field.get_default(call_default_factory=True, validated_data={})
    return "" if value in (None, {}) else json.dumps(value) if isinstance(value, list) else text(value)


def quoted(value: str) -> str:
    """For .env, where a # behind a space begins a comment, and quotes may be taken away."""
    return f"'{value}'" if re.search(r"[#\"]", value) else value
