"""Stand-ins for tests, and somebody who takes in what they send."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import msgspec

from glisk.dev.standins.replicate_control import ReplicateControl

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJnbGlzayI6InRlc3QifQ.c2lnbmF0dXJl"
TOKEN = {"Authorization": "Bearer r8_test"}
SCHNELL = "black-forest-labs/flux-schnell"
PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class Letter:
    headers: dict[str, str]
    body: bytes

    @property
    def prediction(self) -> dict[str, Any]:
        return msgspec.json.decode(self.body, type=dict[str, Any])


class Mailbox:
    """Where webhooks go. It answers with the codes it was given, then with 200."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.letters: queue.Queue[Letter] = queue.Queue()
        self.answers: queue.Queue[int] = queue.Queue()

    def next(self) -> Letter:
        return self.letters.get(timeout=PATIENCE_S)

    def answer(self, *codes: int) -> None:
        for code in codes:
            self.answers.put(code)


@contextmanager
def a_mailbox() -> Iterator[Mailbox]:
    class Slot(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            code = 200 if mailbox.answers.empty() else mailbox.answers.get()
            self.send_response(code)
            self.send_header("content-length", "0")
            self.end_headers()
            mailbox.letters.put(Letter(dict(self.headers), body))

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Slot) as server:
        mailbox = Mailbox("http://{}:{}/hook".format(*server.server_address))
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield mailbox
        server.shutdown()
        thread.join()


@contextmanager
def a_client(standin: ReplicateControl) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=standin.url, headers=TOKEN, timeout=PATIENCE_S) as client:
        yield client


def ordered(client: httpx.Client, seed: int = 7, prompt: str = "a cat", **more: Any) -> dict[str, Any]:
    """A prediction that was just created; further inputs by name, `headers` and `body` besides."""
    headers, body = more.pop("headers", {}), more.pop("body", {})
    wanted = {"input": {"prompt": prompt, "seed": seed, **more}, **body}
    answer = client.post(f"/v1/models/{SCHNELL}/predictions", json=wanted, headers=headers)
    assert answer.status_code in (201, 202), answer.text
    return dict(answer.json())


def read(client: httpx.Client, prediction: dict[str, Any]) -> dict[str, Any]:
    return dict(client.get(f"/v1/predictions/{prediction['id']}").json())
