"""Log lines: sentences with fields for people, JSON for machines, secrets never."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from glisk.settings import Settings
from glisk.values import without_passwords

SECRET_NAME = re.compile(r"password|secret|token$|api_key|private_key|authorization|database_url", re.IGNORECASE)
REDACTED = "***"


def configure(settings: Settings, auto: str | None = None) -> None:
    """Routes our own lines and those of every library through one formatter to standard error. `auto`: the format, if nobody
    has chosen one; else that is text on a terminal."""
    is_json = is_for_machines(settings.log_format, auto)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        timestamp(is_json=is_json),
        structlog.processors.format_exc_info,
        redact,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[drop_meta, renderer(is_json=is_json)])
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    for chatty in ("alembic", "uvicorn", "httpx"):  # they tell what we tell ourselves
        logging.getLogger(chatty).setLevel(logging.WARNING)


@contextmanager
def written_to(stream: TextIO) -> Iterator[None]:
    """For a while lines go elsewhere, as above a panel that stays on the terminal."""
    ours = [handler for handler in logging.getLogger().handlers if isinstance(handler, logging.StreamHandler)]
    before = [handler.setStream(stream) for handler in ours]
    try:
        yield
    finally:
        for handler, old in zip(ours, before, strict=True):
            handler.setStream(old)


def quieter(settings: Settings) -> None:
    """Where a panel tells how it goes, only what is wrong is told besides; unless somebody has asked for more."""
    if "log_level" not in settings.model_fields_set:
        logging.getLogger().setLevel(logging.WARNING)


def is_for_machines(chosen: str, auto: str | None) -> bool:
    usual = auto or ("text" if sys.stderr.isatty() else "json")
    return (usual if chosen == "auto" else chosen) == "json"


def timestamp(*, is_json: bool) -> Processor:
    if is_json:
        return structlog.processors.TimeStamper(fmt="iso", utc=True)
    return structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)


def renderer(*, is_json: bool) -> Processor:
    if is_json:
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_level=False)


def redact(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    for name, value in event.items():
        if SECRET_NAME.search(name):
            event[name] = REDACTED
        elif isinstance(value, str):
            event[name] = without_passwords(value)
    return event


def drop_meta(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    return structlog.stdlib.ProcessorFormatter.remove_processors_meta(logger, name, event)
