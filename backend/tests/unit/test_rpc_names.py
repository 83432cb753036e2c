"""Addresses of endpoints as people see them: without their keys."""

from __future__ import annotations

import pytest

from glisk.chain.rpc.names import shown, unique, without_secrets


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://base-mainnet.g.alchemy.com/v2/Zq3xK9aaaabbbbccccdddd", "https://base-mainnet.g.alchemy.com/v2/Zq3x…"),
        ("https://mainnet.infura.io/v3/0123456789abcdef0123456789abcdef", "https://mainnet.infura.io/v3/0123…"),
        ("https://broken-icy.quiknode.pro/14fb466c039ca54a895f/", "https://broken-icy.quiknode.pro/14fb…"),
        ("https://rpc.ankr.com/base/0123456789abcdef", "https://rpc.ankr.com/base/0123…"),
        ("https://lb.drpc.org/ogrpc?network=base&dkey=AbCdEf123", "https://lb.drpc.org/ogrpc?…"),
        ("https://user:password@node.example:8545", "https://node.example:8545"),
        ("https://mainnet.base.org", "https://mainnet.base.org"),
        ("http://127.0.0.1:8545/", "http://127.0.0.1:8545"),
        ("https://api.avax.network/ext/bc/C/rpc", "https://api.avax.network/ext/bc/C/rpc"),
        ("wss://base-rpc.publicnode.com", "wss://base-rpc.publicnode.com"),
    ],
)
def test_a_key_is_not_shown(url: str, name: str) -> None:
    assert shown(url) == name


def test_two_that_look_alike_are_told_apart() -> None:
    alike = ["https://a.example/v2/KEY1aaaaaaaaaaaa", "https://b.example", "https://a.example/v2/KEY1bbbbbbbbbbbb"]
    assert unique(alike) == ["https://a.example/v2/KEY1…#1", "https://b.example", "https://a.example/v2/KEY1…#2"]


def test_a_key_that_an_endpoint_repeats_is_not_shown() -> None:
    url = "https://user:hunter2222@a.example/v2/KEY1aaaaaaaaaaaa?dkey=AbCdEf123"
    said = without_secrets("KEY1aaaaaaaaaaaa and AbCdEf123 and hunter2222 are no keys of base", url)
    assert said == "KEY1… and AbCd… and hunt… are no keys of base"
