"""The machine we run on, who may reach us, and whom we would tell of trouble."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from functools import partial

from glisk import __version__
from glisk.api import access
from glisk.doctor.database import a_link
from glisk.doctor.finding import Finding, Patient, Probe, nearest, ok
from glisk.repositories.key_repository import KeyRepository
from glisk.settings import Settings, variable
from glisk.values import text

OLDEST = (3, 11)
LITTLE, HARDLY_ANY = 2 << 30, 200 << 20


def probes(patient: Patient) -> Sequence[Probe]:
    settings = patient.settings
    return [
        Probe("Python", python),
        Probe("settings", partial(given, settings)),
        Probe("data directory", partial(data_directory, settings), variable=variable("data_dir")),
    ]


def later_probes(patient: Patient) -> Sequence[Probe]:
    settings = patient.settings
    return [
        Probe("access", partial(reachable, patient), variable=variable("host")),
        Probe("alerts", partial(alerts, settings), variable=variable("alert_url")),
    ]


async def python() -> Finding:
    seen = f"{platform.python_version()} on {platform.system()} {platform.machine()}, Glisk {__version__}"
    return ok(seen) if sys.version_info >= OLDEST else Finding("broken", seen, "Install Python 3.11 or newer.")


async def given(settings: Settings) -> Finding:
    """One that cannot be used has been told before it came to this."""
    real = settings.real_parts()
    if not real:
        return ok("all usable; every part is embedded")
    return ok("all usable; real: " + ", ".join(f"{part} ({name})" for part, name in real.items()))


async def data_directory(settings: Settings) -> Finding:
    at = nearest(settings.data_dir)
    if not os.access(at, os.W_OK | os.X_OK):
        return Finding("broken", f"{at} cannot be written", "Run Glisk as the user who made it, or set GLISK_DATA_DIR.")
    free = shutil.disk_usage(at).free
    seen = f"{settings.shown_dir}, {free / 2**30:.1f} GB free"
    if free < LITTLE:
        return Finding(
            "broken" if free < HARDLY_ANY else "warning", seen, "Make room, or point GLISK_DATA_DIR elsewhere."
        )
    return ok(seen)


async def reachable(patient: Patient) -> Finding:
    settings = patient.settings
    if access.is_local(settings):
        return ok(f"{settings.address}, from this machine only")
    async with a_link(patient.url) as link:
        if await KeyRepository(link).has_operator():
            return ok(f"{settings.address}, beyond this machine; operators have a key")
    return Finding("broken", f"{settings.address}, beyond this machine, and nobody has a key", "glisk keys create")


async def alerts(settings: Settings) -> Finding:
    hooks = "every change of a token is sent out" if text(settings.webhook_url) else "no webhook of tokens"
    if text(settings.alert_url):
        return ok(f"trouble is told by a webhook; {hooks}")
    seen = f"trouble is told only in the log and on the dashboard; {hooks}"
    is_play = not settings.real_parts()
    return ok(seen) if is_play else Finding("warning", seen, "Set GLISK_ALERT_URL, so that a silent stop is heard of.")
