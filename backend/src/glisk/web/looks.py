"""The environment in which pages are written: every value escaped, and the words of words.py at hand."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from glisk import __version__
from glisk.web import assets, words
from glisk.web.chips import chip

# name, address, whether anybody may see it
NAVIGATION = (
    ("Gallery", "/", True),
    ("Your prompt", "/author", True),
    ("Pipeline", "/pipeline", False),
    ("Failures", "/failures", False),
    ("Jobs", "/j", False),
    ("Chain", "/chain", False),
    ("Spend", "/spend", False),
    ("System", "/system", False),
)


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("glisk.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        enable_async=False,
    )
    made.filters |= words.FILTERS
    made.globals |= {"asset": assets.address, "navigation": NAVIGATION, "chip_of": chip, "version": __version__}
    return made
