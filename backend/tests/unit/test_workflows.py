"""The table of workflows: the seeds' names to the letter, and no workflow that could not work."""

from __future__ import annotations

import pytest

from glisk.engine.workflow import Step, Workflow, by_name
from glisk.workflows import JOBS, TOKENS, WORKFLOWS

PATHS = {
    "token": [
        ("detected", "generating", "uploading", "detected"),
        ("uploading", "pinning", "ready", "uploading"),
        ("ready", "revealing", "revealed", "ready"),
    ],
    "image_generation": [
        ("pending", "generating", "ready-for-uploading", "pending"),
        ("ready-for-uploading", "uploading", "completed", "ready-for-uploading-failed"),
    ],
    "danbooru_tagger": [
        ("pending", "generating", "ready-for-tagging", "pending"),
        ("ready-for-tagging", "tagging", "completed", "ready-for-tagging"),
    ],
    "llm_task": [("waiting", "active", "completed", "waiting")],
    "image_edit": [("pending", "processing", "completed", "pending")],
    "r2_image": [("pending", "processing", "ready", "pending")],
    "lora_image": [
        ("pending", "downloading-lora", "ready-for-generating", "pending"),
        ("ready-for-generating", "generating", "completed", "ready-for-generating"),
    ],
    "webhook": [("pending", "sending-webhook", "completed", "pending")],
}
OURS = ("lora_image", "webhook")  # of seed 000's processes; the workflows are our own


@pytest.mark.parametrize("name", PATHS)
def test_a_workflow_goes_as_its_seed_says(name: str) -> None:
    flow = WORKFLOWS[name]
    path = [
        (waiting, flow.active(waiting), step.success, flow.failure(waiting)) for waiting, step in flow.steps.items()
    ]
    assert path == PATHS[name]


def test_there_are_no_others() -> None:
    assert set(WORKFLOWS) == set(PATHS)


def test_failures_are_counted_unless_said_otherwise() -> None:
    uncounted = [
        (flow.name, waiting)
        for flow in WORKFLOWS.values()
        for waiting, step in flow.steps.items()
        if not step.count_failure
    ]
    assert uncounted == [("image_generation", "ready-for-uploading")]


def test_budgets_are_three_where_the_seeds_say_so() -> None:
    budgets = {
        (flow.name, waiting): step.max_attempts
        for flow in WORKFLOWS.values()
        for waiting, step in flow.steps.items()
        if flow.name not in OURS
    }
    assert {key for key, most in budgets.items() if most} == {
        ("token", "detected"),
        ("llm_task", "waiting"),
        ("image_edit", "pending"),
        ("r2_image", "pending"),
    }
    assert {most for most in budgets.values() if most} == {3}


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ({"pending": Step("a", "nowhere")}, "leads to the unknown status nowhere"),
        ({"pending": Step("a", "completed", failure="nowhere")}, "leads to the unknown status nowhere"),
        ({"pending": Step("a", "next"), "next": Step("b", "pending")}, "leads back to itself"),
        ({"pending": Step("a", "pending")}, "leads back to itself"),
        ({"pending": Step("a", "next"), "next": Step("a", "completed")}, "active state a is used twice"),
        ({"pending": Step("completed", "completed")}, "active state completed is used twice"),
        ({"pending": Step("a", "completed", attempts="generation_attempts")}, "counts its attempts in"),
    ],
)
def test_a_workflow_that_cannot_work_is_refused_when_it_is_made(steps: dict[str, Step], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Workflow("broken", JOBS, steps)


def test_two_workflows_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="Two workflows are called twin"):
        by_name([Workflow("twin", JOBS), Workflow("twin", TOKENS)])
