"""Addresses of endpoints as people see them: without their keys."""

from __future__ import annotations

from glisk.chain.rpc.names import unique, without_secrets


def test_two_that_look_alike_are_told_apart() -> None:
    alike = ["https://a.example/v2/KEY1aaaaaaaaaaaa", "https://b.example", "https://a.example/v2/KEY1bbbbbbbbbbbb"]
    assert unique(alike) == ["https://a.example/***#1", "https://b.example", "https://a.example/***#2"]


def test_a_key_that_an_endpoint_repeats_is_not_shown() -> None:
    url = "https://user:hunter2222@a.example/v2/KEY1aaaaaaaaaaaa?dkey=AbCdEf123"
    said = without_secrets("KEY1aaaaaaaaaaaa and AbCdEf123 and hunter2222 are no keys of base", url)
    assert said == "KEY1… and AbCd… and hunt… are no keys of base"
