"""What a wallet or a marketplace shows of a token: the operator's templates, filled in with what is known of its picture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from glisk.settings import Settings

NAME, DESCRIPTION = (str(Settings.model_fields[name].default) for name in ("token_name", "token_description"))
PLAIN = "Drawn by {model}."
WHOLE = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True, slots=True)
class Known:
    """What can be filled in; an empty text is not known, or not to be told."""

    token_id: int
    author: str
    model: str = ""
    provider: str = ""
    seed: str = ""
    prompt: str = ""
    tags: Sequence[str] = ()
    is_authors: bool = True  # the prompt, and not one of ours

    def words(self, settings: Settings) -> dict[str, str]:
        told = {name: getattr(self, name) for name in ("author", "model", "provider", "seed", "prompt")}
        return {
            **told,
            "collection": settings.collection_name,
            "token_id": str(self.token_id),
            "tag": ", ".join(self.tags),
        }


def described(settings: Settings, known: Known, image_cid: str) -> dict[str, Any]:
    """ERC-721's fields and those that marketplaces have agreed on."""
    words = known.words(settings)
    found = {
        "name": first_filled((settings.token_name, NAME), words),
        "description": first_filled(descriptions(settings, known), words),
        "image": f"ipfs://{image_cid}",
        "external_url": settings.external_url.replace("{token_id}", words["token_id"]),
        "attributes": list(attributes(settings.token_attributes, words, known.tags)),
        "prompt": known.prompt,
    }
    return {name: value for name, value in found.items() if value or name == "attributes"}


def descriptions(settings: Settings, known: Known) -> Iterator[str]:
    """Ours says whose prompt it was, which is not true of a picture that was drawn from another."""
    own = settings.token_description
    yield from [own] if own != DESCRIPTION else []
    yield DESCRIPTION if known.is_authors else PLAIN


def attributes(
    traits: Sequence[Mapping[str, Any]], words: Mapping[str, str], tags: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for trait in traits:
        is_repeated = any("tag" in fields(text) for text in trait.values() if isinstance(text, str))
        for tag in tags if is_repeated else [""]:
            found = {name: filled_value(value, {**words, "tag": tag}) for name, value in trait.items()}
            if not any(value is None or value == "" for value in found.values()):
                yield in_numbers(found)


def in_numbers(trait: dict[str, Any]) -> dict[str, Any]:
    """What is shown as a number must be one."""
    if isinstance(trait["value"], str) and "display_type" in trait and WHOLE.fullmatch(trait["value"]):
        return trait | {"value": int(trait["value"])}
    return trait


def first_filled(templates: Iterator[str] | Sequence[str], words: Mapping[str, str]) -> str:
    """The first without a hole, else nothing."""
    return next((text for template in templates if (text := filled(template, words))), "")


def filled_value(value: Any, words: Mapping[str, str]) -> Any:
    return filled(value, words) if isinstance(value, str) else value


def filled(template: str, words: Mapping[str, str]) -> str | None:
    """None: something that it wants is not known. What is filled in is text, whatever braces it has."""
    parts = [(literal, name) for literal, name, _, _ in Formatter().parse(template)]
    if not all(words[name] for _, name in parts if name is not None):
        return None
    return "".join(literal + ("" if name is None else words[name]) for literal, name in parts)


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}
