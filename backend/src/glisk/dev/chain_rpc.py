"""One question to the development chain. With the standard library alone: its keeper starts in a moment."""

from __future__ import annotations

import http.client
import json
from typing import Any

from glisk.dev.keeping import LOOPBACK
from glisk.errors import EmbeddedChainFailed

DEADLINE_S = 60.0


def ask(port: int, method: str, *params: Any) -> Any:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=DEADLINE_S)
    question = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    try:
        connection.request("POST", "/", question, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise EmbeddedChainFailed(f"It does not answer {method}: {error}") from error
    finally:
        connection.close()
    if "error" in answer:
        raise EmbeddedChainFailed(f"It refuses {method}: {answer['error'].get('message')}")
    return answer["result"]
