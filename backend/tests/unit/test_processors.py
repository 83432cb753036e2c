"""The registry: one processor a process, found by being in the package."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from glisk import processors
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Verdict
from glisk.errors import TwoProcessors
from glisk.processors import Registry, import_modules


class Drawing:
    lane: str | None = None

    async def run(self, claim: Claim) -> Verdict:
        return Done()


class OtherDrawing(Drawing):
    pass


def test_a_processor_is_found_by_its_process() -> None:
    registry = Registry()
    assert registry.processor("generating")(Drawing) is Drawing
    assert registry.processor("editing")(Drawing) is Drawing
    assert registry.kinds == {"generating": Drawing, "editing": Drawing}


def test_a_second_processor_for_a_process_is_refused_and_both_are_named() -> None:
    registry = Registry()
    registry.processor("generating")(Drawing)
    registry.processor("generating")(Drawing)  # the same one again is no second
    with pytest.raises(TwoProcessors, match=r"generating: .*\.Drawing and .*\.OtherDrawing"):
        registry.processor("generating")(OtherDrawing)
    assert registry.kinds == {"generating": Drawing}


def test_every_module_of_a_package_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "a_package_of_processors"
    package.mkdir()
    (package / "__init__.py").write_text("seen = []\n")
    for name in ("one", "two"):
        (package / f"{name}.py").write_text(f"from {package.name} import seen\nseen.append({name!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    import_modules(package.name, [str(package)])
    assert __import__(package.name).seen == ["one", "two"]


def test_a_further_module_registers_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors.REGISTRY, "kinds", dict(processors.known()))  # others here want our own ones
    monkeypatch.delitem(sys.modules, "tests.errands", raising=False)
    found = processors.known(["tests.errands"])
    assert {"generating", "tagging"} <= set(found)
    assert processors.known(["tests.errands"]) == found
