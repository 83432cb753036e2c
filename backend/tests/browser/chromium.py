"""The browser that came as a package of npm: started once, used by many."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes.util import find_library
from pathlib import Path

FOLDER = Path(__file__).parent / "node_modules"
PROGRAM, LIBRARIES = FOLDER / ".chromium" / "chromium", FOLDER / ".chromium" / "lib"
AXE = FOLDER / "axe-core" / "axe.min.js"
# Without a sandbox of its own, which needs rights that a container has not: it sees only pages of ours.
OPTIONS = (
    *("--headless", "--no-sandbox", "--no-zygote", "--disable-gpu", "--hide-scrollbars", "--mute-audio"),
    *("--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage", "--font-render-hinting=none"),
)
LISTENING = re.compile(r"DevTools listening on (ws://\S+)")


@contextmanager
def running(profile: Path) -> Iterator[str]:
    """Where it can be driven."""
    command = [str(PROGRAM), *OPTIONS, "--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=surroundings()
    ) as browser:
        try:
            assert browser.stderr
            lines = []
            for line in browser.stderr:
                lines.append(line)
                if found := LISTENING.search(line):
                    yield found[1]
                    break
            else:
                raise AssertionError(f"Chromium did not start: {''.join(lines)}")
        finally:
            browser.kill()


def surroundings() -> dict[str, str]:
    """Where the system lacks what it needs, with the libraries that came along."""
    return dict(os.environ) if find_library("nss3") else os.environ | {"LD_LIBRARY_PATH": str(LIBRARIES)}
