"""Which language tasks are there (seed 001)? Each has a name, what it wants to know, how it is asked, and how its answer is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, Struct

from glisk.providers.thinker import Task
from glisk.repositories.relatives import Relative

LONGEST = 20_000  # characters of anything that is asked
Words = Annotated[str, Meta(min_length=1, max_length=LONGEST)]
Short = Annotated[str, Meta(min_length=1, max_length=500)]
FENCE = re.compile(r"^\s*```\w*\n?|```\s*$")


class Kind(Struct, frozen=True):
    """Its fields are the job's `data`. `options`: of every job of this kind, unless it has its own."""

    options: ClassVar[Mapping[str, Any]] = {"attempts": 3}

    def task(self, parents: Sequence[Relative]) -> Task:
        raise NotImplementedError

    def read(self, output: Any) -> dict[str, Any]:
        """Raises ValueError for an answer that says nothing."""
        return {"text": words_in(output)}


class TitleAndDescription(Kind, frozen=True):
    prompt: Words
    language: Short = "English"

    def task(self, parents: Sequence[Relative]) -> Task:
        system = (
            f"You write for an art gallery, in {self.language}. Answer with one JSON object and nothing else: "
            '{"title": at most 60 characters, "description": two or three sentences}.'
        )
        return Task("title_and_description", system, f"The picture shows: {self.prompt}", as_data(self), 300)

    def read(self, output: Any) -> dict[str, Any]:
        found = object_in(words_in(output))
        title, description = found.get("title"), found.get("description")
        if (
            not isinstance(title, str)
            or not isinstance(description, str)
            or not title.strip()
            or not description.strip()
        ):
            raise ValueError("a title and a description are wanted")
        return {"title": title.strip()[:200], "description": description.strip()}


class ExpandPrompt(Kind, frozen=True):
    prompt: Words
    style: Short | None = None

    def task(self, parents: Sequence[Relative]) -> Task:
        system = (
            "You improve prompts for models that draw. Keep the subject; add composition, light and colour. "
            "Answer with the prompt alone, in one paragraph of at most 120 words."
        )
        asked = f"{self.prompt}\nStyle: {self.style}" if self.style else self.prompt
        return Task("expand_prompt", system, asked, as_data(self), 300)

    def read(self, output: Any) -> dict[str, Any]:
        return {"prompt": re.sub(r"\s+", " ", words_in(output))[:1000]}


class SummarizeParents(Kind, frozen=True):
    """Of the jobs that it waited for."""

    focus: Short | None = None

    def task(self, parents: Sequence[Relative]) -> Task:
        results = [
            {"name": each.name or each.workflow, "status": each.status, "result": each.result} for each in parents
        ]
        system = "You sum up what other jobs have found, in at most five sentences. " + (
            f"What matters most: {self.focus}" if self.focus else "Say what matters, and nothing that is not there."
        )
        asked = msgspec.json.encode(results).decode()[:LONGEST]
        return Task("summarize_parents", system, asked, {"results": results, "focus": self.focus}, 400)

    def read(self, output: Any) -> dict[str, Any]:
        return {"summary": words_in(output)}


class Complete(Kind, frozen=True):
    prompt: Words
    system: Annotated[str, Meta(max_length=LONGEST)] = "Answer shortly and plainly."
    max_tokens: Annotated[int, Meta(ge=1, le=4000)] = 500

    def task(self, parents: Sequence[Relative]) -> Task:
        return Task("complete", self.system, self.prompt, as_data(self), self.max_tokens)


KINDS: Mapping[str, type[Kind]] = {
    "title_and_description": TitleAndDescription,
    "expand_prompt": ExpandPrompt,
    "summarize_parents": SummarizeParents,
    "complete": Complete,
}


class NoSuchTask(ValueError):
    """In words for whoever asked."""


def kind_of(name: str | None, data: Any) -> Kind:
    """From a job's name and its data as JSON. Raises NoSuchTask for what nobody can do."""
    known = KINDS.get(name or "")
    if known is None:
        raise NoSuchTask(f"There is no task {name!r}. There are: {', '.join(KINDS)}")
    try:
        return msgspec.json.decode(data, type=known, strict=False)
    except msgspec.DecodeError as error:
        raise NoSuchTask(f"The data of {name} cannot be used: {error}") from error


def options_of(name: str | None, own: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Those of the kind, with the job's own above them."""
    known = KINDS.get(name or "")
    return {**(known.options if known else {}), **(own or {})}


def as_data(kind: Kind) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(kind)
    return found


def words_in(output: Any) -> str:
    """Of a model that sends them one by one, too."""
    found = "".join(map(str, output)) if isinstance(output, list | tuple) else output
    if not isinstance(found, str) or not found.strip():
        raise ValueError("there are no words in it")
    return found.strip().replace("\0", "")


def object_in(text: str) -> dict[str, Any]:
    """The JSON object in an answer, also between fences and courtesies."""
    bare = FENCE.sub("", text)
    start, end = bare.find("{"), bare.rfind("}")
    try:
        found = msgspec.json.decode(bare[start : end + 1] if 0 <= start < end else bare)
    except msgspec.DecodeError as error:
        raise ValueError(f"a JSON object is wanted: {error}") from error
    if not isinstance(found, dict):
        raise ValueError("a JSON object is wanted")
    return found
