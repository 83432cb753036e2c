"""What strangers name is fetched from public servers alone, and never more than was agreed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from ssl import SSLContext

import pytest

from glisk.errors import (
    FetchedTooLarge,
    FetchedTooSlow,
    FetchedWrongType,
    FetchError,
    NotFetched,
    RedirectedTooOften,
    UrlForbidden,
    UrlUnusable,
)
from glisk.networks import Allowed, allowed_in
from glisk.providers.strangers import FetchLimits, Resolve, Strangers
from tests import certificates
from tests.strangers import HERE, NOBODY, Names, Stranger, answer, stranger, written

LIMITS = FetchLimits(1000, seconds=5, types=("image/*", "text/plain"))


@asynccontextmanager
async def strangers(
    allowed: Allowed = HERE, *, resolve: Resolve | None = None, verify: SSLContext | bool = True
) -> AsyncIterator[Strangers]:
    made = Strangers(allowed, resolve=resolve, verify=verify)
    yield made
    await made.close()


async def test_a_file_is_fetched_with_its_type_and_where_it_was() -> None:
    async with stranger() as server, strangers() as ours:
        server.answers["/a"] = answer(b"picture", content_type="Image/PNG; charset=x")
        found = await ours.fetch(server.url("/a"), LIMITS)
    assert (found.body, found.mime, found.url) == (b"picture", "image/png", server.url("/a"))
    assert f"host: 127.0.0.1:{server.port}".encode() in server.heads[0].lower()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://host/a",
        "file:///etc/passwd",
        "//host/a",
        "https://",
        "http://user:pass@host/",
        "http://me@host/",
        "gopher://127.0.0.1/",
        "data:text/plain,a",
        "http://[::1",
        "http://a\nb/",
        "https://x/" + "a" * 3000,
    ],
)
async def test_what_is_no_plain_address_is_refused(url: str) -> None:
    async with strangers() as ours:
        with pytest.raises(UrlUnusable):
            await ours.fetch(url, LIMITS)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::1]"])
async def test_however_this_machine_is_written_it_is_not_asked(host: str) -> None:
    async with stranger() as server, strangers(NOBODY) as ours:
        for asking in (ours.fetch(server.url(host=host), LIMITS), ours.post(server.url(host=host), b"{}", {})):
            with pytest.raises(FetchError) as refusal:
                await asking
            assert isinstance(refusal.value, UrlForbidden | NotFetched)  # not every system knows every spelling
    assert server.heads == []


async def test_the_metadata_of_a_cloud_is_not_asked() -> None:
    async with strangers(NOBODY) as ours:
        for url in (
            "http://169.254.169.254/latest/meta-data/",
            "http://[fd00:ec2::254]/",
            "http://[::ffff:a9fe:a9fe]/",
        ):
            with pytest.raises(UrlForbidden):
                await ours.fetch(url, LIMITS)


async def test_a_name_with_one_private_address_is_refused_whole() -> None:
    names = Names({"mixed.example": ["93.184.216.34 127.0.0.1"]})
    async with strangers(NOBODY, resolve=names) as ours:
        with pytest.raises(UrlForbidden):
            await ours.fetch("http://mixed.example/", LIMITS)


async def test_a_name_that_changes_its_mind_is_asked_once_and_taken_at_its_word() -> None:
    """The first answer is allowed, the second would be this machine: nobody asks a second time."""
    names = Names({"rebinding.example": ["127.0.0.1", "127.0.0.2"]})
    async with stranger() as server, strangers(allowed_in("127.0.0.1"), resolve=names) as ours:
        server.answers["/"] = answer(b"a", content_type="text/plain")
        await ours.fetch(server.url(host="rebinding.example"), LIMITS)
        assert names.asked == ["rebinding.example"]
        with pytest.raises(UrlForbidden):  # a new fetch is a new question
            await ours.fetch(server.url(host="rebinding.example"), LIMITS)
    assert b"host: rebinding.example" in server.heads[0].lower()


async def test_a_redirect_into_our_own_network_is_refused() -> None:
    names = Names({"outside.example": ["127.0.0.1"]})
    async with stranger() as server, strangers(allowed_in("outside.example"), resolve=names) as ours:
        for inside in ("http://10.0.0.1/", "http://169.254.169.254/", "http://[::1]/"):
            names.told["10.0.0.1"], names.told["169.254.169.254"], names.told["::1"] = (
                ["10.0.0.1"],
                ["169.254.169.254"],
                ["::1"],
            )
            server.answers["/"] = answer(status="302 Found", location=inside)
            with pytest.raises(UrlForbidden):
                await ours.fetch(server.url(host="outside.example"), LIMITS)
        server.answers["/"] = answer(status="302 Found", location="file:///etc/passwd")
        with pytest.raises(UrlUnusable):
            await ours.fetch(server.url(host="outside.example"), LIMITS)


async def test_three_redirects_are_followed_and_no_more() -> None:
    async with stranger() as server, strangers() as ours:
        for at in range(4):
            server.answers[f"/{at}"] = answer(status="307 Temporary Redirect", location=f"/{at + 1}")
        server.answers["/4"] = answer(b"there", content_type="text/plain")
        found = await ours.fetch(server.url("/1"), LIMITS)
        assert (found.body, found.url) == (b"there", server.url("/4"))
        with pytest.raises(RedirectedTooOften):
            await ours.fetch(server.url("/0"), LIMITS)


async def test_too_much_is_cut_off_whatever_was_announced() -> None:
    is_cut = asyncio.Event()

    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        try:
            while True:
                await written(writer, b"a" * 65536)
        finally:
            is_cut.set()

    async with stranger() as server, strangers() as ours:
        server.answers |= {"/flood": flood, "/long": answer(b"a" * 2000, content_type="text/plain")}
        for path in ("/flood", "/long"):
            with pytest.raises(FetchedTooLarge):
                await ours.fetch(server.url(path), LIMITS)
        async with asyncio.timeout(5):
            await is_cut.wait()


async def test_a_trickle_ends_with_the_deadline() -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        while True:
            await written(writer, b"a")
            await asyncio.sleep(0.01)

    async with stranger() as server, strangers() as ours:
        server.answers["/"] = trickle
        with pytest.raises(FetchedTooSlow) as late:
            await ours.fetch(server.url(), FetchLimits(10**6, seconds=0.2))
    assert late.value.may_pass


async def test_another_type_than_wanted_is_refused_and_so_is_what_is_packed() -> None:
    async with stranger() as server, strangers() as ours:
        server.answers |= {
            "/page": answer(b"<html>", content_type="text/html"),
            "/none": answer(b"a"),
            "/packed": answer(b"a", content_type="text/plain", content_encoding="gzip"),
        }
        for path in server.answers:
            with pytest.raises(FetchedWrongType):
                await ours.fetch(server.url(path), LIMITS)


@pytest.mark.parametrize(("status", "may_pass"), [("404 Not Found", False), ("403 No", False), ("503 Busy", True)])
async def test_what_is_not_there_is_told_with_its_status(status: str, may_pass: bool) -> None:
    async with stranger() as server, strangers() as ours:
        server.answers["/"] = answer(status=status)
        with pytest.raises(NotFetched) as missing:
            await ours.fetch(server.url(), LIMITS)
    assert (missing.value.status, missing.value.may_pass) == (int(status[:3]), may_pass)


async def test_a_broken_or_silent_server_is_not_fetched() -> None:
    async with stranger() as server, strangers() as ours:
        server.answers |= {
            "/": b"",
            "/half": answer(b"abc", content_length="1000", content_type="text/plain"),
            "/x": b"nonsense\r\n\r\n",
        }
        for path in server.answers:
            with pytest.raises(NotFetched):
                await ours.fetch(server.url(path), LIMITS)
    async with strangers() as ours:
        with pytest.raises(NotFetched):
            await ours.fetch(Stranger(1).url(), LIMITS)
        with pytest.raises(NotFetched):
            await ours.fetch("http://nobody.invalid/", LIMITS)


async def test_an_address_that_does_not_answer_is_followed_by_the_next() -> None:
    names = Names({"two.example": ["127.0.0.9 127.0.0.1"]})
    async with stranger() as server, strangers(resolve=names) as ours:
        server.answers["/"] = answer(b"a", content_type="text/plain")
        assert (await ours.fetch(server.url(host="two.example"), LIMITS)).body == b"a"


async def test_the_certificate_must_be_that_of_the_name(tmp_path: Path) -> None:
    names = Names({"pictures.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
    trust = certificates.trusting()
    async with stranger(certificates.of_the_server(tmp_path)) as server, strangers(resolve=names, verify=trust) as ours:
        server.answers["/"] = answer(b"a", content_type="text/plain")
        good = await ours.fetch(f"https://pictures.example:{server.port}/", LIMITS)
        assert good.body == b"a"
        with pytest.raises(NotFetched, match="certificate"):
            await ours.fetch(f"https://other.example:{server.port}/", LIMITS)


async def test_a_mail_server_is_not_talked_to() -> None:
    async with strangers(NOBODY, resolve=Names({"mail.example": ["93.184.216.34"]})) as ours:
        with pytest.raises(UrlForbidden, match="25"):
            await ours.fetch("http://mail.example:25/", LIMITS)


async def test_our_own_proxies_cookies_and_passwords_stay_with_us(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with stranger() as server, strangers() as ours:
        server.answers["/"] = answer(b"a", content_type="text/plain", set_cookie="a=b; Path=/")
        for _ in range(2):
            await ours.fetch(server.url(), LIMITS)
    assert not any(b"cookie" in head.lower() or b"authorization" in head.lower() for head in server.heads)


async def test_a_message_is_sent_and_its_redirect_not_followed() -> None:
    async with stranger() as server, strangers() as ours:
        server.answers |= {"/": answer(status="204 Fine"), "/away": answer(status="302 Found", location="/")}
        assert await ours.post(server.url(), b"{}", {"webhook-id": "7"}) == 204
        assert await ours.post(server.url("/away"), b"{}", {}) == 302
    assert [head.split()[0] for head in server.heads] == [b"POST", b"POST"]
    assert b"webhook-id: 7" in server.heads[0].lower()


async def test_parts_are_written_as_they_come() -> None:
    async with stranger() as server, strangers() as ours:
        server.answers["/"] = answer(b"a" * 900, content_type="text/plain")
        parts: list[bytes] = []
        await ours.save(server.url(), LIMITS, parts.append)
    assert b"".join(parts) == b"a" * 900
