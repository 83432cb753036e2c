"""Bytes that nobody has any more are deleted; whoever has them, or is just storing the same, keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from glisk.engine.link import Link
from glisk.images.sniff import PNG
from glisk.repositories import leftovers, sweeping
from glisk.repositories.leftovers import keep
from glisk.repositories.sweeping import Swept, sweep
from glisk.settings import Settings
from glisk.storage.objects import Objects
from tests.bringing import a_picture
from tests.builders import CHAIN, CONTRACT, DRAWN, PROJECT, a_token_row

NONE = timedelta()
LEAVE = "INSERT INTO leftovers (object_key, since) VALUES ($1, now() - interval '2 minutes')"
FILE = "INSERT INTO files (user_id, name, object_key, mime, size) VALUES ('anna', $2, $1, 'image/png', 8)"
ITS_TIME_HAS_COME = "UPDATE leftovers SET since = now() - interval '2 minutes'"
HELD = {
    "a file": FILE.replace("$2", "'a.png'"),
    "a result": "INSERT INTO jobs (workflow, output_r2_key) VALUES ('r2_image', $1)",
    "an input": "WITH j AS (INSERT INTO jobs (workflow) VALUES ('r2_image') RETURNING id) INSERT INTO job_inputs SELECT id, $1 FROM j",
    "a project's picture": "UPDATE projects SET original_image_url = $1",
    "an edit": "UPDATE projects SET generated_image_url = 'https://glisk.example/objects/' || $1",
    "an earlier edit": "UPDATE projects SET generated_image_urls = ARRAY['x', 'http://127.0.0.1:8000/objects/' || $1]",
}


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects.of(Settings(data_dir=tmp_path))


@pytest.fixture
async def key(objects: Objects) -> str:
    return (await objects.put(a_picture(1), PNG.mime, PNG.extension)).key


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Link]:
    link = Link(database_url)
    yield link
    await link.close()


async def left(connection: Any) -> list[str]:
    return [row["object_key"] for row in await connection.fetch("SELECT object_key FROM leftovers")]


async def test_what_nobody_has_goes(link: Link, connection: Any, objects: Objects, key: str) -> None:
    await connection.execute(LEAVE, key)
    assert (await sweep(link, objects)).deleted == 1
    assert not await objects.exists(key)
    assert await left(connection) == []


@pytest.mark.usefixtures("owners")
async def test_what_somebody_has_stays(link: Link, connection: Any, objects: Objects, key: str) -> None:
    for by, statement in HELD.items():
        async with connection.transaction():
            await connection.execute("DELETE FROM files; DELETE FROM jobs")
            await connection.execute(
                "UPDATE projects SET original_image_url = NULL, generated_image_url = NULL, generated_image_urls = NULL"
            )
            await connection.execute("DELETE FROM leftovers")
            await connection.execute(statement, key)
            await connection.execute(LEAVE, key)
        assert (await sweep(link, objects)) == Swept(1, 0), by
        assert await objects.exists(key)
        assert await left(connection) == []


async def test_the_picture_of_a_token_stays(link: Link, connection: Any, objects: Objects, key: str) -> None:
    await a_token_row(connection, chain_id=CHAIN, contract_address=CONTRACT, **DRAWN | {"image_key": key})
    await connection.execute(LEAVE, key)
    assert (await sweep(link, objects)).deleted == 0
    assert await objects.exists(key)


@pytest.mark.usefixtures("owners")
async def test_whoever_lets_go_of_the_last_one_leaves_it(
    link: Link, connection: Any, objects: Objects, key: str
) -> None:
    """Also by a cascade, and not before."""
    for statement in HELD.values():
        await connection.execute(statement, key)
    await connection.execute("DELETE FROM jobs")
    await connection.execute(ITS_TIME_HAS_COME)
    assert (await sweep(link, objects)).deleted == 0
    assert await left(connection) == []
    await connection.execute("DELETE FROM users")
    await connection.execute(ITS_TIME_HAS_COME)
    assert (await sweep(link, objects)).deleted == 1
    assert not await objects.exists(key)


@pytest.mark.usefixtures("owners")
async def test_a_project_that_is_deleted_leaves_its_pictures(connection: Any, key: str) -> None:
    await connection.execute("UPDATE projects SET original_image_url = 'https://elsewhere.example/a.png'")
    await connection.execute(
        "UPDATE projects SET generated_image_urls = ARRAY['https://glisk.example/objects/' || $1]", key
    )
    await connection.execute("DELETE FROM projects WHERE project_id = $1", PROJECT)
    assert await left(connection) == [key]


async def test_one_who_dies_between_storing_and_writing_leaves_nothing(
    link: Link, connection: Any, objects: Objects
) -> None:
    stored = await keep(link.fetch, objects, a_picture(2), PNG)
    assert (await sweep(link, objects)).deleted == 0
    await connection.execute(ITS_TIME_HAS_COME)
    assert (await sweep(link, objects)).deleted == 1
    assert not await objects.exists(stored.key)


@pytest.mark.usefixtures("owners")
async def test_one_who_is_slow_to_write_finds_it_there(link: Link, connection: Any, objects: Objects) -> None:
    stored = await keep(link.fetch, objects, a_picture(2), PNG)
    await connection.execute(FILE, stored.key, "a.png")
    await connection.execute("DELETE FROM files")
    again = await keep(link.fetch, objects, a_picture(2), PNG)
    assert (await sweep(link, objects, NONE)).deleted == 0
    await connection.execute(FILE, again.key, "b.png")
    assert await objects.get(stored.key) == a_picture(2)


@pytest.mark.usefixtures("owners")
async def test_who_stores_the_same_while_it_is_deleted_waits_and_has_it(
    link: Link, other: Link, connection: Any, objects: Objects, key: str
) -> None:
    await connection.execute(LEAVE, key)
    taken = await leftovers.take(link.fetch, NONE, 10)
    assert await leftovers.used(link.fetch, [key]) == set()
    storing = asyncio.create_task(keep(other.fetch, objects, a_picture(1), PNG))
    await asyncio.wait([storing], timeout=0.05)
    assert not storing.done()
    await objects.delete(key)
    await leftovers.forget(link.fetch, taken)
    assert (await storing).key == key
    await connection.execute(FILE, key, "a.png")
    await connection.execute(ITS_TIME_HAS_COME)
    assert (await sweep(link, objects)).deleted == 0
    assert await objects.get(key) == a_picture(1)


@pytest.mark.usefixtures("owners")
async def test_what_is_let_go_of_again_while_it_is_looked_at_is_looked_at_again(
    link: Link, connection: Any, objects: Objects, key: str
) -> None:
    await connection.execute(FILE, key, "a.png")
    await connection.execute(LEAVE, key)
    taken = await leftovers.take(link.fetch, NONE, 10)
    assert await leftovers.used(link.fetch, [key]) == {key}
    await connection.execute("DELETE FROM files")
    await leftovers.forget(link.fetch, taken)
    assert await left(connection) == [key]
    await connection.execute("UPDATE leftovers SET since = now() - interval '2 minutes', deleting_until = NULL")
    assert (await sweep(link, objects)).deleted == 1


async def test_two_who_sweep_at_once_do_not_share(
    link: Link, other: Link, connection: Any, objects: Objects, key: str
) -> None:
    await connection.execute(LEAVE, key)
    both = await asyncio.gather(sweep(link, objects), sweep(other, objects))
    assert sorted(swept.deleted for swept in both) == [0, 1]


async def test_one_who_died_while_deleting_holds_nobody_up_for_long(
    link: Link, connection: Any, objects: Objects, key: str
) -> None:
    await connection.execute(LEAVE, key)
    await leftovers.take(link.fetch, NONE, 10)
    assert (await sweep(link, objects)).deleted == 0
    await connection.execute("UPDATE leftovers SET deleting_until = now() - interval '1 second'")
    assert (await keep(link.fetch, objects, a_picture(1), PNG)).key == key
    await connection.execute(ITS_TIME_HAS_COME)
    assert (await sweep(link, objects)).deleted == 1


async def test_a_storage_that_does_not_let_go_is_asked_again_later(
    link: Link, connection: Any, objects: Objects, key: str, tmp_path: Path
) -> None:
    folder = (tmp_path / "objects" / key).parent
    await connection.execute(LEAVE, key)
    (folder / Path(key).name).unlink()
    (folder / Path(key).name).mkdir()  # what cannot be deleted as a file
    assert (await sweep(link, objects)).deleted == 0
    assert await left(connection) == [key]
    (folder / Path(key).name).rmdir()
    await connection.execute("UPDATE leftovers SET deleting_until = NULL")
    assert (await sweep(link, objects)).deleted == 1


@pytest.mark.usefixtures("owners")
async def test_what_was_delivered_goes_after_its_grace_and_others_keep_the_same(
    link: Link, connection: Any, objects: Objects, key: str
) -> None:
    await connection.execute("INSERT INTO users VALUES ('ben')")
    for name in ("old", "new", "kept"):
        await connection.execute(FILE, key, name)
    await connection.execute(
        "INSERT INTO files (user_id, name, object_key, mime, size) VALUES ('ben', 'b', $1, 'image/png', 8)", key
    )
    await connection.execute("UPDATE files SET delivered_at = now() - interval '11 minutes' WHERE name = 'old'")
    await connection.execute("UPDATE files SET delivered_at = now() WHERE name = 'new'")
    (work,) = sweeping.works(link, objects, timedelta(minutes=10))
    await work.run()
    assert {row["name"] for row in await connection.fetch("SELECT name FROM files")} == {"new", "kept", "b"}
    await connection.execute("DELETE FROM files WHERE user_id = 'anna'")
    await connection.execute(ITS_TIME_HAS_COME)
    await work.run()
    assert await objects.get(key) == a_picture(1)
    await connection.execute("DELETE FROM files")
    await connection.execute(ITS_TIME_HAS_COME)
    await work.run()
    assert not await objects.exists(key)
