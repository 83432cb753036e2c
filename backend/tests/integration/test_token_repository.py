"""Seed 003's repository on a real PostgreSQL: its four examples, the budget, the fence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from glisk.db.models import Event, Token
from glisk.db.session import sessions
from glisk.errors import BadImageUrl, LeaseLost, WrongStatus
from glisk.repositories.token_repository import TokenRepository
from tests.builders import IMAGE, a_token

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


async def claimed(session: AsyncSession, **columns: Any) -> tuple[TokenRepository, Token]:
    await a_token(session, **columns)
    repository = TokenRepository(session, worker="worker-1")
    (token,) = await repository.claim_for_generation()
    return repository, token


async def test_example_one_a_first_attempt_succeeds(session: AsyncSession) -> None:
    repository, token = await claimed(session)
    assert token.status == "generating"
    await repository.update_image_url(token, IMAGE)
    assert (token.status, token.image_url) == ("uploading", IMAGE)
    assert (token.generation_attempts, token.generation_error) == (0, None)


async def test_example_two_a_transient_failure_goes_back(session: AsyncSession) -> None:
    repository, token = await claimed(session, generation_attempts=1, generation_error="Connection refused")
    await repository.increment_attempts(token, "Network timeout")
    assert (token.status, token.generation_attempts) == ("detected", 2)
    assert token.generation_error == "Network timeout"


async def test_example_three_a_refused_prompt_ends_in_the_fallback_image(session: AsyncSession) -> None:
    # The attempt is counted before the fallback is drawn (decision C2), so success leaves it at one.
    repository, token = await claimed(session, generation_attempts=1, prompt_source="fallback")
    await repository.update_image_url(token, IMAGE)
    assert (token.status, token.generation_attempts, token.generation_error) == ("uploading", 1, None)


async def test_example_four_the_third_failure_is_the_last(session: AsyncSession) -> None:
    repository, token = await claimed(session, generation_attempts=2)
    await repository.increment_attempts(token, "429 Too Many Requests", category="rate limit")
    assert (token.status, token.generation_attempts) == ("failed", 3)
    assert token.generation_error == "Max retries exceeded after rate limit errors: 429 Too Many Requests"
    assert token.finished_at is not None


async def test_a_permanent_failure_uses_no_attempt(session: AsyncSession) -> None:
    repository, token = await claimed(session, generation_attempts=1)
    await repository.mark_failed(token, "422 prompt is too long")
    assert (token.status, token.generation_attempts) == ("failed", 1)
    assert token.generation_error == "422 prompt is too long"


async def test_success_after_a_failure_clears_the_error(session: AsyncSession) -> None:
    repository, token = await claimed(
        session, generation_attempts=1, generation_error="Network timeout", retry_count=1, last_retry=LONG_AGO
    )
    await repository.update_image_url(token, IMAGE)
    assert (token.generation_error, token.retry_count, token.last_retry) == (None, 0, None)


async def test_a_failure_after_the_last_attempt_was_counted_ends_the_token(session: AsyncSession) -> None:
    # Refused on the third claim: the attempt is counted before the fallback is drawn, and then that fails too.
    await a_token(session, generation_attempts=2)
    repository = TokenRepository(session)
    (token,) = await repository.claim_for_generation()
    token.generation_attempts = 3
    await session.commit()
    await repository.increment_attempts(token, "Network timeout", category="network")
    assert (token.status, token.generation_attempts) == ("failed", 3)


async def test_changes_on_the_object_do_not_slip_past_the_fence(session: AsyncSession, engine: AsyncEngine) -> None:
    zombie, token = await claimed(session)
    async with sessions(engine)() as other:
        twin = await other.get_one(Token, (token.chain_id, token.contract_address, token.token_id))
        await TokenRepository(other).increment_attempts(twin, "the lease ran out")
    token.prompt_source = "fallback"
    with pytest.raises(LeaseLost):
        await zombie.update_image_url(token, IMAGE)
    assert (token.prompt_source, token.generation_error) == ("author", "the lease ran out")


async def test_nor_do_those_on_another_token_of_the_session(
    session: AsyncSession, engine: AsyncEngine, connection: Any
) -> None:
    await a_token(session, 1)
    await a_token(session, 2)
    repository = TokenRepository(session)
    mine, lost = await repository.claim_for_generation()
    async with sessions(engine)() as other:
        twin = await other.get_one(Token, (lost.chain_id, lost.contract_address, lost.token_id))
        await TokenRepository(other).increment_attempts(twin, "the lease ran out")
    lost.image_url = "https://zombie.test/x.png"
    await repository.update_image_url(mine, IMAGE)
    row = await connection.fetchrow("SELECT status, image_url FROM tokens_s0 WHERE token_id = 2")
    assert tuple(row) == ("detected", None)


async def test_a_result_can_be_settled_again_after_the_connection_broke(session: AsyncSession, connection: Any) -> None:
    repository, token = await claimed(session)
    await connection.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with pytest.raises(DBAPIError):
        await repository.update_image_url(token, IMAGE)
    assert (token.status, token.epoch) == ("generating", 1)
    await repository.update_image_url(token, IMAGE)
    assert token.status == "uploading"


async def test_a_session_that_forgets_at_every_commit_will_do(session: AsyncSession, engine: AsyncEngine) -> None:
    await a_token(session)
    async with AsyncSession(engine) as forgetful:
        repository = TokenRepository(forgetful)
        (token,) = await repository.claim_for_generation()
        assert (token.token_id, token.status) == (123, "generating")
        await repository.update_image_url(token, IMAGE)
        assert (token.token_id, token.status) == (123, "uploading")
        assert not forgetful.in_transaction()


async def test_a_token_that_is_gone_is_a_lost_claim(session: AsyncSession, connection: Any) -> None:
    repository, token = await claimed(session)
    await connection.execute("DELETE FROM tokens_s0")
    with pytest.raises(LeaseLost):
        await repository.update_image_url(token, IMAGE)


@pytest.mark.parametrize("limit", [0, -1])
async def test_none_asked_for_is_none_taken(limit: int, session: AsyncSession) -> None:
    await a_token(session)
    assert await TokenRepository(session).claim_for_generation(limit) == []
    assert await TokenRepository(session).find_for_generation(limit) == []


async def test_a_token_of_another_session_can_be_settled(session: AsyncSession, engine: AsyncEngine) -> None:
    _, token = await claimed(session)
    async with sessions(engine)() as other:
        await TokenRepository(other).update_image_url(token, IMAGE)
    assert token.status == "uploading"


async def test_a_detached_token_can_be_settled(session: AsyncSession, engine: AsyncEngine) -> None:
    _, token = await claimed(session)
    session.expunge(token)
    async with sessions(engine)() as other:
        await TokenRepository(other).update_image_url(token, IMAGE)
    assert token.status == "uploading"


async def test_an_error_is_cut_at_a_thousand_characters_and_stripped_of_what_cannot_be_stored(
    session: AsyncSession,
) -> None:
    repository, token = await claimed(session)
    await repository.mark_failed(token, "\0" + "Ж" * 2000)
    assert token.generation_error == "\N{REPLACEMENT CHARACTER}" + "Ж" * 999


BAD_URLS = [
    *("", "ftp://x/y.png", "not a url", "https://", "https:///x", "javascript:alert(1)", "http://[", " https://x/y"),
    *("https://x y/", "https://x/\0", "ht\ntps://x/y", "https://x/\ud800", "HTTPS://x/y"),
]


@pytest.mark.parametrize("url", BAD_URLS)
async def test_an_address_that_is_no_url_is_refused_before_anything_is_written(url: str, session: AsyncSession) -> None:
    repository, token = await claimed(session)
    with pytest.raises(BadImageUrl):
        await repository.update_image_url(token, url)
    await repository.update_image_url(token, IMAGE)


async def test_a_zombie_cannot_settle(session: AsyncSession, engine: AsyncEngine) -> None:
    zombie, token = await claimed(session)
    async with sessions(engine)() as other:
        fresh = await other.get_one(Token, (token.chain_id, token.contract_address, token.token_id))
        await TokenRepository(other, "worker-2").increment_attempts(fresh, "the lease ran out")
    with pytest.raises(LeaseLost):
        await zombie.update_image_url(token, IMAGE)
    await session.refresh(token)
    assert (token.status, token.image_url) == ("detected", None)


async def test_the_same_result_is_not_written_twice(session: AsyncSession, engine: AsyncEngine) -> None:
    repository, token = await claimed(session)
    async with sessions(engine)() as other:
        twin = await other.get_one(Token, (token.chain_id, token.contract_address, token.token_id))
        await repository.increment_attempts(token, "Network timeout")
        with pytest.raises(LeaseLost):
            await TokenRepository(other).increment_attempts(twin, "Network timeout")
    await session.refresh(token)
    assert token.generation_attempts == 1


@pytest.mark.parametrize("status", ["uploading", "failed"])
async def test_what_is_over_is_not_drawn_again(status: str, session: AsyncSession) -> None:
    token = await a_token(session, status=status, image_url=IMAGE, generation_error="no")
    with pytest.raises(WrongStatus):
        await TokenRepository(session).update_image_url(token, IMAGE)


async def test_a_retry_rests_and_does_not_return_to_the_head_of_the_queue(session: AsyncSession) -> None:
    repository, token = await claimed(session, detected_at=LONG_AGO)
    await repository.increment_attempts(token, "Network timeout")
    assert token.ready_at is not None
    assert token.last_retry is not None
    assert timedelta(seconds=2) <= token.ready_at - token.last_retry <= timedelta(seconds=4)
    assert await repository.claim_for_generation() == []


async def test_every_change_leaves_an_event_in_the_same_transaction(session: AsyncSession) -> None:
    repository, token = await claimed(session)
    await repository.increment_attempts(token, "Network timeout")
    (event,) = await session.exec(select(Event).where(col(Event.item_id) == token.id))
    assert (event.from_status, event.to_status, event.actor) == ("generating", "detected", "worker-1")
    assert event.data == {"error": "Network timeout"}
    assert event.epoch == token.epoch


async def test_found_tokens_are_locked_for_the_transaction(session: AsyncSession, engine: AsyncEngine) -> None:
    await a_token(session)
    (found,) = await TokenRepository(session).find_for_generation()
    assert found.status == "detected"
    async with sessions(engine)() as other:
        assert await TokenRepository(other).find_for_generation() == []
        await session.rollback()
        assert [token.token_id for token in await TokenRepository(other).find_for_generation()] == [123]


async def test_a_found_token_can_be_settled_without_a_claim(session: AsyncSession) -> None:
    await a_token(session)
    repository = TokenRepository(session)
    (token,) = await repository.find_for_generation(limit=1)
    await repository.update_image_url(token, IMAGE)
    assert token.status == "uploading"


async def test_tokens_come_first_in_first_out_within_their_priority(session: AsyncSession) -> None:
    for n, (priority, minute) in enumerate([(0, 2), (0, 1), (9, 3), (5, 4), (5, 0)]):
        await a_token(session, n, priority=priority, detected_at=LONG_AGO + timedelta(minutes=minute))
    repository = TokenRepository(session)
    assert [token.token_id for token in await repository.find_for_generation()] == [2, 4, 3, 1, 0]
    assert [token.token_id for token in await repository.claim_for_generation()] == [2, 4, 3, 1, 0]


async def test_ten_are_taken_unless_another_number_is_asked_for(session: AsyncSession) -> None:
    for n in range(12):
        await a_token(session, n)
    repository = TokenRepository(session)
    assert len(await repository.find_for_generation()) == 10
    assert len(await repository.find_for_generation(3)) == 3
    assert len(await repository.claim_for_generation()) == 10


async def test_a_claim_says_who_holds_it_since_when_and_how_long(session: AsyncSession) -> None:
    _, token = await claimed(session)
    assert token.started_at is not None
    assert token.leased_until is not None
    assert (token.leased_by, token.epoch) == ("worker-1", 1)
    assert token.leased_until - token.started_at == timedelta(seconds=60)


@pytest.mark.parametrize("token_id", [0, 2**63, 2**256 - 1])
async def test_a_token_id_holds_a_whole_uint256(token_id: int, session: AsyncSession) -> None:
    await a_token(session, token_id)
    (token,) = await TokenRepository(session).claim_for_generation()
    assert token.token_id == token_id


async def test_a_row_inserted_by_anyone_is_picked_up(session: AsyncSession, connection: Any) -> None:
    await connection.execute(
        """WITH a AS (INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('0', 40)) RETURNING author_id)
           INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id)
           SELECT 1, '0x' || repeat('1', 40), 7, author_id FROM a"""
    )
    (token,) = await TokenRepository(session).claim_for_generation()
    assert token.token_id == 7
