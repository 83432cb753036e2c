"""Who edits? As the settings say; with none, the embedded darkroom."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from glisk.errors import BadSettings, Problem
from glisk.providers import darkroom
from glisk.providers.editor import Editor
from glisk.providers.openai import prices
from glisk.providers.prices import Price
from glisk.settings import Settings
from glisk.values import text

OPENAI, DARKROOM = "openai", darkroom.NAME
FREE = frozenset({DARKROOM})  # what they do may be done again


def editor_name(settings: Settings) -> str:
    return OPENAI if text(settings.openai_api_key) else DARKROOM


def editor(settings: Settings) -> Editor:
    return openai(settings) if editor_name(settings) == OPENAI else darkroom.Darkroom()


def openai(settings: Settings, **further: Any) -> Editor:
    from glisk.providers.openai.editor import OpenAIEditor
    from glisk.providers.openai.reaching import Terms

    terms: dict[str, Any] = {
        "url": settings.openai_url,
        "key": text(settings.openai_api_key),
        "model": settings.openai_image_model,
        "price": own_price(settings),
    }
    return OpenAIEditor(Terms(**(terms | further)))


def own_price(settings: Settings) -> Price | None:
    amounts = settings.prices.get(settings.openai_image_model)
    return Price(**amounts) if amounts else None


def estimate(settings: Settings) -> Decimal | None:
    """What one edit will probably cost. A budget cannot do without it."""
    if editor_name(settings) == DARKROOM:
        return darkroom.FREE
    found = prices.estimate(settings.openai_image_model, own_price(settings))
    if found is None and settings.daily_budget is not None:
        wanted = f'what {settings.openai_image_model} costs is wanted by GLISK_DAILY_BUDGET, like {{"image": 0.2}}'
        raise BadSettings([Problem("GLISK_PRICES", "without it", wanted)])
    return found
