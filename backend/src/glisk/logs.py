"""Log lines: sentences with fields for people, JSON for machines, secrets never."""

from __future__ import annotations

import logging
import re
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from glisk.settings import Settings
from glisk.values import without_passwords

SECRET_NAME = re.compile(r"password|secret|token$|api_key|private_key|authorization|database_url", re.IGNORECASE)
REDACTED = "***"


def configure(settings: Settings) -> None:
    """Routes our own lines and those of every library through one formatter to standard error."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        timestamp(settings),
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
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[drop_meta, renderer(settings)])
    )
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), force=True)
    for chatty in ("alembic", "uvicorn", "httpx"):  # they tell what we tell ourselves
        logging.getLogger(chatty).setLevel(logging.WARNING)


def is_for_machines(settings: Settings) -> bool:
    return settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())


def timestamp(settings: Settings) -> Processor:
    if is_for_machines(settings):
        return structlog.processors.TimeStamper(fmt="iso", utc=True)
    return structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False)


def renderer(settings: Settings) -> Processor:
    if is_for_machines(settings):
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
