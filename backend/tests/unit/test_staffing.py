"""Who stands where: every step has its processor before anything starts, and a lane counts all its steps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from glisk.cli.work import chosen, processors_of, size
from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Verdict
from glisk.errors import BadProcessor, UnknownActiveState
from glisk.processors import Limits
from glisk.settings import Settings
from glisk.workers.scaling import Size
from glisk.workers.staffing import stations
from glisk.workflows import DANBOORU_TAGGER, IMAGE_EDIT, IMAGE_GENERATION, JOBS, LLM_TASK, TOKEN, TOKENS, WORKFLOWS


class Drawing:
    lane: str | None = "replicate"

    async def run(self, claim: Claim) -> Verdict:
        return Done()


class Tagging(Drawing):
    lane: str | None = None


SETTINGS = Settings()
KINDS = {"generating": Drawing, "tagging": Tagging}


def test_every_step_of_the_workflows_served_has_a_station() -> None:
    found = stations([DANBOORU_TAGGER], WORKFLOWS.values(), KINDS, SETTINGS)
    assert [(at.workflow.name, at.waiting, type(at.processor)) for at in found] == [
        ("danbooru_tagger", "pending", Drawing),
        ("danbooru_tagger", "ready-for-tagging", Tagging),
    ]
    assert found[0].lane is not None
    assert found[1].lane is None


def test_workflows_that_share_a_process_share_its_processor() -> None:
    kinds = KINDS | {"uploading": Tagging}
    found = stations([DANBOORU_TAGGER, IMAGE_GENERATION], WORKFLOWS.values(), kinds, SETTINGS)
    assert len({id(at.processor) for at in found}) == 3


def test_every_process_without_a_processor_is_told_at_once() -> None:
    with pytest.raises(UnknownActiveState) as refused:
        stations([TOKEN, DANBOORU_TAGGER, LLM_TASK], WORKFLOWS.values(), {"generating": Drawing}, SETTINGS)
    text = str(refused.value)
    for process in ("pinning", "revealing", "tagging", "thinking"):
        assert text.count(f"Unknown active state: {process} ") == 1
    assert "Unknown active state: generating" not in text
    assert "danbooru_tagger at ready-for-tagging" in text
    assert refused.value.exit_code == 2
    assert "--processors" in refused.value.fix


class Laneless:
    async def run(self, claim: Claim) -> Verdict:
        return Done()


class Greedy(Drawing):
    limits = Limits(concurrency=-1, rate=0)


class Idle:
    lane: str | None = ""
    limits = 3


def test_every_class_that_cannot_be_a_processor_is_told_with_what_it_lacks() -> None:
    kinds: Any = KINDS | {"thinking": Laneless, "editing": Greedy, "tagging": Idle}
    with pytest.raises(BadProcessor) as refused:
        stations([LLM_TASK, IMAGE_EDIT, DANBOORU_TAGGER], WORKFLOWS.values(), kinds, SETTINGS)
    text = str(refused.value)
    for part in (
        *(
            "test_staffing.Laneless: it has no `lane`",
            "Greedy: its limits' concurrency is -1",
            "Greedy: its limits' rate is 0",
        ),
        *("Idle: its lane is ''", "Idle: it has no `async def run`", "Idle: its limits must be Limits"),
    ):
        assert part in text
    assert "Drawing" not in text
    assert refused.value.exit_code == 2


class Demanding(Drawing):
    def __init__(self, settings: Settings, database: str) -> None:
        pass


def test_a_processor_may_want_the_settings_and_nothing_else() -> None:
    kinds: Any = KINDS | {"thinking": Demanding}
    with pytest.raises(BadProcessor, match=r"Demanding: its `__init__` may want the settings, and nothing else"):
        stations([LLM_TASK], WORKFLOWS.values(), kinds, SETTINGS)


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), 1e-300, "fast"])
def test_a_rate_that_lets_nothing_through_is_refused(rate: Any) -> None:
    assert list(Limits(1, rate).problems())
    assert not list(Limits(0, 0.5).problems())


def test_a_lane_counts_in_the_tables_of_workflows_that_others_serve() -> None:
    lane = stations([DANBOORU_TAGGER], WORKFLOWS.values(), KINDS, SETTINGS)[0].lane
    assert lane is not None
    assert (lane.name, set(lane.tables)) == ("replicate", {TOKENS, JOBS})


def test_the_stations_of_one_lane_share_it() -> None:
    found = stations([DANBOORU_TAGGER, IMAGE_GENERATION], WORKFLOWS.values(), KINDS | {"uploading": Drawing}, SETTINGS)
    assert len({id(at.lane) for at in found if at.lane}) == 1


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ((None, None, None), Size(1, 1)),
        ((3, None, None), Size(3, 3)),
        ((None, 2, 5), Size(2, 5)),
        ((None, None, 5), Size(1, 5)),
        ((None, 2, None), Size(2, 2)),
    ],
)
def test_the_size_is_as_asked_for(asked: tuple[int | None, int | None, int | None], got: Size) -> None:
    assert size(*asked) == got


@pytest.mark.parametrize("asked", [(2, 1, None), (2, None, 4), (None, 5, 2)])
def test_a_size_that_contradicts_itself_is_refused(asked: tuple[int | None, int | None, int | None]) -> None:
    with pytest.raises(typer.BadParameter):
        size(*asked)


def test_all_workflows_are_served_unless_some_are_named() -> None:
    assert chosen(None) == list(WORKFLOWS.values())
    assert chosen(["danbooru_tagger"]) == [DANBOORU_TAGGER]
    with pytest.raises(typer.BadParameter, match="no workflow nonsense"):
        chosen(["danbooru_tagger", "nonsense"])


def test_a_module_of_processors_is_found_from_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "processors_found_here.py").write_text("import processors_that_are_nowhere\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    with pytest.raises(typer.BadParameter, match="no module not_there"):
        processors_of(["not_there.at_all"])
    with pytest.raises(ModuleNotFoundError, match="processors_that_are_nowhere"):  # its own mistake, not the operator's
        processors_of(["processors_found_here"])
