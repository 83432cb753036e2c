"""What an operator may set about the work that people ask for over HTTP."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from glisk import values
from glisk.settings.serving import Serving


class ForJobs(Serving):
    result_grace: int = Field(
        default=600,
        ge=0,
        le=2_592_000,
        description="For so many seconds a result that was sent can be had again, if it did not arrive. 0: it is deleted at once.",
    )
    preview_daily_limit: Decimal = Field(
        default=Decimal(1),
        ge=0,
        le=100_000,
        allow_inf_nan=False,
        description="What a day of previews may cost, in dollars: of each user whose key says nothing else, and of all who have no key together. 0: only free ones are drawn.",
    )
    open_jobs: int = Field(
        default=1000,
        ge=1,
        le=10**6,
        description="How many jobs of one user may be open; who wants more is told to wait.",
    )
    upload_file_mb: int = Field(
        default=20, ge=1, le=1024, description="How large one picture that somebody uploads may be, in megabytes."
    )
    upload_files: int = Field(default=20, ge=1, le=1000, description="How many pictures one request may upload.")
    upload_total_mb: int = Field(
        default=100,
        ge=1,
        le=10_240,
        description="How large all that one request uploads may be together, in megabytes.",
    )
    fetch_allow: Annotated[str, AfterValidator(values.places)] = Field(
        default="",
        description="Servers of your own network that people's URLs may lead to: host names, addresses or networks like 10.1.0.0/16, separated by commas. Empty: only public ones.",
    )
    job_webhook_secret: Annotated[SecretStr, AfterValidator(values.a_signing_secret)] = Field(
        default=SecretStr(""),
        description="The secret that signs what is sent to the webhooks of jobs, whsec_…. Empty: that of GLISK_WEBHOOK_SECRET.",
    )
    lora_dir: str = Field(
        default="",
        description="Where LoRA weights that people name are kept: the web UI's own models/Lora, if it is to draw with them. Empty: in the data directory.",
    )
    lora_max_mb: int = Field(
        default=1024,
        ge=1,
        le=65_536,
        description="How many megabytes LoRA weights may have; of all, eight times that is kept.",
    )
    openai_api_key: Annotated[SecretStr, AfterValidator(values.in_ascii)] = Field(
        default=SecretStr(""),
        description="The key of your OpenAI account (sk-…), with which pictures are edited. `OPENAI_API_KEY` is read too.",
        json_schema_extra={"part": "OpenAI", "embedded": "a darkroom of our own edits"},
    )
    openai_image_model: str = Field(
        default="gpt-image-1.5", pattern=r"^[\w.:-]+$", description="The model that edits pictures."
    )
    openai_url: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="https://api.openai.com", description="OpenAI's API, or a stand-in for it: glisk standin openai."
    )
    tagger_model: str = Field(
        default="",
        pattern=values.MODEL,
        description="The model at Replicate that tags pictures: owner/name or owner/name:version, asked for `image`. Empty: what can be measured, and the prompt's words.",
    )
    llm_provider: Literal["", "writer", "openai", "replicate"] = Field(
        default="",
        description="Who does language tasks: `openai` (any server with its chat API), `replicate`, or the embedded `writer`. Empty: openai if it has a URL or a key, else the writer.",
    )
    llm_url: Annotated[str, AfterValidator(values.endpoint)] = Field(
        default="",
        description="A server with OpenAI's chat API, before /v1/chat/completions. Empty: https://api.openai.com.",
        json_schema_extra={"part": "language model", "embedded": "a writer of our own, without a model"},
    )
    llm_api_key: Annotated[SecretStr, AfterValidator(values.in_ascii)] = Field(
        default=SecretStr(""), description="Its key. One of your own server may need none."
    )
    llm_model: str = Field(
        default="",
        pattern=r"^[\w./:@-]*$",
        description="The model that answers, as its server calls it; at Replicate owner/name. Empty: gpt-4.1-mini, or meta/meta-llama-3-8b-instruct.",
    )
