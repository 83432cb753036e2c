"""A Glisk for programs: everything that can be asked for over HTTP, as typed calls. It needs nothing of the server's."""

from __future__ import annotations

from glisk.client.glisk import Glisk
from glisk.client.problem import Problem
from glisk.client.shapes import (
    Conversation,
    Image,
    Job,
    Made,
    MaskRegion,
    Project,
    Result,
    Sample,
    Standing,
    Token,
    Uploaded,
)
from glisk.client.sse import Event

__all__ = [
    "Conversation",
    "Event",
    "Glisk",
    "Image",
    "Job",
    "Made",
    "MaskRegion",
    "Problem",
    "Project",
    "Result",
    "Sample",
    "Standing",
    "Token",
    "Uploaded",
]
