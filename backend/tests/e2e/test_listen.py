"""What `glisk listen` and the commands that read blocks again do about nodes that are wrong, silent or slow."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.commands import GLISK, a_free_port, glisk
from tests.conftest import execute

CHAIN, CONTRACT = 8453, "0x" + "c0" * 20
HEAD = 5000
SLOW = 1000  # who asks for logs of this block or a later one waits for ever
CURSOR = f"""
    INSERT INTO chain_cursor (chain_id, contract_address, start_no, tip_no, tip_hash, confirmed_no, confirmed_hash, head_no)
    VALUES ({CHAIN}, '{CONTRACT}', 10, {HEAD}, sha256('t'), {HEAD}, sha256('c'), {HEAD})"""


class Node(BaseHTTPRequestHandler):
    """Of a chain on which nothing was ever deployed or minted."""

    protocol_version = "HTTP/1.1"
    is_over: ClassVar[threading.Event]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = [self.reply(one) for one in asked] if isinstance(asked, list) else self.reply(asked)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply(self, one: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": one["id"], "result": self.result(one["method"], one["params"])}

    def result(self, method: str, params: list[Any]) -> Any:
        match method:
            case "eth_chainId":
                return hex(CHAIN)
            case "eth_getBlockByNumber":
                number = hex(HEAD) if params[0] in ("latest", "safe") else params[0]
                return {
                    "number": number,
                    "hash": f"0x{int(number, 16):064x}",
                    "parentHash": f"0x{0:064x}",
                    "timestamp": "0x1",
                }
            case "eth_getLogs":
                if int(params[0]["fromBlock"], 16) >= SLOW:
                    self.is_over.wait()
                return []
            case _:
                return "0x"

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def a_node() -> Iterator[str]:
    over = threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Node,), {"is_over": over})) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/hunter2"
        over.set()
        server.shutdown()


@pytest.fixture
def node(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with a_node() as url:
        monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
        monkeypatch.setenv("GLISK_RPC_URLS", url)
        monkeypatch.setenv("GLISK_CONTRACTS", CONTRACT)
        yield url


@contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    command = [*GLISK, *arguments]
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line_with(words: str, process: subprocess.Popen[str]) -> str:
    """Of what it tells on standard error."""
    assert process.stderr
    return next(line for line in process.stderr if words in line)


@pytest.mark.parametrize(
    ("contracts", "complaint"),
    [
        (
            f"1:{CONTRACT}",
            f"GLK-202  An RPC endpoint serves another chain than the contract is on. {CONTRACT} is to be on chain 1",
        ),
        (CONTRACT, f"GLK-203  The contract cannot be followed. There is no contract at {CONTRACT} on chain {CHAIN}."),
    ],
    ids=["wrong chain", "no contract"],
)
@pytest.mark.usefixtures("node")
def test_what_only_a_person_can_mend_ends_it_at_once(
    contracts: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_CONTRACTS", contracts)
    refused = glisk("listen", cwd=tmp_path)
    assert refused.returncode == 2
    assert complaint in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("node")
def test_a_node_that_does_not_answer_is_asked_again_until_a_signal(
    by: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_RPC_URLS", f"http://127.0.0.1:{a_free_port()}/hunter2")
    with started("listen", cwd=tmp_path) as process:
        told = [line_with("no node of the chain answered, trying again", process) for _ in "ab"]
        process.send_signal(by)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Stopped. What was read is kept" in out
    assert "hunter2" not in out + "".join(told)


@pytest.mark.usefixtures("node")
def test_a_command_does_not_wait_for_a_node_that_does_not_answer(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(execute(database_url, CURSOR))
    monkeypatch.setenv("GLISK_RPC_URLS", f"http://127.0.0.1:{a_free_port()}/hunter2")
    refused = glisk("chain", "audit", cwd=tmp_path)
    assert (refused.returncode, refused.stderr[:7]) == (1, "GLK-201")
    assert "hunter2" not in refused.stderr


@pytest.mark.usefixtures("node")
def test_a_backfill_that_is_stopped_says_how_far_it_came(database_url: str, tmp_path: Path) -> None:
    asyncio.run(execute(database_url, CURSOR))
    whole = glisk("chain", "backfill", "--to", "99", cwd=tmp_path)
    assert (whole.returncode, whole.stdout.split(":")[0]) == (0, "90 blocks read")
    with started("chain", "backfill", cwd=tmp_path) as process:
        line_with("Backfill: ", process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    (stopped,) = [line for line in err.splitlines() if line.startswith("Stopped after block ")]
    last = int(stopped.split()[3].rstrip("."))
    assert 10 <= last < HEAD
    assert stopped.endswith(f"chain backfill --from {last + 1} --to {HEAD}")
