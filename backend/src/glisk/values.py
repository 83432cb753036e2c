"""What a setting may hold: each function takes a value as it was given and returns it as it is used, or says what is wanted."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from decimal import Decimal
from string import Formatter
from typing import Any

from pydantic import SecretStr

from glisk import addresses, networks
from glisk.prompts import prompt_problem

FILLED_IN = ("collection", "token_id", "author", "model", "provider", "seed", "prompt", "tag")
SHORTEST_SECRET = 24
MODEL = r"^((deployments/)?[\w.-]+/[\w.-]+(:[0-9a-f]{64})?|[0-9a-f]{64}|)$"  # of Replicate's, or none
LARGEST = 2**53 - 1  # whole number that every reader of JSON keeps exactly


def postgres_url(value: SecretStr) -> SecretStr:
    if value.get_secret_value() and not re.match(r"postgres(ql)?://.", value.get_secret_value()):
        raise ValueError("a URL like postgresql://user:password@host:5432/database is wanted")
    return value


def width_and_height(value: str) -> str:
    if not re.fullmatch(r"[1-9]\d{1,3}x[1-9]\d{1,3}", value):
        raise ValueError("a size like 1024x1024 is wanted")
    return value


def in_ascii(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[!-~]*", value.get_secret_value()):
        raise ValueError("letters, digits and signs without spaces are wanted: it is sent in a header")
    return value


class NodeUrls(SecretStr):
    """URLs whose paths are keys: only their servers may be shown."""


def nodes(value: NodeUrls) -> NodeUrls:
    return NodeUrls(",".join(addresses.nodes_in(value.get_secret_value())))


class HookUrl(NodeUrls):
    """One URL whose path is a key."""


def a_hook(value: HookUrl) -> HookUrl:
    if value.get_secret_value() and not re.fullmatch(r"https?://[^/?#@\s]+(/\S*)?", value.get_secret_value()):
        raise ValueError("a URL like https://host/path is wanted")
    return value


def a_signing_secret(value: SecretStr) -> SecretStr:
    """As Standard Webhooks has it."""
    plain = value.get_secret_value()
    try:
        is_long = len(base64.b64decode(plain.removeprefix("whsec_"), validate=True)) >= SHORTEST_SECRET
    except (binascii.Error, ValueError):
        is_long = False
    if plain and not (plain.startswith("whsec_") and is_long):
        raise ValueError(f"whsec_ and at least {SHORTEST_SECRET} bytes in base64 are wanted")
    return value


def collections(value: str) -> str:
    found = addresses.contracts_in(value)
    return ",".join(address if chain is None else f"{chain}:{address}" for chain, address in found)


def drawable(value: str) -> str:
    if problem := prompt_problem(value):
        raise ValueError(f"a prompt is wanted: {problem}")
    return value


def from_json(value: Any, kind: str, empty: str) -> Any:
    try:
        return json.loads(value or empty) if isinstance(value, str) else value
    except ValueError as error:
        raise ValueError(f"a JSON {kind} is wanted: {error}") from error


def from_json_object(value: Any) -> Any:
    return from_json(value, "object", "{}")


def from_json_list(value: Any) -> Any:
    return from_json(value, "list", "[]")


def known_units(value: dict[str, dict[str, Decimal]]) -> dict[str, dict[str, Decimal]]:
    for model, price in value.items():
        if (
            not price
            or set(price) - {"image", "second", "input", "output"}
            or any(not 0 <= amount < 1000 for amount in price.values())
        ):
            raise ValueError(
                f'{model}: dollars per image, per second, or per million tokens of input and output are wanted, like {{"image": 0.003}}'
            )
    return value


def http_url(value: str) -> str:
    """A server and nothing else: keys go elsewhere, and what stands behind the server's name is ours to add."""
    if value and not re.fullmatch(r"https?://[^/?#@\s]+/?", value):
        raise ValueError("a URL like https://host:port is wanted, with nothing behind the host")
    return value.rstrip("/")


def endpoint(value: str) -> str:
    """A server, and a path if there is one; no key."""
    if value and not re.fullmatch(r"https?://[^/?#@\s]+(/[\w./-]*)?", value):
        raise ValueError("a URL like https://host:port/path is wanted, without a user, a question mark or a #")
    return value.rstrip("/")


def http_urls(value: str) -> str:
    return ",".join(http_url(each.strip()) for each in value.split(",") if each.strip())


def places(value: str) -> str:
    networks.allowed_in(value)
    return value


def known_pinners(value: str) -> str:
    names = [name.strip() for name in value.split(",") if name.strip()]
    if set(names) - {"pinata", "kubo", "local"} or len(set(names)) < len(names):
        raise ValueError("pinata, kubo and local are known, each once")
    return ",".join(names)


def a_template(value: str) -> str:
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError("text is wanted: half of a sign (\\ud800 to \\udfff alone) is none")
    try:
        fields = [(field, spec, conversion) for _, field, spec, conversion in Formatter().parse(value)]
    except ValueError as error:
        raise ValueError(f"{error}; write {{{{ for a brace") from error
    if unknown := [
        name for name, spec, conversion in fields if name is not None and (name not in FILLED_IN or spec or conversion)
    ]:
        raise ValueError(f"{{{unknown[0]}}} is not filled in, but: {', '.join(f'{{{name}}}' for name in FILLED_IN)}")
    return value


def traits(value: Any) -> Any:
    """What a marketplace shows as properties: a name and a value, and how to show it."""
    for trait in value:
        if (
            not isinstance(trait, dict)
            or "value" not in trait
            or set(trait) - {"trait_type", "value", "display_type", "max_value"}
        ):
            raise ValueError(
                f'attributes like {{"trait_type": "Model", "value": "{{model}}"}} are wanted, not {trait!r}'
            )
        for part in trait.values():
            a_template(part) if isinstance(part, str) else a_number(part)
    return value


def a_number(value: Any) -> None:
    """Which the metadata can carry; or nothing, and then the attribute is left out."""
    if isinstance(value, list | dict) or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"text or a number is wanted, not {value!r}")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(f'a whole number beyond 2^53 is written as text, like "{value}"')


def text(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def masked(value: object) -> str:
    """Fit for a screen: of a URL only the password or the key is hidden, any other secret is hidden whole."""
    plain = text(value)
    if isinstance(value, NodeUrls):
        return repr(addresses.shown_nodes(plain))
    if isinstance(value, SecretStr) and plain and "://" not in plain:
        return "'***'"
    return repr(without_passwords(plain))


def without_passwords(line: str) -> str:
    return re.sub(
        r"(://[^:/@\s]*:)\S*@|(\bpassword=)[^&\s]*", lambda hit: f"{hit[1]}***@" if hit[1] else f"{hit[2]}***", line
    )
