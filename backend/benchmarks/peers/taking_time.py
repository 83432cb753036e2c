"""A worker process whose pictures take their time and cost the machine nothing: what is measured is not the drawing."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from glisk.engine.claim import Claim
from glisk.engine.decide import Done, Verdict
from glisk.engine.worker import Pace, Station
from glisk.service import run_worker
from glisk.settings import Settings
from glisk.workers.scaling import Size
from glisk.workers.staffing import Crew
from glisk.workflows import R2_IMAGE

STEPS, STEP_S = 20, 1.0


class Slow:
    lane: str | None = None

    async def run(self, claim: Claim) -> Verdict:
        for step in range(STEPS):
            await asyncio.sleep(STEP_S)
            claim.progress(100 * step // STEPS)
        return Done({"output_r2_key": f"sha256/ab/{'ab' * 32}.png"})


def main(url: str, data_dir: str) -> None:
    station = Station(R2_IMAGE, "pending", Slow(), None)
    run_worker(Settings(data_dir=Path(data_dir)), url, Crew([station], Pace(concurrency=1000), Size(1, 1)), "bench")


if __name__ == "__main__":
    main(*sys.argv[1:])
