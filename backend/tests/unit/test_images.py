"""What a file is, and the mark that says how it was made: spliced in, with every pixel where it was."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import TypeAlias
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from glisk.images import webp, xmp
from glisk.images.container import container
from glisk.images.mark import is_marked, marked, presentable
from glisk.images.sniff import JPEG, PNG, WEBP, Format, sniff
from tests import pictures

OTHERS = (
    f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="{xmp.RDF}"><rdf:Description rdf:about="" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" dc:rights="© Author"/></rdf:RDF></x:xmpmeta>'
).encode()
TYPED = OTHERS.replace(
    b"dc:rights",
    f'xmlns:i="{xmp.IPTC}" i:DigitalSourceType="{xmp.MARK.replace("trainedA", "a")}" dc:rights'.encode(),
)
OURS = OTHERS.replace(b"dc:rights", f'xmlns:i="{xmp.IPTC}" i:DigitalSourceType="{xmp.MARK}" dc:rights'.encode())
EXIF = Image.Exif()
EXIF[0x010E] = "A sunset over mountains"


def saved(mode: str, format: str, **options: object) -> bytes:
    picture = pictures.picture(1, "shapes", (61, 47)).convert("RGB" if mode == "16 bits" else mode)
    if mode == "16 bits":
        picture = Image.fromarray(np.arange(61 * 47, dtype=np.uint16).reshape(47, 61) * 20)
    if mode == "RGBA":
        picture.putalpha(Image.linear_gradient("L").resize(picture.size))
    file = io.BytesIO()
    picture.save(file, format, **options)
    return file.getvalue()


def png_text(packet: bytes, *, times: int = 1, is_compressed: bool = False) -> PngInfo:
    info = PngInfo()
    for _ in range(times):
        info.add_itxt("XML:com.adobe.xmp", packet.decode(), zip=is_compressed)
    return info


FILES = {
    "png": saved("RGB", "png"),
    "png with alpha": saved("RGBA", "png"),
    "png with a palette": saved("P", "png"),
    "png of 16 bits": saved("16 bits", "png"),
    "jpeg": saved("RGB", "jpeg"),
    "jpeg in scans": saved("RGB", "jpeg", progressive=True),
    "jpeg with exif": saved("RGB", "jpeg", exif=EXIF),
    "jpeg for print": saved("CMYK", "jpeg"),
    "webp": saved("RGB", "webp"),
    "webp with alpha": saved("RGBA", "webp"),
    "webp without loss": saved("RGB", "webp", lossless=True),
    "webp without loss, with alpha": saved("RGBA", "webp", lossless=True),
    "webp with exif": saved("RGB", "webp", exif=EXIF),
}
Build: TypeAlias = Callable[[bytes], bytes]  # a file with that packet
WITH_XMP: dict[str, Build] = {
    "png": lambda packet: saved("RGB", "png", pnginfo=png_text(packet)),
    "png, compressed": lambda packet: saved("RGB", "png", pnginfo=png_text(packet, is_compressed=True)),
    "png, twice": lambda packet: saved("RGB", "png", pnginfo=png_text(packet, times=2)),
    "jpeg": lambda packet: saved("RGB", "jpeg", xmp=packet),
    "jpeg with exif": lambda packet: saved("RGB", "jpeg", xmp=packet, exif=EXIF),
    "webp": lambda packet: saved("RGB", "webp", xmp=packet),
    "webp with alpha": lambda packet: saved("RGBA", "webp", xmp=packet, exif=EXIF),
}
files = st.sampled_from(list(FILES.values()))


def packet_of(data: bytes) -> bytes:
    """As Pillow reads it."""
    with Image.open(io.BytesIO(data)) as image:
        packet = image.info["xmp"]
    assert isinstance(packet, bytes)
    return packet


def source_types(packet: bytes) -> list[str | None]:
    name = f"{{{xmp.IPTC}}}DigitalSourceType"
    elements = list(ElementTree.fromstring(packet).iter())
    return [element.text for element in elements if element.tag == name] + [
        element.attrib[name] for element in elements if name in element.attrib
    ]


@pytest.mark.parametrize(("format", "kind"), [("png", PNG), ("jpeg", JPEG), ("webp", WEBP)])
def test_a_picture_is_told_by_its_first_bytes(format: str, kind: Format) -> None:
    assert sniff(saved("RGB", format)) == kind


@pytest.mark.parametrize("seed", range(5))
def test_what_is_no_picture_has_no_format(seed: int) -> None:
    assert sniff(pictures.html(seed)) is None


def test_other_riff_files_are_no_pictures() -> None:
    assert sniff(b"RIFF\x24\0\0\0WAVEfmt ") is None


@given(st.binary(max_size=40))
def test_any_bytes_can_be_sniffed(data: bytes) -> None:
    assert sniff(data) in {None, PNG, JPEG, WEBP}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_a_mark_can_be_read_and_changes_no_pixel(data: bytes) -> None:
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(marked(data))) as after:
        assert (before.mode, before.size) == (after.mode, after.size)
        assert np.array_equal(np.asarray(before), np.asarray(after))
        assert before.getexif() == after.getexif()
    assert not is_marked(data)
    assert is_marked(marked(data))
    assert source_types(packet_of(marked(data))) == [xmp.MARK]


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_marking_twice_is_marking_once(data: bytes) -> None:
    assert marked(marked(data)) == marked(data) == marked(bytes(bytearray(data)))


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_all_of_the_file_is_still_in_it(data: bytes) -> None:
    format = container(data)
    before, after = ([bytes(part.whole) for part in format.parts(file)] for file in (data, marked(data)))
    is_riff = data.startswith(b"RIFF")  # whose header has the length of the file
    assert [part for part in before if part not in after and part[:4] != b"VP8X"] == before[:1] * is_riff


@pytest.mark.parametrize("build", WITH_XMP.values(), ids=WITH_XMP)
def test_a_packet_that_was_there_says_the_same_and_has_the_mark(build: Build) -> None:
    data = marked(build(OTHERS))
    assert len(container(data).packets(container(data).parts(data))) == 1
    assert source_types(packet_of(data)) == [xmp.MARK]
    assert "© Author".encode() in packet_of(data)


@pytest.mark.parametrize("build", WITH_XMP.values(), ids=WITH_XMP)
def test_another_source_type_gives_way_to_ours(build: Build) -> None:
    data = marked(build(TYPED))
    assert source_types(packet_of(data)) == [xmp.MARK]
    assert "© Author".encode() in packet_of(data)


@pytest.mark.parametrize("name", ["png", "jpeg", "webp"])
def test_a_picture_marked_by_its_maker_stays_as_it_is(name: str) -> None:
    assert marked(WITH_XMP[name](OURS)) == WITH_XMP[name](OURS)


@pytest.mark.parametrize(
    "packet",
    [
        b"no xml",
        b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
        OTHERS.decode().encode("utf-16"),
        b'<!DOCTYPE x [<!ENTITY a "b">]>' + OURS,
        OTHERS.replace(b"rights", b"rights='" + b"x" * 65_000 + b"' dc:title"),
    ],
    ids=["no xml", "no rdf", "utf-16", "entities", "no room"],
)
def test_a_packet_that_cannot_take_the_mark_gives_way_to_one_that_has_it(packet: bytes) -> None:
    assert xmp.merged(packet) == xmp.PACKET


def test_the_source_type_of_an_ingredient_is_not_the_pictures() -> None:
    ingredient = f'<i:Of xmlns:i="{xmp.IPTC}"><rdf:Description i:DigitalSourceType="{xmp.MARK}"/></i:Of>'
    nested = OTHERS.replace(b"/></rdf:RDF>", b">" + ingredient.encode() + b"</rdf:Description></rdf:RDF>")
    assert not xmp.carries(nested)


def test_a_jpeg_has_the_mark_behind_jfif_and_exif() -> None:
    names = [
        (part.name, bytes(part.body[:4])) for part in container(FILES["jpeg"]).parts(marked(FILES["jpeg with exif"]))
    ]
    assert names[1:4] == [(b"\xe0", b"JFIF"), (b"\xe1", b"Exif"), (b"\xe1", b"http")]


def test_a_png_has_the_mark_before_its_pixels() -> None:
    names = [part.name for part in container(FILES["png"]).parts(marked(FILES["png"]))]
    assert names.index(b"iTXt") < names.index(b"IDAT")


@pytest.mark.parametrize(
    ("name", "flags"), [("webp", 0x04), ("webp without loss, with alpha", 0x14), ("webp with exif", 0x0C)]
)
def test_a_webp_is_extended_by_its_size_and_flags(name: str, flags: int) -> None:
    data = marked(FILES[name])
    parts = webp.parts(data)
    assert (parts[1].name, parts[1].body[0], webp.size(parts)) == (b"VP8X", flags, (61, 47))
    assert struct.unpack("<I", data[4:8]) == (len(data) - 8,)
    assert all(len(part.whole) % 2 == 0 for part in parts)


def test_a_webp_whose_writer_forgot_the_last_filler_can_be_marked() -> None:
    chunks = FILES["webp with exif"][8:] + b"ODDS" + struct.pack("<I", 3) + b"odd"
    short, whole = (b"RIFF" + struct.pack("<I", len(body)) + body for body in (chunks, chunks + b"\0"))
    assert marked(short) == marked(whole)


def test_what_follows_the_picture_stays_behind_it() -> None:
    for name in ("png", "jpeg", "webp"):
        assert marked(FILES[name] + b"more") == marked(FILES[name]) + b"more"


@pytest.mark.parametrize("seed", range(5))
def test_what_is_no_picture_cannot_be_marked(seed: int) -> None:
    with pytest.raises(ValueError, match="Not a PNG"):
        marked(pictures.html(seed))
    assert not is_marked(pictures.html(seed))


@given(files, st.data())
def test_every_truncation_is_refused(data: bytes, draw: st.DataObject) -> None:
    cut = data[: draw.draw(st.integers(0, len(data) - 1))]
    with pytest.raises(ValueError):
        marked(cut)
    assert not is_marked(cut)


@given(st.sampled_from([data[:12] for data in FILES.values()]), st.binary(max_size=200))
def test_any_bytes_behind_the_magic_are_refused(magic: bytes, rest: bytes) -> None:
    with pytest.raises(ValueError):
        marked(magic + rest)


@given(files, st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_file_with_wrong_bytes_is_refused_or_marked(data: bytes, changes: list[tuple[int, int]]) -> None:
    broken = bytearray(data)
    for place, value in changes:
        broken[place % len(broken)] = value
    try:
        result = marked(bytes(broken))
    except ValueError:
        return
    assert is_marked(result)
    assert marked(result) == result


@given(st.binary(max_size=300))
def test_a_png_chunk_of_xmp_may_hold_anything(body: bytes) -> None:
    start, rest = FILES["png"][:33], FILES["png"][33:]
    chunk = b"iTXtXML:com.adobe.xmp\0" + body
    odd = start + struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) + rest
    assert source_types(packet_of(marked(odd))) == [xmp.MARK]


def test_millions_of_empty_parts_are_refused_before_they_fill_the_memory() -> None:
    bomb = b"\xff\xd8" + b"\xff\xe5\x00\x02" * 20_000 + b"\xff\xd9"
    with pytest.raises(ValueError, match="more than 10000 parts"):
        marked(bomb)


SECRET = "TOPSECRET a swan in the fog"


def told_png() -> bytes:
    info = PngInfo()
    info.add_text("parameters", SECRET)
    info.add_text("prompt", SECRET, zip=True)
    info.add_itxt("XML:com.adobe.xmp", f"<x>{SECRET}</x>")
    return saved("RGB", "png", pnginfo=info, exif=exif_of(SECRET), icc_profile=b"profile") + SECRET.encode()


def exif_of(words: str) -> bytes:
    exif = Image.Exif()
    exif[0x010E] = words
    return bytes(exif.tobytes())


TOLD: dict[str, Callable[[], bytes]] = {
    "png": told_png,
    "jpeg": lambda: (
        saved("RGB", "jpeg", exif=exif_of(SECRET), comment=SECRET.encode(), xmp=SECRET.encode(), icc_profile=b"profile")
        + SECRET.encode()
    ),
    "webp": lambda: saved("RGB", "webp", exif=exif_of(SECRET), xmp=SECRET.encode(), icc_profile=b"profile"),
    "webp with alpha": lambda: saved("RGBA", "webp", exif=exif_of(SECRET), lossless=True),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_its_maker_wrote_into_a_picture_is_not_for_the_world(name: str) -> None:
    data = TOLD[name]()
    shown = presentable(data)
    assert SECRET.encode() not in shown
    assert b"swan" not in shown
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(shown)) as after:
        assert (before.mode, before.tobytes()) == (after.mode, after.tobytes())
        assert before.info.get("icc_profile") == after.info.get("icc_profile")
        assert set(after.info) & {"exif", "comment", "parameters", "prompt"} == set()
    assert source_types(packet_of(shown)) == [xmp.MARK]
    assert presentable(shown) == shown
