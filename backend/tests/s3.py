"""S3 servers for tests: a real one, and one that gives the answers a test wants to see handled."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeAlias

from pydantic import SecretStr

from glisk.dev.child import becoming
from glisk.settings import Settings

RCLONE = Path(sys.executable).parent / "rclone"
ACCESS, SECRET, BUCKET = "an-access-key-for-tests", "a-secret-for-tests", "images"
Answer: TypeAlias = tuple[int, dict[str, str], bytes]


@contextmanager
def serving(directory: Path) -> Iterator[str]:
    """The address of a server whose buckets are the folders of the directory."""
    (directory / BUCKET).mkdir(parents=True)
    command = [str(RCLONE), "serve", "s3", "--addr", "127.0.0.1:0", "--auth-key", f"{ACCESS},{SECRET}"]
    with subprocess.Popen(
        [*command, "--config", "/dev/null", str(directory)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=becoming(None),
    ) as process:
        try:
            yield address_of(process)
        finally:
            process.kill()


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr
    for line in process.stderr:
        if match := re.search(r"http://[\d.:]+", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()  # a full pipe would stop it
            return match[0]
    raise AssertionError("rclone ended before it was ready")


def settings_for(endpoint: str, **others: str) -> Settings:
    base = Settings(
        s3_bucket=BUCKET, s3_endpoint=endpoint, s3_access_key_id=ACCESS, s3_secret_access_key=SecretStr(SECRET)
    )
    return base.model_copy(update={**others})


@asynccontextmanager
async def answering(answer: Callable[[str, str], Answer]) -> AsyncIterator[str]:
    """A server that answers each request, given as its method and its headers in small letters."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if length := re.search(r"content-length: (\d+)", head):
            await reader.readexactly(int(length[1]))
        status, headers, body = answer(head.split()[0].upper(), head)
        lines = {"Content-Length": str(len(body)), "Connection": "close", **headers}
        told = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{told}\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
