"""From a stored picture to a token that is ready, through the real worker and the stand-ins of the pinning services."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from glisk.dev.standins.control import Control
from glisk.dev.standins.pin_control import PinControl
from glisk.engine.link import Link
from glisk.images.mark import marked
from glisk.processors import pinning
from glisk.publishing.canonical import canonical
from glisk.publishing.commitment import opens
from glisk.publishing.manifest import checked
from glisk.repositories.token_board import TokenBoard
from glisk.storage.ipfs.blocks import Blocks
from glisk.storage.ipfs.unixfs import dag
from tests.builders import CHAIN, CONTRACT, a_token_row
from tests.drawing import STEADY
from tests.forked import FORKS
from tests.pinning import PROMPT, Archive, a_picture, sha256
from tests.s3 import answering, settings_for

READY = "status = 'ready'"
SHORT = replace(STEADY, lease=timedelta(seconds=1))
LOST = {"Content-Type": "text/plain"}


@pytest.fixture
def archive(database_url: str, connection: Any, link: Link, pinata_service: PinControl, tmp_path: Path) -> Archive:
    return Archive(database_url, connection, link, pinata_service, tmp_path / "data")


# What is pinned, and what the row knows of it


async def test_picture_and_metadata_are_pinned_under_cids_that_the_row_knows(
    archive: Archive, pinata_service: PinControl
) -> None:
    picture = await archive.drawn()
    row = await archive.pinned()
    metadata = await archive.metadata(row["metadata_cid"])
    assert (row["image_cid"], row["metadata_cid"]) == (dag(picture).root, dag(metadata).root)
    assert metadata == canonical(json.loads(metadata))
    assert len(row["prompt_salt"]) == 32
    assert (row["retry_count"], row["generation_error"]) == (0, None)
    kept = [(pin["cid"], pin["name"], pin["network"]) for pin in pinata_service.pins()]
    assert kept == [(row["image_cid"], "Glisk-1-image", "public"), (row["metadata_cid"], "Glisk-1", "public")]


async def test_the_metadata_says_what_the_ledger_and_the_row_know(archive: Archive) -> None:
    picture = await archive.drawn(tags=["fox", "snow"])
    row = await archive.pinned()
    metadata = json.loads(await archive.metadata(row["metadata_cid"]))
    assert (metadata["name"], metadata["image"]) == ("Glisk #1", f"ipfs://{row['image_cid']}")
    assert [trait["value"] for trait in metadata["attributes"]] == ["0x" + "ab" * 20, "owner/name", "fox", "snow"]
    provenance = metadata["provenance"]
    assert checked(metadata, CHAIN, CONTRACT, 1) == provenance["signer"]
    assert (provenance["image_cid"], provenance["seed"]) == (row["image_cid"], "5")
    assert provenance["image_sha256"] == f"0x{sha256(picture).hex()}"


@pytest.mark.parametrize(
    ("choice", "usual", "is_told", "is_kept"),
    [
        ("now", "never", True, True),
        ("later", "now", False, True),
        ("never", "now", False, False),
        (None, "now", True, True),
        (None, "later", False, True),
        (None, "never", False, False),
    ],
)
async def test_a_prompt_is_told_as_its_author_has_chosen_else_as_the_operator(
    choice: str | None, usual: str, is_told: bool, is_kept: bool, archive: Archive
) -> None:
    await archive.drawn(choice=choice)
    row = await archive.pinned(archive.settings(prompt_disclosure=usual))
    metadata = json.loads(await archive.metadata(row["metadata_cid"]))
    assert metadata.get("prompt") == (PROMPT if is_told else None)
    assert (row["prompt_salt"] is not None, "prompt_salt" in metadata["provenance"]) == (is_kept, is_told)
    if is_kept:
        promised = bytes.fromhex(metadata["provenance"]["prompt_commitment"][2:])
        assert opens(promised, row["prompt_salt"], PROMPT)


async def test_without_a_service_it_is_in_our_own_store(archive: Archive) -> None:
    picture = await archive.drawn()
    settings = archive.settings(pinners="local")
    row = await archive.pinned(settings)
    blocks = Blocks.of(settings)
    assert b"".join([piece async for piece in blocks.open(row["image_cid"])]) == picture
    found = b"".join([piece async for piece in blocks.open(row["metadata_cid"])])
    assert found == await archive.metadata(row["metadata_cid"])


async def test_a_kubo_node_has_it_under_the_same_cids(archive: Archive, kubo_service: PinControl) -> None:
    await archive.drawn()
    row = await archive.pinned(archive.settings(pinners="kubo", kubo_url=kubo_service.url))
    assert kubo_service.cids() == [row["image_cid"], row["metadata_cid"]]


async def test_two_workers_pin_each_token_once(archive: Archive, pinata_service: PinControl) -> None:
    for token_id in range(1, 21):
        await archive.drawn(token_id)
    async with archive.at_work(name="one"), archive.at_work(name="two"):
        await archive.until(READY, 20)
    assert (len(pinata_service.log("upload")), len(pinata_service.cids())) == (40, 40)


async def test_two_tokens_may_have_the_same_picture(archive: Archive, pinata_service: PinControl) -> None:
    await archive.drawn(1)
    first = await archive.row()
    same = {name: first[name] for name in ("image_key", "image_sha256")}
    await archive.drawn(2, **same)
    row = await archive.pinned(n=2)
    other = await archive.row(2)
    assert row["image_cid"] == other["image_cid"]
    assert row["metadata_cid"] != other["metadata_cid"]
    assert len(pinata_service.cids()) == 3


@pytest.mark.parametrize("pinner", ["pinata", "kubo"])
@pytest.mark.parametrize("name", ['Über ☕ "quoted" 50%', "../../etc", "a\r\nX-Header: b"])
async def test_a_collection_may_be_called_anything(
    name: str, pinner: str, archive: Archive, pinata_service: PinControl, kubo_service: PinControl
) -> None:
    await archive.drawn()
    row = await archive.pinned(archive.settings(collection_name=name, pinners=pinner, kubo_url=kubo_service.url))
    pins = (pinata_service if pinner == "pinata" else kubo_service).pins()
    assert [pin["cid"] for pin in pins] == [row["image_cid"], row["metadata_cid"]]
    assert [pin.get("name", f"{name}-1") for pin in pins][1] == f"{name}-1"


async def test_where_each_is_looked_at_first_it_waits_in_review_and_goes_on_when_accepted(archive: Archive) -> None:
    await archive.drawn()
    row = await archive.worked("status = 'review'", archive.settings(reveal="review"))
    assert row["generation_error"] == pinning.LOOK
    assert row["image_cid"]
    assert row["metadata_cid"]
    board = TokenBoard(archive.link)
    await board.accept(await board.named(["1"]), "anna")
    assert (await archive.row())["status"] == "ready"


# A service that only a person can mend


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ({"status_code": 403}, "Pinata answered 403: FORBIDDEN: Account blocked due to plan usage limit"),
        ({"status_code": 401}, "Pinata answered 401: INVALID_CREDENTIALS: Authorization failed"),
    ],
    ids=["plan limit", "key"],
)
async def test_a_service_that_does_not_let_us_in_holds_the_lane_and_uses_no_attempt(
    scenario: dict[str, Any], words: str, archive: Archive, pinata_service: PinControl
) -> None:
    for token_id in (1, 2, 3):
        await archive.drawn(token_id)
    pinata_service.always(**scenario)
    async with archive.at_work():
        await archive.until("status = 'uploading' AND generation_error IS NOT NULL", 3)
        lane = await archive.lane()
        assert (lane["lane"], lane["state"], lane["held_until"]) == ("pinata", "held", None)
        assert words in lane["held_reason"]
        assert "GLISK_PINATA_JWT" in lane["held_reason"]
        assert lane["held_reason"].endswith("Then: glisk lanes resume pinata")
        assert {(await archive.row(n))["retry_count"] for n in (1, 2, 3)} == {0}
        pinata_service.reset()
        await archive.go_on()
        await archive.until(READY, 3)


async def test_a_key_that_cannot_be_read_holds_the_lane_until_it_can(archive: Archive, tmp_path: Path) -> None:
    await archive.drawn()
    key = tmp_path / "provenance.key"
    async with archive.at_work(archive.settings(provenance_key_file=str(key))):
        await archive.until("status = 'uploading' AND generation_error IS NOT NULL")
        reason = (await archive.lane())["held_reason"]
        assert str(key) in reason
        assert "64 hex digits" in reason
        assert "glisk lanes resume pinata" in reason
        key.touch(0o600)
        key.write_text("11" * 32)
        await archive.go_on()
        await archive.until(READY)
    assert (await archive.row())["retry_count"] == 0


# A service that says no, or something else


async def test_a_service_that_wants_a_pause_gets_it_and_no_attempt_is_used(
    archive: Archive, pinata_service: PinControl
) -> None:
    await archive.drawn()
    pinata_service.script(status_code=429, retry_after_s=600)
    async with archive.at_work():
        await archive.until("status = 'uploading' AND generation_error LIKE '%429%'")
        lane, row = await archive.lane(), await archive.row()
        assert (lane["state"], row["retry_count"]) == ("closed", 0)
        for until in (lane["open_at"], row["not_before"]):
            assert timedelta(seconds=540) < until - datetime.now(UTC) < timedelta(seconds=660)
        await archive.go_on()
        await archive.until(READY)


async def test_another_cid_than_ours_is_refused_and_names_both(archive: Archive, pinata_service: PinControl) -> None:
    picture = await archive.drawn()
    other = dag(b"something else").root
    pinata_service.always(cid=other)
    async with archive.at_work():
        await archive.until("status = 'uploading' AND retry_count >= 2")
        row = await archive.row()
        assert dag(picture).root in row["generation_error"]
        assert other in row["generation_error"]
        assert "GLISK_PINNERS" in row["generation_error"]
        assert (row["image_cid"], row["metadata_cid"]) == (None, None)
        pinata_service.reset()
        await archive.until(READY)
    seen = await archive.connection.fetch(
        "SELECT DISTINCT from_status, to_status FROM events WHERE to_status = 'ready'"
    )
    assert len(seen) == 1, "once, and after all was right"
    assert (await archive.row())["generation_error"] is None


async def test_metadata_under_another_cid_is_refused_as_well(archive: Archive, pinata_service: PinControl) -> None:
    await archive.drawn()
    pinata_service.script()  # the picture
    pinata_service.script(cid=dag(b"something else").root)
    await archive.pinned()
    assert len(pinata_service.log("upload")) == 4


async def test_a_file_that_the_service_refuses_fails_with_its_words(
    archive: Archive, pinata_service: PinControl
) -> None:
    await archive.drawn()
    pinata_service.script(status_code=400)
    row = await archive.worked("status = 'failed'")
    assert "Pinata answered 400: BAD_REQUEST: The request could not be understood" in row["generation_error"]
    assert "GLISK_IMAGE_SIZE" in row["generation_error"]


# A service that is slow, or away


async def test_an_answer_that_comes_drop_by_drop_is_waited_for(archive: Archive, pinata_service: PinControl) -> None:
    await archive.drawn()
    pinata_service.always(pause_s=0.03)
    row = await archive.pinned()
    assert (row["retry_count"], len(pinata_service.log("upload"))) == (0, 2)


async def test_what_may_pass_is_tried_again(archive: Archive, pinata_service: PinControl) -> None:
    await archive.drawn()
    pinata_service.script(status_code=500)
    pinata_service.script(status_code=502)
    pinata_service.script(drop="before")
    pinata_service.script(drop="before", reset=True)
    pinata_service.script(drop="mid_body")
    await archive.pinned()
    assert len(pinata_service.log("upload")) == 7
    counts = await archive.connection.fetchval("SELECT count(*) FROM events WHERE to_status = 'uploading'")
    assert counts == 5


async def test_an_upload_whose_answer_was_lost_is_made_again_and_does_no_harm(
    archive: Archive, pinata_service: PinControl
) -> None:
    await archive.drawn()
    pinata_service.script(drop="after", reset=True)
    row = await archive.pinned()
    assert [entry["subject"] for entry in pinata_service.log("upload")] == [
        row["image_cid"],
        row["image_cid"],
        row["metadata_cid"],
    ]
    assert len(pinata_service.cids()) == 2


async def test_while_the_stored_picture_cannot_be_read_the_token_waits(archive: Archive) -> None:
    await archive.drawn()
    row = await archive.worked("generation_error IS NOT NULL", settings_in(archive, "http://127.0.0.1:1"))
    assert (row["status"], row["retry_count"]) == ("uploading", 0)
    assert row["not_before"] > row["updated_at"]


def settings_in(archive: Archive, endpoint: str) -> Any:
    """With pictures in a bucket there."""
    bucket = settings_for(endpoint)
    names = ("s3_bucket", "s3_endpoint", "s3_access_key_id", "s3_secret_access_key")
    return archive.settings(**{name: getattr(bucket, name) for name in names})


# A picture that is not where it was


@pytest.mark.parametrize("change", [bytes, marked], ids=["as it was drawn", "marked"])
@pytest.mark.parametrize("spoil", [shutil.rmtree, None], ids=["lost", "damaged"])
async def test_a_picture_that_storage_lost_is_fetched_from_where_it_was_drawn(
    change: Callable[[bytes], bytes], spoil: Callable[[Path], None] | None, archive: Archive
) -> None:
    async with answering(lambda method, head: (200, {}, change(a_picture()))) as url:
        picture = await archive.drawn(image_url=url)
        before = await archive.row()
        stored = archive.data_dir / "objects" / before["image_key"]
        spoil(archive.data_dir / "objects") if spoil else stored.write_bytes(b"spoilt")
        row = await archive.pinned()
    assert (row["image_key"], row["image_cid"]) == (before["image_key"], dag(picture).root)
    assert stored.read_bytes() == picture


async def test_a_token_that_has_nothing_but_an_address_is_fetched_marked_stored_and_pinned(
    archive: Archive, connection: Any
) -> None:
    """As the seed's update_image_url leaves it."""
    async with answering(lambda method, head: (200, {}, a_picture())) as url:
        await a_token_row(connection, 1, status="uploading", image_url=url)
        row = await archive.pinned()
    picture = marked(a_picture())
    assert (row["image_sha256"], row["image_mime"]) == (sha256(picture), "image/webp")
    assert (row["image_cid"], row["prompt_salt"]) == (dag(picture).root, None)
    assert await archive.objects.get(row["image_key"]) == picture
    provenance = json.loads(await archive.metadata(row["metadata_cid"]))["provenance"]
    assert provenance["image_sha256"] == f"0x{sha256(picture).hex()}"


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, b"gone"), (410, b"gone"), (403, b"this link has expired"), (200, b"<html>Not found</html>")],
    ids=["404", "410", "403", "a page"],
)
async def test_a_picture_that_is_nowhere_fails_with_what_to_do(
    status: int, body: bytes, archive: Archive, pinata_service: PinControl
) -> None:
    async with answering(lambda method, head: (status, LOST, body)) as url:
        await archive.drawn(image_url=url)
        shutil.rmtree(archive.data_dir / "objects")
        row = await archive.worked("status = 'failed'")
    assert url in row["generation_error"]
    assert row["image_key"] in row["generation_error"]
    assert row["generation_error"].endswith("then: glisk tokens retry")
    assert pinata_service.cids() == []


