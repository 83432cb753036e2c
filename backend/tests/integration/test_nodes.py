"""Which chain a node serves is asked before anything is followed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response

from glisk.chain import nodes
from glisk.chain.mint import Contract
from glisk.chain.nodes import Nodes
from glisk.errors import RpcUnreachable, WrongChain
from tests.commands import a_free_port
from tests.serving import served

A, B = "0x" + "aa" * 20, "0x" + "bb" * 20
BASE, MAINNET = "https://base.example/hunter2", "https://mainnet.example/hunter2"
DOWN = "https://down.example/hunter2"


@asynccontextmanager
async def asked() -> AsyncIterator[str]:
    """A server with a node at every path: /7 serves chain 7, /refusing none."""
    app = FastAPI()

    @app.post("/refusing")
    def refuse() -> Response:
        return Response('{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}', 401)

    @app.post("/page")
    def page() -> Response:
        return Response("<html>")

    @app.post("/{chain_id}")
    async def answer(chain_id: int, request: Request) -> dict[str, Any]:
        body = await request.json()
        assert body["method"] == "eth_chainId"
        return {"jsonrpc": "2.0", "id": body["id"], "result": hex(chain_id)}

    async with served(app) as address:
        yield address


async def test_nodes_are_told_apart_by_their_chain() -> None:
    async with asked() as at:
        nowhere = f"http://127.0.0.1:{a_free_port()}/hunter2"
        urls = [f"{at}/8453", f"{at}/1", nowhere, f"{at}/8453?two", f"{at}/refusing", f"{at}/page"]
        found = await nodes.ask(urls)
    assert found.chains == [1, 8453]
    assert found.of(8453) == [urls[0], nowhere, urls[3], urls[4], urls[5]]
    assert found.of(1) == [urls[1], nowhere, urls[4], urls[5]]
    assert "ConnectError" in found.silence()
    assert "answered 401 without a chain's id" in found.silence()
    assert "hunter2" not in found.silence()


@pytest.mark.parametrize(
    ("wanted", "answers", "placed"),
    [
        ([(None, A)], {BASE: 8453}, [Contract(8453, A)]),
        ([(8453, A)], {BASE: 8453}, [Contract(8453, A)]),
        ([(None, A), (8453, A)], {BASE: 8453}, [Contract(8453, A)]),
        ([(None, A)], {BASE: 8453, DOWN: "gone"}, [Contract(8453, A)]),
        ([(1, B), (8453, A)], {BASE: 8453, MAINNET: 1}, [Contract(1, B), Contract(8453, A)]),
    ],
)
def test_a_contract_is_on_the_chain_that_is_said_or_on_that_of_the_nodes(
    wanted: list[tuple[int | None, str]], answers: dict[str, int | str], placed: list[Contract]
) -> None:
    assert nodes.placed(wanted, Nodes(answers)) == placed


@pytest.mark.parametrize(
    ("wanted", "answers", "error", "said"),
    [
        ([(1, A)], {BASE: 8453}, WrongChain, f"{A} is to be on chain 1; they serve 8453."),
        ([(None, A)], {BASE: 8453, MAINNET: 1}, WrongChain, f"They serve the chains 1 and 8453: {A} must say"),
        ([(8453, A)], {BASE: 8453, MAINNET: 1}, WrongChain, "https://mainnet.example/*** serves chain 1, on which"),
        ([(None, A)], {DOWN: "gone"}, RpcUnreachable, "https://down.example/***: gone"),
        ([(1, A), (8453, B)], {BASE: 8453, DOWN: "gone"}, RpcUnreachable, "https://down.example/***: gone"),
    ],
)
def test_what_is_wrong_is_told_apart_from_what_is_not_known_yet(
    wanted: list[tuple[int | None, str]], answers: dict[str, int | str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as caught:
        nodes.placed(wanted, Nodes(answers))
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
