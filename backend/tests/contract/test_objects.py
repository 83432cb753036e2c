"""Objects: one suite for a directory and for a bucket of a real S3 server, then what only one of the two can get wrong."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import random
import resource
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import obstore
import pytest

from glisk.errors import (
    BadObjectKey,
    BucketMissing,
    ObjectDamaged,
    StorageDown,
    StorageError,
    StorageForbidden,
    StorageFull,
    StorageRefused,
    StorageUnusable,
)
from glisk.settings import Settings
from glisk.storage.objects import Objects, Part, Stored
from glisk.storage.s3 import Patience
from tests.blocks import endpoint, settings
from tests.forked import FORKS, killed_after
from tests.s3 import BUCKET, Answer, answering, settings_for

__all__ = ["endpoint", "settings"]  # fixtures

SOON = timedelta(seconds=0.2)
HASTY = Patience(connect=SOON, silence=SOON, answer=SOON, retries=0)
ONCE = Patience(retries=0)
KEY = f"sha256/ab/{'ab' * 32}.webp"
FILE = {"ETag": '"x"', "Last-Modified": "Mon, 16 Nov 2026 13:20:30 GMT", "Content-Type": "image/webp"}
HOSTILE = [
    "",
    "/",
    "..",
    "../../etc/passwd",
    "sha256/ab/../../../etc/passwd",
    "/etc/passwd",
    "sha256/ab",
    f"sha256/ab/{'ab' * 32}",
    f"sha256/cd/{'ab' * 32}.webp",  # the folder of another
    f"sha256/AB/{'AB' * 32}.webp",
    f"sha256/ab/{'ab' * 32}.webp\n",
    f"sha256/ab/{'ab' * 32}.webp\0",
    f"sha256/ab/{'ab' * 32}.webp/",
    f"sha256//ab/{'ab' * 32}.webp",
    f"sha256/ab/{'ab' * 32}.../x",
    f"sha256/ab/{'ab' * 31}é́.webp",
    f"sha256/ab/.{'ab' * 16}.part",
    "sha256/%2e%2e/x.webp",
    "x" * 100_000,
]


@pytest.fixture
def objects(settings: Settings) -> Objects:
    return Objects.of(settings)


@pytest.fixture
def directory(tmp_path: Path) -> Objects:
    return Objects.of(Settings(data_dir=tmp_path))


def bucket(endpoint: str, patience: Patience = ONCE, **others: Any) -> Objects:
    return Objects.of(settings_for(endpoint, **others), patience)


async def put(objects: Objects, data: bytes = b"an image") -> Stored:
    return await objects.put(data, "image/webp", "webp")


def key_of(data: bytes) -> str:
    sha256 = hashlib.sha256(data).hexdigest()
    return f"sha256/{sha256[:2]}/{sha256}.webp"


async def overwrite(objects: Objects, key: str, data: bytes) -> None:
    """As a crash, a failing disk or a person would."""
    await obstore.put_async(objects.place.store, key, data)


async def read(chunks: AsyncIterator[bytes] | None) -> list[bytes]:
    assert chunks is not None
    return [chunk async for chunk in chunks]


async def test_what_is_put_comes_back_under_the_hash_of_its_content(objects: Objects) -> None:
    stored = await put(objects)
    sha256 = hashlib.sha256(b"an image").hexdigest()
    assert stored == Stored(f"sha256/{sha256[:2]}/{sha256}.webp", sha256, 8)
    assert await objects.get(stored.key) == b"an image"
    assert await objects.exists(stored.key)
    assert await objects.size(stored.key) == 8


async def test_nothing_is_an_object_too(objects: Objects) -> None:
    assert await objects.get((await put(objects, b"")).key) == b""


async def test_putting_it_again_changes_nothing(objects: Objects) -> None:
    first, second = await put(objects), await put(objects)
    assert first == second
    assert await objects.get(first.key) == b"an image"


async def test_what_was_never_put_is_told_by_none(objects: Objects) -> None:
    assert await objects.get(KEY) is None
    assert await objects.open(KEY) is None
    assert await objects.open(KEY, Part(0, 1)) is None
    assert not await objects.exists(KEY)


async def test_a_deleted_object_is_gone_and_may_be_deleted_again_and_put_again(objects: Objects) -> None:
    stored = await put(objects)
    await objects.delete(stored.key)
    await objects.delete(stored.key)
    assert not await objects.exists(stored.key)
    assert await put(objects) == stored
    assert await objects.get(stored.key) == b"an image"


async def test_many_may_put_the_same_at_once(objects: Objects) -> None:
    data = random.randbytes(300_000)
    stored = await asyncio.gather(*(put(objects, data) for _ in range(20)))
    assert len(set(stored)) == 1
    assert await objects.get(stored[0].key) == data


def put_in_another_process(settings: Settings, data: bytes) -> None:
    asyncio.run(put(Objects.of(settings), data))


async def test_several_processes_may_put_the_same_at_once(settings: Settings) -> None:
    data = random.randbytes(2_000_000)
    processes = [FORKS.Process(target=put_in_another_process, args=(settings, data)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        await asyncio.to_thread(process.join)
    assert [process.exitcode for process in processes] == [0] * 4
    assert await Objects.of(settings).get(key_of(data)) == data


async def test_a_large_object_comes_in_small_chunks(objects: Objects) -> None:
    data = random.randbytes(20_000_000)
    stored = await put(objects, data)
    chunks = await read(await objects.open(stored.key))
    assert max(map(len, chunks)) < 1_000_000
    assert b"".join(chunks) == data


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 1_000_000), (299_999, 600_001), (999_999, 1_000_000)])
async def test_a_part_of_an_object_is_that_part(start: int, stop: int, objects: Objects) -> None:
    data = random.randbytes(1_000_000)
    stored = await put(objects, data)
    assert b"".join(await read(await objects.open(stored.key, Part(start, stop)))) == data[start:stop]


@pytest.mark.parametrize("leftover", [b"", b"an im", b"\0" * 8, b"an image and more"], ids=len)
async def test_a_damaged_object_is_never_handed_out_as_whole(leftover: bytes, objects: Objects) -> None:
    stored = await put(objects)
    await overwrite(objects, stored.key, leftover)
    with pytest.raises(ObjectDamaged, match=stored.sha256):
        await objects.get(stored.key)


@pytest.mark.parametrize("leftover", [b"", b"an im", b"\0" * 8], ids=len)
async def test_putting_mends_what_a_crash_has_left(leftover: bytes, objects: Objects) -> None:
    stored = await put(objects)
    await overwrite(objects, stored.key, leftover)
    await put(objects)
    assert await objects.get(stored.key) == b"an image"


@pytest.mark.parametrize("key", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_key_that_is_not_ours_reaches_no_storage(key: str, objects: Objects) -> None:
    for ask in (objects.get, objects.open, objects.size, objects.exists, objects.delete):
        with pytest.raises(BadObjectKey):
            await ask(key)
    for tell in (objects.address, lambda key: objects.link(key, timedelta(hours=1))):
        with pytest.raises(BadObjectKey):
            tell(key)


@pytest.mark.parametrize("extension", ["", "../x", "webp/x", "WEBP", "we bp", "webp\n", "waytoolong"])
async def test_an_extension_is_a_short_word(extension: str, objects: Objects) -> None:
    with pytest.raises(BadObjectKey):
        await objects.put(b"an image", "image/webp", extension)


async def test_each_room_has_its_own_objects(settings: Settings) -> None:
    images, room = Objects.of(settings), Objects.of(settings, room="room")
    stored = await put(room)
    assert await room.exists(stored.key)
    assert not await images.exists(stored.key)
    assert await put(images) == stored
    await room.delete(stored.key)
    assert await images.get(stored.key) == b"an image"


async def test_its_address_is_on_our_own_server(settings: Settings) -> None:
    stored = await put(Objects.of(settings))
    assert Objects.of(settings).address(stored.key) == f"http://127.0.0.1:8000/objects/{stored.key}"
    elsewhere = settings.model_copy(update={"public_url": "https://glisk.example"})
    assert Objects.of(elsewhere).address(stored.key) == f"https://glisk.example/objects/{stored.key}"


class TestDirectory:
    async def test_a_link_is_its_address(self, directory: Objects) -> None:
        stored = await put(directory)
        assert directory.link(stored.key, timedelta(hours=1)) == directory.address(stored.key)

    async def test_the_bytes_are_on_the_disk_before_their_name_and_the_names_before_we_return(
        self, directory: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told, fsync, replace = list[str](), os.fsync, Path.replace

        def noted_fsync(handle: int) -> None:
            told.append(f"sync {Path(os.readlink(f'/proc/self/fd/{handle}')).relative_to(tmp_path.parent)}")
            fsync(handle)

        def noted_replace(part: Path, target: Path) -> Path:
            told.append(f"name {target.name}")
            return replace(part, target)

        monkeypatch.setattr(os, "fsync", noted_fsync)
        monkeypatch.setattr(Path, "replace", noted_replace)
        stored = await put(directory)
        base, folder = f"{tmp_path.name}/objects", f"{tmp_path.name}/objects/sha256/{stored.sha256[:2]}"
        assert told[:3] == [f"sync {tmp_path.name}", f"sync {base}", f"sync {base}/sha256"]
        assert told[3].startswith(f"sync {folder}/.")
        assert told[4:] == [f"name {stored.sha256}.webp", f"sync {folder}"]
        told.clear()
        await put(directory)
        assert told == [f"sync {folder}/{stored.sha256}.webp", f"sync {folder}"]

    def test_a_kill_leaves_no_half_object_under_its_name(self, tmp_path: Path) -> None:
        whole = list[Path]()
        while len(whole) < 10:
            killed_after(random.uniform(0.02, 0.2), put_for_ever, tmp_path)
            whole = [*(tmp_path / "objects").rglob("*.webp")]
        assert all(hashlib.sha256(file.read_bytes()).hexdigest() == file.stem for file in whole)

    async def test_what_a_killed_process_left_half_written_is_swept(self, directory: Objects, tmp_path: Path) -> None:
        folder = tmp_path / "objects" / "sha256" / hashlib.sha256(b"an image").hexdigest()[:2]
        folder.mkdir(parents=True)
        old, young = folder / ".old.part", folder / ".young.part"
        old.touch()
        young.touch()
        os.utime(old, times=(time.time() - 4000,) * 2)
        await put(directory)
        assert (old.exists(), young.exists()) == (False, True)

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    async def test_a_full_disk_is_told_and_leaves_nothing(
        self, number: int, directory: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await put(directory)

        def full(handle: int) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StorageFull, match=os.strerror(number)) as caught:
            await put(directory, b"another image")
        assert "GLISK_DATA_DIR" in caught.value.fix
        assert len([file for file in (tmp_path / "objects").rglob("*") if file.is_file()]) == 1

    def test_a_file_that_finds_no_room_is_told_and_leaves_nothing(self, tmp_path: Path) -> None:
        assert code_from_another_process(put_with_little_room, tmp_path) == "GLK-402"
        assert not [file for file in (tmp_path / "objects").rglob("*") if file.is_file()]

    def test_a_directory_of_somebody_else_is_told(self) -> None:
        with tempfile.TemporaryDirectory() as folder:  # not tmp_path, which only we can enter
            assert code_from_another_process(put_where_we_may_not, Path(folder)) == "GLK-403"

    async def test_a_file_that_we_may_not_read_is_told(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            stored = await put(Objects.of(Settings(data_dir=Path(folder))))
            (Path(folder) / "objects" / stored.key).chmod(0)
            assert code_from_another_process(get_what_we_may_not, Path(folder)) == "GLK-403"

    async def test_a_file_where_a_directory_belongs_is_told(self, directory: Objects, tmp_path: Path) -> None:
        (tmp_path / "objects" / "sha256").touch()
        with pytest.raises(StorageRefused, match="objects"):
            await put(directory)
        (tmp_path / "file").touch()
        with pytest.raises(StorageRefused):
            Objects.of(Settings(data_dir=tmp_path / "file"))

    async def test_any_name_will_do_for_the_data_directory(self, tmp_path: Path) -> None:
        odd = Objects.of(Settings(data_dir=tmp_path / "a b%20ü#1?*"))
        assert await odd.get((await put(odd)).key) == b"an image"

    async def test_a_directory_that_vanished_is_made_again(self, directory: Objects, tmp_path: Path) -> None:
        stored = await put(directory)
        (tmp_path / "objects").rename(tmp_path / "elsewhere")
        assert not await directory.exists(stored.key)
        assert await put(directory) == stored
        assert await directory.exists(stored.key)


def put_for_ever(data_dir: Path) -> None:
    directory = Objects.of(Settings(data_dir=data_dir))
    while True:
        asyncio.run(put(directory, random.randbytes(400_000)))


def code_from_another_process(work: Any, folder: Path) -> str:
    """Limits and users are a whole process's."""
    ours, theirs = FORKS.Pipe()
    process = FORKS.Process(target=work, args=(folder, theirs))
    process.start()
    theirs.close()
    code: str = ours.recv()
    process.join()
    return code


