"""`mallard replay --plot`: the pictures of a replay, and what becomes of the tool that measures meanwhile."""

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import MALLARD, in_this_process
from replay_sample import threads_replay, timed_replay

from mallard.plot import Replayed, durations, footprints
from mallard.plot.canvas import in_style, save

PNG = b"\x89PNG\r\n\x1a\n"
SHARED = {"sizes", "held", "costs", "boxes", "percentiles", "operations-alloc", "operations-free"}
SVG = "{http://www.w3.org/2000/svg}"

# mallard-replay, which tells what it was asked for, and what signals it got, and writes FAKE_JSON.
FAKE = f"""#!{sys.executable}
import os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
signals = []
signal.signal(signal.SIGINT, lambda number, frame: signals.append(number))
(here / "asked").write_text("\\n".join(sys.argv[1:]))
print("the table", flush=True)
if "FAKE_WAITS" in os.environ:
    (here / "waiting").touch()
    while not signals:
        time.sleep(0.01)
    time.sleep(0.3)
code = int(os.environ.get("FAKE_CODE", 130 if signals else 0))
(here / "signals").write_text(str(len(signals)))
if code != 2 and "FAKE_HAS_NO_ROWS" not in os.environ:
    pathlib.Path(sys.argv[sys.argv.index("-o") + 1]).write_text((here / "replay.json").read_text())
sys.exit(code)
"""


def refused(done: subprocess.CompletedProcess[str], what: str) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"mallard: {what}\n")


def texts(svg: Path) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.parse(svg).iter(f"{SVG}text")]


def names(folder: Path) -> set[str]:
    return {path.stem for path in folder.iterdir()}


