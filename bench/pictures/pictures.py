"""Draws where each strategy puts the same objects, and where nested regions put theirs: pictures of docs.

    pictures.py [--check]

Each object is a bar, as long as it lives and as high as it is large; above is what the heap hands out first.
The same compiler draws the same picture, so --check can hold the committed ones to it.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PICTURES = ROOT / "docs/images/strategies"

COMPILER = ("g++-12", "-std=c++20", "-O1", "-I", str(ROOT / "include"))

# Dark enough for both of a page's backgrounds.
SIZES = {"24 B": "#4c78a8", "48 B": "#f58518", "96 B": "#54a24b", "160 B": "#b279a2", "320 B": "#e45756"}
REGIONS = {"process": "#4c78a8", "cache": "#b279a2", "connection": "#54a24b", "request": "#f58518"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 300, 64, 28, 30
TEXT = 'fill="#808080" font-family="sans-serif" font-size="12"'


@dataclass(frozen=True)
class Life:
    """One object: when it lived, in events, and where, in bytes from the first chunk's begin."""

    birth: int
    death: int
    offset: int
    size: int
    kind: str


class PictureError(Exception):
    """The program that places the objects could not be built or run."""


def places(folder: Path, name: str) -> dict[str, list[Life]]:
    """Return the lives of each strategy's objects that a program tells, by its name."""
    program = folder / name
    run(*COMPILER, str(HERE / f"{name}.cpp"), "-o", str(program))
    found: dict[str, list[Life]] = {}
    for line in run(str(program)).splitlines():
        strategy, birth, death, offset, size, *kind = line.split()
        life = Life(int(birth), int(death), int(offset), int(size), kind[0] if kind else f"{size} B")
        found.setdefault(strategy, []).append(life)
    return found


def run(*command: str) -> str:
    """Run a command and return what it prints."""
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise PictureError(f"{command[0]} is not there") from error
    except subprocess.CalledProcessError as error:
        raise PictureError(f"{command[0]} fails: {error.stderr}") from error
    return done.stdout


def legend_begins(kinds: Iterable[str]) -> list[int]:
    """Return where each entry of a legend begins that ends with the axis."""
    widths = [26 + 7 * len(kind) for kind in kinds]
    return [WIDTH - sum(widths[i:]) for i in range(len(widths))]


def drawn(strategy: str, lives: Iterable[Life], colours: Mapping[str, str], last: int, reach: int) -> str:
    """Return the picture of one strategy, its axes `last` events and `reach` bytes long."""
    across, down = (WIDTH - LEFT - 8) / last, (HEIGHT - TOP - BOTTOM) / reach
    bars = [
        f'<rect x="{LEFT + life.birth * across:.1f}" y="{TOP + life.offset * down:.1f}"'
        f' width="{(life.death - life.birth) * across:.1f}" height="{max(life.size * down - 0.2, 0.6):.1f}"'
        f' fill="{colours[life.kind]}"/>'
        for life in sorted(lives, key=lambda life: life.birth)
    ]
    begins = legend_begins(colours)
    legend = [
        f'<rect x="{begin}" y="8" width="10" height="10" fill="{colour}"/>'
        f'<text x="{begin + 14}" y="18" {TEXT}>{kind}</text>'
        for begin, (kind, colour) in zip(begins, colours.items(), strict=True)
    ]
    ticks = [
        f'<text x="{LEFT - 6}" y="{TOP + kib * 1024 * down + 4:.1f}" text-anchor="end" {TEXT}>'
        f"{kib} KiB</text>"
        f'<line x1="{LEFT - 3}" x2="{WIDTH - 8}" y1="{TOP + kib * 1024 * down:.1f}"'
        f' y2="{TOP + kib * 1024 * down:.1f}" stroke="#808080" stroke-opacity="0.3"/>'
        for kib in range(0, reach // 1024 + 1, 4 if reach <= 40 * 1024 else 16)
    ]
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>Where {strategy} puts {len(bars)} objects</title>",
        *ticks,
        *bars,
        *legend,
        f'<text x="{LEFT}" y="18" {TEXT}>memory, from the heap\'s begin</text>',
        f'<text x="{WIDTH - 8}" y="{HEIGHT - 8}" text-anchor="end" {TEXT}>'
        f"allocations and frees, {last} of them</text>",
        "</svg>",
        "",
    ])  # fmt: skip


def pictures() -> dict[str, str]:
    """Return each picture by the name of its file; those of one program share their axes."""
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        for program, colours in (
            ("placements", SIZES),
            ("neighbours", {"48 B": SIZES["48 B"]}),
            ("regions", REGIONS),
        ):
            lives = places(Path(folder), program)
            every = [life for of_one in lives.values() for life in of_one]
            last = max(life.death for life in every)
            reach = max(life.offset + life.size for life in every)
            for name, found in lives.items():
                made[f"{name}.svg"] = drawn(name.replace("_", " "), found, colours, last, reach)
    return made


def differences(made: Mapping[str, str], committed: Path) -> list[str]:
    """Return the names of pictures that are not as they would be drawn now."""
    return [
        name
        for name, picture in made.items()
        if not (committed / name).is_file() or (committed / name).read_text(encoding="utf-8") != picture
    ]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if one would change"
    )
    check = parser.parse_args().check
    try:
        made = pictures()
    except PictureError as error:
        print(f"pictures: {error}", file=sys.stderr)
        return 2
    changed = differences(made, PICTURES)
    for name in changed:
        print(f"{'would change' if check else 'drawn'}: {PICTURES.relative_to(ROOT) / name}")
        if not check:
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / name).write_text(made[name], encoding="utf-8")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main())
