"""Log lines carry no secret."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from glisk import logs
from glisk.settings import Settings


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_a_line_is_json_for_machines_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(Settings(log_format="json"))
    structlog.get_logger().info("connected", url="postgresql://glisk:hunter2@db/x", api_token="hunter2", blocks=3)
    logging.getLogger("library").warning("lost postgresql://glisk:hunter2@db/x")
    ours, theirs = map(json.loads, capsys.readouterr().err.splitlines())
    assert (ours["event"], ours["blocks"], ours["api_token"]) == ("connected", 3, "***")
    assert "hunter2" not in json.dumps([ours, theirs])


@pytest.mark.parametrize(("chosen", "is_json"), [("auto", False), ("text", False), ("json", True)])
def test_beside_prose_a_line_is_a_sentence_unless_json_was_asked_for(
    chosen: Literal["auto", "text", "json"], is_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(Settings(log_format=chosen), auto="text")
    structlog.get_logger().info("migrated")
    assert capsys.readouterr().err.startswith("{") == is_json


def test_a_line_is_a_sentence_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(Settings(log_format="text", log_level="info"))
    structlog.get_logger().info("migrated", revision="001_initial_schema")
    structlog.get_logger().debug("unseen")
    (line,) = capsys.readouterr().err.splitlines()
    assert "migrated" in line
    assert "revision=001_initial_schema" in line
