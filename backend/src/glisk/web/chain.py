"""/chain: how far each contract is read, what was reorganised, and what the keeper can still pay for."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from glisk.repositories.chain_board import ChainBoard
from glisk.repositories.system_board import SystemBoard
from glisk.web import charts
from glisk.web.charts import Mark
from glisk.web.site import Site


def mount(routes: APIRouter, site: Site) -> None:
    board, system = ChainBoard(site.link), SystemBoard(site.link)

    async def show(request: Request) -> Response:
        visitor = await site.door.operator(request)
        contracts = await board.status()
        return await site.page(
            *(request, "chain.html"),
            visitor=visitor,
            contracts=contracts,
            rulers=[ruler(contract) for contract in contracts],
            reorgs=await board.reorgs(),
            keepers=await board.keepers(),
            pending=await board.pending(),
            seats=await system.listeners(),
            few=site.settings.alert_reveals_left,
        )

    routes.add_api_route("/chain", show, methods=["GET"])


def ruler(contract: dict[str, Any]) -> str:
    """What is confirmed, what is safe, what has been read, and where the chain is."""
    known = [(name, contract[name]) for name in ("confirmed", "safe", "tip", "head")]
    marks = [Mark(name, at) for name, at in known if at is not None]
    return charts.ruler(marks, title=f"Blocks of {contract['contract']}")
