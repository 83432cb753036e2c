"""/docs: what programs can ask for, read from the OpenAPI document, with nothing that comes from elsewhere."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from msgspec import Struct

from glisk.web.site import Site

STREAM, JSON, FORM = "text/event-stream", "application/json", "multipart/form-data"
OTHERS = "other"


class Parameter(Struct, frozen=True):
    name: str
    place: str
    is_wanted: bool
    about: str
    example: str


class Call(Struct, frozen=True):
    """One thing that can be asked for, and a line that asks for it."""

    id: str
    method: str
    path: str
    about: str
    parameters: list[Parameter]
    answers: list[tuple[str, str]]
    curl: str
    example: str


def mount(routes: APIRouter, site: Site) -> None:
    async def show(request: Request) -> Response:
        found = calls(request.app.openapi(), site.settings.address)
        return await site.page(request, "docs.html", groups=found, address=site.settings.address)

    routes.add_api_route("/docs", show, methods=["GET"])


def calls(document: Mapping[str, Any], address: str) -> dict[str, list[Call]]:
    """By their tags."""
    groups = dict[str, list[Call]]()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or [OTHERS])[0]
            groups.setdefault(tag, []).append(call(method.upper(), path, operation, document, address))
    return groups


def call(method: str, path: str, operation: Mapping[str, Any], document: Mapping[str, Any], address: str) -> Call:
    parameters = [parameter(each) for each in operation.get("parameters", [])] + fields(operation)
    answers = operation["responses"]
    return Call(
        operation["operationId"],
        method,
        path,
        operation.get("description", ""),
        parameters,
        [(status, said(each)) for status, each in sorted(answers.items())],
        curl(method, path, parameters, operation, address),
        example(answers, document),
    )


def parameter(given: Mapping[str, Any]) -> Parameter:
    schema = given.get("schema", {})
    shown = next(iter(schema.get("examples", [])), schema.get("default", ""))
    about = " ".join(filter(None, [given.get("description", ""), bounds(schema)]))
    return Parameter(given["name"], given["in"], given.get("required", False), about, str(shown))


def bounds(schema: Mapping[str, Any]) -> str:
    return f"{schema['minimum']} to {schema['maximum']}." if {"minimum", "maximum"} <= schema.keys() else ""


def fields(operation: Mapping[str, Any]) -> list[Parameter]:
    """Of the body."""
    schema = body_of(operation)
    wanted = schema.get("required", [])
    return [
        Parameter(name, "body", name in wanted, about(each), shown(each.get("default")))
        for name, each in schema.get("properties", {}).items()
    ]


def about(schema: Mapping[str, Any]) -> str:
    """Of what may be left out, its other half tells."""
    return next((each["description"] for each in (schema, *schema.get("anyOf", ())) if "description" in each), "")


def shown(default: Any) -> str:
    return "" if default is None else default if isinstance(default, str) else json.dumps(default)


def body_of(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """As JSON, or as whatever else is taken."""
    content = operation.get("requestBody", {}).get("content", {})
    schema: Mapping[str, Any] = content.get(JSON, next(iter(content.values()), {})).get("schema", {})
    return schema


def said(answer: Mapping[str, Any]) -> str:
    text = str(answer.get("description", ""))
    return "" if text == "Successful Response" else text


def curl(method: str, path: str, parameters: list[Parameter], operation: Mapping[str, Any], address: str) -> str:
    for each in parameters:
        if each.place == "path":
            path = path.replace(f"{{{each.name}}}", quote(each.example, safe=":/") or each.name.upper())
    asked = "&".join(f"{each.name}={quote(each.example)}" for each in parameters if must_be_asked(each))
    words = ["curl", *(["-N"] if streams(operation) else []), *([] if method == "GET" else ["-X", method])]
    words += ["-H", "Authorization: Bearer glk_…"] if operation.get("security") else []
    words += sent(operation, [each.name for each in parameters if each.place == "body" and each.is_wanted])
    return shlex.join([*words, f"{address}{path}{'?' if asked else ''}{asked}"])


def sent(operation: Mapping[str, Any], wanted: list[str]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {})
    if FORM in content and JSON not in content:
        return [word for name in wanted for word in ("-F", f"{name}=@picture.png")]
    body = content.get(JSON, {}).get("example", dict.fromkeys(wanted, "…"))
    return ["--json", json.dumps(body, ensure_ascii=False)] if body else []


def must_be_asked(each: Parameter) -> bool:
    return each.place == "query" and each.is_wanted


def streams(operation: Mapping[str, Any]) -> bool:
    return any(STREAM in each.get("content", {}) for each in operation["responses"].values())


def example(answers: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """What a good answer looks like, as far as anybody has said."""
    for status, answer in answers.items():
        if status.startswith("2"):
            for content in answer.get("content", {}).values():
                named = next((each["value"] for each in content.get("examples", {}).values()), "")
                found = content.get("example", schema_of(content.get("schema", {}), document).get("example", named))
                return found if isinstance(found, str) else json.dumps(found, indent=2, ensure_ascii=False)
    return ""


def schema_of(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Mapping[str, Any] = document.get("components", {}).get("schemas", {}).get(name, schema)
    return found
