"""Reads what an operator has set. Every problem is found before any is reported."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from dotenv import dotenv_values
from pydantic import SecretStr, ValidationError

from glisk.errors import BadSettings, Problem
from glisk.settings.fields import Settings, variable
from glisk.settings.serving import PREFIX
from glisk.values import masked, text

__all__ = ["PREFIX", "Settings", "load", "project_root", "variable", "wanted"]

ELSEWHERE = {"replicate_api_token": "REPLICATE_API_TOKEN", "openai_api_key": "OPENAI_API_KEY"}


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
    problems += half_filled(settings) + half_followed(settings) + half_signed(settings)
    settings = settings.model_copy(
        update={"data_dir": root / settings.data_dir.expanduser(), **known_elsewhere(settings, root / ".env")}
    )
    if root.resolve().is_relative_to(settings.data_dir.resolve()):
        problems.append(
            as_problem("data_dir", settings.data_dir, "a directory below the project's root is wanted, or elsewhere")
        )
    if problems:
        raise BadSettings(problems)
    return settings


def known_elsewhere(settings: Settings, env_file: Path) -> dict[str, SecretStr]:
    """Secrets that the provider's own tools read from the environment, where we have none of our own."""
    given = {**dotenv_values(env_file), **os.environ}
    return {
        name: SecretStr(value)
        for name, elsewhere in ELSEWHERE.items()
        if not text(getattr(settings, name)) and (value := given.get(elsewhere))
    }


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


def half_filled(settings: Settings) -> list[Problem]:
    """S3 with a part missing would silently leave images in the data directory, or fail at the first one."""
    fields = [name for name in Settings.model_fields if name.startswith("s3_")]
    given = [name for name in fields if getattr(settings, name) != Settings.model_fields[name].default]
    because = f", since {variable(given[0])} is set" if given else ""
    wanted = dict.fromkeys(("s3_bucket", "s3_access_key_id", "s3_secret_access_key"), "a value is wanted")
    if not settings.s3_endpoint and settings.s3_region == Settings.model_fields["s3_region"].default:
        wanted["s3_region"] = "AWS wants the bucket's region (or set GLISK_S3_ENDPOINT, for another S3)"
    lacking = [name for name in wanted if given and name not in given]
    return [as_problem(name, text(getattr(settings, name)), f"{wanted[name]}{because}") for name in lacking]


def half_followed(settings: Settings) -> list[Problem]:
    """A collection without nodes would silently be another: that of the embedded chain."""
    given, lacking = ("rpc_urls", "contracts") if settings.contracts == "" else ("contracts", "rpc_urls")
    if not text(getattr(settings, given)) or text(getattr(settings, lacking)):
        return []
    return [as_problem(lacking, "", f"a value is wanted, since {variable(given)} is set")]


def half_signed(settings: Settings) -> list[Problem]:
    """Whoever is told could not know that it was us."""
    told = {"webhook_url": "webhook_secret"} | ({} if settings.is_discord else {"alert_url": "alert_secret"})
    return [
        as_problem(
            secret, "", f"a value is wanted, since {variable(url)} is set: whsec_ and 24 bytes or more in base64"
        )
        for url, secret in told.items()
        if text(getattr(settings, url)) and not text(getattr(settings, secret))
    ]


def wanted(settings: Settings, name: str, what: str, *, by: str) -> str:
    """What another setting cannot do without."""
    if found := text(getattr(settings, name)):
        return found
    raise BadSettings([Problem(variable(name), "empty", f"{what} is wanted by {variable(by)}")])


def as_problem(name: object, value: object, message: str) -> Problem:
    kind = Settings.model_fields[str(name)].annotation
    seen = kind(str(value)) if isinstance(kind, type) and issubclass(kind, SecretStr) else value
    return Problem(variable(str(name)), masked(seen), message.removeprefix("Value error, "))
