"""One-line builders of what tests need."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from glisk.db.models import Author, Token
from glisk.db.server import SCRIPTS
from glisk.repositories.job_repository import NewJob

REVISIONS = sorted(file.stem for file in (SCRIPTS / "versions").glob("*.py"))
HEAD, BEFORE = REVISIONS[-1][:3], REVISIONS[-2][:3]
CHAIN = 31337
CONTRACT = "0x" + "c0" * 20
IMAGE = "https://replicate.delivery/pbxt/abc123/output.png"


async def an_author(session: AsyncSession, prompt: str | None = "A sunset over mountains", n: int = 1) -> Author:
    author = Author(wallet_address=f"0x{n:040x}", prompt_text=prompt)
    session.add(author)
    await session.commit()
    return author


async def a_token(session: AsyncSession, token_id: int = 123, **columns: Any) -> Token:
    author = await an_author(session, n=token_id % 2**160)
    assert author.author_id is not None
    token = Token(chain_id=CHAIN, contract_address=CONTRACT, token_id=token_id, author_id=author.author_id, **columns)
    session.add(token)
    await session.commit()
    return token


DRAWN: dict[str, Any] = {
    "image_url": IMAGE,
    "image_key": "ab/cd.png",
    "image_sha256": bytes(range(32)),
    "image_mime": "image/png",
}
PINNED = DRAWN | {"image_cid": "bafyimage", "metadata_cid": "bafymetadata"}
AN_AUTHOR = """
    INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('ab', 20))
    ON CONFLICT (wallet_address) DO UPDATE SET wallet_address = EXCLUDED.wallet_address RETURNING author_id"""


async def a_token_row(connection: Any, token_id: int = 7, **columns: Any) -> int:
    """In plain SQL: its id."""
    columns = {"chain_id": CHAIN, "contract_address": CONTRACT, **columns}
    columns |= {"token_id": Decimal(token_id), "author_id": await connection.fetchval(AN_AUTHOR)}
    places = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    insert = f"INSERT INTO tokens_s0 ({', '.join(columns)}) VALUES ({places}) RETURNING id"
    id: int = await connection.fetchval(insert, *columns.values())
    return id


# Many tokens at once, for tests in plain SQL: parameters are how many, and the status of each.
MANY_TOKENS = f"""
    WITH author AS (INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('ab', 20)) RETURNING author_id)
    INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, status, detected_at, priority,
                           image_url, generation_error, finished_at)
    SELECT {CHAIN}, '{CONTRACT}', n, author_id, s, now() - make_interval(secs => $1 - n), $3 * (n % 10),
           CASE s WHEN 'uploading' THEN '{IMAGE}' END, CASE s WHEN 'failed' THEN 'no' END, CASE s WHEN 'failed' THEN now() END
    FROM author, generate_series(1, $1::int) n, LATERAL (SELECT ($2::text[])[1 + n % cardinality($2::text[])]) AS x(s)"""

# Whom and what jobs belong to.
PROJECT = UUID(int=7)
OWNERS = f"""
    INSERT INTO users VALUES ('anna');
    INSERT INTO conversations VALUES ('chat', 'dm', 'anna');
    INSERT INTO projects (project_id, user_id) VALUES ('{PROJECT}', 'anna')"""


def an_edit(payload: Mapping[str, Any] | None = None, **columns: Any) -> NewJob:
    return NewJob("image_edit", payload or {}, user_id="anna", project_id=PROJECT, **columns)
