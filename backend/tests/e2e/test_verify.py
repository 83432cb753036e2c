"""glisk verify on a real chain, through real gateways, without any database: who is wrong is named, and nobody else."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse

from glisk.api import ipfs
from glisk.api.app import create_app
from glisk.chain.mint import Contract
from glisk.chain.rpc.pool import Rpc
from glisk.dev.chain_contract import KEEPER, OWNER
from glisk.publishing.canonical import canonical
from glisk.publishing.manifest import in_hex, signed
from glisk.settings import Settings
from glisk.storage.ipfs.blocks import ROOM, Blocks, key
from glisk.storage.ipfs.cid import parse
from glisk.storage.ipfs.unixfs import dag
from glisk.storage.objects import Objects
from glisk.verifying.collection import verified
from glisk.verifying.gateways import Patience
from glisk.verifying.ids import Ids
from glisk.verifying.verdict import Report
from tests import pictures
from tests.chains import AUTHOR, Chain, free_port, request
from tests.commands import glisk
from tests.manifests import a_manifest
from tests.serving import served

SIGNER, STRANGER = (Account.from_key("0x" + digits * 32) for digits in ("11", "22"))
HASTY = Patience(whole=2.0, connect=1.0, rest=0.01, longest_rest=0.02, silences=3)
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"
ANSWERS_ONE = "0x6760015f5260205ff35f5260086018f3"  # deploys what returns 1, whatever it is asked
PICTURE = pictures.good(1, "circle", (32, 32))


@dataclass
class Stage:
    """A collection whose tokens are pinned in a directory of the test's own."""

    chain: Chain
    contract: str
    settings: Settings
    metadata: dict[int, bytes] = field(default_factory=dict)

    @property
    def blocks(self) -> Blocks:
        return Blocks.of(self.settings)

    def app(self) -> FastAPI:
        return create_app(Objects.of(self.settings), ipfs.router(self.blocks))

    async def minted(self, quantity: int) -> None:
        for some in range(0, quantity, 50):
            await self.chain.mint(AUTHOR, min(50, quantity - some), contract=self.contract)

    async def finished(self, quantity: int) -> None:
        """Minted, drawn, pinned, revealed."""
        await self.minted(quantity)
        made = {n: (tinted(n), self.described(n, picture=tinted(n))) for n in range(1, quantity + 1)}
        await self.revealed({n: await self.pinned(*files) for n, files in made.items()})

    def described(self, token_id: int, *, picture: bytes = PICTURE, wallet: Any = SIGNER, **more: Any) -> bytes:
        cid = dag(picture).root
        manifest = a_manifest(self.chain.chain_id, self.contract, token_id, picture, more.pop("image_sha256", ""))
        shown = {"name": f"Glisk #{token_id}", "image": f"ipfs://{cid}", "attributes": [], **more}
        self.metadata[token_id] = canonical(signed(shown, manifest, wallet))
        return self.metadata[token_id]

    async def pinned(self, *files: bytes) -> str:
        """The URI of the last one."""
        for file in files:
            await self.blocks.put(dag(file))
        return f"ipfs://{dag(files[-1]).root}"

    async def revealed(self, uris: dict[int, str]) -> None:
        pairs = list(uris.items())
        for at in range(0, len(pairs), 50):
            ids, texts = zip(*pairs[at : at + 50], strict=True)
            wanted = request(self.contract, "revealTokens(uint256[],string[])", ids, texts, sender=KEEPER)
            await self.chain.transact(wanted)

    def file(self, data: bytes) -> Path:
        return self.settings.data_dir / ROOM / key(parse(dag(data).root))

    def picture_of(self, token_id: int) -> Path:
        cid = json.loads(self.metadata[token_id])["image"].removeprefix("ipfs://")
        return self.settings.data_dir / ROOM / key(parse(cid))

    async def verify(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command itself, with a database that is not there."""
        wanted = ["--rpc", self.chain.url, "--contract", self.contract, *arguments]
        return await asyncio.to_thread(glisk, "verify", *wanted, cwd=self.settings.data_dir.parent)

    async def report(self, *gateways: str, ids: Ids | None = None, **terms: Any) -> Report:
        rpc = Rpc(self.chain.chain_id, [self.chain.url])
        try:
            place = Contract(self.chain.chain_id, self.contract)
            return await verified(rpc, place, ids, gateways, **({"patience": HASTY} | terms))
        finally:
            await rpc.close()


def tinted(seed: int) -> bytes:
    """Another picture for each seed."""
    return PICTURE + seed.to_bytes(4)


def careless(directory: Path) -> FastAPI:
    """A gateway that serves what lies on its disk, and looks at nothing."""
    app = FastAPI()

    @app.get("/ipfs/{cid}")
    async def read(cid: str) -> Response:
        path = directory / key(parse(cid))
        return Response(path.read_bytes()) if path.exists() else Response(status_code=404)

    return app


def answering(answer: Callable[..., Awaitable[Response]]) -> FastAPI:
    app = FastAPI()
    app.add_api_route("/ipfs/{cid}", answer, response_model=None)
    return app


def statuses(report: Report) -> dict[int, str]:
    return {verdict.token_id: verdict.status for verdict in report.verdicts}


def whys(report: Report, token_id: int = 1) -> list[str]:
    return [problem.why for verdict in report.verdicts if verdict.token_id == token_id for problem in verdict.problems]


@pytest.fixture
async def stage(chain: Chain, collection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setenv("GLISK_DATABASE_URL", NOWHERE)
    (tmp_path / "glisk").mkdir()
    return Stage(chain, collection, Settings(data_dir=tmp_path / "glisk"))


@pytest.fixture
async def gateway(stage: Stage) -> AsyncIterator[str]:
    async with served(stage.app()) as url:
        yield url


async def test_of_two_hundred_tokens_exactly_the_four_that_were_tampered_with_are_named(
    stage: Stage, gateway: str
) -> None:
    await stage.finished(200)
    flipped = stage.picture_of(20)
    flipped.chmod(0o644)
    flipped.write_bytes(flipped.read_bytes()[:-1] + b"\xff")
    stage.picture_of(60).unlink()
    edited = canonical(json.loads(stage.metadata[140]) | {"name": "Rare"})
    await stage.revealed({100: f"ipfs://{dag(stage.metadata[101]).root}", 140: await stage.pinned(edited)})

    async with served(careless(stage.settings.data_dir / ROOM)) as other:
        found = await stage.verify("--gateway", gateway, "--gateway", other)

    _, *rows, summary = (line.split("\t") for line in found.stdout.splitlines())
    assert found.returncode == 1, found.stderr
    assert [(row[0], row[1]) for row in rows if row[1] == "wrong"] == [
        ("20", "wrong"), ("100", "wrong"), ("140", "wrong"),
    ]  # fmt: skip
    assert {row[0] for row in rows} == {"20", "60", "100", "140"}
    told = {(row[0], row[3].partition("/ipfs/")[0]): row[4] for row in rows}
    assert told["20", other].startswith("the bytes are not those of bafkrei")
    assert told["20", gateway] == "it answered 500"
    assert told["60", gateway] == told["60", other] == "it answered 404"
    assert any(row[0] == "100" and row[4] == "it is the provenance of token 101" for row in rows)
    assert any(row[0] == "140" and "was changed after it was signed" in row[4] for row in rows)
    signer = SIGNER.address.lower()
    assert summary == [
        f"200 tokens: 196 sound, 3 wrong, 1 missing (not revealed: 0) through 2 gateways, signed by {signer}"
    ]


async def test_what_is_only_missing_is_said_and_is_no_failure(stage: Stage, gateway: str) -> None:
    await stage.finished(3)
    stage.file(stage.metadata[2]).unlink()
    found = await stage.verify("--gateway", gateway)
    assert found.returncode == 0, found.stderr
    _, row, summary = found.stdout.splitlines()
    assert row.split("\t")[:3] == ["2", "missing", "metadata"]
    assert summary.startswith("3 tokens: 2 sound, 0 wrong, 1 missing (not revealed: 0) through 1 gateway")


async def test_a_gateway_that_is_not_there_is_told_of_with_the_remedy(stage: Stage) -> None:
    await stage.finished(3)
    found = await stage.verify("--gateway", f"http://127.0.0.1:{free_port()}")
    assert found.returncode == 0
    assert found.stdout.splitlines()[1].startswith("1-3\tmissing\tmetadata")
    assert "--gateway https://ipfs.io" in found.stderr


async def test_a_script_gets_every_verdict_of_the_tokens_it_names(stage: Stage, gateway: str) -> None:
    await stage.finished(5)
    await stage.minted(1)
    found = await stage.verify("--gateway", gateway, "--json", "2-3", "3", "6", "9")
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)
    assert [(token["token_id"], token["status"]) for token in told["tokens"]] == [
        ("2", "sound"), ("3", "sound"), ("6", "not revealed"), ("9", "missing"),
    ]  # fmt: skip
    assert told["tokens"][3]["problems"][0]["why"].endswith("there is no such token")
    assert (told["contract"], told["sound"]) == (f"{stage.chain.chain_id}:{stage.contract}", 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["5-2"], "like 1-50"),
        (["-1"], "No such option"),
        (["x"], "like 1-50"),
        (["--signer", "0x12"], "40 hex digits"),
        (["--gateway", "https://ipfs.io/ipfs"], "/ipfs is added"),
        (["--rpc", "ftp://node"], "https://host/key"),
        (["--rpc", "wss://node"], "an http(s) URL is wanted too"),
        (["--contract", "glisk.eth"], "40 hex digits"),
        (["--rpc", "http://127.0.0.1:1"], "Which contract?"),
        (["--rpc", "http://127.0.0.1:1", "--contract", f"1:{AUTHOR}", "--json"], "GLK-201"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_remedy(arguments: list[str], said: str, tmp_path: Path) -> None:
    found = glisk("verify", *arguments, cwd=tmp_path)
    assert found.returncode == (1 if said == "GLK-201" else 2)
    assert said in " ".join(found.stderr.replace("│", " ").split())


async def test_an_address_without_a_contract_is_refused(stage: Stage) -> None:
    stage.contract = AUTHOR
    found = await stage.verify()
    assert (found.returncode, "there is no contract at this address" in found.stderr) == (2, True)


async def test_a_contract_that_does_not_count_its_tokens_wants_them_named(stage: Stage) -> None:
    stage.contract = await stage.chain.deploy("PlainERC721")
    found = await stage.verify()
    assert (found.returncode, "like 1-50" in found.stderr) == (2, True)


async def test_a_uri_of_a_mere_server_is_wrong(stage: Stage, gateway: str) -> None:
    await stage.finished(2)
    await stage.revealed({2: "https://glisk.example/2.json"})
    report = await stage.report(gateway)
    assert statuses(report) == {1: "sound", 2: "wrong"}
    assert whys(report, 2) == ["its URI is not content-addressed: https://glisk.example/2.json"]


async def test_a_token_that_shows_the_placeholder_is_not_revealed(stage: Stage, gateway: str) -> None:
    await stage.finished(1)
    await stage.minted(1)
    assert statuses(await stage.report(gateway)) == {1: "sound", 2: "not revealed"}
    wanted = request(stage.contract, "setPlaceholderURI(string)", "https://glisk.example/soon", sender=OWNER)
    await stage.chain.transact(wanted)
    assert statuses(await stage.report(gateway)) == {1: "sound", 2: "not revealed"}


async def test_a_stranger_s_signature_is_named(stage: Stage, gateway: str) -> None:
    await stage.finished(3)
    await stage.revealed({2: await stage.pinned(PICTURE, stage.described(2, wallet=STRANGER))})
    report = await stage.report(gateway)
    assert statuses(report) == {1: "sound", 2: "wrong", 3: "sound"}
    assert whys(report, 2) == [f"it is signed by {STRANGER.address.lower()}, unlike 2 others"]
    strict = await stage.report(gateway, signer=STRANGER.address.lower())
    assert statuses(strict) == {1: "wrong", 2: "sound", 3: "wrong"}


async def test_metadata_that_is_not_json_is_wrong_and_a_wrong_hash_too(stage: Stage, gateway: str) -> None:
    await stage.minted(3)
    sound = await stage.pinned(PICTURE, stage.described(1))
    page = await stage.pinned(b"<html>Glisk</html>")
    other = await stage.pinned(stage.described(3, image_sha256=in_hex(sha256(b"other").digest())))
    await stage.revealed({1: sound, 2: page, 3: other})
    report = await stage.report(gateway)
    assert statuses(report) == {1: "sound", 2: "wrong", 3: "wrong"}
    assert whys(report, 2) == ["it is not JSON, or none that can be read"]
    assert whys(report, 3) == ["its SHA-256 is not the one that was signed"]


async def test_a_picture_of_many_blocks_is_checked_as_one(stage: Stage, gateway: str) -> None:
    await stage.minted(1)
    large = PICTURE + bytes(3_000_000)
    await stage.revealed({1: await stage.pinned(large, stage.described(1, picture=large))})
    assert len(dag(large).blocks) > 1
    assert statuses(await stage.report(gateway)) == {1: "sound"}


async def test_a_gateway_that_lies_is_named_even_if_another_tells_the_truth(stage: Stage, gateway: str) -> None:
    await stage.finished(2)

    async def lie() -> Response:
        return Response(b"something else")

    async with served(answering(lie)) as liar:
        report = await stage.report(gateway, liar)
    assert statuses(report) == {1: "wrong", 2: "wrong"}
    assert {problem.gateway for verdict in report.verdicts for problem in verdict.problems} == {liar}
    assert all(verdict.is_whole for verdict in report.verdicts)


async def test_redirects_are_followed_but_not_in_a_circle(stage: Stage, gateway: str) -> None:
    await stage.finished(1)

    async def elsewhere(cid: str) -> Response:
        return RedirectResponse(f"{gateway}/ipfs/{cid}")

    async def around(cid: str) -> Response:
        return RedirectResponse(f"/ipfs/{cid}")

    async with served(answering(elsewhere)) as good, served(answering(around)) as circle:
        assert statuses(await stage.report(good)) == {1: "sound"}
        lost = await stage.report(circle)
    assert statuses(lost) == {1: "missing"}
    assert whys(lost) == ["it redirects in a circle, or too often"]


async def test_an_endless_body_is_cut(stage: Stage) -> None:
    await stage.finished(1)

    async def endless(request: Request) -> Response:
        async def more() -> AsyncIterator[bytes]:
            while not await request.is_disconnected():
                yield bytes(100_000)

        return StreamingResponse(more())

    async with served(answering(endless)) as url:
        report = await stage.report(url, patience=Patience())
    assert statuses(report) == {1: "missing"}
    assert whys(report) == ["it sends more than 1,048,576 bytes, which nobody reads"]


async def test_a_gateway_that_never_answers_is_given_up(stage: Stage, gateway: str) -> None:
    await stage.finished(8)

    async def silent(request: Request) -> Response:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        return Response()

    async with served(answering(silent)) as url:
        patience = Patience(whole=0.1, silences=3)
        report = await stage.report(gateway, url, patience=patience, at_once=1)
        alone = await stage.verify("--gateway", url, "--timeout", "0.2", "--at-once", "8")
    assert set(statuses(report).values()) == {"sound"}
    assert whys(report)[0] == "it did not come within 0.1 s"
    assert whys(report, 8)[0] == "it did not answer 3 times in a row, and is not asked any more"
    assert (alone.returncode, " 8 missing " in alone.stdout) == (0, True)


async def test_a_gateway_that_asks_for_patience_is_asked_again(stage: Stage) -> None:
    await stage.finished(1)
    answers = iter([429, 503])

    async def busy(cid: str) -> Response:
        status = next(answers, 200)
        data = b"".join([piece async for piece in stage.blocks.open(cid)]) if status == 200 else b""
        return Response(data, status, {"Retry-After": "1"})

    async with served(answering(busy)) as url:
        assert statuses(await stage.report(url)) == {1: "sound"}


async def test_a_gateway_that_asks_for_too_much_patience_is_not_waited_for(stage: Stage) -> None:
    await stage.finished(1)

    async def busy() -> Response:
        return Response(status_code=429, headers={"Retry-After": "3600"})

    async with served(answering(busy)) as url:
        report = await stage.report(url, patience=Patience(whole=5, longest_rest=600))
    assert whys(report) == ["it answered 429"]


async def test_a_contract_that_answers_with_no_text_does_not_count_as_a_broken_node(stage: Stage, gateway: str) -> None:
    made = await stage.chain.transact({"from": OWNER, "data": ANSWERS_ONE})
    stage.contract = made["contractAddress"]
    assert statuses(await stage.report(gateway, ids=Ids.of([(1, 2)]))) == {1: "missing", 2: "missing"}


async def test_tokens_that_a_contract_does_not_have_are_missing(stage: Stage, gateway: str) -> None:
    """One that has no tokens, no placeholder and no numbers."""
    stage.contract = await stage.chain.deploy("PlainERC721")
    report = await stage.report(gateway, ids=Ids.of([(1, 3)]))
    assert statuses(report) == {1: "missing", 2: "missing", 3: "missing"}
