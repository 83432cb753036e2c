"""Which models there are and what input each takes; a wrong input is told in Replicate's own words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

RATIOS = {
    "1:1": (1024, 1024),
    "16:9": (1344, 768),
    "21:9": (1536, 640),
    "3:2": (1216, 832),
    "2:3": (832, 1216),
    "4:5": (896, 1088),
    "5:4": (1088, 896),
    "3:4": (896, 1152),
    "4:3": (1152, 896),
    "9:16": (768, 1344),
    "9:21": (640, 1536),
}
JSON_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


@dataclass(frozen=True, slots=True)
class Field:
    kind: str  # as JSON Schema names it
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """`is_list`: the output is a list of files even if there is one. An official model shows no version."""

    name: str
    fields: Mapping[str, Field]
    format: str = "webp"
    is_list: bool = True
    is_official: bool = True
    required: tuple[str, ...] = ("prompt",)
    versions: tuple[str, ...] = ()
    answers: Any = None  # with words in place of pictures: these, or those of the prompt

    @property
    def version(self) -> str:
        return self.versions[0] if self.versions else hashlib.sha256(self.name.encode()).hexdigest()

    def has(self, version: str) -> bool:
        return version in (self.versions or (self.version,))


@dataclass(frozen=True, slots=True)
class Fault:
    """One of the `invalid_fields`. Its place is empty for the body itself."""

    type: str
    field: str
    description: str


TEXT, FLAG, SEED, URI = Field("string"), Field("boolean"), Field("integer"), Field("string")
FORMATS = ("webp", "jpg", "png")
COMMON: dict[str, Field] = {
    "prompt": TEXT,
    "seed": SEED,
    "aspect_ratio": Field("string", choices=tuple(RATIOS)),
    "output_format": Field("string", choices=FORMATS),
    "output_quality": Field("integer", 0, 100),
}
SCHNELL: dict[str, Field] = {
    **COMMON,
    "num_outputs": Field("integer", 1, 4),
    "num_inference_steps": Field("integer", 1, 4),
    "megapixels": Field("string", choices=("1", "0.25")),
    "disable_safety_checker": FLAG,
    "go_fast": FLAG,
}
DEV: dict[str, Field] = {
    **SCHNELL,
    "num_inference_steps": Field("integer", 1, 50),
    "guidance": Field("number", 0, 10),
    "image": URI,
    "prompt_strength": Field("number", 0, 1),
}
LORA: dict[str, Field] = {**DEV, "lora_weights": TEXT, "lora_scale": Field("number", -1, 3)}
PRO: dict[str, Field] = {
    **COMMON,
    "aspect_ratio": Field("string", choices=("custom", *RATIOS)),
    "width": Field("integer", 256, 1440),
    "height": Field("integer", 256, 1440),
    "safety_tolerance": Field("integer", 1, 6),
    "prompt_upsampling": FLAG,
}
KONTEXT: dict[str, Field] = {
    **PRO,
    "aspect_ratio": Field("string", choices=("match_input_image", *RATIOS)),
    "output_format": Field("string", choices=("jpg", "png")),
    "input_image": URI,
}
SDXL: dict[str, Field] = {
    "prompt": TEXT,
    "negative_prompt": TEXT,
    "seed": SEED,
    "width": Field("integer", 64, 2048),
    "height": Field("integer", 64, 2048),
    "num_outputs": Field("integer", 1, 4),
    "num_inference_steps": Field("integer", 1, 500),
    "guidance_scale": Field("number", 1, 50),
    "prompt_strength": Field("number", 0, 1),
    "disable_safety_checker": FLAG,
}
LLAMA: dict[str, Field] = {"prompt": TEXT, "system_prompt": TEXT, "max_tokens": Field("integer", 1)}
SDXL_VERSIONS = (
    "7762fd07cf82c948538e41f63f77d685e02b063e37e496e96eefd46c929f9bdc",
    "39ed52f2a78e934b3ba6e2a89f5b1c712de7dfea535525255b1aa35c5565e08b",
)
BFL = "black-forest-labs"
FAMILIES = (
    Model(f"{BFL}/flux-schnell", SCHNELL),
    Model(f"{BFL}/flux-dev", DEV),
    Model(f"{BFL}/flux-dev-lora", LORA),
    Model(f"{BFL}/flux-pro", PRO, is_list=False),
    Model(f"{BFL}/flux-1.1-pro", PRO, is_list=False),
    Model(f"{BFL}/flux-2-pro", PRO, is_list=False),
    Model(f"{BFL}/flux-kontext-pro", KONTEXT, format="png", is_list=False),
    Model("meta/meta-llama-3-8b-instruct", LLAMA, answers=""),
    Model("glisk/tagger", {"image": URI}, required=("image",), answers={"cat": 0.98, "Night Sky": 0.4, "1girl": 0.1}),
    Model("stability-ai/sdxl", SDXL, format="png", is_official=False, required=(), versions=SDXL_VERSIONS),
)
HOOK_EVENTS = ("start", "output", "logs", "completed")
BODY: dict[str, Field] = {
    "input": Field("object"),
    "stream": FLAG,
    "version": TEXT,
    "webhook": TEXT,
    "webhook_events_filter": Field("array", choices=HOOK_EVENTS),
}


@dataclass(slots=True)
class Catalogue:
    models: dict[str, Model] = field(default_factory=lambda: {model.name: model for model in FAMILIES})

    def of_version(self, text: str) -> Model | None:
        """By `owner/name` if official, by `owner/name:version`, or by the version alone."""
        name, _, version = text.partition(":")
        if "/" in name and not version:
            found = self.models.get(name)
            return found if found and found.is_official else None
        named = [self.models[name]] if name in self.models else self.models.values() if not version else []
        return next((model for model in named if model.has(version or name)), None)


def faults_in_body(body: Mapping[str, Any], *, takes_version: bool) -> list[Fault]:
    required = ("version", "input") if takes_version else ("input",)
    allowed = BODY if takes_version else {name: known for name, known in BODY.items() if name != "version"}
    return [*missing(body, required, ""), *unknown(body, allowed), *wrong(body, allowed, "")]


def faults_in_input(given: Mapping[str, Any], model: Model) -> list[Fault]:
    """What a model does not know it ignores."""
    return [*missing(given, model.required, "input"), *wrong(given, model.fields, "input.")]


def missing(given: Mapping[str, Any], required: tuple[str, ...], place: str) -> Iterator[Fault]:
    for name in required:
        if given.get(name) is None:
            yield Fault("required", place, f"{name} is required")


def unknown(given: Mapping[str, Any], allowed: Mapping[str, Field]) -> Iterator[Fault]:
    for name in given:
        if name not in allowed:
            yield Fault("additional_property_not_allowed", "", f"Additional property {name} is not allowed")


def wrong(given: Mapping[str, Any], fields: Mapping[str, Field], prefix: str) -> Iterator[Fault]:
    for name, value in given.items():
        if name in fields and value is not None:
            yield from faults_of(f"{prefix}{name}", name, value, fields[name])


def faults_of(place: str, name: str, value: Any, known: Field) -> Iterator[Fault]:
    given = JSON_NAMES.get(type(value), "object")
    if given != known.kind and not (known.kind == "number" and given == "integer"):
        yield Fault("invalid_type", place, f"Invalid type. Expected: {known.kind}, given: {given}")
    elif known.choices and not set(value if isinstance(value, list) else [value]) <= set(known.choices):
        choices = ", ".join(f'"{choice}"' for choice in known.choices)
        yield Fault("enum", place, f"{name} must be one of the following: {choices}")
    elif known.most is not None and value > known.most:
        yield Fault("number_lte", place, f"Must be less than or equal to {known.most}")
    elif known.least is not None and value < known.least:
        yield Fault("number_gte", place, f"Must be greater than or equal to {known.least}")


def size(given: Mapping[str, Any]) -> tuple[int, int]:
    """As FLUX cuts its pictures; a width and a height count where no ratio does."""
    width, height = RATIOS.get(str(given.get("aspect_ratio")), (given.get("width", 1024), given.get("height", 1024)))
    share = 2 if given.get("megapixels") == "0.25" else 1
    return width // share, height // share


def model_page(model: Model) -> dict[str, Any]:
    owner, name = model.name.split("/")
    return {
        "url": f"https://replicate.com/{model.name}",
        "owner": owner,
        "name": name,
        "description": "A model of the stand-in",
        "visibility": "public",
        "github_url": None,
        "paper_url": None,
        "license_url": None,
        "run_count": 0,
        "cover_image_url": None,
        "default_example": None,
        "latest_version": version_page(model, model.version),
    }


def version_page(model: Model, id: str) -> dict[str, Any]:
    known = {name: {"type": field.kind, "title": name} for name, field in model.fields.items()}
    file = {"type": "string", "format": "uri"}
    output = {"type": "array", "items": file} if model.is_list else file
    schemas = {
        "Input": {"type": "object", "title": "Input", "required": list(model.required), "properties": known},
        "Output": {**output, "title": "Output"},
    }
    schema = {"openapi": "3.0.2", "info": {"title": "Cog", "version": "0.1.0"}, "components": {"schemas": schemas}}
    return {"id": id, "created_at": "2024-08-01T12:00:00.000000Z", "cog_version": "0.9.20", "openapi_schema": schema}
