"""The story of a token, from what workers, people and a provider have left in the database."""

from __future__ import annotations

from glisk.engine.link import Link
from glisk.repositories import timeline
from glisk.repositories.token_board import TokenBoard
from tests.drawing import Atelier


async def test_a_refused_prompt_and_its_fallback_are_two_orders_of_one_claim(atelier: Atelier, link: Link) -> None:
    id = await atelier.token(789, "Violent battle scene")
    atelier.standin.always(on="create", prompt="Violent", fail="nsfw")
    async with atelier.at_work(name="w1"):
        await atelier.until("status = 'uploading'")
    story = await timeline.story(link, id)
    told = [(entry.step, entry.number, entry.verdict, entry.worker) for entry in story.entries]
    assert told == [
        ("generating", 1, "refused", "w1"),
        ("generating", None, "censored", "w1"),
        ("generating", 2, "done", "w1"),
    ]
    refused, _, done = story.entries
    assert refused.code
    assert refused.cost == 0
    assert done.cost == story.cost > 0
    assert done.receipt
    assert done.worked_s is not None
    assert story.first_at is not None
    assert story.last_at is not None


async def test_a_provider_that_asks_to_wait_is_told_as_waiting(atelier: Atelier, link: Link) -> None:
    id = await atelier.token()
    atelier.standin.script(on="create", status_code=429, retry_after_s=0)
    async with atelier.at_work():
        await atelier.until("status = 'uploading'")
    first, last = (await timeline.story(link, id)).entries
    assert (first.verdict, first.code, last.verdict, last.number) == ("waiting", "GLK-304", "done", 2)
    assert last.waited_s is not None


async def test_what_a_person_did_stands_between(atelier: Atelier, link: Link) -> None:
    id, board = await atelier.token(1), TokenBoard(link)
    await board.cancel(await board.named(["1"]), "anna", "not this one")
    await board.retry(await board.named(["1"]), "bert")
    await atelier.drawn()
    told = [(entry.step, entry.verdict, entry.actor) for entry in (await timeline.story(link, id)).entries]
    assert told == [("by hand", "cancelled", "anna"), ("by hand", "retried", "bert"), ("generating", "done", None)]
