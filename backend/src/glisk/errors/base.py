"""The root of all errors: each leaf has a code, a sentence and a remedy."""

from __future__ import annotations

from typing import ClassVar


class GliskError(Exception):
    """The root. A leaf has a `code`, a `summary` of what it means and the `remedy`; its instances add what was seen."""

    code: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    exit_code: ClassVar[int] = 1

    def __init__(self, seen: str = "", *, fix: str = "") -> None:
        super().__init__(f"{self.summary}{seen if seen.startswith(chr(10)) else ' ' + seen}".strip())
        self.fix = fix or self.remedy
