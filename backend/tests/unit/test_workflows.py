"""The table of workflows."""

from __future__ import annotations

from glisk.workflows import TOKEN


def test_a_token_goes_from_its_mint_to_its_reveal() -> None:
    path = {waiting: (TOKEN.active(waiting), step.success) for waiting, step in TOKEN.steps.items()}
    assert path == {
        "detected": ("generating", "uploading"),
        "uploading": ("pinning", "ready"),
        "ready": ("revealing", "revealed"),
    }


def test_only_drawing_has_a_budget() -> None:
    assert {waiting: step.max_attempts for waiting, step in TOKEN.steps.items()} == {
        "detected": 3,
        "uploading": None,
        "ready": None,
    }
