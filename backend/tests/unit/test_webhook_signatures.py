"""Who may say that a prediction is done."""

from __future__ import annotations

import pytest

from glisk.api.webhooks import is_signed

# The vector that Replicate's own documentation and package test with.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'
AT = 1614265330.0
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": SIGNATURE,
}


def test_whoever_has_the_secret() -> None:
    assert is_signed(SECRET, HEADERS, BODY, AT)
    assert is_signed(SECRET, HEADERS | {"webhook-signature": f"v1,AAAA v2,x {SIGNATURE}"}, BODY, AT + 299)


@pytest.mark.parametrize(
    ("headers", "body", "now"),
    [
        ({}, b"other", AT),
        ({"webhook-id": "msg_other"}, BODY, AT),
        ({"webhook-timestamp": "1614265331"}, BODY, AT),
        ({"webhook-timestamp": "yesterday"}, BODY, AT),
        ({"webhook-timestamp": ""}, BODY, AT),
        ({"webhook-signature": ""}, BODY, AT),
        ({"webhook-signature": "v1,not base64!"}, BODY, AT),
        ({"webhook-signature": SIGNATURE.removeprefix("v1,")}, BODY, AT),
        ({}, BODY, AT + 301),
        ({}, BODY, AT - 301),
    ],
)
def test_nobody_else(headers: dict[str, str], body: bytes, now: float) -> None:
    assert not is_signed(SECRET, HEADERS | headers, body, now)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_AAAA"])
def test_nobody_at_all_without_the_right_secret(secret: str) -> None:
    assert not is_signed(secret, HEADERS, BODY, AT)
