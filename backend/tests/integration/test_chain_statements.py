"""The statements about chains: each is one that PostgreSQL takes, with as many parameters as its title names."""

from __future__ import annotations

import re
from typing import Any

import pytest

from glisk.chain.statements import every_statement, statement, text

TITLES = dict(re.findall(r"^-- name: (\w+) \((.*)\)$", text(), re.M))


@pytest.mark.parametrize("name", sorted(every_statement()))
async def test_the_database_takes_it(connection: Any, name: str) -> None:
    prepared = await connection.prepare(statement(name))
    assert len(prepared.get_parameters()) == len(TITLES[name].split(", "))
