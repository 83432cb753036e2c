"""OpenAI's POST /v1/images/edits: what it takes, what it refuses, and what it answers."""

from __future__ import annotations

import base64
import io
import re
import zlib
from collections.abc import Sequence
from typing import Any

from PIL import Image
from starlette.responses import Response

from glisk.dev.standins import pictures
from glisk.dev.standins.base import as_json
from glisk.dev.standins.openai_problems import refusal
from glisk.dev.standins.pictures import Sketch
from glisk.dev.standins.uploads import Upload, text_in

MODELS = (
    "gpt-image-1",
    "gpt-image-1-mini",
    "gpt-image-1.5",
    "gpt-image-2",
    "gpt-image-2-2026-04-21",
    "chatgpt-image-latest",
)
FIELDS = {"model", "prompt", "n", "size", "quality", "input_fidelity", "background", "output_format", "output_compression", "moderation", "user"}  # fmt: skip
FILES = {"image", "image[]", "mask"}
SIZES = {"1024x1024", "1536x1024", "1024x1536"}
MIMES = ("image/jpeg", "image/png", "image/webp")
MOST_IMAGES, LARGEST_IMAGE, LARGEST_MASK, LONGEST_PROMPT = 16, 50 << 20, 4 << 20, 32_000
FAITHFUL = ("gpt-image-1", "gpt-image-1.5", "chatgpt-image-latest")
OUTPUT_TOKENS = {"1024x1024": 4160, "1536x1024": 6208, "1024x1536": 6208}


def problem(content_type: str, parts: Sequence[Upload]) -> Response | None:
    """In the order in which it looks; None: it edits."""
    if not content_type.startswith("multipart/form-data"):
        return refusal("unsupported_content_type", f"Unsupported content type: '{content_type}'.")
    if stray := next((part.name for part in parts if part.name not in FIELDS | FILES), None):
        return refusal("unknown_parameter", f"Unknown parameter: '{stray}'.", param=stray)
    return of_fields(parts) or of_files(parts)


def of_fields(parts: Sequence[Upload]) -> Response | None:
    model, prompt, size = text_in(parts, "model") or "gpt-image-1.5", text_in(parts, "prompt"), text_in(parts, "size")
    if model not in MODELS:
        return refusal("model_not_found", f"The model '{model}' does not exist.", param="model")
    if not prompt:
        return refusal("missing_required_parameter", "Missing required parameter: 'prompt'.", param="prompt")
    if len(prompt) > LONGEST_PROMPT:
        return refusal("string_above_max_length", f"Invalid 'prompt': string too long. Expected a string with maximum length {LONGEST_PROMPT}.", param="prompt")  # fmt: skip
    if size and size != "auto" and size not in SIZES and not model.startswith("gpt-image-2"):
        return refusal("invalid_value", f"Invalid value: '{size}'. Supported values are: '1024x1024', '1024x1536', '1536x1024', and 'auto'.", param="size")  # fmt: skip
    if text_in(parts, "input_fidelity") and model not in FAITHFUL:
        return refusal("invalid_input_fidelity_model", f"The model '{model}' does not support the 'input_fidelity' parameter.", param="input_fidelity")  # fmt: skip
    return None


def of_files(parts: Sequence[Upload]) -> Response | None:
    images, masks = images_in(parts), [part for part in parts if part.name == "mask"]
    if not images:
        return refusal("missing_required_parameter", "Missing required parameter: 'image'.", param="image")
    if len(images) > MOST_IMAGES or len(masks) > 1 or ("image" in {part.name for part in images} and len(images) > 1):
        return refusal("duplicate_parameter", "Too many files: at most 16 'image[]' and one 'mask'.", param="image")
    for part in (*images, *masks):
        if refused := of_file(part):
            return refused
    return of_mask(masks[0], images[0]) if masks else None


def of_file(part: Upload) -> Response | None:
    name = part.name.removesuffix("[]")
    if part.mime not in MIMES:
        said = f"Invalid file '{name}': unsupported mimetype ('{part.mime}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'."
        return refusal("unsupported_file_mimetype", said, param=name)
    if len(part.data) > (LARGEST_MASK if name == "mask" else LARGEST_IMAGE):
        return refusal("file_too_large", f"Invalid file '{name}': too large.", param=name)
    if size_of(part.data) is None:
        return refusal("invalid_image_file", f"Invalid image file or mode for image {name}.", param=name)
    return None


def of_mask(mask: Upload, first: Upload) -> Response | None:
    if size_of(mask.data) != size_of(first.data):
        return refusal("invalid_mask_image_format")
    with Image.open(io.BytesIO(mask.data)) as image:
        if image.mode not in ("RGBA", "LA"):
            return refusal("invalid_mask_image_format", "Invalid mask image format - mask image missing alpha channel")
    return None


def size_of(data: bytes) -> tuple[int, int] | None:
    try:
        with Image.open(io.BytesIO(data), formats=["PNG", "JPEG", "WEBP"]) as image:
            image.load()
            return image.size
    except (OSError, SyntaxError, ValueError):
        return None


def images_in(parts: Sequence[Upload]) -> list[Upload]:
    return [part for part in parts if part.name in ("image", "image[]")]


def answer(parts: Sequence[Upload], created: int) -> Response:
    """A pattern, the same for the same prompt."""
    prompt, size = text_in(parts, "prompt"), text_in(parts, "size")
    size, kind = size if re.fullmatch(r"\d+x\d+", size) else "1024x1024", text_in(parts, "output_format") or "png"
    width, height = map(int, size.split("x"))
    picture = pictures.drawn(Sketch(zlib.crc32(prompt.encode()), width, height, "jpg" if kind == "jpeg" else kind))
    told = {"created": created, "background": "opaque", "data": [{"b64_json": base64.b64encode(picture).decode()}]}
    return as_json(told | {"output_format": kind, "quality": "high", "size": size, "usage": usage(parts, size)})


def usage(parts: Sequence[Upload], size: str) -> dict[str, Any]:
    text, image = len(text_in(parts, "prompt")) // 4, 400 * len(images_in(parts))
    output = OUTPUT_TOKENS.get(size, 6208)
    details = {"image_tokens": image, "text_tokens": text}
    return {
        "input_tokens": text + image,
        "input_tokens_details": details,
        "output_tokens": output,
        "total_tokens": text + image + output,
    }