async def test_another_picture_at_the_same_address_is_not_taken(archive: Archive, pinata_service: PinControl) -> None:
    async with answering(lambda method, head: (200, {}, a_picture(99))) as url:
        await archive.drawn(image_url=url)
        shutil.rmtree(archive.data_dir / "objects")
        row = await archive.worked("status = 'failed'")
    assert "another picture" in row["generation_error"]
    assert pinata_service.cids() == []


async def test_a_picture_whose_host_is_away_is_asked_for_again(archive: Archive, connection: Any) -> None:
    answers = [(503, LOST, b"")] * 3 + [(200, {}, a_picture())]  # who is asked thrice in a row has had a chance

    async with answering(lambda method, head: answers.pop(0)) as url:
        await a_token_row(connection, 1, status="uploading", image_url=url)
        async with archive.at_work():
            await archive.until("status = 'uploading' AND generation_error LIKE '%503%'")
            await connection.execute("UPDATE tokens_s0 SET not_before = NULL")
            await archive.until(READY)


# Again, and elsewhere


@pytest.mark.faults
async def test_who_comes_after_a_kill_between_the_two_uploads_makes_the_same_cids(
    archive: Archive, pinata_service: PinControl
) -> None:
    await archive.drawn()
    pinata_service.script()  # the picture
    pinata_service.script(hold="answer")
    process = FORKS.Process(target=pin_in_fork, args=(archive.url, pinata_service.url, archive.data_dir))
    process.start()
    before = await pinata_service.reached("upload", 2)
    process.kill()
    process.join()
    process.close()
    pinata_service.release("answer")
    async with archive.at_work(pace=SHORT):
        await archive.until(READY)
    row = await archive.row()
    assert before[0]["subject"] == row["image_cid"]
    assert pinata_service.cids() == [row["image_cid"], row["metadata_cid"]], "and nothing else"
    assert len(pinata_service.log("upload")) == 4


def pin_in_fork(url: str, service: str, data_dir: Path) -> None:
    asyncio.run(pin_for_ever(Archive(url, None, Link(url), Control([service], lambda *_: None), data_dir)))


async def pin_for_ever(archive: Archive) -> None:
    async with archive.at_work(pace=SHORT, name="fork"):
        await asyncio.Event().wait()


async def test_the_others_have_it_by_and_by_and_what_a_service_drops_comes_back(
    archive: Archive, pinata_service: PinControl, kubo_service: PinControl
) -> None:
    await archive.drawn()
    async with archive.at_work(archive.settings(pinners="pinata,kubo", kubo_url=kubo_service.url)) as processor:
        await archive.until(READY)
        row = await archive.row()
        both = sorted([row["image_cid"], row["metadata_cid"]])
        (tending,) = processor.works(archive.link)
        assert kubo_service.cids() == []
        await tending.run()
        assert sorted(kubo_service.cids()) == both
        for place in (pinata_service, kubo_service):
            place.drop(row["metadata_cid"])
        await archive.connection.execute("UPDATE pins SET check_at = now()")
        await tending.run()
        assert [sorted(place.cids()) for place in (pinata_service, kubo_service)] == [both, both]
