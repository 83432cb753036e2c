"""Who does language tasks? As the settings say; with none, the embedded writer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from glisk.providers import chosen
from glisk.providers.answerer import Answerer
from glisk.providers.prices import price_of
from glisk.settings import Settings
from glisk.values import text

OPENAI, REPLICATE, WRITER = "openai", "replicate", "writer"
OFFICIAL = "https://api.openai.com"
MODELS = {OPENAI: "gpt-4.1-mini", REPLICATE: "meta/meta-llama-3-8b-instruct"}
USUAL = (1500, 500)  # tokens read and written


@dataclass(frozen=True, slots=True)
class Task:
    """`kind` and `data` say what is wanted, for a writer without a model; `system` and `prompt` say it to one with."""

    kind: str
    system: str
    prompt: str
    data: Mapping[str, Any] = field(default_factory=dict)
    most_tokens: int = 500

    def inputs(self) -> dict[str, Any]:
        return {"prompt": self.prompt, "system_prompt": self.system, "max_tokens": self.most_tokens}

    def words(self) -> str:
        return f"{self.system}\n\n{self.prompt}"


def thinker_name(settings: Settings) -> str:
    if settings.llm_provider:
        return settings.llm_provider
    return OPENAI if settings.llm_url or text(settings.llm_api_key) else WRITER


def model(settings: Settings) -> str:
    return settings.llm_model or MODELS.get(thinker_name(settings), "")


def thinker(settings: Settings, **further: Any) -> Answerer[Task]:
    """Each is loaded only when it is the one."""
    match thinker_name(settings):
        case "openai":
            return chat(settings, **further)
        case "replicate":
            from glisk.providers.replicate.answers import ReplicateAnswers

            return ReplicateAnswers[Task](chosen.replicate_terms(settings, model(settings), "llm_provider", **further))
        case _:
            from glisk.providers.writer import Writer

            return Writer()


def chat(settings: Settings, **further: Any) -> Answerer[Task]:
    from glisk.providers.openai.chat import Chat
    from glisk.providers.openai.reaching import Terms

    price = price_of(model(settings), chosen.own_prices(settings))
    place = settings.llm_url or OFFICIAL
    terms: dict[str, Any] = {"url": place, "key": text(settings.llm_api_key), "model": model(settings), "price": price}
    return Chat(Terms(**(terms | further)))


def estimate(settings: Settings) -> Decimal | None:
    """What one task will probably cost. A budget cannot do without it."""
    name = thinker_name(settings)
    if name == WRITER:
        return Decimal(0)
    price = price_of(model(settings), chosen.own_prices(settings))
    cost = price.of(1, 5) + price.of_tokens(*USUAL) if price else None
    return chosen.required(cost, model(settings), settings, '{"input": 0.15, "output": 0.6}')
