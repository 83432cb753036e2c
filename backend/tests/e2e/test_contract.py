"""The contracts: a committed artifact is what its source compiles to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONTRACTS = Path(__file__).parents[3] / "contracts"


def test_every_artifact_matches_its_source() -> None:
    path = os.pathsep.join([os.environ["PATH"], str(Path(sys.executable).parent)])  # node may come from our own set-up
    built = subprocess.run(
        ["node", "build.mjs", "--check"],
        cwd=CONTRACTS,
        env={**os.environ, "PATH": path},
        capture_output=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr.decode()
