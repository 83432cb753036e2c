"""Who is at the keyboard: the name under which the timeline tells what they did."""

from __future__ import annotations

import getpass
import os

from glisk.engine.decide import storable


def name() -> str:
    """In a container the user may have none."""
    try:
        return storable(getpass.getuser())
    except (KeyError, OSError):
        return f"user {os.getuid()}"
