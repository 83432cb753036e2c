"""Draws through Replicate: places an order, waits for it, fetches the picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glisk.errors import ProviderFailed
from glisk.providers.download import Downloads
from glisk.providers.port import Order, Picture, Receipt
from glisk.providers.replicate import output
from glisk.providers.replicate.inputs import Inputs, inputs, one_line, takes_lora
from glisk.providers.replicate.predictions import Predictions, Terms


class Replicate(Predictions[Order]):
    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.downloads = Downloads()

    @property
    def takes_lora(self) -> bool:
        return takes_lora(self.model)

    async def draw(self, order: Order, receipt: Receipt) -> Picture:
        prediction = await self.over(order, receipt)
        cost = output.cost(prediction, self.terms.price)
        url = output.address(prediction, cost)
        try:
            data = await self.downloads.fetched(url)
        except ProviderFailed as error:
            error.cost = cost  # the picture is lost, the money too
            raise
        return Picture(data, None if url.startswith("data:") else url, cost, prediction.version)

    def inputs(self, order: Order) -> Inputs:
        return inputs(self.model, order, self.terms.own_inputs)

    def is_this(self, order: Order, asked: Mapping[str, Any]) -> bool:
        """By its seed, which no other order of ours has while it is open."""
        return asked.get("seed") == order.seed and asked.get("prompt") == one_line(order.prompt)

    async def close(self) -> None:
        await super().close()
        await self.downloads.close()
