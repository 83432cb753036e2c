"""Files as JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

FILE: dict[str, Any] = {
    "key": "anna/brick.png",
    "name": "brick.png",
    "originalName": "brick.png",
    "size": 48213,
    "contentType": "image/png",
    "url": "https://glisk.example/image/raw/anna/brick.png",
}
IMAGE: dict[str, Any] = {
    "key": "anna/brick.png",
    "name": "brick.png",
    "contentType": "image/png",
    "size": 48213,
    "data": "iVBORw0KGgoAAAANSUhEUg…",
}


class Uploaded(BaseModel):
    key: str = Field(description="USER/NAME, for /image/raw/.")
    name: str = Field(description="Made safe, and with a number if there was one of that name.")
    originalName: str = Field(description="As it was sent.")
    size: int = Field(description="In bytes.")
    contentType: str = Field(description="By its content, whatever it was called.")
    url: str


class Uploads(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": {"files": [FILE]}})

    files: list[Uploaded]


class Image(BaseModel):
    model_config = ConfigDict(json_schema_extra={"example": IMAGE})

    key: str
    name: str
    contentType: str
    size: int
    data: str | None = Field(description="In base64. None: its bytes are lost.")
