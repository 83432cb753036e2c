"""The OpenAPI document as a list of what can be asked for, and requests that are made from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

JSON, FORM, STREAM = "application/json", "multipart/form-data", "text/event-stream"


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    told: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def tag(self) -> str:
        return str(self.told["tags"][0])

    @property
    def content(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.told.get("requestBody", {}).get("content", {})
        return found

    @property
    def streams(self) -> bool:
        return any(STREAM in each.get("content", {}) for each in self.told["responses"].values())

    def parameters(self, place: str) -> list[Mapping[str, Any]]:
        return [each for each in self.told.get("parameters", ()) if each["in"] == place]

    def named(self, things: Mapping[str, str]) -> set[str]:
        """Which of the things it can be asked for."""
        asked = {each["name"] for each in self.told.get("parameters", ())}
        fields = {name for each in self.content.values() for name in each["schema"].get("properties", ())}
        return (asked | fields) & set(things)

    def request(self, client: httpx.AsyncClient, things: Mapping[str, str]) -> httpx.Request:
        """With the things wherever it can name them. KeyError: it needs something that nobody has told us about."""
        path = self.path
        for each in self.parameters("path"):
            path = path.replace(f"{{{each['name']}}}", things[each["name"]])
        asked = [each for each in self.parameters("query") if each["required"] or each["name"] in things]
        params = {each["name"]: things[each["name"]] for each in asked}
        return client.build_request(self.method, path, params=params, **self.body(things))

    def body(self, things: Mapping[str, str]) -> dict[str, Any]:
        if not self.content:
            return {}
        kind = JSON if JSON in self.content else FORM
        properties = self.content[kind]["schema"].get("properties", {})
        named = {name: things[name] for name in properties if name in things}
        if kind == JSON:
            return {"json": dict(self.content[kind]["example"]) | named}
        files = [name for name in properties if "imageFiles" in name]
        return {"data": named, "files": [(name, ("a.png", b"\x89PNG\r\n\x1a\n", "image/png")) for name in files]}


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            yield Operation(method.upper(), path, told)
