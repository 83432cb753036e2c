"""Which addresses are the public internet's."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glisk.networks import Allowed, address_in, allowed_in, is_public, plain

PRIVATE = [
    *("0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254"),
    *("172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1", "224.0.0.1", "255.255.255.255"),
    *(
        "168.63.129.16",
        "240.0.0.1",
        "::",
        "::1",
        "::127.0.0.1",
        "fe80::1",
        "fec0::1",
        "fd00:ec2::254",
        "fc00::1",
        "ff02::1",
    ),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1"),
    *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "100::1"),
]
PUBLIC = ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]

anything_v4 = st.ip_addresses(v=4).map(lambda each: IPv4Address(int(each)))


@pytest.mark.parametrize("address", PRIVATE)
def test_a_place_that_only_we_may_reach_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_a_server_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses())
def test_what_python_knows_to_be_special_is_never_public(address: IPv4Address | IPv6Address) -> None:
    found = plain(address)
    special = (found.is_private, found.is_loopback, found.is_link_local, found.is_multicast, found.is_unspecified)
    assert not (is_public(address) and any([*special, found.is_reserved]))


@given(anything_v4)
def test_an_address_is_as_public_in_ipv6_clothes_as_without(address: IPv4Address) -> None:
    for clothes in (f"::ffff:{address}", str(IPv6Address(int(IPv6Address("64:ff9b::")) + int(address)))):
        assert is_public(ip_address(clothes)) == is_public(address)


@given(anything_v4)
def test_no_tunnel_leads_anywhere(address: IPv4Address) -> None:
    six_to_four = IPv6Address((0x2002 << 112) + (int(address) << 80))
    teredo = IPv6Address((0x20010000 << 96) + (int(address) ^ 0xFFFFFFFF))
    compatible = IPv6Address(int(address))
    assert not any(is_public(each) for each in (six_to_four, teredo, compatible))


def test_the_operator_allows_names_addresses_and_networks() -> None:
    allowed = allowed_in("Files.Internal, 10.1.0.0/16, 192.168.0.7, fd00::/8")
    assert allowed.allows("files.internal.", ip_address("127.0.0.1"))
    assert allowed.allows("elsewhere", ip_address("::ffff:10.1.2.3"))
    assert allowed.allows("elsewhere", ip_address("192.168.0.7"))
    assert not allowed.allows("elsewhere", ip_address("10.2.0.1"))
    assert allowed_in("") == Allowed()


@pytest.mark.parametrize("wrong", ["10.0.0.1/8", "http://files", "a b", "-a", "*"])
def test_what_is_neither_is_told(wrong: str) -> None:
    with pytest.raises(ValueError, match="is wanted"):
        allowed_in(f"files, {wrong}")


def test_a_network_card_in_an_address_does_not_hide_it() -> None:
    assert not is_public(address_in("fe80::1%eth0"))
