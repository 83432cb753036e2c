"""What somebody asks for, as a job: which workflow serves it is our choice, and what is no option of ours is its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
from fastapi import Request
from msgspec import Meta, Struct

from glisk.api import bodies, unfit
from glisk.api.given import is_address
from glisk.drawing.wanted import Unfit, wanted_in
from glisk.engine.options import Attempts, Milliseconds, Priority
from glisk.engine.store import encode
from glisk.errors import BadQuery
from glisk.prompts import prompt_problem
from glisk.repositories.job_repository import FIRST, NewJob
from glisk.thinking import tasks
from glisk.workflows import LLM_TASK, LORA_IMAGE

LARGEST = 1 << 20  # bytes
LONGEST_NAME, LONGEST_URL, DEEPEST = 100, 2000, 64
FORM = "application/x-www-form-urlencoded"
# What people may ask for by name, beside what a conversation asks for, and the workflow that does it.
TASKS = {
    "image": "r2_image",
    "stored_image": "image_generation",
    "tags": "danbooru_tagger",
    "lora_image": "lora_image",
}
USUAL = "image"
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME, description=f"1 to {LONGEST_NAME} characters")]
Id = Annotated[str, Meta(min_length=1, max_length=200, description="1 to 200 characters")]
JobId = Annotated[UUID, Meta(description="a job's id")]


class Wish(Struct, frozen=True, rename="camel"):
    """Beside these the task's own fields, such as `prompt`, `width`, `height`, `steps`, `seed` or `styles`."""

    user_id: (
        Annotated[str, Meta(description="whose job it is: needed with an operator's key, else that of the key")] | None
    ) = None
    name: Name | None = None
    conversation_id: Id | None = None
    data: Annotated[dict[str, Any], Meta(description="an object")] | None = None
    priority: Annotated[Priority, Meta(description="a number from 0 to 9")] = 0
    delay: Annotated[Milliseconds, Meta(description="a number of milliseconds, up to a year")] | None = None
    attempts: Annotated[Attempts, Meta(description="a number from 1 to 1000")] | None = None
    parent: JobId | None = None
    parents: Annotated[list[JobId], Meta(max_length=1000, description="a list of jobs' ids")] = []
    on_failure: Annotated[Literal["fail", "ignore"], Meta(description="fail or ignore")] = "fail"
    webhook_url: (
        Annotated[str, Meta(max_length=LONGEST_URL, description="the address of a server, http(s)://…")] | None
    ) = None
    opts: Annotated[dict[str, Any], Meta(description="an object")] | None = None


OURS = frozenset(field.encode_name for field in msgspec.structs.fields(Wish))
# Seed 000: the server's, never the client's; nor is what a step has checked for the next one.
SERVERS = ("workflow", "story", "status", "lora")


async def wish_in(request: Request) -> tuple[Wish, dict[str, Any]]:
    """What is wanted of us, and the task's own fields. Raises BadQuery with the field that is wrong."""
    given = await fields_of(request)
    require_ours(given)
    try:
        wish = msgspec.convert({name: given[name] for name in given if name in OURS}, Wish, strict=False)
    except msgspec.ValidationError as error:
        raise BadQuery(f"{unfit.body(error, Wish)}.") from None
    return wish, {name: value for name, value in given.items() if name not in OURS}


async def fields_of(request: Request) -> dict[str, Any]:
    """JSON, or a form, in which lists and objects are written as JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        return await bodies.body_of(request, dict[str, Any], LARGEST)
    body = await bodies.bytes_of(request, LARGEST)
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=1000, errors="strict"
        )
    except ValueError:
        raise BadQuery("The body: a form in whole characters of UTF-8 is wanted.") from None
    return {name: value_in(value) for name, value in pairs}


def value_in(text: str) -> Any:
    if text[:1] not in ("[", "{"):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return text


def job_in(wish: Wish, task: Mapping[str, Any], user_id: str) -> NewJob:
    workflow, name = workflow_of(wish)
    payload = {**task, **(wish.data or {})}
    require_ours(payload)
    require_shallow(payload, wish.opts)
    if wish.webhook_url is not None:
        require_address("webhookUrl", wish.webhook_url)
    if workflow == LORA_IMAGE.name:
        require_address("lora_url", payload.get("lora_url"))
    is_thought = workflow == LLM_TASK.name
    (require_task if is_thought else require_picture)(name, payload)
    return NewJob(
        workflow,
        payload,
        wish.priority,
        None if wish.delay is None else timedelta(milliseconds=wish.delay),
        name=name,
        user_id=user_id,
        conversation_id=wish.conversation_id,
        opts=tasks.options_of(name, wish.opts) if is_thought else wish.opts,
        max_attempts=wish.attempts,
        on_failure=wish.on_failure,
    )


def workflow_of(wish: Wish) -> tuple[str, str]:
    if wish.conversation_id is not None:
        if wish.name is None:
            raise BadQuery(
                "name: it is missing.", fix="Say what is to be thought about, such as title_and_description."
            )
        return LLM_TASK.name, wish.name
    name = wish.name or USUAL
    if (workflow := TASKS.get(name)) not in FIRST:
        wanted = f"One of these is wanted: {', '.join(task for task, flow in TASKS.items() if flow in FIRST)}; others with a conversationId."
        raise BadQuery("name: nothing is called so.", fix=wanted)
    return str(workflow), name


def require_ours(given: Mapping[str, Any]) -> None:
    if known := next((name for name in SERVERS if name in given), None):
        raise BadQuery(f"{known}: the server sets it.", fix=f"Say what you want by `name`: {', '.join(TASKS)}.")


def require_shallow(*given: Any) -> None:
    """What is nested more deeply can be stored, and not be shown again."""
    level = list(given)
    for _ in range(DEEPEST):
        level = [part for each in level for part in parts_of(each)]
        if not level:
            return
    raise BadQuery(f"The body: it is nested more deeply than {DEEPEST} levels.")


def parts_of(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def require_task(name: str, payload: Mapping[str, Any]) -> None:
    try:
        tasks.kind_of(name, encode(payload))
    except tasks.NoSuchTask as error:
        raise BadQuery(f"{'data' if name in tasks.KINDS else 'name'}: {error}.") from None


def require_picture(_: str, payload: Mapping[str, Any]) -> None:
    prompt = payload.get("prompt")
    if problem := prompt_problem(prompt if isinstance(prompt, str) else None):
        raise BadQuery(f"prompt: {problem}.")
    try:
        wanted_in(encode(payload))
    except Unfit as error:
        raise BadQuery(f"{error}.") from None


def require_address(field: str, url: Any) -> None:
    """Whether we may go there is found out by whoever does."""
    if not isinstance(url, str) or not is_address(url):
        raise BadQuery(f"{field}: the address of a server, http(s)://…, is wanted.")
