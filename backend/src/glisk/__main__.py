"""The program's first lines. What they import takes a moment, and a Ctrl-C in that moment needs no traceback."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from glisk.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
