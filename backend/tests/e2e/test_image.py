"""The steps of the Dockerfile, run one by one in a clean place: what they install works, far from the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.chains import free_port
from tests.composing import ROOT, copied, dockerfile

pytestmark = pytest.mark.timeout(600)
NEEDED = ("PATH", "HOME", "LANG", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CERT", "SSL_CERT_FILE")


def installed(app: Path) -> Path:
    """What would be /app in the image."""
    app.mkdir()
    for step in dockerfile():
        if step.stage == 0 and step.name == "COPY":
            copy(app, step.rest)
        if step.stage == 0 and step.name == "RUN":
            command = step.rest.replace("/app/", f"{app}/").replace("python -m venv", f"{sys.executable} -m venv", 1)
            ended = subprocess.run(["/bin/sh", "-c", command], cwd=app, env=clean(), capture_output=True, text=True)
            assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return app


def copy(app: Path, rest: str) -> None:
    sources, target = copied(rest)
    for source in sources:
        to = app / target / Path(source).name if target.endswith("/") else app / target
        to.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, to, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, to)


def clean(**more: str) -> dict[str, str]:
    """Nothing of the checkout, nothing of the developer; where packages come from is the machine's business."""
    return {name: os.environ[name] for name in NEEDED if name in os.environ} | more


def glisk(image: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [program(image), *arguments]
    return subprocess.run(command, cwd=image, env=clean(**settings), capture_output=True, text=True, timeout=60)


def program(image: Path) -> str:
    return str(image / ".venv" / "bin" / "glisk")


@contextmanager
def serving(image: Path, **settings: str) -> Iterator[None]:
    command = [program(image), "serve"]
    process = subprocess.Popen(command, cwd=image, env=clean(**settings), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        next(line for line in process.stdout if "Ctrl-C stops" in line)
        yield
    finally:
        process.terminate()
        process.communicate(timeout=30)


def health_check(**settings: str) -> int:
    (check,) = (step.rest for step in dockerfile() if step.name == "HEALTHCHECK")
    _, *arguments = json.loads(check.partition("CMD ")[2])
    return subprocess.run([sys.executable, *arguments], env=clean(**settings), capture_output=True).returncode


def require_commands(image: Path) -> None:
    assert glisk(image, "--version").stdout.startswith("glisk ")
    for command in ("listen", "work", "serve", "migrate"):
        assert glisk(image, command, "--help").returncode == 0


def test_the_image_has_every_command_migrates_waits_for_a_key_and_is_healthy(
    empty_database_url: str, tmp_path: Path
) -> None:
    """On an address that is not this machine's own, as in a container."""
    image, port = installed(tmp_path / "app"), str(free_port())
    require_commands(image)
    settings = {
        "GLISK_DATABASE_URL": empty_database_url,
        "GLISK_DATA_DIR": str(tmp_path / "data"),
        "GLISK_HOST": "0.0.0.0",
        "GLISK_PORT": port,
    }
    assert "GLK-703" in glisk(image, "serve", **settings).stderr
    migrated = glisk(image, "migrate", **settings)
    assert migrated.returncode == 0, migrated.stderr
    assert "GLK-108" in glisk(image, "serve", **settings).stderr
    assert glisk(image, "keys", "create", "me", **settings).stdout.startswith("glk_")
    assert health_check(GLISK_PORT=port) != 0
    with serving(image, **settings):
        assert health_check(GLISK_PORT=port) == 0
