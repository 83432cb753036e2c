"""A private key from a file: plain, or encrypted as a keystore. It is never shown, and read only by whoever signs."""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glisk.errors import KeyUnusable

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

PLAIN = re.compile(r"(0x)?[0-9a-fA-F]{64}")


def opened(path: Path, password_file: Path | None = None) -> LocalAccount:
    """The wallet of this file. Raises KeyUnusable, which never says what is in the file."""
    found = read(path)
    if PLAIN.fullmatch(found):
        return wallet(found, path)
    if not found.startswith("{"):
        raise KeyUnusable(f"{path} is neither 64 hex digits nor a keystore.")
    if password_file is None:
        raise KeyUnusable(f"{path} is an encrypted keystore, and no file with its password is set.")
    return decrypted(found, read(password_file), path)


def made(path: Path) -> LocalAccount:
    """The one of this file; where there is none it is made, once, whoever else does so at the same time."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return opened(path)


def read(path: Path) -> str:
    try:
        if path.stat().st_mode & 0o077:
            raise KeyUnusable(f"{path} can be read by others.", fix=f"chmod 600 {path}")
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "it is not text"
        raise KeyUnusable(f"{path}: {why}.") from error


def library() -> Any:
    """eth_account: takes a second to load, and most commands sign nothing. Something that it brings along takes away Python's limit of
    recursion, without which a deeply nested answer of anybody's ends the process: so that is put back."""
    limit = sys.getrecursionlimit()
    import eth_account
    import eth_account.messages

    sys.setrecursionlimit(limit)
    return eth_account


def wallet(key: str, path: Path) -> LocalAccount:
    try:
        found: LocalAccount = library().Account.from_key(key)
    except ValueError:  # whose words may have the key in them
        raise KeyUnusable(f"{path} holds a number that is no key.") from None
    return found


def decrypted(keystore: str, password: str, path: Path) -> LocalAccount:
    try:
        key = library().Account.decrypt(json.loads(keystore), password)
    except (ValueError, TypeError, LookupError, RuntimeError):
        raise KeyUnusable(f"{path}: the password is wrong, or it is no keystore.") from None
    return wallet(key.hex(), path)
