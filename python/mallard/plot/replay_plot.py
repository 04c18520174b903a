"""`mallard replay --plot DIR`: the tool runs as ever, and what it measured is drawn when it has ended.

    mallard replay J --plot DIR         mallard-replay J --latency --curve -o JSON, then pictures of it
    mallard replay JSON --plot DIR      pictures of a replay that was kept with -o

The table, the progress and the exit code are the tool's. At Ctrl-C it is the tool that ends in order, and the
rows that are complete are drawn.
"""

import importlib.util
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NoReturn

from mallard import MallardError
from mallard.analysis.progress import progress_bar
from mallard.native import become, call

TOOL = "mallard-replay"
# Pictures of all strategies together, at most.
SHARED = 8
NOTHING_MEASURED = {"-h", "--help", "--version", "--list-strategies"}
# Exit codes with which the tool has written its rows: all, one failed its check, interrupted.
WITH_ROWS = (0, 1, 130)


@dataclass(frozen=True)
class Asked:
    """A command line: where pictures go, where JSON goes if it is to be kept, and all that is the tool's."""

    folder: str
    output: str | None
    words: list[str]

    @property
    def kept(self) -> str | None:
        """Return the replay that is drawn again, if the command names one in place of a journal."""
        return next((word for word in self.words if not word.startswith("-") and is_json(word)), None)

    @property
    def added(self) -> list[str]:
        """Return what pictures need beside what is asked for."""
        if "--threads" in self.words or {"--latency", "--curve"} & set(self.words):
            return []
        return ["--curve"] if "--regions" in self.words else ["--latency", "--curve"]


def replay_and_draw(words: Sequence[str]) -> NoReturn:
    """Replay, or take a replay that was kept, and draw it."""
    folders, rest = taken(words, "--plot")
    if NOTHING_MEASURED & set(rest):
        become(TOOL, rest)
    outputs, rest = taken(rest, "-o")
    if "--check-only" in rest:
        raise MallardError("--check-only measures nothing: leave --plot out")
    if len(folders) > 1 or len(outputs) > 1:
        raise MallardError("--plot and -o are given once each")
    asked = Asked(folders[0], next(iter(outputs), None), rest)
    if importlib.util.find_spec("matplotlib") is None:
        raise MallardError("--plot draws with matplotlib, which is not installed: pip install matplotlib")
    with folder_of(asked.folder) as folder:
        if asked.kept is not None:
            draw(Path(asked.kept), folder, strategies_of(asked, asked.kept))
            sys.exit(0)
        sys.exit(measure(asked, folder))


def measure(asked: Asked, folder: Path) -> int:
    """Have the tool replay, and draw the rows that it leaves; return its exit code."""
    with TemporaryDirectory(prefix="mallard-") as own:
        output = Path(asked.output or Path(own) / "replay.json")
        if output.exists() and not output.is_file():
            raise MallardError(f"-o {output}: must be a regular file with --plot, which reads it again")
        before = written(output)
        code = call(TOOL, [*asked.words, *asked.added, "-o", str(output)])
        if code in WITH_ROWS and written(output) != before:  # else nothing was measured
            try:
                draw(output, folder)
            except MallardError as error:
                if code == 0:
                    raise
                print(f"mallard: {error}", file=sys.stderr)
    return code


def written(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from the one before it of the same name; None where there is none."""
    if not file.exists():
        return None
    known = file.stat()
    return known.st_ino, known.st_mtime_ns


def taken(words: Sequence[str], option: str) -> tuple[list[str], list[str]]:
    """Return the values of an option, and the other words."""
    values, rest = [], []
    left = iter(words)
    for word in left:
        if word == option:
            value = next(left, None)
            if value is None:
                raise MallardError(
                    f"{option} is followed by the name of a {'folder' if option == '--plot' else 'file'}"
                )
            values.append(value)
        elif word.startswith(f"{option}="):
            values.append(word.partition("=")[2])
        else:
            rest.append(word)
    return values, rest


def is_json(path: str) -> bool:
    """Return whether a file holds what -o writes, and not a journal in any of its forms."""
    try:
        with Path(path).open("rb") as file:
            return file.read(64).lstrip().startswith(b"{")
    except OSError:
        return False


def strategies_of(asked: Asked, kept: str) -> list[str]:
    """Return the strategies that are drawn of a replay that was kept; empty for all."""
    only, others = taken(asked.words, "--strategy")
    if others != [kept] or asked.output is not None:
        raise MallardError(
            f"{kept} is a replay, and no journal: --plot draws it again; give --strategy NAME at most"
        )
    return only


@contextmanager
def folder_of(path: str) -> Iterator[Path]:
    """Yield the folder of the pictures, which can be written; it is gone again if it stays empty."""
    folder = Path(path)
    made = not folder.exists()
    try:
        if made:
            folder.mkdir()
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise MallardError(f"cannot write into {path}: {error.strerror}") from error
    try:
        yield folder
    finally:
        if made and not any(folder.iterdir()):
            folder.rmdir()


def draw(kept: Path, folder: Path, only: Sequence[str] = ()) -> None:
    """Draw a replay; say what there is to see."""
    from mallard.plot import Replayed, durations, footprints
    from mallard.plot.canvas import in_style, save
    from mallard.report.replay import expect_whole, kept_replay

    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    replay = kept_replay(str(kept))
    expect_whole(replay, str(kept))
    drawn = []
    try:
        replayed = Replayed(replay, only)
        if not replayed.rows:
            raise MallardError(
                f"nothing to draw: no strategy {'called so ' * bool(only)}was measured to the end"
            )
        with progress_bar(f"drawing {folder}") as progress, in_style():
            for module in (footprints, durations):
                for name, figure in module.pictures(replayed):
                    save(figure, folder, name)
                    drawn.append(name)
                    progress(len(drawn) / (len(replayed.rows) + SHARED))
    except KeyError as error:
        raise MallardError(f"{kept} has no {error}: another version has written it; replay again") from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise MallardError(f"{kept} cannot be drawn: {error}; it is damaged, replay again") from error
    print(f"mallard: {folder}: {', '.join(drawn)}, each .png and .svg", file=sys.stderr)
