"""What an operator may set. An empty value means the embedded part; `.env.example` and docs/settings.md are made from this class."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from glisk import values
from glisk.settings.jobs import ForJobs
from glisk.settings.serving import PREFIX
from glisk.values import text


class Settings(ForJobs):
    database_url: Annotated[SecretStr, AfterValidator(values.postgres_url)] = Field(
        default=SecretStr(""),
        description="The PostgreSQL server to use, version 14 or newer.",
        json_schema_extra={"part": "PostgreSQL", "embedded": "a PostgreSQL of our own in the data directory"},
    )
    pooler_url: Annotated[SecretStr, AfterValidator(values.postgres_url)] = Field(
        default=SecretStr(""),
        description="A PgBouncer in transaction mode in front of that server, if there is one: short transactions go through it.",
    )
    data_dir: Path = Field(
        default=Path(".glisk"),
        description="Where the embedded parts keep their data. Relative paths start at the project's root.",
    )
    s3_bucket: str = Field(
        default="",
        pattern=r"^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?$",
        description="The bucket to keep images in: of AWS, Cloudflare R2, MinIO or any other S3.",
        json_schema_extra={"part": "S3", "embedded": "a directory in the data directory"},
    )
    s3_endpoint: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="",
        description="The S3 server, for instance https://ACCOUNT.r2.cloudflarestorage.com without the bucket. Empty: AWS.",
    )
    s3_region: str = Field(
        default="auto",
        pattern=r"^[a-z0-9-]+$",
        description="The bucket's region. `auto` suits R2 and MinIO; AWS wants its own, for instance eu-central-1.",
    )
    s3_access_key_id: str = Field(default="", description="The id of the key to the bucket.")
    s3_secret_access_key: SecretStr = Field(default=SecretStr(""), description="The secret of the key to the bucket.")
    s3_prefix: str = Field(
        default="",
        pattern=r"^([A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)?$",
        description="The folder of the bucket to keep images in, if it is shared, for instance glisk/images.",
    )
    rpc_urls: Annotated[values.NodeUrls, AfterValidator(values.nodes)] = Field(
        default=values.NodeUrls(""),
        description="Nodes of the chain to ask, separated by commas: http(s) ones are asked, in this order, ws(s) ones tell of new blocks.",
        json_schema_extra={"part": "chain", "embedded": "a development chain of our own, with a collection on it"},
    )
    contracts: Annotated[str, AfterValidator(values.collections)] = Field(
        default="",
        description="The ERC-721 collections to follow, separated by commas: their addresses, or chain:address with the chain's id, for instance 8453:0x….",
    )
    confirmations: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="How many blocks must have come after a mint before it counts as confirmed. Empty: 10, on the embedded chain 1.",
    )
    start_block: int | None = Field(
        default=None,
        ge=0,
        le=2**62,
        description="The block to start reading at. Empty: the one in which the contract was deployed.",
    )
    poll_seconds: float = Field(
        default=1.0,
        ge=0.05,
        le=3600,
        allow_inf_nan=False,
        description="Seconds between looks at the chain's newest block, besides being told of it.",
    )
    alchemy_signing_key: Annotated[SecretStr, AfterValidator(values.in_ascii)] = Field(
        default=SecretStr(""),
        description="The signing key of an Alchemy webhook that calls POST /webhooks/alchemy: every call makes us look at the chain at once.",
    )
    image_provider: Literal["", "studio", "replicate", "sd_webui"] = Field(
        default="",
        description="Who draws. Empty: Replicate if it has a token, else Stable Diffusion web UI if it has a URL, else the embedded studio.",
    )
    image_size: Annotated[str, AfterValidator(values.width_and_height)] = Field(
        default="1024x1024", description="Width and height of the pictures, in pixels; the model must know it."
    )
    replicate_api_token: Annotated[SecretStr, AfterValidator(values.in_ascii)] = Field(
        default=SecretStr(""),
        description="The API token of your Replicate account (r8_…). `REPLICATE_API_TOKEN` is read too.",
        json_schema_extra={"part": "Replicate", "embedded": "a studio of our own draws"},
    )
    replicate_model: str = Field(
        default="black-forest-labs/flux-schnell",
        pattern=r"^((deployments/)?[\w.-]+/[\w.-]+(:[0-9a-f]{64})?|[0-9a-f]{64})$",
        description="The model that draws: owner/name, owner/name:version, or deployments/owner/name.",
    )
    replicate_inputs: Annotated[dict[str, Any], NoDecode, BeforeValidator(values.from_json_object)] = Field(
        default_factory=dict,
        description='Further inputs of the model, as JSON, like {"go_fast": false}; they stand above ours.',
    )
    replicate_url: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="https://api.replicate.com",
        description="Replicate's API, or a stand-in for it: glisk standin replicate.",
    )
    replicate_webhook_secret: SecretStr = Field(
        default=SecretStr(""),
        description="The signing secret of your account's webhooks (whsec_…). Webhooks are asked for when it and GLISK_PUBLIC_URL are set.",
    )
    sd_webui_url: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="",
        description="A Stable Diffusion web UI with its API on (--api), like http://127.0.0.1:7860.",
        json_schema_extra={"part": "Stable Diffusion web UI", "embedded": "a studio of our own draws"},
    )
    sd_webui_auth: SecretStr = Field(
        default=SecretStr(""), description="Its user and password (--api-auth), as user:password."
    )
    sd_webui_steps: int = Field(default=28, ge=1, le=150, description="In how many steps it draws a picture.")
    default_prompt: Annotated[str, AfterValidator(values.drawable)] = Field(
        default="A quiet landscape at the edge of the sea, soft morning light",
        description="What is drawn for authors who have published no prompt.",
    )
    fallback_prompt: Annotated[str, AfterValidator(values.drawable)] = Field(
        default="Cute kittens and flowers in a sunny garden, soft colors, storybook illustration",
        description="What is drawn when the provider refuses the author's prompt as against its content policy.",
    )
    on_auth_error: Literal["hold", "fail"] = Field(
        default="hold",
        description="When a provider does not let us in (401, 402, 403): `hold` its lane, so that nothing fails, or `fail` the token.",
    )
    max_wait: int = Field(
        default=600,
        ge=0,
        le=86_400,
        description="For how many seconds a token may be told to come back later (429) before that counts as a failed attempt.",
    )
    daily_budget: Decimal | None = Field(
        default=None,
        ge=0,
        le=1_000_000,
        description="US dollars a day (UTC) that pictures may cost; when they are spent the provider's lane is held. Empty: no limit.",
    )
    prices: Annotated[
        dict[str, dict[str, Decimal]],
        NoDecode,
        BeforeValidator(values.from_json_object),
        AfterValidator(values.known_units),
    ] = Field(
        default_factory=dict,
        description='What models cost in US dollars, as JSON, like {"owner/name": {"image": 0.003}} or {"second": 0.000975}, of language models {"input": 0.15, "output": 0.6} for a million tokens; adds to the prices we know.',
    )
    redact_prompts: bool = Field(
        default=False,
        description="Whether logs and events show only a hash and the length of a refused prompt; the ledger keeps it whole.",
    )
    pinners: Annotated[str, AfterValidator(values.known_pinners)] = Field(
        default="",
        description="Where pictures and metadata are pinned, the first one at once, the others by and by: pinata, kubo, local, separated by commas. Empty: Pinata if it has a key, else Kubo if it has a URL, else the embedded store.",
    )
    pinata_jwt: Annotated[SecretStr, AfterValidator(values.in_ascii)] = Field(
        default=SecretStr(""),
        description="The key (JWT) of your Pinata account, with the scopes to read and write files.",
        json_schema_extra={"part": "Pinata", "embedded": "a store of our own, served at /ipfs"},
    )
    pinata_url: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="https://api.pinata.cloud", description="Pinata's API, or a stand-in for it: glisk standin pinata."
    )
    pinata_upload_url: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="https://uploads.pinata.cloud", description="Where Pinata takes uploads, or a stand-in for it."
    )
    kubo_url: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="",
        description="The RPC address of a Kubo node, like http://127.0.0.1:5001; never one that is open to the world.",
        json_schema_extra={"part": "Kubo", "embedded": "a store of our own, served at /ipfs"},
    )
    kubo_auth: SecretStr = Field(
        default=SecretStr(""), description="Its authorization (API.Authorizations), as user:password or as a token."
    )
    pin_check_hours: float = Field(
        default=24,
        gt=0,
        le=8760,
        allow_inf_nan=False,
        description="Every so many hours each pin is looked at; what is missing is pinned again from the stored picture.",
    )
    gateways: Annotated[str, AfterValidator(values.http_urls)] = Field(
        default="",
        description="IPFS gateways that `glisk verify` reads through, separated by commas, like https://ipfs.io. Empty: our own HTTP server.",
    )
    collection_name: str = Field(
        default="Glisk", min_length=1, max_length=100, description="What the collection is called, for {collection}."
    )
    token_name: Annotated[str, AfterValidator(values.a_template)] = Field(
        default="{collection} #{token_id}",
        description="The name of a token. {collection}, {token_id}, {author}, {model}, {provider} and {seed} are filled in.",
    )
    token_description: Annotated[str, AfterValidator(values.a_template)] = Field(
        default="Drawn by {model} from a prompt by {author}.",
        description="The description of a token, filled in like its name. {prompt} too, if its author lets it be public now.",
    )
    token_attributes: Annotated[
        list[dict[str, Any]], NoDecode, BeforeValidator(values.from_json_list), AfterValidator(values.traits)
    ] = Field(
        default_factory=lambda: [
            {"trait_type": "Author", "value": "{author}"},
            {"trait_type": "Model", "value": "{model}"},
            {"trait_type": "Tag", "value": "{tag}"},
        ],
        description='The attributes of a token, as JSON: [{"trait_type": "Model", "value": "{model}"}, …]. One with {tag} comes once for each tag of the picture.',
    )
    token_tags: bool = Field(
        default=False,
        description="Whether what can be measured in a picture (colours, brightness, shape) becomes tags of its token, for {tag}.",
    )
    external_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="The page of a token, for its metadata; {token_id} is filled in. Empty: none.",
    )
    prompt_disclosure: Literal["now", "later", "never"] = Field(
        default="later",
        description="Whether prompts are public, for authors who have not chosen: `now` in the metadata; `later`, when the author says so; `never`. A commitment is always published.",
    )
    provenance_key_file: str = Field(
        default="",
        description="The private key that signs where pictures come from, in a file. Empty: one of our own, made in the data directory.",
    )
    reveal: Literal["", "on", "review", "off"] = Field(
        default="",
        description="`on`: pinned tokens are revealed on the chain. `review`: each waits for a person first (glisk tokens accept). `off`: they stay `ready`. Empty: on if there is a key, else off.",
    )
    reveal_key_file: str = Field(
        default="",
        description="The keeper's private key in a file: 64 hex digits, or an encrypted keystore. Only the process that reveals reads it.",
        json_schema_extra={"part": "keeper", "embedded": "the keeper of the embedded chain"},
    )
    reveal_key_password_file: str = Field(default="", description="A file with the password of that keystore.")
    reveal_batch: int = Field(default=50, ge=1, le=100, description="How many tokens one transaction reveals at most.")
    reveal_linger: float | None = Field(
        default=None,
        ge=0,
        le=3600,
        allow_inf_nan=False,
        description="For how many seconds a token waits for others to be revealed with it. Empty: 5, on the embedded chain 1.",
    )
    max_fee_gwei: Decimal = Field(
        default=Decimal(100),
        gt=0,
        le=1_000_000,
        description="What a unit of gas may cost at most, in gwei; while it costs more, tokens wait.",
    )
    stuck_after: float = Field(
        default=45,
        ge=1,
        le=86_400,
        allow_inf_nan=False,
        description="After so many seconds a transaction that no block has taken up is sent again with a higher fee.",
    )
    keep_jobs_days: int = Field(
        default=30,
        ge=0,
        le=36500,
        description="For how many days a job is kept after it has ended; 0 keeps all. What was paid is always kept.",
    )

    @property
    def shown_dir(self) -> Path:
        """The data directory as a person in the current directory would write it."""
        here = Path.cwd()
        return self.data_dir.relative_to(here) if self.data_dir.is_relative_to(here) else self.data_dir

    @property
    def reveals(self) -> bool:
        """Whether pinned tokens are revealed, now or after a look. The embedded chain has a keeper of its own."""
        is_possible = bool(self.reveal_key_file or not text(self.rpc_urls))
        return self.reveal in ("on", "review") or (not self.reveal and is_possible)

    def real_parts(self) -> dict[str, str]:
        """The parts an operator has replaced by a service of their own, each with the variable that did it."""
        return {
            str(extra["part"]): variable(name)
            for name, field in type(self).model_fields.items()
            if isinstance(extra := field.json_schema_extra, dict) and "part" in extra and text(getattr(self, name))
        }


def variable(name: str) -> str:
    return PREFIX + name.upper()
