"""Files over real HTTP: uploaded all or none, delivered once, looked at by their owner alone (seed 004)."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import obstore
import pytest

from glisk.api import album, stalled
from glisk.storage.objects import Objects
from tests.bringing import a_picture, upload
from tests.studio import Studio, open_studio

PNG, OTHER = a_picture(1), a_picture(2)


@pytest.fixture
async def studio(database_url: str) -> AsyncIterator[Studio]:
    async with open_studio(database_url) as studio:
        yield studio


async def names(client: httpx.AsyncClient, user: str = "anna", **asked: Any) -> list[str]:
    return [each["name"] for each in (await client.get(f"/images/{user}", params=asked)).json()]


async def test_what_is_uploaded_comes_back_as_base64_once(studio: Studio) -> None:
    uploaded = await upload(studio.anna, ("brick.png", PNG), ("sky.webp", webp := a_picture(3, "webp")))
    assert uploaded.status_code == 201
    told = uploaded.json()["files"]
    assert [(each["key"], each["size"], each["contentType"]) for each in told] == [
        ("anna/brick.png", len(PNG), "image/png"),
        ("anna/sky.webp", len(webp), "image/webp"),
    ]
    fetched = await studio.anna.get("/images/anna")
    assert (fetched.status_code, fetched.headers["x-files-left"]) == (200, "0")
    assert [(each["key"], base64.b64decode(each["data"])) for each in fetched.json()] == [
        ("anna/brick.png", PNG),
        ("anna/sky.webp", webp),
    ]
    assert (await studio.anna.get("/images/anna")).json() == []
    assert (await studio.anna.get("/image/raw/anna/brick.png")).status_code == 404
    assert await names(studio.anna, again=1) == ["brick.png", "sky.webp"]


async def test_without_grace_they_are_gone_at_once(database_url: str) -> None:
    async with open_studio(database_url, result_grace=0) as studio:
        await upload(studio.anna, ("brick.png", PNG))
        assert await names(studio.anna) == ["brick.png"]
        assert await names(studio.anna, again=1) == []
        assert await studio.visit.link.fetch("SELECT FROM files") == []


async def test_a_raw_picture_is_shown_safely_in_parts_and_stays(studio: Studio) -> None:
    (told,) = (await upload(studio.anna, ("ein Bild.png", PNG))).json()["files"]
    path = urlsplit(told["url"]).path
    shown = await studio.anna.get(path)
    assert (shown.status_code, shown.content) == (200, PNG)
    expected = {
        "content-type": "image/png",
        "x-content-type-options": "nosniff",
        "cache-control": "private, max-age=300",
        "content-disposition": "inline; filename*=UTF-8''ein%20Bild.png",
    }
    assert {name: shown.headers[name] for name in expected} == expected
    assert (await studio.anna.get(path, headers={"Range": "bytes=0-7"})).content == PNG[:8]
    head = await studio.anna.head(path)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(PNG)))
    assert (await studio.anna.head("/images/anna")).headers["x-files-left"] == "0"  # which delivers nothing
    assert await names(studio.anna) == ["ein Bild.png"]


async def test_without_a_key_nothing_is_shown_and_nothing_uploaded(studio: Studio) -> None:
    refused = await upload(studio.public, ("brick.png", PNG), user="anna")
    assert (refused.status_code, refused.json()["code"]) == (401, "GLK-816")
    assert await studio.visit.link.fetch("SELECT FROM leftovers") == []
    await upload(studio.anna, ("brick.png", PNG))
    for path in ("/images/anna", "/image/raw/anna/brick.png"):
        assert (await studio.public.get(path)).json()["code"] == "GLK-816"
        assert (await studio.public.head(path)).status_code == 401


async def test_another_user_neither_sees_nor_takes_nor_adds(studio: Studio) -> None:
    await upload(studio.anna, ("brick.png", PNG))
    key = (await studio.visit.link.fetch("SELECT object_key FROM files"))[0]["object_key"]
    assert (await studio.ben.get("/images/anna")).status_code == 403
    assert (await studio.ben.get("/image/raw/anna/brick.png")).status_code == 404
    assert (await studio.ben.get(f"/objects/{key}")).status_code == 404
    assert (await upload(studio.ben, ("x.png", PNG), user="anna")).json()["code"] == "GLK-818"
    assert await names(studio.ben, "ben") == []
    shown = await studio.anna.get(f"/objects/{key}")
    assert (shown.content, shown.headers["cache-control"]) == (PNG, "private, max-age=300")
    assert (await studio.operator.get(f"/objects/{key}")).content == PNG
    assert (await studio.public.get(f"/objects/{key}")).status_code == 404
    assert await names(studio.anna) == ["brick.png"]


async def test_an_operator_acts_for_whom_they_name(studio: Studio) -> None:
    assert (await upload(studio.operator, ("brick.png", PNG))).json()["message"].endswith("userId: it is missing.")
    assert (await upload(studio.operator, ("brick.png", PNG), user="clara")).status_code == 201
    assert (await studio.operator.get("/image/raw/clara/brick.png")).content == PNG
    assert await names(studio.operator, "clara") == ["brick.png"]


async def test_a_taken_name_gets_a_number_and_overwrites_nothing(studio: Studio) -> None:
    for data in (PNG, OTHER, PNG):
        await upload(studio.anna, ("brick.png", data))
    told = (await upload(studio.anna, ("brick.png", PNG), ("brick.png", OTHER), ("brick", PNG))).json()["files"]
    assert [each["name"] for each in told] == ["brick-4.png", "brick-5.png", "brick"]
    assert (await studio.anna.get("/image/raw/anna/brick.png")).content == PNG
    assert (await studio.anna.get("/image/raw/anna/brick-2.png")).content == OTHER


async def test_uploads_of_one_name_at_once_all_stay(studio: Studio) -> None:
    answers = await asyncio.gather(*(upload(studio.anna, ("a.png", a_picture(n))) for n in range(12)))
    told = [answer.json()["files"][0] for answer in answers]
    assert {each["name"] for each in told} == {"a.png", *(f"a-{n}.png" for n in range(2, 13))}
    for n, each in enumerate(told):
        assert (await studio.anna.get(f"/image/raw/{each['key']}")).content == a_picture(n)


NAMES = {
    "../../etc/passwd": "passwd",
    "..\\..\\boot.png": "boot.png",
    "/": "file",
    "..": "file-2",
    "e\N{COMBINING ACUTE ACCENT}té.png": "été.png",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe": "gnp.exe",
    "x" * 300 + ".png": "x" * 196 + ".png",
}


async def test_no_name_leads_elsewhere(studio: Studio) -> None:
    told = (await upload(studio.anna, *((given, PNG) for given in NAMES))).json()["files"]
    assert [each["key"] for each in told] == [f"anna/{kept}" for kept in NAMES.values()]
    for kept in NAMES.values():
        assert (await studio.anna.get(f"/image/raw/anna/{quote(kept)}")).content == PNG


STRANGE = ("", "anna", "anna/", "/brick.png", "anna/%2e%2e/x", "anna/brick.png%00", "anna%00/x", "%ff/x", "anna/x/y")


async def test_a_key_that_is_none_is_a_404(studio: Studio) -> None:
    for key in STRANGE:
        refused = await studio.anna.get(f"/image/raw/{key}")
        assert (refused.status_code, refused.json()["code"]) == (404, "GLK-820"), key


async def test_what_is_no_picture_is_refused_and_none_of_the_request_is_written(studio: Studio) -> None:
    for data in (b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<html>", b"%PDF-1.7", b"MZ\x90\0", PNG[:8], PNG[:-20]):
        refused = await upload(studio.anna, ("good.png", PNG), ("evil.png", data))
        assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806")
        assert refused.json()["message"].startswith("A part of the request cannot be used. imageFiles: 'evil.png'")
    assert await studio.visit.link.fetch("SELECT FROM files") == []
    assert [key async for key in objects_of(studio).listed()] == []


A_FORM = "multipart/form-data; boundary=b"
BAD_FORMS = [
    (b"{}", "application/json", "The body: multipart/form-data is wanted."),
    (b"", "multipart/form-data", "The body: Missing boundary in multipart."),
    (b"x", A_FORM, "The body: Invalid multipart data."),
    (b"--b\r\n\r\nx\r\n--b--\r\n", A_FORM, "The body: The Content-Disposition header"),
    (b"--b--\r\n", A_FORM, "imageFiles: it is missing."),
    (
        b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n',
        A_FORM,
        "other: there is no such field.",
    ),
    (
        b'--b\r\nContent-Disposition: form-data; name="imageFiles"\r\n\r\nx\r\n--b--\r\n',
        A_FORM,
        "imageFiles: a file is wanted.",
    ),
    (
        b'--b\r\nContent-Disposition: form-data; name="imageFiles"; filename="a.png"\r\n\r\n\r\n--b--\r\n',
        A_FORM,
        "imageFiles: 'a.png' is empty.",
    ),
    (
        b'--b\r\nContent-Disposition: form-data; name="userId"; filename="a.png"\r\n\r\nanna\r\n--b--\r\n',
        A_FORM,
        "userId: one text is wanted.",
    ),
]


async def test_a_bad_form_is_told_with_what_is_wrong(studio: Studio) -> None:
    for body, kind, why in BAD_FORMS:
        refused = await studio.anna.post("/upload", content=body, headers={"Content-Type": kind})
        assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806")
        assert why in refused.json()["message"]


@pytest.mark.parametrize("stalls", [False, True])
async def test_a_form_that_breaks_off_writes_nothing(
    stalls: bool, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client leaves in the middle of a file, or stays and sends no more of it."""
    head = b'--b\r\nContent-Disposition: form-data; name="imageFiles"; filename="a.png"\r\n\r\n' + PNG
    request = (
        f"POST /upload HTTP/1.1\r\nHost: glisk.example\r\nAuthorization: {studio.anna.headers['Authorization']}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(head) + 1000}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection(*address(studio))
    monkeypatch.setattr(stalled, "PATIENCE_S", 0.2)
    writer.write(request.encode() + head)
    await writer.drain()
    if stalls:
        assert await reader.readexactly(12) == b"HTTP/1.1 400"
    else:
        writer.write_eof()
        await reader.read()
    writer.close()
    assert await studio.visit.link.fetch("SELECT FROM files") == []
    assert await names(studio.anna) == []


async def test_what_is_too_large_is_refused_and_said_so(database_url: str) -> None:
    mb = 1024 * 1024
    async with open_studio(database_url, upload_file_mb=1, upload_total_mb=2, upload_files=3) as studio:
        just_so = PNG + bytes(mb - len(PNG))
        assert (await upload(studio.anna, ("just.png", just_so))).status_code == 201
        for files in ([("large.png", just_so + b"x")], [(f"{n}.png", just_so) for n in range(3)]):
            refused = await upload(studio.anna, *files)
            assert (refused.status_code, refused.json()["code"]) == (413, "GLK-808")
        many = await upload(studio.anna, *((f"{n}.png", PNG) for n in range(4)))
        assert (many.status_code, "Too many files" in many.json()["message"]) == (400, True)
        assert await names(studio.anna) == ["just.png"]


async def test_twenty_megabytes_go_through(studio: Studio) -> None:
    data = PNG + bytes(20 * 1024 * 1024 - len(PNG))
    assert (await upload(studio.anna, ("large.png", data))).status_code == 201
    assert (await upload(studio.anna, ("larger.png", data + b"x"))).status_code == 413
    (fetched,) = (await studio.anna.get("/images/anna", timeout=30)).json()
    assert base64.b64decode(fetched["data"]) == data


async def test_a_connection_that_is_dropped_in_the_middle_delivers_nothing(studio: Studio) -> None:
    data = PNG + bytes(8 * 1024 * 1024)
    await upload(studio.anna, ("a.png", data), ("b.png", PNG))
    for taken in (1, 100_000, 4_000_000):
        await drop_after(studio, taken)
        assert await delivered(studio) == 0
    assert await names(studio.anna) == ["a.png", "b.png"]
    assert await delivered(studio) == 2


async def test_what_does_not_fit_into_one_answer_comes_with_the_next(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(album, "MOST", 2 * len(PNG))
    await upload(studio.anna, *((f"{n}.png", PNG) for n in range(5)))
    answers = [await studio.anna.get("/images/anna") for _ in range(4)]
    assert [[each["name"] for each in answer.json()] for answer in answers] == [
        ["0.png", "1.png"],
        ["2.png", "3.png"],
        ["4.png"],
        [],
    ]
    assert [answer.headers["x-files-left"] for answer in answers] == ["3", "1", "0", "0"]


async def test_a_page_of_another_site_does_not_take_them(studio: Studio) -> None:
    await upload(studio.anna, ("brick.png", PNG))
    _, _, secret = studio.anna.headers["Authorization"].partition(" ")
    theirs = {"Cookie": f"glisk_key={secret}", "Sec-Fetch-Site": "cross-site"}
    refused = await studio.public.get("/images/anna", headers=theirs)
    assert (refused.status_code, refused.json()["code"]) == (403, "GLK-803")
    assert await names(studio.anna) == ["brick.png"]


async def test_bytes_that_are_lost_or_damaged_do_not_keep_the_others(studio: Studio) -> None:
    await upload(studio.anna, ("lost.png", PNG), ("hurt.png", OTHER), ("fine.png", a_picture(3)))
    rows = await studio.visit.link.fetch("SELECT name, object_key FROM files")
    keys = {row["name"]: row["object_key"] for row in rows}
    await objects_of(studio).delete(keys["lost.png"])
    await obstore.put_async(objects_of(studio).place.store, keys["hurt.png"], bytes(len(OTHER)))
    with pytest.raises(httpx.RemoteProtocolError):  # the damage was found too late to say so
        await studio.anna.get("/images/anna")
    found = {each["name"]: each["data"] for each in (await studio.anna.get("/images/anna")).json()}
    assert (found["lost.png"], found["hurt.png"]) == (None, None)
    assert base64.b64decode(found["fine.png"]) == a_picture(3)


def objects_of(studio: Studio) -> Objects:
    return Objects.of(studio.visit.settings)


def address(studio: Studio) -> tuple[str, int]:
    parts = urlsplit(studio.visit.address)
    return str(parts.hostname), int(parts.port or 0)


async def drop_after(studio: Studio, taken: int) -> None:
    """Reads so many bytes of the answer, and breaks the connection off."""
    reader, writer = await asyncio.open_connection(*address(studio), limit=1024)
    writer.write(
        f"GET /images/anna HTTP/1.1\r\nHost: glisk.example\r\n"
        f"Authorization: {studio.anna.headers['Authorization']}\r\n\r\n".encode()
    )
    await reader.readexactly(taken)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()


async def delivered(studio: Studio) -> int:
    rows = await studio.visit.link.fetch("SELECT count(*) AS n FROM files WHERE delivered_at IS NOT NULL")
    return int(rows[0]["n"])
