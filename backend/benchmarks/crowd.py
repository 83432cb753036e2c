"""People of the studio, as many as it takes: some poll their jobs, some watch them. A process of its own, with as little of a client as will do."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from dataclasses import dataclass, field
from itertools import cycle, islice

USERS, JOBS, POLLERS, WATCHERS, POLL_S = 50, 500, 1000, 200, 2.5  # seed 002: every 2 to 3 seconds
BUSY, BUSY_S = 32, 5.0  # who ask again as soon as they are answered, and for how long
WORD = json.dumps({"prompt": "a lighthouse in fog"}).encode()


@dataclass
class Crowd:
    host: str
    port: int
    keys: list[str]
    took: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def run(self) -> dict[str, float]:
        made = await self.jobs()
        started = time.monotonic()
        watchers = [asyncio.create_task(self.watch(*job)) for job in islice(cycle(made), WATCHERS)]
        pollers = [asyncio.create_task(self.poll(*job)) for job in islice(cycle(made), POLLERS)]
        await asyncio.gather(*watchers, *pollers)
        assert not self.errors, self.errors[:5]
        ordered, over = sorted(self.took), time.monotonic() - started
        return {
            "p50": 1000 * ordered[len(ordered) // 2],
            "p99": 1000 * ordered[len(ordered) * 99 // 100],
            "rate": len(ordered) / over,
            "seconds": over,
        }

    async def jobs(self) -> list[tuple[str, str]]:
        """With the keys of those whose they are."""
        return [job for some in await asyncio.gather(*map(self.some, self.keys[:USERS])) for job in some]

    async def some(self, key: str) -> list[tuple[str, str]]:
        connection = await Connection.to(self, key)
        answers = [json.loads(await connection.ask("POST /jobs", WORD)) for _ in range(JOBS // USERS)]
        connection.close()
        return [(key, answer["jobId"]) for answer in answers]

    async def poll(self, key: str, job_id: str) -> None:
        """Until it has ended."""
        await asyncio.sleep(random.uniform(0, POLL_S))
        connection = await Connection.to(self, key)
        is_over = False
        while not is_over:
            is_over = json.loads(await connection.ask(f"GET /jobs/{job_id}", took=self.took))["finishedOn"] is not None
            await asyncio.sleep(0 if is_over else POLL_S)
        connection.close()

    async def watch(self, key: str, job_id: str) -> None:
        connection = await Connection.to(self, key)
        told = await connection.stream(f"GET /jobs/{job_id}/events")
        if b'"status":"ready"' not in told:
            self.errors.append(f"a stream ended with {told[-200:]!r}")
        connection.close()

    async def hurry(self, key: str) -> float:
        """Requests a second."""
        connection = await Connection.to(self, key)
        job_id = json.loads(await connection.ask("POST /jobs", WORD, userId=True))["jobId"]
        connection.close()
        until = time.monotonic() + BUSY_S
        counts = await asyncio.gather(*(self.ask_on(key, job_id, until) for _ in range(BUSY)))
        assert not self.errors, self.errors[:5]
        return sum(counts) / BUSY_S

    async def ask_on(self, key: str, job_id: str, until: float) -> int:
        connection, count = await Connection.to(self, key), 0
        while time.monotonic() < until:
            await connection.ask(f"GET /jobs/{job_id}")
            count += 1
        connection.close()
        return count


@dataclass
class Connection:
    crowd: Crowd
    key: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def to(cls, crowd: Crowd, key: str) -> Connection:
        return cls(crowd, key, *await asyncio.open_connection(crowd.host, crowd.port))

    async def ask(
        self, line: str, body: bytes = b"", *, took: list[float] | None = None, userId: bool = False
    ) -> bytes:
        if userId:  # an operator says whose it is; a user may
            body = body.replace(b"{", b'{"userId": "bench-0", ')
        begun = time.perf_counter()
        self.send(line, body)
        status, length = await self.head()
        answer = await self.reader.readexactly(length)
        if took is not None:
            took.append(time.perf_counter() - begun)
        if status not in (200, 201):
            self.crowd.errors.append(f"{line}: {status} {answer[:200]!r}")
        return answer

    async def stream(self, line: str) -> bytes:
        self.send(line, b"")
        status, _ = await self.head()
        told = await self.reader.readuntil(b"0\r\n\r\n")
        return told if status == 200 else b""

    def send(self, line: str, body: bytes) -> None:
        host = f"{self.crowd.host}:{self.crowd.port}"
        head = f"{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {self.key}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)

    async def head(self) -> tuple[int, int]:
        lines = (await self.reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
        return int(lines[0].split()[1]), length

    def close(self) -> None:
        self.writer.close()


async def main(address: str, keys: list[str]) -> dict[str, float]:
    host, _, port = address.removeprefix("http://").partition(":")
    crowd = Crowd(host, int(port), keys)
    *users, operator = keys
    busy = {"user": await crowd.hurry(users[0]), "operator": await crowd.hurry(operator)}
    return busy | await crowd.run()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2].split(",")))), flush=True)
