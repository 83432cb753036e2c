"""Which class does the work of which process? Each module of this package registers its own, so a new one is one new file."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from glisk.engine import lanes
from glisk.engine.claim import Processor
from glisk.errors import BadProcessor, TwoProcessors
from glisk.settings import Settings

MOST_AT_ONCE = 2**31  # as the database can hold it

Kind = TypeVar("Kind", bound=type[Processor])


@dataclass(frozen=True, slots=True)
class Limits:
    """What a processor says of its lane, as `limits`: calls at once, and a second. Only for the lane's first start:
    after that what the operator has set stands."""

    concurrency: int = 10
    rate: float | None = None

    def problems(self) -> Iterator[str]:
        if not isinstance(self.concurrency, int) or not 0 <= self.concurrency < MOST_AT_ONCE:
            yield f"its limits' concurrency is {self.concurrency!r}, and must be a number of calls, 0 or more"
        if self.rate is not None and not is_rate(self.rate):
            yield f"its limits' rate is {self.rate!r}, and must be None or more than 0 calls a second"


def is_rate(rate: Any) -> bool:
    return isinstance(rate, int | float) and math.isfinite(rate) and rate >= lanes.SLOWEST


class Registry:
    def __init__(self) -> None:
        self.kinds: dict[str, type[Processor]] = {}

    def processor(self, process: str) -> Callable[[Kind], Kind]:
        """The decorator of the class that does this process. Somebody else's stands in for one of this package."""

        def register(kind: Kind) -> Kind:
            known = self.kinds.setdefault(process, kind)
            if known is not kind and not is_own(known):
                raise TwoProcessors(f"{process}: {full_name(known)} and {full_name(kind)}.")
            self.kinds[process] = kind
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


def made(kind: type[Processor], settings: Settings) -> Processor:
    """With the settings, if its `__init__` wants them."""
    wants = [wish for wish in inspect.signature(kind).parameters.values() if wish.default is wish.empty]
    if len(wants) > 1:
        raise BadProcessor(f"\n  {full_name(kind)}: its `__init__` may want the settings, and nothing else")
    return kind(*[settings][: len(wants)])


def require_sound(staff: Iterable[Processor]) -> None:
    """Told at the start, and not by the first row that meets it."""
    wrong = [f"\n  {full_name(type(one))}: {problem}" for one in staff for problem in problems_of(one)]
    if wrong:
        raise BadProcessor("".join(wrong))


def problems_of(processor: Any) -> Iterator[str]:
    if not hasattr(processor, "lane"):
        yield "it has no `lane`: name one, or say None"
    elif not (processor.lane is None or (isinstance(processor.lane, str) and processor.lane)):
        yield f"its lane is {processor.lane!r}, and must be a name or None"
    if not inspect.iscoroutinefunction(getattr(processor, "run", None)):
        yield "it has no `async def run`"
    limits = getattr(processor, "limits", Limits())
    yield from limits.problems() if isinstance(limits, Limits) else ["its limits must be Limits(…)"]


def is_own(kind: type) -> bool:
    return kind.__module__.startswith(f"{__name__}.")


def full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"
