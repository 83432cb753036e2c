"""Is this going to work? Every part is looked at, at once, within a time limit: what was seen, and what to do about it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from glisk import wallets
from glisk.doctor import chain, database, machine, services
from glisk.doctor.finding import Check, Patient, Probe, looked_at
from glisk.settings import Settings

__all__ = ["Check", "examine", "is_well"]


async def examine(settings: Settings, url: str, filled: Settings | None = None) -> list[Check]:
    """Changes nothing and costs nothing. `settings` as the operator gave them; `filled`: with the embedded chain in them, from
    whoever runs it. Without those it is looked whether somebody does. Never raises; no secret is in what it returns."""
    # Loaded first: it takes half a second, by which all who wait meanwhile would seem slow.
    await asyncio.to_thread(wallets.library)
    patient = Patient(settings, filled or settings, url)
    return list(await asyncio.gather(*(looked_at(probe, patient) for probe in probes(patient))))


def probes(patient: Patient) -> Sequence[Probe]:
    return [
        *machine.probes(patient),
        *database.probes(patient),
        *chain.probes(patient),
        *services.probes(patient),
        *database.later_probes(patient),
        *machine.later_probes(patient),
    ]


def is_well(checks: Sequence[Check]) -> bool:
    """Warnings are no illness."""
    return all(check.state != "broken" for check in checks)