# --- what is drawn -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of a replay with --latency and --curve, of four strategies beside none."""
    folder = tmp_path_factory.mktemp("plot")
    replay = timed_replay(strategies=5, dots=400, points=60, events=20_000)
    kept = folder / "kept.json"
    kept.write_text(json.dumps(replay))
    done = in_this_process("replay", str(kept), "--plot", str(folder / "pictures"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"mallard: {folder / 'pictures'}: sizes, held, costs, ")
    return folder / "pictures"


def test_each_picture_is_there_in_both_forms(pictures: Path) -> None:
    own = {"glibc-malloc", "glibc-notrim-malloc", "jemalloc-malloc", "tcmalloc-malloc"}
    assert names(pictures) == SHARED | {f"operations-{name}" for name in own}
    assert len(list(pictures.iterdir())) == 2 * len(names(pictures))
    for path in pictures.iterdir():
        if path.suffix == ".png":
            assert path.read_bytes().startswith(PNG)
        else:
            assert ElementTree.parse(path).getroot().tag == f"{SVG}svg"


@pytest.mark.parametrize("name", sorted(SHARED - {"sizes"}))
def test_every_strategy_has_its_name_in_what_compares_them(pictures: Path, name: str) -> None:
    said = texts(pictures / f"{name}.svg")
    for strategy in ("glibc", "glibc-notrim", "jemalloc", "tcmalloc"):
        assert any(text.startswith(f"{strategy} (malloc)") for text in said), strategy
    assert not any(text.startswith("none") for text in said)


def test_each_picture_says_of_what_it_is_and_where_it_was_measured(pictures: Path) -> None:
    for svg in pictures.glob("*.svg"):
        said = texts(svg)
        assert any(text.startswith("example") for text in said), svg
        assert any("example.mlrd, 20,000 events" in text and "Example CPU" in text for text in said), svg


def test_times_of_strategies_stand_on_the_same_axes(pictures: Path) -> None:
    own = list(pictures.glob("operations-*-malloc.svg"))
    axes = {
        tuple(text for text in texts(svg) if re.fullmatch(r"(< )?\d+ (ns|µs|ms|KiB|B)|\d+k", text))
        for svg in own
    }
    assert len(own) == 4
    assert len(axes) == 1
    assert {"< 10 ns", "100 ns", "5k", "15k"} <= set(axes.pop())


def test_the_worst_calls_are_named_with_their_events(pictures: Path) -> None:
    replay = timed_replay(strategies=5, dots=400, points=60, events=20_000)
    row = next(row for row in replay["rows"] if row["strategy"] == "jemalloc")
    said = texts(pictures / "operations-jemalloc-malloc.svg")
    for of_panel in (("free",), ("alloc", "realloc", "calloc")):
        worst = max((one for one in row["worst"] if one["call"] in of_panel), key=lambda one: one["ns"])
        assert any(text.endswith(f"event {worst['event']:,}") for text in said), of_panel


def test_a_cloud_of_dots_is_a_picture_within_the_svg(pictures: Path) -> None:
    drawn = (pictures / "operations-jemalloc-malloc.svg").read_text()
    assert drawn.count("<image ") == 3, "two panels and the scale of sizes"
    assert drawn.count("<use ") < 200
    assert max(path.stat().st_size for path in pictures.iterdir()) < 1_000_000


def test_equal_replays_give_equal_files(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        replayed = Replayed(timed_replay(strategies=2, dots=40, points=9, events=900))
        (tmp_path / folder).mkdir()
        with in_style():
            name, figure = next(durations.pictures(replayed))
            save(figure, tmp_path / folder, name)
    for form in ("png", "svg"):
        first, second = (tmp_path / folder / f"{name}.{form}" for folder in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()


def test_a_replay_on_threads_is_drawn_with_what_it_has(tmp_path: Path) -> None:
    kept = tmp_path / "threads.json"
    kept.write_text(json.dumps(threads_replay(copies=3)))
    folder = tmp_path / "pictures"
    assert in_this_process("replay", "--plot", str(folder), str(kept)).returncode == 0
    assert names(folder) == {"sizes", "costs", "scale"}
    said = texts(folder / "scale.svg")
    assert any(text.startswith("threads/multipool (typed)") for text in said)
    assert any("events a second" in text for text in said)
    assert any("attempts to lock" in text for text in said)


def test_only_strategies_that_are_asked_for_are_drawn(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(threads_replay(copies=2)))
    asked = [
        "replay",
        str(kept),
        f"--plot={tmp_path / 'some'}",
        "--strategy",
        "jemalloc",
        "--strategy",
        "glibc",
    ]
    assert in_this_process(*asked).returncode == 0
    said = texts(tmp_path / "some" / "costs.svg")
    assert {"jemalloc (malloc)", "glibc (malloc)"} <= set(said)
    assert not any(text.startswith("tcmalloc") for text in said)


def test_what_was_not_measured_is_left_out_and_nothing_at_all_is_told(tmp_path: Path) -> None:
    replay = threads_replay(copies=2)
    for row in replay["rows"][2:]:
        row["ns_per_event"] = row["spread"] = row["scale"] = None
    drawn = dict(footprints.pictures(Replayed(replay)))
    assert [label.get_text() for label in drawn["costs"].axes[0].get_yticklabels()] == ["glibc (malloc)"]
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(replay | {"rows": replay["rows"][2:]}))
    done = in_this_process("replay", str(kept), "--plot", str(tmp_path / "none"))
    refused(done, "nothing to draw: no strategy was measured to the end")
    assert not (tmp_path / "none").exists()


# --- the tool that measures ----------------------------------------------------------------------


@dataclass(frozen=True)
class Tool:
    """A folder with a mallard-replay that measures nothing."""

    folder: Path

    def command(self, *words: str, before: str = "") -> list[str]:
        """Return a command in which it is the tool; `before` is run first."""
        found = f"from mallard import native; native.tool = lambda name: {str(self.folder / 'tool')!r}; "
        return [
            sys.executable,
            "-c",
            f"{before}{found}from mallard.cli import main; main()",
            "replay",
            *words,
        ]

    def run(self, *words: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        """Replay a journal that nobody reads."""
        return subprocess.run(
            self.command(*words, before=before),
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def asked(self) -> list[str]:
        """What the tool was asked for, without where it writes."""
        words = (self.folder / "asked").read_text().split("\n")
        at = words.index("-o")
        return words[:at] + words[at + 2 :]

    @property
    def signals(self) -> int:
        """How often it was interrupted."""
        return int((self.folder / "signals").read_text())


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    (tmp_path / "tool").write_text(FAKE)
    (tmp_path / "tool").chmod(0o755)
    replay = threads_replay(copies=1)
    del replay["journal"]["sizes"]
    for row in replay["rows"]:
        row["scale"] = None
    (tmp_path / "replay.json").write_text(json.dumps(replay))
    return Tool(tmp_path)


@pytest.mark.parametrize(
    "code", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(130, marks=pytest.mark.slow)]
)
def test_table_and_exit_code_are_the_tools_and_its_rows_are_drawn(tool: Tool, code: int) -> None:
    done = tool.run("a.mlrd", "--plot", "p", FAKE_CODE=str(code))
    assert (done.returncode, done.stdout) == (code, "the table\n")
    assert done.stderr == "mallard: p: costs, each .png and .svg\n"
    assert names(tool.folder / "p") == {"costs"}


@pytest.mark.parametrize(
    ("asked", "added"),
    [
        ([], ["--latency", "--curve"]),
        (["--strategy", "multipool"], ["--latency", "--curve"]),
        (["--latency"], []),
        (["--curve"], []),
        (["--regions"], ["--curve"]),
        (["--threads", "--scale", "2"], []),
    ],
)
def test_what_pictures_need_is_measured(tool: Tool, asked: list[str], added: list[str]) -> None:
    tool.run("a.mlrd", "--plot", "p", *asked, FAKE_CODE="2")
    assert tool.asked == ["a.mlrd", *asked, *added]


@pytest.mark.slow
def test_json_is_kept_where_it_is_asked_for(tool: Tool) -> None:
    assert tool.run("a.mlrd", "-o", "kept.json", "--plot", "p").returncode == 0
    assert (tool.folder / "kept.json").read_text() == (tool.folder / "replay.json").read_text()


def test_nothing_is_drawn_and_nothing_left_where_the_tool_refuses(tool: Tool) -> None:
    (tool.folder / "old.json").write_text((tool.folder / "replay.json").read_text())
    done = tool.run("a.mlrd", "-o", "old.json", "--plot", "p", FAKE_CODE="2")
    assert (done.returncode, done.stderr) == (2, "")
    assert not (tool.folder / "p").exists()


@pytest.mark.parametrize("old", [True, False])
def test_a_replay_that_was_there_before_is_not_drawn(tool: Tool, old: bool) -> None:
    if old:
        (tool.folder / "old.json").write_text((tool.folder / "replay.json").read_text())
    done = tool.run("a.mlrd", "-o", "old.json", "--plot", "p", FAKE_CODE="130", FAKE_HAS_NO_ROWS="")
    assert (done.returncode, done.stderr) == (130, "")
    assert not (tool.folder / "p").exists()


def test_rows_that_are_all_interrupted_leave_the_exit_code_alone(tool: Tool) -> None:
    replay = json.loads((tool.folder / "replay.json").read_text())
    for row in replay["rows"]:
        row["ns_per_event"] = None
    (tool.folder / "replay.json").write_text(json.dumps(replay))
    done = tool.run("a.mlrd", "--plot", "p", FAKE_CODE="130")
    assert done.returncode == 130
    assert done.stderr == "mallard: nothing to draw: no strategy was measured to the end\n"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--plot"], "--plot is followed by the name of a folder"),
        (["--plot", "file"], "cannot write into file: Not a directory"),
        (["--plot", "absent/p"], "cannot write into absent/p: No such file or directory"),
        (["--plot", "/proc/1"], "cannot write into /proc/1: "),
        (["--plot", "p", "--plot", "q"], "--plot and -o are given once each"),
        (["--plot", "p", "--check-only"], "--check-only measures nothing: leave --plot out"),
        (
            ["--plot", "p", "-o", "/dev/null"],
            "-o /dev/null: must be a regular file with --plot, which reads it again",
        ),
        (
            ["--plot", "p", "replay.json", "--latency"],
            "replay.json is a replay, and no journal: --plot draws it again; give --strategy NAME at most",
        ),
        (["--plot", "p", "other.json"], "other.json is not what `mallard replay --json` prints"),
        (
            ["--plot", "p", "replay.json", "--strategy", "hoard"],
            "nothing to draw: no strategy called so was measured to the end",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_measured(
    tool: Tool, words: list[str], reason: str
) -> None:
    (tool.folder / "file").touch()
    (tool.folder / "other.json").write_text('{"rows": []}')
    done = tool.run(*([] if any(word.endswith(".json") for word in words) else ["a.mlrd"]), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mallard: {reason}")
    assert done.stderr.count("\n") == 1
    assert not (tool.folder / "asked").exists()
    assert not (tool.folder / "p").exists()


@pytest.mark.slow
def test_a_replay_of_an_older_mallard_is_refused_in_one_line(tool: Tool) -> None:
    old = timed_replay(strategies=2, dots=5, points=3, events=90)
    for row in old["rows"]:
        del row["alloc_ns"]["minimum"]["p25"]
    (tool.folder / "old.json").write_text(json.dumps(old))
    done = tool.run("old.json", "--plot", "p")
    assert done.returncode == 2
    assert done.stderr == "mallard: old.json has no 'p25': another version has written it; replay again\n"


@pytest.mark.parametrize(
    "damage",
    [
        lambda replay: replay.__setitem__("machine", "none"),
        pytest.param(
            lambda replay: replay["rows"][-1]["operations"].__setitem__("ns", [1]), marks=pytest.mark.slow
        ),
        pytest.param(lambda replay: replay["rows"][-1].__setitem__("spread", None), marks=pytest.mark.slow),
    ],
)
def test_a_damaged_replay_is_refused_in_one_line(
    tool: Tool, damage: Callable[[dict[str, Any]], None]
) -> None:
    replay = timed_replay(strategies=2, dots=5, points=3, events=90)
    damage(replay)
    (tool.folder / "damaged.json").write_text(json.dumps(replay))
    done = tool.run("damaged.json", "--plot", "p")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        r"mallard: damaged.json cannot be drawn: .+; it is damaged, replay again\n", done.stderr
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (1, "damaged.json: a row has no 'strategy': it is damaged, or another version has written it; "),
        pytest.param({}, "damaged.json: a row has no 'strategy': ", marks=pytest.mark.slow),
        pytest.param(
            {"max_held": float("nan")},
            "cannot read the replay damaged.json: it is not JSON",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_replay_whose_rows_are_none_is_refused_before_it_is_drawn(
    tool: Tool, row: Any, reason: str
) -> None:
    replay = timed_replay(strategies=2, dots=5, points=3, events=90)
    replay["rows"].append(row)
    (tool.folder / "damaged.json").write_text(json.dumps(replay))
    done = tool.run("damaged.json", "--plot", "p")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mallard: {reason}")
    assert done.stderr.count("\n") == 1


def test_without_matplotlib_it_is_said_what_to_install(tool: Tool) -> None:
    done = tool.run("a.mlrd", "--plot", "p", before="import sys; sys.modules['matplotlib'] = None; ")
    refused(done, "--plot draws with matplotlib, which is not installed: pip install matplotlib")
    assert not (tool.folder / "asked").exists()


def wait_until_it_measures(running: subprocess.Popen[bytes], tool: Tool) -> None:
    while not (tool.folder / "waiting").exists():
        assert running.poll() is None
        time.sleep(0.01)


def ended(running: subprocess.Popen[bytes], tool: Tool) -> None:
    """Expect that it was interrupted once, and has drawn what it had."""
    assert running.wait() == 130
    assert tool.signals == 1
    assert names(tool.folder / "p") == {"costs"}


def test_ctrl_c_in_a_terminal_reaches_the_tool_once_and_its_rows_are_drawn(tool: Tool) -> None:
    terminal, end = os.openpty()

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(end, termios.TIOCSCTTY, 0)

    with subprocess.Popen(
        tool.command("a.mlrd", "--plot", "p"),
        cwd=tool.folder,
        env={**os.environ, "FAKE_WAITS": "1"},
        stdin=end,
        stdout=end,
        stderr=end,
        preexec_fn=own_terminal,
    ) as running:
        os.close(end)
        wait_until_it_measures(running, tool)
        os.write(terminal, b"\x03")
        with contextlib.suppress(OSError):  # so the end of a terminal is reported
            while os.read(terminal, 4096):
                pass
        ended(running, tool)
    os.close(terminal)


@pytest.mark.slow
def test_a_signal_to_mallard_alone_is_passed_on(tool: Tool) -> None:
    with subprocess.Popen(
        tool.command("a.mlrd", "--plot", "p"), cwd=tool.folder, env={**os.environ, "FAKE_WAITS": "1"}
    ) as running:
        wait_until_it_measures(running, tool)
        running.send_signal(signal.SIGINT)
        ended(running, tool)


def test_what_ends_mallard_ends_the_tool(tool: Tool) -> None:
    with subprocess.Popen(
        tool.command("a.mlrd", "--plot", "p"), cwd=tool.folder, env={**os.environ, "FAKE_WAITS": "1"}
    ) as running:
        wait_until_it_measures(running, tool)
        running.send_signal(signal.SIGTERM)
        assert running.wait() == 128 + signal.SIGTERM
    assert not (tool.folder / "signals").exists()
    assert not (tool.folder / "p").exists()


@pytest.mark.heaps
def test_a_journal_is_replayed_and_drawn(tmp_path: Path, sources: Path) -> None:
    journal = sources / "random.rep"
    words = [
        "--plot",
        "p",
        "--strategy",
        "multipool",
        "--binding",
        "typed",
        "--passes",
        "2",
        "--latency",
        "--curve",
    ]
    done = subprocess.run(
        [MALLARD, "replay", journal, "--warm-time", "0", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Single operations in ns" in done.stdout
    assert names(tmp_path / "p") >= SHARED | {"operations-multipool-typed"}


@pytest.mark.heaps
def test_help_is_the_tools_and_names_the_option() -> None:
    shown = subprocess.run(
        [MALLARD, "replay", "--plot", "p", "--help"], capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0
    assert "--plot DIR" in shown.stdout
