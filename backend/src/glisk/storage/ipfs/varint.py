"""Numbers as CARs and protobuf write them: seven bits in a byte, the lowest first."""

from __future__ import annotations

from glisk.errors import BadCid

MOST_BYTES = 9


def written(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def read(data: bytes, at: int) -> tuple[int, int]:
    """The number that starts at `at`, and where the next thing does."""
    number = 0
    for place, byte in enumerate(data[at : at + MOST_BYTES]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            if place and not byte:
                break  # a longer way to write a number that has a shorter one
            return number, at + place + 1
    raise BadCid(f"At byte {at} a number was expected.")
