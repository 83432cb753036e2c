"""Which address a token has: /t/17, or /t/{chain}:{contract}/17 where there are several collections."""

from __future__ import annotations

from dataclasses import dataclass

from glisk.api.naming import Names
from glisk.errors import TokenMissing
from glisk.repositories.metadata_board import MetadataBoard
from glisk.repositories.token_board import Collection
from glisk.web.site import Site


@dataclass(frozen=True, slots=True)
class Home:
    """The collection that is meant where none is named; None: there are several, or none yet."""

    collection: Collection | None

    def address(self, chain: int, contract: str, token_id: str) -> str:
        named = Collection(contract, chain)
        return f"/t/{token_id}" if named == self.collection else f"/t/{named}/{token_id}"


async def home(site: Site) -> Home:
    try:
        return Home(await names(site).collection(None))
    except TokenMissing:
        return Home(None)


def names(site: Site) -> Names:
    return Names(MetadataBoard(site.link), site.settings)
