"""What an operator may set. An empty value means the embedded part; `.env.example` and docs/settings.md are made from this class."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Annotated, Literal

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from glisk.errors import BadSettings, Problem

PREFIX = "GLISK_"


def postgres_url(value: SecretStr) -> SecretStr:
    if value.get_secret_value() and not re.match(r"postgres(ql)?://.", value.get_secret_value()):
        raise ValueError("a URL like postgresql://user:password@host:5432/database is wanted")
    return value


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    database_url: Annotated[SecretStr, AfterValidator(postgres_url)] = Field(
        default=SecretStr(""),
        description="The PostgreSQL server to use, version 14 or newer.",
        json_schema_extra={"part": "PostgreSQL", "embedded": "a PostgreSQL of our own in the data directory"},
    )
    pooler_url: Annotated[SecretStr, AfterValidator(postgres_url)] = Field(
        default=SecretStr(""),
        description="A PgBouncer in transaction mode in front of that server, if there is one: short transactions go through it.",
    )
    data_dir: Path = Field(
        default=Path(".glisk"),
        description="Where the embedded parts keep their data. Relative paths start at the project's root.",
    )
    host: str = Field(default="127.0.0.1", min_length=1, description="The address the HTTP server listens on.")
    port: int = Field(default=8000, ge=1, le=65535, description="The port the HTTP server listens on.")
    keep_jobs_days: int = Field(
        default=30,
        ge=0,
        le=36500,
        description="For how many days a job is kept after it has ended; 0 keeps all. What was paid is always kept.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important kind of log line that is written."
    )
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto", description="`text` for people, `json` for machines; `auto` is text on a terminal, else JSON."
    )

    @property
    def shown_dir(self) -> Path:
        """The data directory as a person in the current directory would write it."""
        here = Path.cwd()
        return self.data_dir.relative_to(here) if self.data_dir.is_relative_to(here) else self.data_dir

    def real_parts(self) -> dict[str, str]:
        """The parts an operator has replaced by a service of their own, each with the variable that did it."""
        return {
            str(extra["part"]): variable(name)
            for name, field in type(self).model_fields.items()
            if isinstance(extra := field.json_schema_extra, dict) and "part" in extra and text(getattr(self, name))
        }


def load(root: Path | None = None) -> Settings:
    """From the environment and from `.env` in the project's root. Every problem is found before any is reported."""
    root = (root or project_root()).absolute()
    try:
        problems = unknown_names(root / ".env")
        settings = Settings(_env_file=root / ".env")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings([Problem(str(root / ".env"), "unreadable", str(error))]) from error
    except ValidationError as error:
        problems += [as_problem(found["loc"][0], found["input"], found["msg"]) for found in error.errors()]
        raise BadSettings(problems) from error
    settings = settings.model_copy(update={"data_dir": root / settings.data_dir.expanduser()})
    if root.resolve().is_relative_to(settings.data_dir.resolve()):
        problems.append(
            as_problem("data_dir", settings.data_dir, "a directory below the project's root is wanted, or elsewhere")
        )
    if problems:
        raise BadSettings(problems)
    return settings


def project_root() -> Path:
    """The checkout we are in, from whatever folder of it; else the current directory."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "backend" / "alembic.ini").exists()), here)


def unknown_names(env_file: Path) -> list[Problem]:
    """A misspelt variable would silently leave its default in force."""
    known = [variable(name) for name in Settings.model_fields]
    given = {**dotenv_values(env_file), **os.environ}
    return [
        Problem(name, "not a setting", f"did you mean {close[0]}?" if close else "see .env.example for those there are")
        for name in sorted(given)
        if name.startswith(PREFIX) and name not in known
        for close in [difflib.get_close_matches(name, known, n=1)]
    ]


def as_problem(name: object, value: object, message: str) -> Problem:
    is_secret = Settings.model_fields[str(name)].annotation is SecretStr
    seen = SecretStr(str(value)) if is_secret else value
    return Problem(variable(str(name)), masked(seen), message.removeprefix("Value error, "))


def variable(name: str) -> str:
    return PREFIX + name.upper()


def text(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def masked(value: object) -> str:
    """Fit for a screen: of a URL only the password is hidden, any other secret is hidden whole."""
    plain = text(value)
    if isinstance(value, SecretStr) and plain and "://" not in plain:
        return "'***'"
    return repr(without_passwords(plain))


def without_passwords(line: str) -> str:
    return re.sub(
        r"(://[^:/@\s]*:)\S*@|(\bpassword=)[^&\s]*", lambda hit: f"{hit[1]}***@" if hit[1] else f"{hit[2]}***", line
    )
