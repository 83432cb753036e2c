"""The one table that says what follows what."""

from __future__ import annotations

from datetime import timedelta

from glisk.engine.workflow import FAILED, REVIEW, Backoff, Step, Workflow, WorkTable, by_name

TOKENS = WorkTable(
    "tokens_s0",
    error="generation_error",
    facts={
        "generation_attempts": "integer",
        "tags": "jsonb",
        **dict.fromkeys(("image_sha256", "prompt_salt", "reveal_tx"), "bytea"),
        **dict.fromkeys(("generation_error", "prompt", "prompt_source", "image_url"), "text"),
        **dict.fromkeys(("image_key", "image_mime", "image_cid", "metadata_cid", "token_uri"), "text"),
    },
    reads=(
        *("chain_id", "contract_address", "token_id", "author_id", "prompt", "prompt_source"),
        *("image_url", "image_key", "image_sha256", "image_mime", "image_cid", "metadata_cid"),
        *("generation_attempts", "generation_error", "tags", "token_uri", "mint_block", "detected_at"),
    ),
    budget="generation_attempts",
)
JOBS = WorkTable(
    "jobs",
    error="error_message",
    facts={
        "payload": "jsonb",
        "result": "jsonb",
        "progress": "smallint",
        **dict.fromkeys(("result_url", "output_r2_key", "error_message", "stacktrace"), "text"),
    },
    reads=("job_id", "name", "user_id", "project_id", "payload", "opts", "progress", "max_attempts"),
    merges=("payload",),
    edges="job_dependencies",
    options="opts",
)

TEN_MINUTES = timedelta(minutes=10)  # seed 002: longer than that is stuck

SECONDS = Backoff(first=timedelta(seconds=2), cap=timedelta(minutes=10))

TOKEN = Workflow(
    "token",
    TOKENS,
    {
        "detected": Step("generating", "uploading", attempts="generation_attempts", max_attempts=3, backoff=SECONDS),
        "uploading": Step("pinning", "ready", backoff=SECONDS),
        "ready": Step("revealing", "revealed", backoff=SECONDS),
    },
    finals=frozenset({"revealed", FAILED, "orphaned", REVIEW}),
)
# Seed 000. A failed upload is parked: only a person sends it on again.
IMAGE_GENERATION = Workflow(
    "image_generation",
    JOBS,
    {
        "pending": Step("generating", "ready-for-uploading"),
        "ready-for-uploading": Step(
            "uploading", "completed", failure="ready-for-uploading-failed", count_failure=False
        ),
    },
    finals=frozenset({"completed", FAILED, "ready-for-uploading-failed"}),
)
DANBOORU_TAGGER = Workflow(
    "danbooru_tagger",
    JOBS,
    {
        "pending": Step("generating", "ready-for-tagging"),
        "ready-for-tagging": Step("tagging", "completed"),
    },
)
# Seed 001.
LLM_TASK = Workflow(
    "llm_task", JOBS, {"waiting": Step("thinking", "completed", active="active", max_attempts=3, deadline=TEN_MINUTES)}
)
# Seed 002.
IMAGE_EDIT = Workflow(
    "image_edit",
    JOBS,
    {"pending": Step("editing", "completed", active="processing", max_attempts=3, deadline=TEN_MINUTES)},
)
# Seed 000: its processes `downloading-lora` and `sending-webhook`, in workflows of their own.
LORA_IMAGE = Workflow(
    "lora_image",
    JOBS,
    {
        "pending": Step("downloading-lora", "ready-for-generating", max_attempts=5, backoff=SECONDS),
        "ready-for-generating": Step("generating", "completed"),
    },
)
WEBHOOK = Workflow("webhook", JOBS, {"pending": Step("sending-webhook", "completed", max_attempts=8, backoff=SECONDS)})
# Seed 004.
R2_IMAGE = Workflow(
    "r2_image",
    JOBS,
    {"pending": Step("generating", "ready", active="processing", max_attempts=3, deadline=TEN_MINUTES)},
    finals=frozenset({"ready", FAILED}),
)

WORKFLOWS = by_name([TOKEN, IMAGE_GENERATION, DANBOORU_TAGGER, LLM_TASK, IMAGE_EDIT, R2_IMAGE, LORA_IMAGE, WEBHOOK])
GOOD = sorted({status for flow in WORKFLOWS.values() for status in flow.goods()})  # how anything can end well
