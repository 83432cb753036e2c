"""The writer who is always there: no model, no network, no bill. The same task gets the same words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from glisk.providers.answerer import Answer
from glisk.providers.port import Receipt
from glisk.providers.thinker import Task

FREE = Decimal(0)
NO_MODEL = "This was written without a language model, which would know more: GLISK_LLM_URL names one."
LONGEST_TITLE, LONGEST_QUOTE = 60, 240
SMALL = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "at",
        "but",
        "by",
        "for",
        "from",
        "in",
        "into",
        "of",
        "on",
        "or",
        "over",
        "the",
        "to",
        "under",
        "with",
        "without",
    ]
)
ARTICLES = frozenset(["a", "an", "the"])
CLOSINGS = (
    "It is a picture to come back to.",
    "The longer one looks, the more there is to see.",
    "Nothing in it asks for haste.",
    "It leaves room for a story of one's own.",
    "What is left out says as much as what is shown.",
)
LIGHTS = (
    "soft morning light",
    "low golden light",
    "clear daylight",
    "light from a single window",
    "the last light of dusk",
)
VIEWS = ("seen from a low angle", "seen from afar", "close up, with a calm background", "in a wide, quiet composition")
TONES = (
    "muted colours with one bright accent",
    "warm, earthen colours",
    "cool, clear colours",
    "a narrow palette of related tones",
)
TOLD = ("summary", "text", "description", "prompt", "title")  # of a result, the first that is there

Writes: TypeAlias = Callable[[Mapping[str, Any]], Any]


class Writer:
    name, model = "writer", "writer-1"
    is_free, has_receipts = True, False

    def words(self, question: Task) -> str:
        return question.words()

    async def answer(self, question: Task, receipt: Receipt) -> Answer:
        return Answer(WRITES[question.kind](question.data), FREE)

    async def forget(self, receipt: Receipt) -> Decimal | None:
        return FREE

    async def close(self) -> None:
        """There is nothing to let go of."""


def title_and_description(data: Mapping[str, Any]) -> str:
    first, *others = clauses(str(data["prompt"]))
    said = sentence(first if not others else f"{first}, with {listed(others)}")
    written = {"title": titled(first), "description": f"{said} {picked(CLOSINGS, str(data['prompt']))}"}
    return msgspec.json.encode(written).decode()


def expand_prompt(data: Mapping[str, Any]) -> str:
    prompt, style = str(data["prompt"]).strip().rstrip("."), data.get("style")
    further = [picked(each, f"{prompt}{n}") for n, each in enumerate((VIEWS, LIGHTS, TONES))]
    said = [words for words in further if not shares_a_word(words, prompt)]
    return ", ".join([prompt, *said, *([str(style)] if style else []), "rich in fine detail"])


def summarize_parents(data: Mapping[str, Any]) -> str:
    results: Sequence[Mapping[str, Any]] = data["results"]
    if not results:
        return "There was nothing to sum up."
    count = "One job has ended" if len(results) == 1 else f"{len(results)} jobs have ended"
    said = " ".join(f"{labelled(each)}: {sentence(gist(each['result']))}" for each in results)
    return f"{count}. {said}"


def complete(data: Mapping[str, Any]) -> str:
    """Without a model there is no knowledge: the writer says so."""
    first, *others = clauses(str(data["prompt"]))
    about = sentence(first if not others else f"{first}, and {listed(others)}")
    return f"{about} {NO_MODEL}"


WRITES: Mapping[str, Writes] = {
    "title_and_description": title_and_description,
    "expand_prompt": expand_prompt,
    "summarize_parents": summarize_parents,
    "complete": complete,
}


def clauses(text: str) -> list[str]:
    parts = [re.sub(r"\s+", " ", part).strip(" .") for part in re.split(r"[,;:\n]|\.\s", text)]
    return [part for part in parts if part] or ["something without a name"]


def titled(clause: str) -> str:
    """As a plate in a gallery has it: no article in front, small words small, not too long."""
    words = clause.split()
    words = words[1:] if len(words) > 1 and words[0].casefold() in ARTICLES else words
    while len(" ".join(words)) > LONGEST_TITLE and len(words) > 1:
        words.pop()
    while len(words) > 1 and words[-1].casefold() in SMALL:
        words.pop()
    written = [word if n and word.casefold() in SMALL else word[:1].upper() + word[1:] for n, word in enumerate(words)]
    return " ".join(written)[:LONGEST_TITLE]


def sentence(text: str) -> str:
    plain = text.strip().rstrip(".") or "nothing"
    return f"{plain[:1].upper()}{plain[1:]}{'' if plain[-1] in '!?…' else '.'}"


def listed(parts: Sequence[str]) -> str:
    *firsts, last = parts
    return f"{', '.join(firsts)} and {last}" if firsts else last


def gist(result: Any) -> str:
    """Of what a job has left: its words, shortened."""
    found = result if isinstance(result, dict) else {}
    said = next((str(found[name]) for name in TOLD if found.get(name)), "")
    said = said or (f"a picture of {found['prompt_used']}" if found.get("prompt_used") else "it left no words")
    return said if len(said) <= LONGEST_QUOTE else f"{said[:LONGEST_QUOTE].rsplit(' ', 1)[0]}…"


def labelled(each: Mapping[str, Any]) -> str:
    return str(each.get("name") or each.get("workflow") or "A job").replace("_", " ").capitalize()


def picked(of: Sequence[str], by: str) -> str:
    return of[int.from_bytes(hashlib.sha256(by.encode()).digest()[:4]) % len(of)]


def shares_a_word(words: str, prompt: str) -> bool:
    return bool(set(re.findall(r"\w{4,}", words.casefold())) & set(re.findall(r"\w{4,}", prompt.casefold())))
