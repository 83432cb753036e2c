"""The pinner that is always there: our own store, shown at /ipfs/{cid}."""

from __future__ import annotations

from glisk.storage.ipfs.blocks import Blocks
from glisk.storage.ipfs.port import Dag


class Local:
    """Raises a StorageError, unlike the others, since its trouble is that of the storage of images."""

    name = "local"

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks

    async def put(self, dag: Dag, label: str) -> None:
        await self.blocks.put(dag)

    async def has(self, cid: str) -> bool:
        return await self.blocks.has(cid)

    async def close(self) -> None:
        """Nothing is held open."""
