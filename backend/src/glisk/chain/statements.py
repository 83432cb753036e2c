"""Reads the statements about chains: each by its name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from glisk.engine.statements import filled, titled

FILES = ("chain.sql", "sending/sending.sql")


@cache
def statement(name: str) -> str:
    return filled(every_statement()[name], every_statement("part"))


@cache
def every_statement(kind: str = "name") -> dict[str, str]:
    return titled(text(), kind)


def text() -> str:
    return "\n".join(files("glisk.chain").joinpath(name).read_text() for name in FILES)
