"""Clients written from nothing but the seeds' own words, against `glisk up` on the embedded default."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.bringing import a_picture, as_data_url
from tests.chains import CONTRACTS
from tests.commands import a_free_port, glisk_up

ROOT = Path(__file__).parents[3]
PATIENCE_S, POLL_S = 60, 0.1


def test_clients_of_the_seeds_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One Glisk for all of them. Nobody has a key: on this machine anybody acts for any user."""
    (tmp_path / "contracts").symlink_to(CONTRACTS)
    monkeypatch.setenv("GLISK_PORT", str(port := a_free_port()))
    with glisk_up(tmp_path, "--no-mint"):
        seed_004(f"http://127.0.0.1:{port}")
        seed_002(f"http://127.0.0.1:{port}")
        of_the_page(f"http://127.0.0.1:{port}", tmp_path)


def of_the_page(address: str, place: Path) -> None:
    """docs/client.md: the example runs as it stands, and prints what the page says."""
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "client.md").read_text(), re.DOTALL)
    environment = os.environ | {"GLISK_URL": address}
    command = [sys.executable, "-c", example]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=True, timeout=60)
    *standings, ended, refused = done.stdout.splitlines()
    assert standings[-1] == "ready 100"
    mime = ended.removeprefix("completed ")
    assert Image.MIME[Image.open(BytesIO((place / "lighthouse").read_bytes())).format or ""] == mime
    assert refused.startswith("404 GLK-819 ")


def seed_004(address: str) -> None:
    """Its sections 6.1, 2, 4, 6.3 and 6.2: upload, create, poll, receive, and never again."""
    data = a_picture()
    answer = httpx.post(f"{address}/upload", data={"userId": "u1"}, files={"imageFiles": ("sample.png", data)})
    assert answer.is_success, answer.text
    made, body = asked("POST", f"{address}/jobsRedis", {"userId": "u1", "prompt": "a red barn", "styles": ["oil"]})
    job_id = body["jobId"]
    assert made == 201
    status, body = polled(f"{address}/jobResult?jobId={job_id}", 202)
    assert (status, body["status"]) == (200, "completed")
    picture = Image.open(BytesIO(base64.b64decode(body["image_data_base64"])))
    assert Image.MIME[picture.format or ""] == body["image_type"]
    assert asked("GET", f"{address}/jobResult?jobId={job_id}")[0] == 404
    assert asked("GET", f"{address}/jobResult?jobId=00000000-0000-0000-0000-000000000000")[0] == 404
    for _ in range(2):  # it is not deleted
        assert httpx.get(f"{address}/image/raw/u1/sample.png").content == data
    status, images = asked("GET", f"{address}/images/u1")
    assert (status, len(images), base64.b64decode(images[0]["data"])) == (200, 1, data)
    assert asked("GET", f"{address}/images/u1") == (200, [])


def seed_002(address: str) -> None:
    """Its section 3: a project, an edit, the project polled until it is completed; and one that fails, with the job's message."""
    brick, wall = as_data_url(a_picture(9)), as_data_url(a_picture(5, size=(64, 64)))
    mask = as_data_url(a_mask())
    _, project = asked(
        "POST", f"{address}/projects", {"userId": "u2", "originalImageUrl": wall, "projectType": "existing"}
    )
    edit = {"projectId": project["projectId"], "prompt": "apply brick in sample 1 to red area"}
    edit |= {"samples": [{"name": "Brick", "url": brick}], "mask": mask, "maskRegions": None, "inputImageUrl": None}
    status, body = asked("POST", f"{address}/generate-image", edit)
    assert (status // 100, set(body), body["status"]) == (2, {"jobId", "status"}, "processing")
    done = project_after(address, project["projectId"])
    assert (done["status"], done["error_message"]) == ("completed", None)
    assert done["generated_image_urls"] == [done["generated_image_url"]]
    assert Image.open(BytesIO(httpx.get(done["generated_image_url"]).content)).size == (64, 64)
    broken = edit | {"inputImageUrl": "http://127.0.0.1:1/nothing.png"}  # no public server: it cannot be fetched
    _, body = asked("POST", f"{address}/generate-image", broken)
    failed = project_after(address, project["projectId"])
    assert (failed["status"], failed["jobId"]) == ("failed", body["jobId"])
    assert failed["error_message"]


def project_after(address: str, id: str) -> dict[str, Any]:
    over = time.monotonic() + PATIENCE_S
    while (project := asked("GET", f"{address}/projects/{id}")[1])["status"] == "processing":
        assert time.monotonic() < over, project
        time.sleep(POLL_S)
    return dict(project)


def a_mask() -> bytes:
    """The left half is to be changed: it is transparent."""
    file = BytesIO()
    mask = Image.new("RGBA", (64, 64), (0, 0, 0, 255))
    mask.paste((0, 0, 0, 0), (0, 0, 32, 64))
    mask.save(file, "png")
    return file.getvalue()


def asked(method: str, url: str, body: Any = None) -> tuple[int, Any]:
    data, headers = (None, {}) if body is None else (json.dumps(body).encode(), {"Content-Type": "application/json"})
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.loads(refused.read())


def polled(url: str, while_status: int) -> tuple[int, Any]:
    """As the seed has it: the client asks again and again."""
    over = time.monotonic() + PATIENCE_S
    while (answer := asked("GET", url))[0] == while_status:
        assert time.monotonic() < over, answer
        time.sleep(POLL_S)
    return answer
