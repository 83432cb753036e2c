"""Objects in a bucket of any S3: AWS, Cloudflare R2, MinIO."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, GenericError
from obstore.store import S3Store

from glisk.errors import BucketMissing, StorageDown, StorageError, StorageForbidden, StorageFull, StorageRefused
from glisk.settings import Settings
from glisk.storage.keys import Key

if TYPE_CHECKING:
    from obstore import Attributes, PutMode
    from obstore.store import S3Credential

FOREVER = "public, max-age=31536000, immutable"  # a key's bytes never change
LONGEST_LINK = timedelta(days=7)  # what the signature allows
LOST_ON_THE_WAY = {"BadDigest", "IncompleteBody", "RequestTimeout", "XAmzContentSHA256Mismatch"}  # 400, yet they pass
NO_ROOM = {"QuotaExceeded", "XMinioAdminBucketQuotaExceeded", "XMinioStorageFull"}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long we wait: to be let in, for a silent server (and so for an upload), for one answer with all its retries, and
    for a download by the slowest of readers."""

    connect: timedelta = timedelta(seconds=5)
    silence: timedelta = timedelta(seconds=20)
    answer: timedelta = timedelta(seconds=45)
    download: timedelta = timedelta(minutes=10)
    retries: int = 2


class Bucket:
    """The place for objects that an operator has set up."""

    def __init__(self, settings: Settings, patience: Patience, room: str = "") -> None:
        self.name = f"{settings.s3_endpoint or 'AWS'}/{settings.s3_bucket}"
        self.store = store(settings, patience, f"{settings.s3_prefix}/{room}".strip("/"))

    async def put(self, key: Key, data: bytes, mime: str) -> None:
        """A server may not know how to put only what is absent; then it is put again, which changes nothing."""
        try:
            await self.write(key, data, mime, "create")
        except AlreadyExistsError:
            if not await self.holds(key, data):
                await self.write(key, data, mime, "overwrite")
        except GenericError as error:
            if status_in(str(error)) != 501:
                raise
            await self.write(key, data, mime, "overwrite")

    async def write(self, key: Key, data: bytes, mime: str, mode: PutMode) -> None:
        """In one request, whose signature covers the bytes: the server refuses what was damaged on the way."""
        attributes: Attributes = {"Content-Type": mime, "Cache-Control": FOREVER}
        await obstore.put_async(self.store, str(key), data, mode=mode, use_multipart=False, attributes=attributes)

    async def holds(self, key: Key, data: bytes) -> bool:
        """The name alone proves nothing: somebody may have spoiled what lies there."""
        try:
            found = await obstore.get_async(self.store, str(key))
        except FileNotFoundError:
            return False  # "already there" may also have meant that somebody else was putting it
        return found.meta["size"] == len(data) and bytes(await found.bytes_async()) == data

    def link(self, key: Key, expires: timedelta) -> str | None:
        return obstore.sign(self.store, "GET", str(key), min(expires, LONGEST_LINK))

    def trouble(self, error: Exception) -> StorageError:
        words = str(error).partition("\n\nDebug source")[0]
        return kind_of(error, words)(f"{self.name}: {said(words)}.")


def store(settings: Settings, patience: Patience, prefix: str) -> S3Store:
    """Every choice of server and key is made here: obstore would else take it from the AWS_… variables of whoever starts us."""
    key: S3Credential = {
        "access_key_id": settings.s3_access_key_id,
        "secret_access_key": settings.s3_secret_access_key.get_secret_value(),
        "token": None,
        "expires_at": None,
    }
    return S3Store(
        settings.s3_bucket,
        prefix=prefix or None,
        region=settings.s3_region,
        aws_endpoint_url_s3=settings.s3_endpoint or f"https://s3.{settings.s3_region}.amazonaws.com",
        virtual_hosted_style_request=False,
        skip_signature=False,
        unsigned_payload=False,
        credential_provider=lambda: key,
        client_options={
            "allow_http": settings.s3_endpoint.startswith("http://"),
            "connect_timeout": patience.connect,
            "read_timeout": patience.silence,
            "timeout": patience.download,
        },
        retry_config={
            "max_retries": patience.retries,
            "retry_timeout": patience.answer,
            "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2), "base": 2},
        },
    )


def kind_of(error: Exception, words: str) -> type[StorageError]:
    status, code = status_in(words), tagged("Code", words)
    if isinstance(error, FileNotFoundError):
        return BucketMissing
    if status == 507 or code in NO_ROOM:
        return StorageFull
    if status in (401, 403):
        return StorageForbidden
    if status in (408, 409, 425, 429) or code in LOST_ON_THE_WAY:
        return StorageDown
    return StorageRefused if 300 <= (status or 0) < 500 or "redirect" in words else StorageDown


def status_in(words: str) -> int | None:
    """obstore tells the server's answer only in words."""
    return int(match[1]) if (match := re.search(r"status code: (\d{3})", words)) else None


def said(words: str) -> str:
    parts = [str(status_in(words) or ""), tagged("Code", words), tagged("Message", words)]
    return (" ".join(part for part in parts if part) or words.rpartition(" - ")[2])[:300].rstrip(".")


def tagged(name: str, words: str) -> str:
    return match[1].strip() if (match := re.search(f"<{name}>([^<]*)</{name}>", words)) else ""
