"""Reads chain.sql: each statement by its name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from glisk.engine.statements import filled, titled


@cache
def statement(name: str) -> str:
    return filled(every_statement()[name], every_statement("part"))


@cache
def every_statement(kind: str = "name") -> dict[str, str]:
    return titled(files("glisk.chain").joinpath("chain.sql").read_text(), kind)
