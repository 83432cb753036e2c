"""Pictures that a provider calls a success: the good ones go on, the bad ones don't, and every one is in the ledger."""

from __future__ import annotations

from collections import Counter

from glisk.dev.standins.replicate_models import SDXL_VERSIONS
from tests import pictures
from tests.drawing import Atelier

SIDE = 256
SIZE = (SIDE, SIDE)
GOOD, BAD_EACH = 200, 5
SPOILED = ("black", "grey", "noise", "blank", "truncated", "html", "wrong_size")


async def ordered(atelier: Atelier, token_id: int, data: bytes) -> None:
    """A token that Replicate draws just so, however often it is asked."""
    name = f"number {token_id};"
    atelier.standin.upload(name, data)
    atelier.standin.always(on="create", prompt=name, picture=name)
    await atelier.token(token_id, f"A picture, {name}")


async def drawn(atelier: Atelier, n: int) -> dict[int, str]:
    settings = atelier.settings(image_size=f"{SIDE}x{SIDE}", replicate_model=f"stability-ai/sdxl:{SDXL_VERSIONS[0]}")
    async with atelier.at_work(settings):
        await atelier.until("status IN ('uploading', 'failed', 'review')", n)
    rows = await atelier.connection.fetch("SELECT token_id, status FROM tokens_s0")
    return {int(row["token_id"]): row["status"] for row in rows}


async def test_no_good_picture_is_stopped_and_no_bad_one_goes_on(atelier: Atelier) -> None:
    kinds = list(pictures.KINDS)
    good = [pictures.good(n, kinds[n % len(kinds)], SIZE) for n in range(GOOD)]
    for token_id, data in enumerate(good):
        await ordered(atelier, token_id, data)
    assert set((await drawn(atelier, GOOD)).values()) == {"uploading"}
    bad = [pictures.BAD[kind](n, SIZE) for kind in SPOILED for n in range(BAD_EACH)]
    bad += [pictures.duplicate_of(good[n]) for n in range(BAD_EACH)]
    bad += [pictures.near_duplicate_of(good[n], n) for n in range(BAD_EACH, 2 * BAD_EACH)]
    for token_id, data in enumerate(bad, GOOD):
        await ordered(atelier, token_id, data)
    statuses = await drawn(atelier, GOOD + len(bad))
    assert Counter(status for token_id, status in statuses.items() if token_id < GOOD) == {"uploading": GOOD}
    stopped = Counter(status for token_id, status in statuses.items() if token_id >= GOOD)
    assert len(bad) == 45
    assert "uploading" not in stopped
    attempts = await atelier.attempts()
    assert atelier.charged() == len(attempts), "every charge is in the ledger, and nothing else is"
    assert {attempt["outcome"] for attempt in attempts} == {"done", "failed"}


async def test_a_black_picture_is_drawn_again_and_the_ledger_says_why(atelier: Atelier) -> None:
    await atelier.token()
    atelier.standin.upload("black", pictures.BAD["black"](1, (1024, 1024)))
    atelier.standin.script(on="create", picture="black")
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"], row["generation_error"]) == ("uploading", 1, None)
    first, second = await atelier.attempts()
    assert (first["outcome"], first["error_code"], second["outcome"]) == ("failed", "gate", "done")
    assert "black" in first["error"]


async def test_a_suspicious_picture_waits_for_a_person_with_its_picture(atelier: Atelier) -> None:
    await atelier.token()
    atelier.standin.upload("small", pictures.good(1, size=SIZE))
    atelier.standin.script(on="create", picture="small")
    row = await atelier.drawn()
    assert (row["status"], row["generation_attempts"]) == ("review", 0)
    assert "256" in row["generation_error"]
    assert row["image_key"]
    assert await atelier.outcomes() == ["done"]
