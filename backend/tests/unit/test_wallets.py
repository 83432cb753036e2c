"""Keys from files: read when they can be, refused with a reason when not, and never shown."""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from eth_account import Account

from glisk import wallets
from glisk.dev.chain_contract import KEEPER, KEEPER_KEY
from glisk.errors import KeyUnusable
from tests.forked import FORKS

KEY = KEEPER_KEY.removeprefix("0x")


def file(path: Path, text: str | bytes, mode: int = 0o600) -> Path:
    path.touch(mode)
    path.chmod(mode)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    return file(
        tmp_path / "keystore.json", json.dumps(Account.encrypt(bytes.fromhex(KEY), "open sesame", iterations=2))
    )


@pytest.mark.parametrize("text", [KEY, f"0x{KEY}", KEY.upper(), f"  0x{KEY}\n"])
def test_a_plain_key_is_read(tmp_path: Path, text: str) -> None:
    assert wallets.opened(file(tmp_path / "key", text)).address.lower() == KEEPER


def test_a_keystore_is_read_with_its_password(tmp_path: Path, keystore: Path) -> None:
    password = file(tmp_path / "password", "open sesame\n")
    assert wallets.opened(keystore, password).address.lower() == KEEPER


def refusal(path: Path, password: Path | None = None) -> str:
    """What everybody gets to see of it, which is never the key."""
    with pytest.raises(KeyUnusable) as caught:
        wallets.opened(path, password)
    shown = "".join(traceback.format_exception(caught.value)) + caught.value.fix
    assert KEY not in shown.lower()
    assert KEY[:32] not in shown.lower()
    return str(caught.value)


def test_a_wrong_password_is_refused(tmp_path: Path, keystore: Path) -> None:
    assert "the password is wrong" in refusal(keystore, file(tmp_path / "password", "open barley"))


def test_a_keystore_wants_a_password(keystore: Path) -> None:
    assert "no file with its password" in refusal(keystore)


def test_a_password_that_is_not_there_is_told(tmp_path: Path, keystore: Path) -> None:
    assert "No such file" in refusal(keystore, tmp_path / "nowhere")


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620, 0o601, 0o777])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    assert "can be read by others" in refusal(file(tmp_path / "key", KEY, mode))


def test_a_password_that_others_can_read_is_refused(tmp_path: Path, keystore: Path) -> None:
    assert "can be read by others" in refusal(keystore, file(tmp_path / "password", "open sesame", 0o644))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "nowhere")


def test_a_folder_is_no_key(tmp_path: Path) -> None:
    (tmp_path / "key").mkdir(0o700)
    assert "Is a directory" in refusal(tmp_path / "key")


NO_KEYS = {
    "nothing": "",
    "words": "my secret key",
    "too short": KEY[:63],
    "too long": KEY + "0",
    "two keys": f"{KEY}\n{KEY}",
    "not hex": "g" + KEY[1:],
    "zero": "0" * 64,
    "beyond the curve": "f" * 64,
    "bytes": bytes.fromhex(KEY),
    "JSON that is cut off": '{"version": 3, "crypto": ',
    "JSON of something else": f'{{"key": "{KEY}"}}',
    "another version": '{"version": 4, "crypto": {}}',
    "a keystore without a key": '{"version": 3, "crypto": {}}',
    "a crypto that is none": '{"version": 3, "crypto": 7}',
    "a version that is none": '{"version": null}',
    "bytes that are not hex": (
        '{"version": 3, "crypto": {"kdf": "scrypt", "kdfparams": {"salt": "zz", "n": 2, "p": 1, "r": 8, "dklen": 32},'
        ' "mac": "", "ciphertext": "", "cipherparams": {"iv": ""}}}'
    ),
    "a kdf nobody knows": '{"version": 3, "crypto": {"kdf": "md5"}}',
}


@pytest.mark.parametrize("text", NO_KEYS.values(), ids=NO_KEYS)
def test_what_is_no_key_is_refused(tmp_path: Path, text: str | bytes) -> None:
    refusal(file(tmp_path / "key", text), file(tmp_path / "password", "open sesame"))


def test_a_key_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "signer"
    first = wallets.made(path)
    assert wallets.made(path).address == first.address
    assert path.stat().st_mode & 0o777 == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["signer"]


def test_two_keys_are_not_the_same(tmp_path: Path) -> None:
    assert wallets.made(tmp_path / "one").address != wallets.made(tmp_path / "two").address


def test_one_that_is_there_but_cannot_be_used_is_left_alone(tmp_path: Path) -> None:
    path = file(tmp_path / "key", "my secret key")
    with pytest.raises(KeyUnusable):
        wallets.made(path)
    assert path.read_text() == "my secret key"


def make(path: Path, barrier: object, found: object) -> None:
    barrier.wait()  # type: ignore[attr-defined] # of a kind that only its context names
    found.put(wallets.made(path).address)  # type: ignore[attr-defined] # likewise


def test_processes_that_make_it_at_once_get_the_same(tmp_path: Path) -> None:
    path, n = tmp_path / "key", 4
    barrier, found = FORKS.Barrier(n), FORKS.SimpleQueue()
    makers = [FORKS.Process(target=make, args=(path, barrier, found)) for _ in range(n)]
    for maker in makers:
        maker.start()
    addresses = {found.get() for _ in makers}
    for maker in makers:
        maker.join()
        maker.close()
    assert addresses == {wallets.opened(path).address}
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


def test_whoever_signs_can_still_be_given_what_is_nested_too_deeply() -> None:
    """Without a limit of recursion it would end the process."""
    code = """
import msgspec
from glisk import wallets
from glisk.chain.rpc import wire
from glisk.chain.rpc.classify import Faulty

wallets.library()
try:
    wire.envelopes(b'{"error":' + b"[" * 90_000 + b"]" * 90_000 + b"}")
except Faulty:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr
