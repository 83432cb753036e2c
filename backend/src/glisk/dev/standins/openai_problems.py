"""OpenAI's refusals, word for word where the words are known."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from glisk.dev.standins.base import as_json
from glisk.dev.standins.replicate_problems import page

USER_ERROR = "image_generation_user_error"
REQUEST_ERROR = "invalid_request_error"
VERIFY = "Your organization must be verified to use the model `gpt-image-1`. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization."
# Status, type and message by the error's code.
KNOWN: dict[str, tuple[int, str, str]] = {
    "invalid_api_key": (401, REQUEST_ERROR, "Incorrect API key provided: sk-stand********in. You can find your API key at https://platform.openai.com/account/api-keys."),
    "unverified": (403, REQUEST_ERROR, VERIFY),
    "rate_limit_exceeded": (429, "requests", "Rate limit reached for gpt-image-1.5 in organization org-standin on images per min: Limit 5, Used 5, Requested 1. Please try again in 12s."),
    "insufficient_quota": (429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."),
    "billing_hard_limit_reached": (400, REQUEST_ERROR, "Billing hard limit has been reached."),
    "moderation_blocked": (400, USER_ERROR, "Your request was rejected by the safety system. If you believe this is an error, contact us at help.openai.com and include the request ID req_standin. safety_violations=[violence]."),
    "invalid_mask_image_format": (400, USER_ERROR, "Invalid mask image format - mask size does not match image size"),
    "model_not_found": (404, REQUEST_ERROR, "The model does not exist or you do not have access to it."),
    "server_error": (500, "server_error", "The server had an error while processing your request. Sorry about that!"),
}  # fmt: skip
BY_STATUS = {401: "invalid_api_key", 403: "unverified", 404: "model_not_found", 429: "rate_limit_exceeded", 500: "server_error"}  # fmt: skip


def refusal(code: str, message: str = "", **more: Any) -> Response:
    status, kind, usual = KNOWN.get(code, (400, REQUEST_ERROR, ""))
    told = {"message": message or usual, "type": kind, "param": None, "code": None if code == "unverified" else code}
    return as_json({"error": told | more}, status)


def of_status(status: int, code: str) -> Response:
    """With the usual words; a proxy's page where there are none."""
    code = code or BY_STATUS.get(status, "")
    if not code and status >= 500:
        return page(status)
    response = refusal(code) if code else refusal("invalid_value", "The request could not be understood.")
    response.status_code = status
    return response


def limited(response: Response, seconds: int | None) -> Response:
    """The headers that come with a limit."""
    if response.status_code == 429 and seconds is not None:
        response.headers["retry-after"] = str(seconds)
        response.headers["x-ratelimit-limit-requests"] = "5"
        response.headers["x-ratelimit-remaining-requests"] = "0"
        response.headers["x-ratelimit-reset-requests"] = f"{seconds}s"
    return response
