"""Instructions of the heaps' operations, counted by callgrind: deterministic where a clock is not.

Builds one program, runs it once under callgrind and prints a row for each thing it counted, net of the loop
around it. Exit code 0 when everything ran, 2 when something could not be run.
"""

import sys
from pathlib import Path

from callgrind import CountError, count
from rows import FloorError, Key, net

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "instructions"


def show(figures: dict[Key, float]) -> None:
    """Print the rows, one a line."""
    for key, figure in figures.items():
        print(f"{key.scenario:8}{key.contestant:22}{key.way:30}{key.live:>6}{figure:10.2f}")


def main() -> int:
    """Build, count, print."""
    show(net(count(FOLDER)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CountError, FloorError) as reason:
        print(f"instructions: {reason}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
