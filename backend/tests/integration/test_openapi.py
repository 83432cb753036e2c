"""The OpenAPI document is true: whatever is asked for is answered as it says, and by nobody's key but the right one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok

from glisk.repositories.key_repository import KeyRepository, Terms
from tests.bringing import a_picture, as_data_url, upload
from tests.documented import STREAM, Operation, operations
from tests.studio import Studio, client, open_studio

STUDIO = {"jobs", "files", "projects", "conversations"}  # whose operations belong to somebody
PUBLIC = {
    *("operations", "objects", "ipfs", "metadata", "tokens", "events", "authors", "previews", "webhooks"),
}
BEYOND = "416"  # of a picture, which is answered by its length alone
OPERATORS = "GLK-801"
MARK = "a lighthouse that is anna's"
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 100 if os.environ.get("PROVE") else 3  # of each operation, fitting and unfitting ones


@pytest.fixture
async def studio(database_url: str, tmp_path: Path) -> AsyncIterator[Studio]:
    async with open_studio(database_url, data_dir=tmp_path) as studio:
        yield studio


async def described(studio: Studio) -> dict[str, Any]:
    document: dict[str, Any] = (await studio.public.get("/openapi.json")).json()
    return document


async def things_of(studio: Studio) -> dict[str, str]:
    """Anna's, by the names under which they are asked for."""
    job = await studio.job(prompt=MARK)
    (file,) = (await upload(studio.anna, ("brick.png", a_picture()))).json()["files"]
    project = (await studio.anna.post("/projects", json={"originalImageUrl": as_data_url(a_picture())})).json()[
        "projectId"
    ]
    conversation = (await studio.anna.post("/conversations", json={"type": "dm"})).json()["conversationId"]
    return {
        **dict.fromkeys(("job_id", "jobId", "parent"), job),
        **dict.fromkeys(("user", "userId", "user_id"), "anna"),
        **dict.fromkeys(("project_id", "projectId"), project),
        **dict.fromkeys(("conversation_id", "conversationId"), conversation),
        "key": file["key"],
    }


async def test_the_document_says_what_programs_need(studio: Studio) -> None:
    document = await described(studio)
    found = list(operations(document))
    assert len({each.told["operationId"] for each in found}) == len(found)
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert {tag["name"] for tag in document["tags"] if tag["description"]} == {each.tag for each in found}
    for each in found:
        assert "422" not in each.told["responses"], each
        assert each.tag in STUDIO | PUBLIC, f"{each}: whose is it?"
        for status, answer in each.told["responses"].items():
            if each.tag in STUDIO and int(status) >= 400 and status != BEYOND:
                content = answer["content"]["application/json"]
                assert content["schema"] == {"$ref": "#/components/schemas/Problem"}
                assert all(example["value"]["remedy"] for example in content["examples"].values())
        if each.tag in STUDIO:
            assert each.told["security"] == [{"bearer": []}], each
            assert has_example(each, document), f"{each}: what does an answer look like?"


def has_example(each: Operation, document: dict[str, Any]) -> bool:
    (answer, *_) = (answer for status, answer in each.told["responses"].items() if status < "300")
    if "content" not in answer:
        return True
    (content,) = answer["content"].values()
    schema = content.get("schema", {})
    name = (schema.get("items") or schema).get("$ref", "").rpartition("/")[2]
    is_bytes = "image/*" in answer["content"]
    return (
        is_bytes
        or bool(content.keys() & {"example", "examples"})
        or "example" in document["components"]["schemas"][name]
    )


async def test_nobody_has_what_is_somebody_elses(studio: Studio) -> None:
    """Every operation of the document, with every wrong key there is."""
    things, before = await things_of(studio), await everything(studio)
    strangers = [(studio.public, "GLK-816"), (await revoked(studio), "GLK-802"), (await worker(studio), "GLK-816")]
    for each in operations(await described(studio)):
        if each.tag in PUBLIC:
            continue
        assert each.tag in STUDIO, f"{each}: whose is it?"
        for stranger, code in strangers:
            refused = await stranger.send(each.request(stranger, things))
            assert (refused.status_code, refused.json()["code"]) == (401, code), each
        await try_as_another(each, studio.ben, things)
    assert await everything(studio) == before
    for stranger, _ in strangers[1:]:
        await stranger.aclose()


def is_operators(each: Operation) -> bool:
    return OPERATORS in each.told["responses"]["401"]["description"]


async def try_as_another(each: Operation, ben: httpx.AsyncClient, things: dict[str, str]) -> None:
    """Naming what is anna's; and, where that need not be named, without."""
    if each.named(things):
        refused = await ben.send(each.request(ben, things))
        wanted = (401,) if is_operators(each) else (403, 404)
        assert refused.status_code in wanted, f"{each}: {refused.status_code} {refused.text}"
    if each.method == "GET" and not any(part["required"] for part in each.told.get("parameters", ())):
        own = await ben.send(each.request(ben, {}))
        assert (own.status_code, MARK in own.text, things["job_id"] in own.text) == (200, False, False), each


async def everything(studio: Studio) -> list[Any]:
    """All that is anna's, and whether anybody has touched it."""
    tables = ("jobs", "files", "projects", "conversations")
    return [await studio.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables]


async def revoked(studio: Studio) -> httpx.AsyncClient:
    stranger = await client(studio.visit, "anna-before", user_id="anna")
    await studio.rows("UPDATE api_keys SET revoked_at = now() WHERE name = 'anna-before''s key'")
    return stranger


async def worker(studio: Studio) -> httpx.AsyncClient:
    key = await KeyRepository(studio.visit.link).make("a worker", "worker", "a test")
    return httpx.AsyncClient(base_url=studio.visit.address, headers={"Authorization": f"Bearer {key}"})


@pytest.mark.faults
@pytest.mark.timeout(600)
@pytest.mark.hypothesis
async def test_whatever_is_asked_for_is_answered_as_the_document_says(studio: Studio) -> None:
    """No status that is not told of, and no failure of ours but the one that seed 004 asks for."""
    key = await KeyRepository(studio.visit.link).make("a fuzzer", "user", "a test", Terms("anna", rate=10**6))
    document, things = await described(studio), await things_of(studio)
    await asyncio.to_thread(fuzz, document, studio.visit.address, key, things)


def fuzz(document: dict[str, Any], address: str, key: str, things: dict[str, str]) -> None:
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if any(STREAM in each.get("content", {}) for each in operation.definition.raw["responses"].values()):
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @settings(
                max_examples=EXAMPLES,
                derandomize=not os.environ.get("PROVE"),
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(operation.as_strategy(mode), st.booleans())
            def each(case: Case[Any], is_real: bool) -> None:
                if is_real:
                    name_real(case, things)
                answer = case.call(address, headers={"Authorization": f"Bearer {key}"})
                case.validate_response(answer, checks=CHECKS)
                assert answer.status_code != 500 or answer.json()["code"] == "GLK-825", answer.text

            with suppress(Unsatisfiable):  # there is no wrong way to ask for /health
                each()


def name_real(case: Case[Any], things: dict[str, str]) -> None:
    """What nobody has is refused soon: half of the time it is something that is there."""
    for part in (case.path_parameters, case.query, case.body):
        if isinstance(part, dict):
            part.update({name: things[name] for name in part if name in things})
