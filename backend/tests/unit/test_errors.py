"""The catalogue of errors."""

from __future__ import annotations

import re

import pytest

from glisk import errors
from glisk.errors import GliskError, catalogue, leaves


@pytest.mark.parametrize("leaf", list(leaves(GliskError)), ids=lambda leaf: leaf.__name__)
def test_every_leaf_has_a_code_a_sentence_and_a_remedy(leaf: type[GliskError]) -> None:
    assert re.fullmatch(r"GLK-\d{3}", leaf.code)
    assert leaf.summary.endswith(".")
    assert leaf.remedy
    assert f"{leaf.__name__} " in str(errors.__doc__), "draw it in the tree at the top of errors/__init__.py"
    assert leaf.code in str(errors.__doc__)


def test_no_code_is_used_twice() -> None:
    assert len(catalogue()) == len(list(leaves(GliskError)))
