"""Results over HTTP: seed 004's table of answers, sent once, and never lost on the way."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import struct
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from glisk.repositories import deliveries
from glisk.storage.objects import Objects
from tests.studio import Studio, number, open_studio

PICTURE = os.urandom(3 << 20)


@pytest.fixture
async def studio(database_url: str, tmp_path: Path) -> AsyncIterator[Studio]:
    async with open_studio(database_url, data_dir=tmp_path) as studio:
        yield studio


async def fetched(client: httpx.AsyncClient, job_id: str, **query: Any) -> httpx.Response:
    return await client.get("/jobResult", params={"jobId": job_id} | query)


async def test_a_picture_is_sent_once(studio: Studio) -> None:
    job_id = await studio.job()
    await studio.settle(job_id, "ready", PICTURE)
    result = await fetched(studio.anna, job_id)
    assert result.status_code == 200
    body = result.json()
    assert (body["status"], body["image_type"]) == ("completed", "image/png")
    assert base64.b64decode(body["image_data_base64"], validate=True) == PICTURE
    assert set(body) == {"status", "image_type", "image_data_base64"}
    assert (await fetched(studio.anna, job_id)).status_code == 404


async def test_a_head_delivers_nothing(studio: Studio) -> None:
    job_id = await studio.job()
    assert (await studio.anna.head("/jobResult", params={"jobId": job_id})).status_code == 202
    await studio.settle(job_id, "ready", b"picture")
    assert (await studio.anna.head("/jobResult", params={"jobId": job_id})).status_code == 200
    assert (await fetched(studio.anna, job_id)).status_code == 200


async def test_whatever_its_size_it_arrives_whole(studio: Studio) -> None:
    for size in (1, 2, 3, 4, 262143, 262144, 262145):
        job_id, picture = await studio.job(), os.urandom(size)
        await studio.settle(job_id, "ready", picture)
        body = (await fetched(studio.anna, job_id)).json()
        assert base64.b64decode(body["image_data_base64"], validate=True) == picture


async def test_what_was_sent_and_did_not_arrive_can_be_had_again(studio: Studio) -> None:
    job_id = await studio.job()
    await studio.settle(job_id, "ready", b"picture")
    first = (await fetched(studio.anna, job_id)).json()
    assert (await fetched(studio.anna, job_id, again=True)).json() == first
    assert (await fetched(studio.ben, job_id, again=True)).status_code == 404


async def test_until_it_has_ended_one_is_asked_to_wait(studio: Studio) -> None:
    job_id = await studio.job()
    waits = await fetched(studio.anna, job_id)
    assert (waits.status_code, waits.json()["status"]) == (202, "pending")
    assert "message" in waits.json()
    await studio.rows("UPDATE jobs SET status = 'processing', leased_by = 'w', leased_until = now(), progress = 40")
    waits = await fetched(studio.anna, job_id)
    assert (waits.status_code, waits.json()["status"], waits.json()["progress"]) == (202, "processing", 40)


async def test_a_failure_is_told_once(studio: Studio) -> None:
    job_id = await studio.job()
    await studio.settle(job_id, "failed", error="The prompt was refused")
    failed = await fetched(studio.anna, job_id)
    assert (failed.status_code, failed.json()) == (200, {"status": "failed", "error": "The prompt was refused"})
    assert (await fetched(studio.anna, job_id)).status_code == 404


async def test_a_picture_that_is_gone_is_not_there(studio: Studio) -> None:
    job_id = await studio.job()
    key = await studio.settle(job_id, "ready", b"picture")
    await Objects.of(studio.visit.settings).delete(str(key))
    assert (await fetched(studio.anna, job_id)).status_code == 404
    assert (await studio.rows("SELECT delivered_at IS NULL AS it FROM jobs")) == [{"it": False}]


async def test_one_that_is_ready_without_a_picture_is_our_fault(studio: Studio) -> None:
    """The database does not let it come to that."""
    await studio.rows("ALTER TABLE jobs DROP CONSTRAINT ready_image_has_key")
    job_id = await studio.job()
    await studio.settle(job_id, "ready")
    lost = await fetched(studio.anna, job_id)
    assert (lost.status_code, lost.json()["code"]) == (500, "GLK-825")
    assert (await fetched(studio.anna, job_id)).status_code == 404


async def test_any_other_status_is_told_and_nothing_is_deleted(studio: Studio) -> None:
    await studio.rows("INSERT INTO conversations VALUES ('c', 'dm', 'anna')")
    job_id = await studio.job(conversationId="c", name="complete", data={"prompt": "fog"})
    await studio.settle(job_id, "completed", result='{"text": "fog"}')
    for _ in range(2):
        told = await fetched(studio.anna, job_id)
        assert (told.status_code, told.json()) == (200, {"status": "completed", "result": {"text": "fog"}})


async def test_tags_are_told_and_their_picture_stays(studio: Studio) -> None:
    job_id = await studio.job(name="tags")
    await studio.settle(job_id, "completed", b"picture", result='{"tags": []}')
    for _ in range(2):
        assert (await fetched(studio.anna, job_id)).json() == {"status": "completed", "result": {"tags": []}}


async def test_without_grace_nothing_is_left(database_url: str, tmp_path: Path) -> None:
    async with open_studio(database_url, data_dir=tmp_path, result_grace=0) as studio:
        job_id = await studio.job()
        key = await studio.settle(job_id, "ready", b"picture")
        await fetched(studio.anna, job_id)
        assert await studio.rows("SELECT FROM jobs") == []
        assert await studio.rows("SELECT object_key FROM leftovers") == [{"object_key": key}]
        assert (await fetched(studio.anna, job_id, again=True)).status_code == 404


async def test_what_was_received_is_cleaned_up_after_the_grace(studio: Studio) -> None:
    received, waiting = await studio.job(), await studio.job()
    for job_id in (received, waiting):
        await studio.settle(job_id, "ready", job_id.encode())
    await fetched(studio.anna, received)
    assert await deliveries.clean(studio.visit.link, timedelta(minutes=1)) == 0
    await studio.rows("UPDATE jobs SET delivered_at = delivered_at - interval '2 min'")
    await deliveries.dispatch(studio.visit.link, number(received))
    assert await deliveries.clean(studio.visit.link, timedelta(minutes=1)) == 0
    await deliveries.give_back(studio.visit.link, number(received))
    assert await deliveries.clean(studio.visit.link, timedelta(minutes=1)) == 1
    assert [row["id"] for row in await studio.rows("SELECT id FROM jobs")] == [number(waiting)]


async def test_a_result_stays_while_somebody_waits_to_read_it(studio: Studio) -> None:
    parent = await studio.job()
    child = await studio.job(parent=parent, onFailure="ignore")
    await studio.settle(parent, "ready", b"picture")
    await fetched(studio.anna, parent)
    assert await deliveries.clean(studio.visit.link, timedelta()) == 0
    await studio.settle(child, "failed", error="x")
    assert await deliveries.clean(studio.visit.link, timedelta()) == 1


async def broken_off(studio: Studio, job_id: str, read: int, *, closes: bool, resets: bool) -> None:
    """A client that hangs up after so many bytes, with what it has not read thrown away."""
    place, loop = urlsplit(studio.visit.address), asyncio.get_running_loop()
    head = f"GET /jobResult?jobId={job_id} HTTP/1.1\r\nHost: glisk\r\nAuthorization: {studio.anna.headers['Authorization']}\r\n"
    with socket.socket() as line:
        line.setblocking(False)
        await loop.sock_connect(line, (place.hostname, place.port))
        await loop.sock_sendall(line, f"{head}{'Connection: close' if closes else 'X: y'}\r\n\r\n".encode())
        while read > 0:
            read -= len(await loop.sock_recv(line, read))
        if resets:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize(("size", "read"), [(3 << 20, 1), (3 << 20, 1 << 20), (50_000, 400), (50_000, 20_000)])
async def test_a_connection_that_breaks_in_the_middle_loses_nothing(size: int, read: int, studio: Studio) -> None:
    for closes, resets in product((True, False), repeat=2):
        job_id, picture = await studio.job(), os.urandom(size)
        await studio.settle(job_id, "ready", picture)
        await broken_off(studio, job_id, read, closes=closes, resets=resets)
        async with asyncio.timeout(30):
            while (result := await fetched(studio.anna, job_id)).status_code == 404:
                pass  # until the server has heard of it
            assert base64.b64decode(json.loads(result.content)["image_data_base64"], validate=True) == picture
            while (await fetched(studio.anna, job_id)).status_code != 404:
                pass  # who came before the server had heard of it was one of two, and it heard of the other afterwards


async def test_two_who_fetch_at_once_both_get_all_of_it(studio: Studio) -> None:
    job_id = await studio.job()
    await studio.settle(job_id, "ready", PICTURE)
    results = await asyncio.gather(*(fetched(studio.anna, job_id) for _ in range(4)))
    whole = [result for result in results if result.status_code == 200]
    assert whole
    assert all(base64.b64decode(result.json()["image_data_base64"]) == PICTURE for result in whole)


async def test_a_process_that_dies_while_it_sends_keeps_nobody_from_it(studio: Studio) -> None:
    job_id = await studio.job()
    await studio.settle(job_id, "ready", b"picture")
    await deliveries.dispatch(studio.visit.link, number(job_id))
    assert (await fetched(studio.anna, job_id)).status_code == 200
