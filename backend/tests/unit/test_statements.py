"""The loader of work.sql."""

from __future__ import annotations

import re

import pytest

from glisk.engine.statements import every_statement, statement
from glisk.engine.workflow import WorkTable
from glisk.workflows import JOBS, TOKENS


def test_every_statement_is_found_by_its_name() -> None:
    assert {"pick", "claim", "claim_in_lane", "settle", "reap", "control"} <= set(every_statement())


@pytest.mark.parametrize("table", [TOKENS, JOBS], ids=lambda table: table.name)
@pytest.mark.parametrize("name", sorted(every_statement()))
def test_no_blank_is_left_unfilled(name: str, table: WorkTable) -> None:
    assert not re.search(r"\{\w+\}", statement(name, table))


def test_a_statement_that_names_no_table_needs_none() -> None:
    assert "lanes" in statement("hold_lane")
    with pytest.raises(KeyError):
        statement("claim")


def test_facts_are_written_into_just_the_columns_named() -> None:
    sql = statement("settle", JOBS, ("payload", "result"))
    assert "payload = t.payload || COALESCE(v.payload, '{}'), result = v.result" in sql
    assert "$10::jsonb[], $11::jsonb[]" in sql


@pytest.mark.parametrize("name", ["tokens; DROP TABLE x", "Tokens", '"t"', "", "t t"])
def test_only_plain_names_become_sql(name: str) -> None:
    with pytest.raises(ValueError, match="Not a plain SQL name"):
        WorkTable(name, "error", {})