def put_with_little_room(folder: Path, teller: Any) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    tell_the_code_of(lambda objects: put(objects, random.randbytes(400_000)), folder, teller)


def put_where_we_may_not(folder: Path, teller: Any) -> None:
    lose_all_rights(folder)
    tell_the_code_of(put, folder, teller)


def get_what_we_may_not(folder: Path, teller: Any) -> None:
    lose_all_rights(folder)
    tell_the_code_of(lambda objects: objects.get(key_of(b"an image")), folder, teller)


def lose_all_rights(folder: Path) -> None:
    if os.geteuid() == 0:  # to whom nothing is forbidden
        folder.chmod(0o755)
        os.setuid(65534)
    else:
        folder.chmod(0o555)


def tell_the_code_of(ask: Callable[[Objects], Coroutine[Any, Any, object]], folder: Path, teller: Any) -> None:
    try:
        teller.send(asyncio.run(ask(Objects.of(Settings(data_dir=folder)))))
    except StorageError as error:
        teller.send(error.code)


class TestBucket:
    async def test_a_link_shows_the_object_to_whoever_has_it_until_it_expires(self, endpoint: str) -> None:
        images = bucket(endpoint)
        stored = await put(images)
        link = images.link(stored.key, timedelta(hours=1))
        async with httpx.AsyncClient() as browser:
            shown = await browser.get(link)
            tampered = await browser.get(link[:-1] + ("0" if link[-1] != "0" else "1"))
        assert (shown.status_code, shown.content, shown.headers["content-type"]) == (200, b"an image", "image/webp")
        assert parse_qs(urlsplit(link).query)["X-Amz-Expires"] == ["3600"]
        assert tampered.status_code == 403

    async def test_a_link_lives_no_longer_than_its_signature_may(self, endpoint: str) -> None:
        link = bucket(endpoint).link(KEY, timedelta(days=30))
        assert parse_qs(urlsplit(link).query)["X-Amz-Expires"] == ["604800"]

    @pytest.mark.parametrize("wrong", ["s3_access_key_id", "s3_secret_access_key"])
    async def test_a_wrong_key_is_told_and_not_shown(self, wrong: str, endpoint: str) -> None:
        broken = Settings(**{**settings_for(endpoint).model_dump(), wrong: "hunter2hunter2hunter2"})
        images = Objects.of(broken)
        for ask in (put(images), images.get(KEY), images.exists(KEY), images.delete(KEY)):
            with pytest.raises(StorageForbidden, match="403") as caught:
                await ask
            assert "GLISK_S3_" in caught.value.fix
            assert "hunter2" not in str(caught.value)

    async def test_a_missing_bucket_is_told_by_every_question(self, endpoint: str) -> None:
        images = bucket(endpoint, s3_bucket="nowhere")
        for ask in (put(images), images.get(KEY), images.exists(KEY), images.delete(KEY)):
            with pytest.raises(BucketMissing, match="/nowhere: 404 NoSuchBucket") as caught:
                await ask
            assert "GLISK_S3_BUCKET" in caught.value.fix

    async def test_a_server_that_is_not_there_is_told_soon(self) -> None:
        images = bucket("http://127.0.0.1:1")
        for ask in (put(images), images.get(KEY), images.exists(KEY), images.delete(KEY)):
            with pytest.raises(StorageDown, match=r"http://127\.0\.0\.1:1/images"):
                await ask

    async def test_a_server_that_says_nothing_is_not_waited_for_for_long(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            images = bucket(f"http://127.0.0.1:{silent.getsockname()[1]}", HASTY)
            async with asyncio.timeout(10):
                for ask in (put(images), images.get(KEY), images.exists(KEY), images.delete(KEY)):
                    with pytest.raises(StorageDown):
                        await ask

    async def test_a_server_that_stops_in_the_middle_is_not_waited_for_for_long(self) -> None:
        def half(method: str, head: str) -> Answer:
            return 200, {**FILE, "Content-Length": "1000000"}, b"x" * 1000

        async with answering(half) as url:
            with pytest.raises(StorageDown):
                await bucket(url).get(KEY)

    @pytest.mark.parametrize(
        ("status", "code", "kind"),
        [
            (503, "SlowDown", StorageDown),
            (500, "InternalError", StorageDown),
            (429, "TooManyRequests", StorageDown),
            (400, "RequestTimeout", StorageDown),
            (400, "BadDigest", StorageDown),
            (400, "AuthorizationHeaderMalformed", StorageRefused),
            (301, "PermanentRedirect", StorageRefused),
            (409, "OperationAborted", StorageDown),
            (401, "Unauthorized", StorageForbidden),
            (403, "RequestTimeTooSkewed", StorageForbidden),
            (404, "NoSuchBucket", BucketMissing),
            (507, "XMinioStorageFull", StorageFull),
            (400, "XMinioAdminBucketQuotaExceeded", StorageFull),
        ],
    )
    async def test_what_may_pass_is_told_apart_from_what_a_person_must_mend(
        self, status: int, code: str, kind: type[StorageError]
    ) -> None:
        body = f"<Error><Code>{code}</Code><Message>So it is.</Message></Error>".encode()
        async with answering(lambda method, head: (status, {}, body)) as url:
            with pytest.raises(kind) as caught:
                await put(bucket(url))
        assert isinstance(caught.value, StorageUnusable) == (kind is not StorageDown)
        assert status in (301, 409) or f"{status} {code} So it is." in str(caught.value)

    async def test_a_server_that_cannot_put_only_what_is_absent_is_asked_to_put(self) -> None:
        asked = list[str]()

        def plain(method: str, head: str) -> Answer:
            asked.append(f"{method} {'if-none-match: *' in head}")
            return (501 if "if-none-match" in head else 200), {"ETag": '"x"'}, b""

        async with answering(plain) as url:
            await put(bucket(url))
        assert asked == ["PUT True", "PUT False"]

    @pytest.mark.parametrize(
        ("refusal", "there", "body", "asked"),
        [
            (412, 200, b"an image", ["PUT", "GET"]),
            (412, 200, b"an im", ["PUT", "GET", "PUT"]),
            (412, 200, b"an omage", ["PUT", "GET", "PUT"]),  # as long, and yet damaged
            (409, 404, b"", ["PUT", "GET", "PUT"]),  # somebody else was putting it, and did not
        ],
    )
    async def test_what_is_there_already_is_replaced_only_if_it_is_not_the_same(
        self, refusal: int, there: int, body: bytes, asked: list[str]
    ) -> None:
        seen = list[str]()

        def answer(method: str, head: str) -> Answer:
            seen.append(method)
            if "if-none-match" in head:
                return refusal, {}, b""
            return (there, FILE, body) if method == "GET" else (200, FILE, b"")

        async with answering(answer) as url:
            await put(bucket(url))
        assert seen == asked

    async def test_the_signature_covers_the_bytes_and_their_type_goes_with_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_UNSIGNED_PAYLOAD", "true")
        heads = list[str]()

        def noted(method: str, head: str) -> Answer:
            heads.append(head)
            return 200, {"ETag": '"x"'}, b""

        async with answering(noted) as url:
            stored = await put(bucket(url))
        assert f"x-amz-content-sha256: {stored.sha256}" in heads[0]
        assert "content-type: image/webp" in heads[0]
        assert "cache-control: public, max-age=31536000, immutable" in heads[0]

    async def test_only_the_part_that_is_wanted_is_asked_for(self) -> None:
        def part(method: str, head: str) -> Answer:
            assert "range: bytes=3-7" in head
            return 206, {**FILE, "Content-Range": "bytes 3-7/8"}, b"image"

        async with answering(part) as url:
            assert await read(await bucket(url).open(KEY, Part(3, 8))) == [b"image"]

    async def test_settings_of_other_programs_change_nothing(
        self, endpoint: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_BUCKET"):
            monkeypatch.setenv(name, "other")
        for name in ("AWS_SKIP_SIGNATURE", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST"):
            monkeypatch.setenv(name, "true")
        images = bucket(endpoint)
        stored = await put(images)
        assert await images.get(stored.key) == b"an image"

    async def test_objects_lie_in_their_folder_of_the_bucket(self, endpoint: str) -> None:
        stored = await put(bucket(endpoint, s3_prefix="glisk/images"), b"in a folder")
        whole = bucket(endpoint)
        assert not await whole.exists(stored.key)
        link = whole.link(stored.key, timedelta(hours=1))
        assert f"/{BUCKET}/{stored.key}?" in link
        deep = bucket(endpoint, s3_prefix="glisk/images").link(stored.key, timedelta(hours=1))
        assert f"/{BUCKET}/glisk/images/{stored.key}?" in deep


async def test_a_part_that_is_put_in_its_place_while_others_are_swept_troubles_nobody(tmp_path: Path) -> None:
    """As if it were gone between being seen and being looked at."""
    objects = Objects.of(Settings(data_dir=tmp_path))
    digest = hashlib.sha256(b"a picture").hexdigest()
    folder = tmp_path / "objects" / "sha256" / digest[:2]
    folder.mkdir(parents=True)
    (folder / ".gone.part").symlink_to(tmp_path / "nowhere")
    assert (await objects.put(b"a picture", "image/webp", "webp")).sha256 == digest
