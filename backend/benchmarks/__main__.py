"""`make bench`: runs the parts, prints a table, keeps the raw rows and makes docs/benchmarks.md from them. A row that does not hold is said, not failed."""

from __future__ import annotations

import json
import sys

from rich.console import Console
from rich.table import Table

from benchmarks import chain, claim, engine, generation, page, stream, studio
from benchmarks.row import Row

PARTS = {
    "claim": claim.measure,
    "engine": engine.measure,
    "generation": generation.measure,
    "chain": chain.measure,
    "stream": stream.measure,
    "studio": studio.measure,
}


def main(only: list[str]) -> None:
    unknown = set(only) - set(PARTS)
    if unknown:
        sys.exit(f"There is no part {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")
    rows = [row for name, measure in PARTS.items() if not only or name in only for row in measure()]
    keep(rows)
    Console(width=150).print(table(rows))
    for row in rows:
        if not row["holds"]:
            print(f"Does not hold: {row['part']}: {row['measure']} ({row['ratio']:.2f}, wanted {row['at_least']})")


def keep(rows: list[Row]) -> None:
    """Parts that were not run keep their last rows."""
    measured = {row["part"] for row in rows}
    before: list[Row] = json.loads(page.RESULTS.read_text()) if page.RESULTS.exists() else []
    page.RESULTS.parent.mkdir(exist_ok=True)
    kept = [row for row in before if row["part"] not in measured] + rows
    page.RESULTS.write_text(json.dumps(kept, indent=2) + "\n")
    page.PAGE.write_text(page.rendered(kept))


def table(rows: list[Row]) -> Table:
    grid = Table("part", "measure", "against", "ours", "theirs", "ratio", "at least", "holds", box=None)
    for row in rows:
        grid.add_row(*page.cells(row))
    return grid


if __name__ == "__main__":
    main(sys.argv[1:])
