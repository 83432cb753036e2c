"""What an operator may set about how Glisk is reached, and whom it tells."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from glisk import values

PREFIX = "GLISK_"
DISCORD = ("discord.com", "discordapp.com")


class Serving(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        description="The address the HTTP server listens on. Another than this machine's own wants an operator key first: glisk keys create.",
    )
    port: int = Field(default=8000, ge=1, le=65535, description="The port the HTTP server listens on.")
    public_url: Annotated[str, AfterValidator(values.http_url)] = Field(
        default="",
        description="Where the world finds the HTTP server, for instance https://glisk.example. Empty: http://HOST:PORT. With it providers can tell us when a picture is done.",
    )
    webhook_url: Annotated[values.HookUrl, AfterValidator(values.a_hook)] = Field(
        default=values.HookUrl(""),
        description="Where every change of a token is sent, signed (Standard Webhooks). Empty: nowhere.",
    )
    webhook_secret: Annotated[SecretStr, AfterValidator(values.a_signing_secret)] = Field(
        default=SecretStr(""), description="The secret that signs them: whsec_ and at least 24 bytes in base64."
    )
    alert_url: Annotated[values.HookUrl, AfterValidator(values.a_hook)] = Field(
        default=values.HookUrl(""),
        description="Where trouble is told, once, and once more when it is over: a webhook of yours or of Discord. Empty: only in the log.",
    )
    alert_secret: Annotated[SecretStr, AfterValidator(values.a_signing_secret)] = Field(
        default=SecretStr(""), description="The secret that signs alerts, whsec_…; Discord needs none."
    )
    alert_format: Literal["", "json", "discord"] = Field(
        default="", description="How alerts are written. Empty: for Discord if it is an address of theirs, else json."
    )
    alert_lag: int = Field(
        default=120, ge=1, le=86_400, description="For so many seconds the chain may go unread before that is an alert."
    )
    alert_age: int = Field(
        default=3600, ge=1, le=2_592_000, description="A token not revealed after so many seconds is an alert."
    )
    alert_reveals_left: int = Field(
        default=50, ge=0, le=1_000_000, description="When the keeper can pay for fewer reveals, that is an alert."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least important kind of log line that is written."
    )
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto",
        description="`text` for people, `json` for machines; `auto` is text on a terminal and for `glisk up`, else JSON.",
    )

    @property
    def is_discord(self) -> bool:
        """Whether alerts are written for Discord: if that is said, or if it is an address of theirs."""
        host = urlsplit(values.text(self.alert_url)).hostname or ""
        is_theirs = any(host == name or host.endswith(f".{name}") for name in DISCORD)
        return self.alert_format == "discord" or (not self.alert_format and is_theirs)

    @property
    def address(self) -> str:
        """The start of every link to us."""
        return self.public_url or f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"
