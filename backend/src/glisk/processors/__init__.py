"""Which class does the work of which process? Each module of this package registers its own, so a new one is one new file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from glisk.engine.claim import Processor
from glisk.errors import TwoProcessors

Kind = TypeVar("Kind", bound=type[Processor])


@dataclass(frozen=True, slots=True)
class Limits:
    """What a processor says of its lane, as `limits`: calls at once, and a second. Only for the lane's first start:
    after that what the operator has set stands."""

    concurrency: int = 10
    rate: float | None = None


class Registry:
    def __init__(self) -> None:
        self.kinds: dict[str, type[Processor]] = {}

    def processor(self, process: str) -> Callable[[Kind], Kind]:
        """The decorator of the class that does this process."""

        def register(kind: Kind) -> Kind:
            if self.kinds.setdefault(process, kind) is not kind:
                raise TwoProcessors(f"{process}: {full_name(self.kinds[process])} and {full_name(kind)}.")
            return kind

        return register


REGISTRY = Registry()
processor = REGISTRY.processor


def known(further: Iterable[str] = ()) -> Mapping[str, type[Processor]]:
    """Every processor by its process: those of this package, and those that the further modules register."""
    import_modules(__name__, __path__)
    for module in further:
        importlib.import_module(module)
    return MappingProxyType(REGISTRY.kinds)


def import_modules(package: str, path: Iterable[str]) -> None:
    for module in pkgutil.iter_modules(path, f"{package}."):
        importlib.import_module(module.name)


def full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
