"""Which tokens are meant: ids and ranges of them, each once, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ids:
    """`spans`: from a first to a last one, which may be the same; they do not touch each other."""

    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, spans: Iterable[tuple[int, int]]) -> Ids:
        merged = list[tuple[int, int]]()
        for first, last in sorted(span for span in spans if span[0] <= span[1]):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = merged[-1][0], max(last, merged[-1][1])
            else:
                merged.append((first, last))
        return cls(tuple(merged))

    def __iter__(self) -> Iterator[int]:
        for first, last in self.spans:
            yield from range(first, last + 1)

    @property
    def count(self) -> int:
        return sum(last - first + 1 for first, last in self.spans)

    def __str__(self) -> str:
        return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in self.spans)
