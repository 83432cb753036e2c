"""The packet of XMP that says: drawn by a trained algorithm."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

MARK = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"
RDF, IPTC = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
PROPERTY = f"{IPTC} DigitalSourceType"
TOP = [f"{RDF} RDF", f"{RDF} Description"]
DESCRIPTION = (
    f'<rdf:Description xmlns:rdf="{RDF}" rdf:about="" xmlns:Iptc4xmpExt="{IPTC}">'
    f"<Iptc4xmpExt:DigitalSourceType>{MARK}</Iptc4xmpExt:DigitalSourceType></rdf:Description>"
).encode()
PACKET = (
    b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    + f'<rdf:RDF xmlns:rdf="{RDF}">'.encode()
    + DESCRIPTION
    + b'</rdf:RDF></x:xmpmeta><?xpacket end="w"?>'
)
MOST = 65_502  # what a segment of JPEG has room for
OTHER_TYPE = re.compile(rb"https?://cv\.iptc\.org/newscodes/digitalsourcetype/\w+")
RDF_END = re.compile(rb"</(?:[\w.-]+:)?RDF\s*>")


def merged(packet: bytes) -> bytes:
    """With the mark: in the place of another source type, or added to what the packet says already. Only a packet that
    cannot be read, or has no room, gives way to one of our own."""
    replaced = OTHER_TYPE.sub(MARK.encode(), packet)
    added = RDF_END.sub(lambda end: DESCRIPTION + end[0], packet, count=1)
    return next(candidate for candidate in (replaced, added, PACKET) if len(candidate) <= MOST and carries(candidate))


def carries(packet: bytes) -> bool:
    """Well formed, and with the mark as its one source type."""
    try:
        return source_types(packet) == [MARK]
    except (expat.ExpatError, ValueError):
        return False


def source_types(packet: bytes) -> list[str]:
    reader = Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = reader.text, refuse
    parser.Parse(packet.rstrip(b"\0"), True)
    return [value.strip() for value in reader.found]


def refuse(*doctype: object) -> None:
    """XMP has no document type, and without one there is no entity to blow up."""
    raise ValueError("XMP with a document type")


@dataclass(slots=True)
class Reader:
    """Collects the picture's own source types: as an attribute, as text, or as a resource. Those of other pictures, which
    this one was made from, lie deeper."""

    path: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        if self.path[-2:] == TOP and PROPERTY in attributes:
            self.found.append(attributes[PROPERTY])
        if self.path[-3:] == [*TOP, PROPERTY]:
            self.found.append(attributes.get(f"{RDF} resource", ""))

    def text(self, text: str) -> None:
        if self.path[-3:] == [*TOP, PROPERTY]:
            self.found[-1] += text

    def end(self, name: str) -> None:
        self.path.pop()
