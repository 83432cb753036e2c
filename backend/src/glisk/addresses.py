"""Contracts to follow and nodes to ask, as an operator writes them: is that one, and how may it be shown?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

CONTRACT = re.compile(r"(?:([1-9][0-9]{0,17}):)?(0x[0-9a-fA-F]{40})")
SHOWN_WHOLE = re.compile(r"((?:https?|wss?)://(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d+)?)(/?)", re.ASCII)
HIDDEN = "***"


def contracts_in(text: str) -> list[tuple[int | None, str]]:
    """`chain:address` or an address alone, separated by commas: each with its chain, if that is said, in lower case. ValueError
    says what is wrong with one."""
    found = [contract_in(part) for part in parts_of(text)]
    if twice := doubled([address if chain is None else f"{chain}:{address}" for chain, address in found]):
        raise ValueError(f"every contract once is wanted: {twice} stands there twice")
    return found


def contract_in(text: str) -> tuple[int | None, str]:
    if not (found := CONTRACT.fullmatch(text)):
        raise ValueError(f"0x and 40 hex digits are wanted, or CHAIN:0x… with the chain's id: {text!r} is neither")
    if not is_typed_right(found[2]):
        raise ValueError(f"{found[2]} is mistyped: its capitals, which are a checksum, do not fit")
    return int(found[1]) if found[1] else None, found[2].lower()


def is_typed_right(address: str) -> bool:
    """Capitals mixed with small letters are a checksum (EIP-55); all capitals or all small say nothing."""
    digits = address[2:]
    if digits in (digits.lower(), digits.upper()):
        return True
    from eth_utils.address import is_checksum_address  # takes longer to load than all of the settings

    return is_checksum_address(address)


def nodes_in(text: str) -> list[str]:
    """URLs, separated by commas. ValueError says what is wrong with one, without the key that is in it."""
    found = parts_of(text)
    for n, url in enumerate(found, 1):
        if not is_node(url):
            raise ValueError(f"URLs like https://host/key or wss://host/key are wanted: number {n} is none")
    if twice := doubled(found):
        raise ValueError(f"every URL once is wanted: one of {shown_node(twice)} stands there twice")
    if found and not questioned(found):
        raise ValueError("an http(s) URL is wanted too: those with ws(s) only tell that there is a new block")
    return found


def is_node(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https", "ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none
        return False


def questioned(urls: Sequence[str]) -> list[str]:
    """Those that answer questions."""
    return [url for url in urls if url.startswith("http")]


def subscribed(urls: Sequence[str]) -> list[str]:
    """Those that tell of new blocks."""
    return [url for url in urls if url.startswith("ws")]


def shown_node(url: str) -> str:
    """Its server. What stands behind that is a key as often as not, and what stands before it a password."""
    found = None if "@" in url else SHOWN_WHOLE.match(url)
    if found is None:
        return HIDDEN
    return found[1] + (f"/{HIDDEN}" if url != found[0] else "")


def shown_nodes(text: str) -> str:
    return ",".join(shown_node(url) for url in parts_of(text))


def parts_of(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def doubled(names: Sequence[str]) -> str | None:
    return next((name for n, name in enumerate(names) if name in names[:n]), None)
