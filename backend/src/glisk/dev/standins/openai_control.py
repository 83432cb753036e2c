"""OpenAI's stand-in as a test holds it."""

from __future__ import annotations

from contextlib import AbstractContextManager

from glisk.dev.standins import running
from glisk.dev.standins.control import Control
from glisk.dev.standins.openai import OpenAI


def in_thread() -> AbstractContextManager[Control]:
    return running.in_thread(OpenAI(), Control)
