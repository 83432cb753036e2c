"""The one table that says what follows what."""

from __future__ import annotations

from datetime import timedelta

from glisk.engine.workflow import Backoff, Step, Workflow, WorkTable

TOKENS = WorkTable(
    "tokens_s0",
    error="generation_error",
    facts=(
        *("image_url", "generation_attempts", "generation_error", "prompt", "prompt_source"),
        *("image_key", "image_sha256", "image_mime", "image_cid", "metadata_cid"),
    ),
)

SECONDS = Backoff(first=timedelta(seconds=2), cap=timedelta(minutes=10))

TOKEN = Workflow(
    "token",
    TOKENS,
    {
        "detected": Step("generating", "uploading", attempts="generation_attempts", max_attempts=3, backoff=SECONDS),
        "uploading": Step("pinning", "ready", backoff=SECONDS),
        "ready": Step("revealing", "revealed", backoff=SECONDS),
    },
)
