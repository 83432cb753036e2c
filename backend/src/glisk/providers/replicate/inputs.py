"""What does a model want to be asked, and by which name? Each family has words of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from glisk.errors import BadOrder
from glisk.providers.port import Order

Inputs: TypeAlias = dict[str, Any]

# FLUX takes a ratio and makes these sizes of it.
FLUX_RATIOS: Mapping[tuple[int, int], str] = {
    (1024, 1024): "1:1",
    (1344, 768): "16:9",
    (1536, 640): "21:9",
    (1216, 832): "3:2",
    (1088, 896): "5:4",
    (1152, 896): "4:3",
    (768, 1344): "9:16",
    (640, 1536): "9:21",
    (832, 1216): "2:3",
    (896, 1088): "4:5",
    (896, 1152): "3:4",
}


def inputs(model: str, order: Order, own: Mapping[str, Any]) -> Inputs:
    """The operator's own inputs stand above ours, but the prompt and the seed are the order's."""
    further = lora(order) if takes_lora(model) else {}
    return {**family_of(model)(order), **further, **own, "prompt": one_line(order.prompt), "seed": order.seed}


def target(model: str) -> dict[str, str]:
    """How the package wants a model named: with a version it goes by that alone."""
    if model.startswith("deployments/"):
        return {"deployment": model.removeprefix("deployments/")}
    name, _, version = model.rpartition(":")
    return {"version": version} if name or "/" not in model else {"model": model}


def flux(order: Order) -> Inputs:
    return {"aspect_ratio": ratio(order), "num_outputs": 1, "output_format": "webp", "output_quality": 95}


def schnell(order: Order) -> Inputs:
    return flux(order) | steps(order, 4)


def dev(order: Order) -> Inputs:
    return flux(order) | steps(order, 50)


def flux_pro(order: Order) -> Inputs:
    """One picture, as a plain string, and not every one of them makes webp."""
    return {"aspect_ratio": ratio(order), "output_format": "png"}


def diffusion(order: Order) -> Inputs:
    return {"width": order.width, "height": order.height, "num_outputs": 1} | steps(order, 150)


def plain(order: Order) -> Inputs:
    return {}


FAMILIES: tuple[tuple[str, Callable[[Order], Inputs]], ...] = (
    (r"/flux-schnell", schnell),
    (r"/flux-(dev|krea)", dev),
    (r"/flux-", flux_pro),
    (r"/(sdxl|stable-diffusion)(?!-3)", diffusion),
)


def takes_lora(model: str) -> bool:
    """Those that do have it in their name: flux-dev-lora, flux-schnell-lora, and others' alike."""
    return "lora" in model.rpartition("/")[2].split(":")[0]


def lora(order: Order) -> Inputs:
    return {"lora_weights": order.lora.url, "lora_scale": order.lora.weight} if order.lora else {}


def steps(order: Order, most: int) -> Inputs:
    return {} if order.steps is None else {"num_inference_steps": min(order.steps, most)}


def family_of(model: str) -> Callable[[Order], Inputs]:
    return next((family for name, family in FAMILIES if re.search(name, model)), plain)


def ratio(order: Order) -> str:
    if found := FLUX_RATIOS.get((order.width, order.height)):
        return found
    sizes = ", ".join(f"{width}x{height}" for width, height in FLUX_RATIOS)
    raise BadOrder(f"FLUX draws no {order.width}x{order.height}, but one of {sizes}")


def one_line(prompt: str) -> str:
    """FLUX has been seen to fail, every time, at a line break."""
    return re.sub(r"[\t\r\n]+", " ", prompt)
