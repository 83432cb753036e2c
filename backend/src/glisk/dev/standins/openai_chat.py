"""OpenAI's POST /v1/chat/completions, in its barest form: the last message comes back."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from glisk.dev.standins.base import as_json
from glisk.dev.standins.openai_problems import refusal


def answered(body: dict[str, Any], number: int, created: int) -> Response:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not isinstance(body.get("model"), str):
        wanted = "messages" if isinstance(body.get("model"), str) else "model"
        return refusal("missing_required_parameter", f"Missing required parameter: '{wanted}'.", param=wanted)
    return completion(body["model"], content_of(messages[-1]), number, created)


def completion(model: str, said: str, number: int = 1, created: int = 0) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": said, "refusal": None}, "finish_reason": "stop"}
    return as_json(
        {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": created,
            "model": model,
            "choices": [choice],
            "usage": {"prompt_tokens": len(said), "completion_tokens": len(said), "total_tokens": 2 * len(said)},
        }
    )


def content_of(message: Any) -> str:
    found = message.get("content") if isinstance(message, dict) else None
    return found if isinstance(found, str) else ""
