"""A worker process that draws tokens through Replicate's stand-in, with its lane open wide."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pydantic import SecretStr

from glisk.engine import lanes
from glisk.engine.lanes import Lane
from glisk.engine.worker import Pace, Station
from glisk.processors.generating import Generating
from glisk.service import once, run_worker
from glisk.settings import Settings
from glisk.workers.scaling import Size
from glisk.workers.staffing import Crew
from glisk.workflows import JOBS, TOKEN, TOKENS


def main(url: str, standin: str, data_dir: str) -> None:
    settings = Settings(data_dir=Path(data_dir), replicate_api_token=SecretStr("r8_bench"), replicate_url=standin)
    station = Station(TOKEN, "detected", Generating(settings), Lane("replicate", (TOKENS, JOBS)))
    asyncio.run(once(url, lambda link: lanes.make(link, "replicate", 10_000)))
    run_worker(settings, url, Crew([station], Pace(concurrency=1000), Size(1, 1)), "bench")


if __name__ == "__main__":
    main(*sys.argv[1:])
