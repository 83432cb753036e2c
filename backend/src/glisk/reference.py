"""The pages made from the code: .env.example, the settings table and the error catalogue. A test fails when they are stale."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from pydantic.fields import FieldInfo

from glisk.errors import catalogue
from glisk.settings import Settings, text, variable

HEADER = "<!-- Made by `make docs` from the code; edit there. -->\n"


def documents() -> dict[Path, str]:
    """Each page by its path from the project's root."""
    return {
        Path(".env.example"): env_example(),
        Path("docs/settings.md"): settings_page(),
        Path("docs/errors.md"): errors_page(),
    }


def write(root: Path) -> None:
    for path, page in documents().items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(page)


def env_example() -> str:
    head = "# Copy to .env and change what you need. An empty value means the embedded part.\n# Made by `make docs` from glisk/settings.py.\n"
    return head + "".join(
        f"\n{textwrap.fill(described(field), 110, initial_indent='# ', subsequent_indent='# ')}\n# {variable(name)}={default(field)}\n"
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


def page(title: str, lead: str, head: str, rows: Iterator[str]) -> str:
    rule = "|" + "---|" * (head.count("|") - 1)
    return "\n".join([HEADER, f"# {title}", "", lead, "", head, rule, *rows, ""])


def described(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    embedded = f" Empty: {extra['embedded']}." if isinstance(extra, dict) and "embedded" in extra else ""
    return f"{field.description}{embedded}"


def default(field: FieldInfo) -> str:
    return text(field.default)
