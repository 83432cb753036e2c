"""/authors over real HTTP: a prompt is published by its author, once, for this collection, in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from glisk.api import authors
from glisk.api.access import Door
from glisk.api.app import create_app
from glisk.authors.signatures import Ask
from glisk.chain.wallet_check import WalletCheck
from glisk.engine.link import Link
from glisk.repositories.key_repository import OPERATOR, KeyRepository
from glisk.settings import Settings
from glisk.storage.objects import Objects
from tests.authors import Wallet, publish
from tests.builders import CHAIN, CONTRACT
from tests.chains import Chain
from tests.serving import served

ANNA, BOB = Wallet(), Wallet("0x" + "b0" * 32)
ABOUT = "SELECT prompt_text, prompt_nonce, prompt_disclosure FROM authors WHERE wallet_address = $1"
SIGNED = "SELECT nonce, prompt, disclosure, chain_id, contract, signature, actor FROM author_prompts ORDER BY nonce"


async def no_contract(*_: object) -> bool:
    return False


@asynccontextmanager
async def serving(
    link: Link, path: Path, ask: Ask = no_contract, *, local: bool = False, contracts: str = f"{CHAIN}:{CONTRACT}"
) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(data_dir=path, contracts=contracts)
    door = Door(KeyRepository(link), local)
    app = create_app(Objects.of(settings), authors.router(link, settings, door, ask))
    async with served(app) as url, httpx.AsyncClient(base_url=url) as client:
        yield client


@pytest.fixture
async def server(link: Link, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(link, tmp_path) as client:
        yield client


async def offered(server: httpx.AsyncClient, wallet: Wallet, **query: str) -> dict[str, Any]:
    answer = await server.get(f"/authors/{wallet.address}/typed-data", params={"prompt": "A fox", **query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def filled(wallet: Wallet, document: dict[str, Any]) -> dict[str, Any]:
    """What a page sends after its wallet has signed."""
    return {name: value for name, value in document["message"].items() if name != "author"} | {
        "signature": wallet.sign(document)
    }


async def test_an_author_publishes_what_they_were_offered(server: httpx.AsyncClient, connection: Any) -> None:
    document = await offered(server, ANNA, disclosure="never")
    assert document["domain"] == {"name": "Glisk", "version": "1", "chainId": CHAIN, "verifyingContract": CONTRACT}
    assert document["message"]["nonce"] == "1"
    answer = await publish(server, ANNA.address, filled(ANNA, document))
    assert (answer.status_code, answer.json()["nonce"]) == (201, "1")
    assert tuple(await connection.fetchrow(ABOUT, ANNA.address)) == ("A fox", 1, "never")
    (kept,) = await connection.fetch(SIGNED)
    assert tuple(kept)[:5] == (1, "A fox", "never", CHAIN, CONTRACT)
    assert (len(kept["signature"]), kept["actor"]) == (65, ANNA.address)


async def test_the_next_one_replaces_it_and_keeps_what_was_chosen(server: httpx.AsyncClient, connection: Any) -> None:
    await publish(server, ANNA.address, ANNA.published(disclosure="later"))
    draft = {"prompt": "A crow"}
    document = (await server.post(f"/authors/{ANNA.address}/typed-data", json=draft)).json()
    assert (await publish(server, ANNA.address, filled(ANNA, document))).status_code == 201
    assert tuple(await connection.fetchrow(ABOUT, ANNA.address)) == ("A crow", 2, "later")
    assert [row["prompt"] for row in await connection.fetch(SIGNED)] == ["A fox in the snow", "A crow"]


async def test_the_same_signature_counts_once(server: httpx.AsyncClient, connection: Any) -> None:
    first, second = ANNA.published(prompt="One"), ANNA.published(prompt="Two", nonce=2)
    assert (await publish(server, ANNA.address, second)).json()["code"] == "GLK-814"  # its turn has not come
    assert (await publish(server, ANNA.address, first)).status_code == 201
    assert (await publish(server, ANNA.address, second)).status_code == 201
    for old in (first, second):
        answer = await publish(server, ANNA.address, old)
        assert (answer.status_code, answer.json()["code"]) == (409, "GLK-814")
    assert (await connection.fetchrow(ABOUT, ANNA.address))["prompt_text"] == "Two"


async def test_of_two_at_once_one_wins(link: Link, tmp_path: Path, database_url: str, connection: Any) -> None:
    """Through two servers with a connection each, all of which have seen the same nonce."""
    other = Link(database_url)
    gate = asyncio.Barrier(8)

    async def together(*_: object) -> bool:
        await gate.wait()
        return True

    wallet = "0x" + "11" * 20
    async with serving(link, tmp_path, together) as one, serving(other, tmp_path, together) as two:
        sent = [(one if n % 2 else two, ANNA.published(wallet, prompt=f"Number {n}")) for n in range(8)]
        answers = await asyncio.gather(*(publish(server, wallet, body) for server, body in sent))
    await other.close()
    assert sorted(answer.status_code for answer in answers) == [201] + 7 * [409]
    won = next(body["prompt"] for (_, body), answer in zip(sent, answers, strict=True) if answer.status_code == 201)
    assert tuple(await connection.fetchrow(ABOUT, wallet))[:2] == (won, 1)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"contract": "0x" + "c1" * 20}, "GLK-812"),
        ({"chain_id": 1}, "GLK-812"),
        ({"author": BOB.address}, "GLK-812"),
        ({"deadline": 1}, "GLK-813"),
        ({"deadline": int(time.time()) + 9000}, "GLK-813"),
        ({"nonce": 0}, "GLK-814"),
        ({"prompt": "x" * 1001}, "GLK-811"),
        ({"prompt": " \n "}, "GLK-811"),
        ({"prompt": "a\x00b"}, "GLK-811"),
    ],
)
async def test_what_was_signed_for_something_else_is_refused(
    changes: dict[str, Any], code: str, server: httpx.AsyncClient, connection: Any
) -> None:
    answer = await publish(server, ANNA.address, ANNA.published(**changes))
    assert answer.json()["code"] == code
    assert answer.json()["remedy"]
    assert await connection.fetchval("SELECT count(*) FROM authors") == 0


@pytest.mark.parametrize("part", ["prompt", "disclosure", "nonce", "deadline"])
async def test_what_was_changed_on_its_way_is_refused(part: str, server: httpx.AsyncClient, connection: Any) -> None:
    body = ANNA.published()
    await connection.execute(
        "INSERT INTO authors (wallet_address, prompt_nonce) VALUES ($1, $2)", ANNA.address, int(part == "nonce")
    )
    other = {"prompt": "A crow", "disclosure": "now", "nonce": 2, "deadline": body["deadline"] - 1}[part]
    answer = await publish(server, ANNA.address, body | {part: other})
    assert (answer.status_code, answer.json()["code"]) == (400, "GLK-812")


async def test_a_prompt_for_another_deployment_does_not_count_here(server: httpx.AsyncClient) -> None:
    """Though it is a good one there, and whoever has it names the collection it was signed for."""
    elsewhere = "0x" + "c1" * 20
    body = ANNA.published(contract=elsewhere)
    answer = await publish(server, ANNA.address, body, contract=f"{CHAIN}:{elsewhere}")
    assert (answer.status_code, answer.json()["code"]) == (400, "GLK-806")


async def test_of_several_collections_any_can_be_signed_for_and_a_nonce_counts_for_all(
    link: Link, tmp_path: Path
) -> None:
    second = "0x" + "c2" * 20
    async with serving(link, tmp_path, contracts=f"{CHAIN}:{CONTRACT},1:{second}") as server:
        body = ANNA.published(chain_id=1, contract=second)
        assert (await publish(server, ANNA.address, body)).json()["code"] == "GLK-812"
        assert (await publish(server, ANNA.address, body, contract=f"1:{second}")).status_code == 201
        assert (await publish(server, ANNA.address, ANNA.published())).json()["code"] == "GLK-814"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/authors/0x12", 400),
        (f"/authors/0x{'aB' * 20}", 400),
        (f"/authors/{ANNA.address}/typed-data?prompt=", 400),
        (f"/authors/{ANNA.address}/typed-data?prompt=x&disclosure=soon", 400),
        (f"/authors/{ANNA.address}/typed-data?prompt=x&contract={CONTRACT}", 400),
        (f"/authors/{ANNA.address}/typed-data?prompt=x&contract=7", 400),
    ],
)
async def test_what_cannot_be_meant_is_said(path: str, status: int, server: httpx.AsyncClient) -> None:
    answer = await server.get(path)
    assert (answer.status_code, set(answer.json())) == (status, {"code", "message", "remedy"})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"prompt": "a"}',
        b"[" * 10_000,
        b'{"prompt": "\\ud800", "nonce": 1, "deadline": 1, "signature": "0x"}',
        b'{"prompt": "a", "nonce": 1, "deadline": 1, "signature": "0xzz"}',
        b'{"prompt": "a", "nonce": -1, "deadline": 1, "signature": "0x"}',
        b'{"prompt": "a", "nonce": 1, "deadline": 1e99, "signature": "0x"}',
        b'{"prompt": "a", "nonce": 1, "deadline": 1, "signature": "0x", "more": 1}',
    ],
)
async def test_a_body_that_is_none_is_refused(body: bytes, server: httpx.AsyncClient) -> None:
    answer = await server.post(f"/authors/{ANNA.address}/prompt", content=body)
    assert (answer.status_code, set(answer.json())) == (400, {"code", "message", "remedy"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"signature": "0xzz"}, "signature: 0x and hex digits, two for each of at most"),
        ({"nonce": -1}, "nonce: a whole number below 10^18 is wanted."),
        ({"deadline": None}, "deadline: a whole number below 10^18 is wanted."),
        ({"disclosure": "soon"}, "disclosure: now, later, never or nothing is wanted."),
        ({"prompt": 7}, "prompt: a text is wanted."),
        ({"more": 7}, "more: there is no such field."),
    ],
)
async def test_a_field_that_does_not_fit_is_named_with_what_is_wanted(
    change: dict[str, Any], told: str, server: httpx.AsyncClient
) -> None:
    fitting = {"prompt": "a", "nonce": 1, "deadline": 1, "signature": "0x"}
    answer = await server.post(f"/authors/{ANNA.address}/prompt", json=fitting | change)
    assert told in answer.json()["message"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "The body: JSON is wanted, in whole characters of UTF-8."),
        (b'{"prompt": "\\ud800"}', "The body: JSON is wanted, in whole characters of UTF-8."),
        (b"[]", "The body: an object is wanted, { … }."),
        (b"{}", "prompt: it is missing."),
    ],
)
async def test_what_is_no_body_is_told_in_our_words(body: bytes, told: str, server: httpx.AsyncClient) -> None:
    answer = await server.post(f"/authors/{ANNA.address}/typed-data", content=body)
    assert answer.json()["message"].endswith(f" {told}")


async def test_a_body_without_end_is_not_read(server: httpx.AsyncClient) -> None:
    answer = await server.post(f"/authors/{ANNA.address}/prompt", content=b" " * (authors.LARGEST + 1))
    assert (answer.status_code, answer.json()["code"]) == (413, "GLK-808")


async def test_only_the_operator_is_shown_a_prompt(link: Link, server: httpx.AsyncClient) -> None:
    await publish(server, ANNA.address, ANNA.published(disclosure="now"))
    shown = (await server.get(f"/authors/{ANNA.address}")).json()
    assert "prompt" not in shown
    assert (shown["next_nonce"], shown["has_prompt"], shown["disclosure"]) == ("2", True, "now")
    key = await KeyRepository(link).make("me", OPERATOR, "test")
    told = await server.get(f"/authors/{ANNA.address}", headers={"Authorization": f"Bearer {key}"})
    assert told.json()["prompt"] == "A fox in the snow"
    nobody = (await server.get(f"/authors/{BOB.address}")).json()
    assert (nobody["next_nonce"], nobody["has_prompt"]) == ("1", False)


async def test_before_anything_is_followed_there_is_nothing_to_sign_for(link: Link, tmp_path: Path) -> None:
    async with serving(link, tmp_path, contracts="") as server:
        answer = await server.get(f"/authors/{ANNA.address}/typed-data", params={"prompt": "A fox"})
        assert (answer.status_code, answer.json()["code"]) == (503, "GLK-207")


MOODS = {"honest": 0, "reverting": 1, "endless": 2, "echoing": 3, "silent": 4}


@pytest.mark.parametrize("mood", MOODS)
async def test_a_wallet_that_is_a_contract_is_asked_on_its_chain(
    mood: str, chain: Chain, link: Link, tmp_path: Path
) -> None:
    """Nothing but a clear yes is one."""
    wallet = await chain.deploy("SmartWallet", ANNA.address, MOODS[mood])
    check = WalletCheck([chain.url])
    async with serving(link, tmp_path, check) as server:
        strange = await publish(server, wallet, BOB.published(wallet))
        assert strange.json()["code"] == "GLK-812"
        answer = await publish(server, wallet, ANNA.published(wallet))
    await check.close()
    assert answer.status_code == (201 if mood == "honest" else 400)


async def test_an_account_that_has_lent_itself_code_still_has_its_key(chain: Chain, link: Link, tmp_path: Path) -> None:
    """EIP-7702: the code at its address only says where its real code is."""
    honest = await chain.deploy("SmartWallet", BOB.address, 0)
    await chain.ask("anvil_setCode", ANNA.address, f"0xef0100{honest[2:]}")
    check = WalletCheck([chain.url])
    async with serving(link, tmp_path, check) as server:
        assert (await publish(server, ANNA.address, ANNA.published())).status_code == 201
        by_its_code = await publish(server, ANNA.address, BOB.published(ANNA.address, nonce=2))
        assert by_its_code.status_code == 201
        by_nobody = await publish(server, ANNA.address, Wallet("0x" + "cc" * 32).published(ANNA.address, nonce=3))
        assert by_nobody.json()["code"] == "GLK-812"
    await check.close()


@pytest.mark.parametrize("urls", [[], ["http://127.0.0.1:9"]])
async def test_a_chain_that_does_not_answer_is_our_trouble_and_not_a_wrong_signature(
    urls: list[str], link: Link, tmp_path: Path, connection: Any
) -> None:
    check, wallet = WalletCheck(urls), "0x" + "11" * 20
    async with serving(link, tmp_path, check) as server:
        answer = await publish(server, wallet, ANNA.published(wallet))
        assert (answer.status_code, answer.json()["code"]) == (503, "GLK-201")
        assert (await publish(server, ANNA.address, ANNA.published())).status_code == 201
    await check.close()
    assert await connection.fetchval("SELECT count(*) FROM author_prompts") == 1


async def test_a_node_of_another_chain_is_not_believed(chain: Chain, link: Link, tmp_path: Path) -> None:
    wallet = await chain.deploy("SmartWallet", ANNA.address, 0)
    check = WalletCheck([chain.url])
    async with serving(link, tmp_path, check, contracts=f"5:{CONTRACT}") as server:
        answer = await publish(server, wallet, ANNA.published(wallet, chain_id=5))
    await check.close()
    assert (answer.status_code, answer.json()["code"]) == (503, "GLK-202")
