"""Which addresses belong to the public internet, and which of the others an operator has allowed all the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# As IANA's registries of special addresses have them. Written out: what Python calls global differs from release to release.
NOT_PUBLIC = [
    IPv4Network(each)
    for each in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        "168.63.129.16/32",  # public by its number, yet Azure answers there with what its machines may know
    )
]
PUBLIC_6 = IPv6Network("2000::/3")  # nothing else is routed
NOT_PUBLIC_6 = [
    IPv6Network(each)
    # 2001::/23 holds Teredo, and 2002::/16 is 6to4: both can carry any IPv4 address, and no server lives there any more.
    for each in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]
NAT64 = IPv6Network("64:ff9b::/96")  # how a network without IPv4 reaches a server that has nothing else


@dataclass(frozen=True, slots=True)
class Allowed:
    """Names, whatever they resolve to, and networks."""

    names: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()

    def allows(self, host: str, address: Address) -> bool:
        return host.lower().rstrip(".") in self.names or any(plain(address) in each for each in self.networks)


def allowed_in(text: str) -> Allowed:
    """Host names, addresses and networks, separated by commas. ValueError says what is wrong with one."""
    parts = [part.strip().lower() for part in text.split(",") if part.strip()]
    networks = [network for part in parts if (network := network_in(part))]
    names = [part for part in parts if network_in(part) is None]
    if wrong := [name for name in names if not HOST.fullmatch(name)]:
        raise ValueError(f"a host name, an address or a network like 10.0.0.0/8 is wanted: {wrong[0]!r} is none")
    return Allowed(frozenset(names), tuple(networks))


def network_in(text: str) -> Network | None:
    try:
        return ip_network(text)
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could reach it as well as we can."""
    found = plain(address)
    if isinstance(found, IPv4Address):
        return not any(found in network for network in NOT_PUBLIC)
    return found in PUBLIC_6 and not any(found in network for network in NOT_PUBLIC_6)


def plain(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if it does."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address in NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def address_in(text: str) -> Address:
    """Without the name of a network card, which a local one may carry."""
    return ip_address(text.partition("%")[0])
