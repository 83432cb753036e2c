"""What the database server itself has used: processor time, transactions, log."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import asyncpg
import psutil

USED = """
SELECT pg_backend_pid() AS pid, xact_commit AS transactions, pg_current_wal_lsn() - '0/0' AS wal
FROM pg_stat_database WHERE datname = current_database()"""


@dataclass(frozen=True, slots=True)
class Reading:
    """Seconds of processor time and bytes of log of the whole server, committed transactions of one database."""

    cpu: float
    transactions: int
    wal: int

    def __sub__(self, before: Reading) -> Reading:
        return Reading(self.cpu - before.cpu, self.transactions - before.transactions, self.wal - before.wal)


def read(url: str) -> Reading:
    """A backend reports its transactions when it ends, or after a second: read while nobody else is connected, or idle."""

    async def ask() -> Reading:
        connection = await asyncpg.connect(url)
        row = await connection.fetchrow(USED)
        reading = Reading(cpu_of(psutil.Process(row["pid"]).parent()), row["transactions"], int(row["wal"]))
        await connection.close()
        return reading

    return asyncio.run(ask())


def cpu_of(postmaster: psutil.Process | None) -> float:
    """The postmaster's own, that of the children it has buried, and that of those alive."""
    assert postmaster
    own = postmaster.cpu_times()
    return float(own.user + own.system + own.children_user + own.children_system) + sum(
        map(cpu_alive, postmaster.children())
    )


def cpu_alive(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0  # it ended just now; its share is missing from this reading only
    return float(times.user + times.system)
