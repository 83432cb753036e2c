"""The OpenAPI document: complete, with nothing in it that does not happen."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from glisk.api import refusal
from glisk.errors import CrossSite, StrangeHost

UNFIT = "422"  # FastAPI tells of it; what is unfit is a 400 here
KEY = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key, glk_…, as `glisk keys create NAME --scope user` shows it once. On the machine itself none is needed "
        "until there is the first one.",
    }
}
TAGS = {
    "jobs": "Work that people ask for: pictures, tags, texts.",
    "files": "Pictures that people bring.",
    "projects": "A picture, and the edits of it.",
    "conversations": "What language jobs belong to.",
    "previews": "How a prompt would be drawn.",
    "tokens": "The collection's tokens and their stories.",
    "authors": "Wallets whose prompts are drawn.",
    "events": "What happens, as it happens.",
    "metadata": "What a token shows.",
    "objects": "Pictures, by their hash.",
    "ipfs": "Files, by their CID.",
    "operations": "Is it well?",
    "webhooks": "For providers who have news.",
}
VERBS = {"every": "list", "one": "show", "read": "show"}


class Described(FastAPI):
    """FastAPI's own document, put right."""

    def __init__(self, **options: Any) -> None:
        tags = [{"name": name, "description": about} for name, about in TAGS.items()]
        super().__init__(openapi_tags=tags, generate_unique_id_function=name_of, **options)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = completed(super().openapi())
        return self.openapi_schema


def name_of(route: APIRoute) -> str:
    """As the client has it: jobs_list, jobs_show."""
    tag = next(iter(route.tags), "")
    return f"{tag}_{VERBS.get(route.name, route.name)}"


def completed(document: dict[str, Any]) -> dict[str, Any]:
    parts = document.setdefault("components", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        parts.get("schemas", {}).pop(unused, None)
    parts["securitySchemes"] = KEY
    used = set[str]()
    for methods in document["paths"].values():
        for operation in methods.values():
            complete(operation)
            used |= set(operation.get("tags", ()))
    document["tags"] = [tag for tag in document["tags"] if tag["name"] in used]
    return document


def complete(operation: dict[str, Any]) -> None:
    answers = operation["responses"]
    answers.pop(UNFIT, None)
    if "401" in answers and "webhooks" not in operation["tags"]:
        operation["security"] = [{"bearer": []}]
    answers["403"] = merged(answers.get("403"), refusal.described(CrossSite, StrangeHost)[403])


def merged(known: dict[str, Any] | None, further: dict[str, Any]) -> dict[str, Any]:
    """What comes before any route is reached comes everywhere."""
    if known is None:
        return further
    examples = known["content"]["application/json"].get("examples", {})
    content = further["content"]["application/json"]
    return {
        "description": f"{known['description']} {further['description']}",
        "content": {"application/json": {**content, "examples": {**examples, **content["examples"]}}},
    }
