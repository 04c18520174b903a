"""`mallard export`: each form is read by the tools that it is made for."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from resource import RLIMIT_FSIZE, setrlimit
from typing import Any

import duckdb
import jsonschema
import pytest
from conftest import Mallard
from playwright.sync_api import Page
from report_browser import chromium

from mallard.analysis.model import CallTree
from mallard.export.folded import lines
from mallard.export.speedscope import pieces

ROOT = Path(__file__).parent.parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
FLAMEGRAPH = Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
SPEEDSCOPE = ROOT / "build" / "speedscope" / "package" / "dist" / "release"  # ./dev test brings it
MALLARD = str(Path(sys.executable).parent / "mallard")
ONE_FORM = "export takes exactly one of --parquet DIR, --folded, --speedscope and --text"
METRICS = ("calls", "bytes", "live_at_peak", "temporaries")

REGIONS = """
#include <mallard/annotate.h>
#include <stdlib.h>
int main(void) {
  free(malloc(8));
  static int pool, place[3];
  mallard_region_create(&pool, 0);
  for (int i = 0; i < 3; ++i) mallard_region_allocate(&pool, &place[i], 8 + i);
  mallard_region_destroy(&pool);
  return 0;
}
"""


@pytest.fixture(scope="session")
def summary(mallard: Mallard, journal: Path) -> dict[str, Any]:
    """What `mallard info` says of the journal: counted natively, without DuckDB."""
    found: dict[str, Any] = json.loads(mallard("info", "--json", journal).stdout)
    return found


@pytest.fixture(scope="session")
def tables(mallard: Mallard, journal: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal as Parquet files."""
    folder = tmp_path_factory.mktemp("export") / "tables"
    done = mallard("export", journal, "--parquet", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def rows(query: str, folder: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a query; {name} is the file of that table."""
    named = re.sub(r"\{(\w+)\}", lambda name: f"'{folder / name[1]}.parquet'", query)
    return duckdb.execute(named).fetchall()


def tree(*functions: str, values: Iterable[int] = ()) -> CallTree:
    """Return a call tree in which each function is called by the one before."""
    names = ["program", *functions]
    numbers = list(range(len(names)))
    metrics = {metric: list(values) or numbers for metric in METRICS}
    return CallTree([max(0, n - 1) for n in numbers], numbers, names, [0] * len(names), [""], metrics)


# --- Parquet --------------------------------------------------------------------------------------


def test_objects_are_what_info_counts(tables: Path, summary: dict[str, Any]) -> None:
    ((objects, total, alive, threads),) = rows(
        "SELECT count(*), sum(size), count(*) FILTER (death IS NULL), count(DISTINCT thread) FROM {objects}",
        tables,
    )
    kinds = summary["events_by_kind"]
    assert objects == sum(kinds[kind] for kind in ("malloc", "calloc", "realloc"))
    assert total == summary["bytes"]
    assert (
        alive
        == objects
        - kinds["free"]
        - rows("SELECT count(*) FROM {objects} WHERE death_kind = 'realloc'", tables)[0][0]
    )
    assert threads == summary["threads"]
    by_kind = dict(rows("SELECT kind, count(*) FROM {objects} GROUP BY kind", tables))
    assert by_kind == {kind: kinds[kind] for kind in by_kind}


def test_live_bytes_over_the_objects_have_the_peak_of_info(tables: Path, summary: dict[str, Any]) -> None:
    ((peak,),) = rows(
        """
        SELECT max(live) FROM (
            SELECT sum(bytes) OVER (ORDER BY event, bytes) AS live FROM (
                SELECT birth AS event, size::BIGINT AS bytes FROM {objects}
                UNION ALL
                SELECT death, -size::BIGINT FROM {objects} WHERE death IS NOT NULL))
        """,
        tables,
    )
    assert peak == summary["peak_live_bytes"]


def test_what_objects_refer_to_is_there(tables: Path, summary: dict[str, Any]) -> None:
    for column, table, key in (
        ("context", "contexts", "context"),
        ("death_context", "contexts", "context"),
        ("thread", "threads", "thread"),
        ("death_thread", "threads", "thread"),
        ("previous", "objects", "birth"),
    ):
        missing = rows(
            f"SELECT count(*) FROM {{objects}} WHERE {column} IS NOT NULL "
            f"AND {column} NOT IN (SELECT {key} FROM {{{table}}})",
            tables,
        )
        assert missing == [(0,)], column
    assert rows("SELECT count(*) - 1, max(context) FROM {contexts}", tables) == [(summary["contexts"],) * 2]
    assert rows("SELECT count(*) FROM {contexts} WHERE context > 0 AND parent >= context", tables) == [(0,)]
    assert rows("SELECT count(*) FROM {modules} WHERE path = '/usr/bin/perl'", tables) == [(1,)]
    ((most,),) = rows("SELECT max(live_bytes) FROM {timeline}", tables)
    assert most == summary["peak_live_bytes"]


def test_frames_name_the_places_of_contexts(tables: Path) -> None:
    assert rows(
        "SELECT count(*) FROM {contexts} c LEFT JOIN {frames} f ON f.context = c.context AND f.depth = 0 "
        "WHERE c.context > 0 AND (f.function IS NULL OR f.function <> c.function)",
        tables,
    ) == [(0,)]
    assert rows("SELECT count(*) > 0 FROM {frames} WHERE module LIKE 'perl%'", tables) == [(True,)]


def test_every_column_is_documented(tables: Path) -> None:
    page = (ROOT / "docs" / "export.md").read_text()
    for path in tables.iterdir():
        for name, *_ in duckdb.execute(f"DESCRIBE FROM '{path}'").fetchall():
            assert f"`{name}`" in page, f"{name} of {path.name}"


def test_files_are_replaced_all_or_none(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    assert mallard("export", journal, "--parquet", tmp_path).returncode == 0
    (tmp_path / "objects.parquet").write_text("what was there")
    assert mallard("export", journal, "--parquet", tmp_path).returncode == 0
    assert rows("SELECT count(*) > 0 FROM {objects}", tmp_path) == [(True,)]

    (tmp_path / "objects.parquet").write_text("what was there")
    (tmp_path / "threads.parquet").unlink()
    (tmp_path / "threads.parquet").mkdir()
    refused = mallard("export", journal, "--parquet", tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == f"mallard: cannot write {tmp_path / 'threads.parquet'}: it is a directory\n"
    assert (tmp_path / "objects.parquet").read_text() == "what was there"
    assert not list(tmp_path.glob("*.part"))


def test_folder_that_cannot_be(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    for folder in (taken, tmp_path / "no" / "where"):
        refused = mallard("export", journal, "--parquet", folder)
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"mallard: cannot write {folder}: ")
        assert refused.stderr.count("\n") == 1


# --- folded stacks --------------------------------------------------------------------------------


def totals(folded: str) -> int:
    """Return the sum over all lines."""
    return sum(int(line.rpartition(" ")[2]) for line in folded.splitlines())


def flame_graph(folded: str) -> subprocess.CompletedProcess[str]:
    """Draw it as its author does."""
    return subprocess.run(
        ["/usr/bin/perl", FLAMEGRAPH], input=folded, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("metric", METRICS)
def test_folded_stacks_make_a_flame_graph_of_all(
    mallard: Mallard, journal: Path, tables: Path, metric: str
) -> None:
    done = mallard("export", journal, "--folded", "--metric", metric)
    assert (done.returncode, done.stderr) == (0, "")
    sums = {
        "calls": "count(*)",
        "bytes": "sum(size)",
        "temporaries": "count(*) FILTER (between = 0 AND death_kind NOT LIKE 'realloc%')",
    }
    if metric in sums:
        assert [(totals(done.stdout),)] == rows(f"SELECT {sums[metric]} FROM {{objects}}", tables)
    drawn = flame_graph(done.stdout)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert f"all ({totals(done.stdout):,} samples, 100%)" in drawn.stdout


def test_a_broken_stack_is_told_by_the_flame_graph(mallard: Mallard, journal: Path) -> None:
    folded = mallard("export", journal, "--folded").stdout
    drawn = flame_graph(folded + "program;main many\n")
    assert "Ignored 1 lines with invalid format" in drawn.stderr


def test_live_at_peak_is_all_that_lives_then(
    mallard: Mallard, journal: Path, summary: dict[str, Any]
) -> None:
    done = mallard("export", journal, "--folded", "--metric", "live_at_peak")
    assert totals(done.stdout) == summary["peak_live_bytes"]


def test_bytes_are_the_metric_where_none_is_named(mallard: Mallard, journal: Path) -> None:
    named = mallard("export", journal, "--folded", "--metric", "bytes").stdout
    assert mallard("export", journal, "--folded").stdout == named


def test_names_cannot_break_a_stack() -> None:
    odd = tree("a;b", "two\nlines", "operator()(int) const", "", values=(0, 1, 2, 3, 4))
    assert list(lines(odd, "calls")) == [
        "program;a:b 1\n",
        "program;a:b;two lines 2\n",
        "program;a:b;two lines;operator()(int) const 3\n",
        "program;a:b;two lines;operator()(int) const;unknown 4\n",
    ]


def test_a_journal_without_contexts_is_one_stack(mallard: Mallard) -> None:
    done = mallard("export", FIXTURES / "random.rep", "--folded", "--metric", "calls")
    assert done.stdout == "program 2000\n"


# --- speedscope -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def scope(mallard: Mallard, journal: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal for speedscope."""
    path = tmp_path_factory.mktemp("export") / "perl.speedscope.json"
    done = mallard("export", journal, "--speedscope", "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return path


def busiest(file: dict[str, Any]) -> str:
    """Return the function that itself weighs most in the first profile."""
    weights: Counter[int] = Counter()
    for sample, weight in zip(file["profiles"][0]["samples"], file["profiles"][0]["weights"], strict=True):
        weights[sample[-1]] += weight
    name: str = file["shared"]["frames"][weights.most_common(1)[0][0]]["name"]
    return name


def imported(page: Page, path: Path) -> str:
    """Open speedscope, give it the file, and return what it shows then."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((SPEEDSCOPE / "index.html").as_uri())
    page.set_input_files("input[type=file]", path)
    page.get_by_text(re.compile("Left Heavy|Something went wrong")).first.wait_for()
    assert complaints == []
    return page.inner_text("body")


def test_speedscope_has_every_metric_with_its_sum(
    mallard: Mallard, journal: Path, scope: Path, summary: dict[str, Any]
) -> None:
    profiles = {profile["name"]: profile for profile in json.loads(scope.read_text())["profiles"]}
    assert list(profiles) == [metric.replace("_", " ") for metric in METRICS]
    assert sum(profiles["bytes"]["weights"]) == summary["bytes"]
    assert sum(profiles["live at peak"]["weights"]) == summary["peak_live_bytes"]
    for metric in METRICS:
        profile = profiles[metric.replace("_", " ")]
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] == sum(profile["weights"])
        assert profile["endValue"] == totals(
            mallard("export", journal, "--folded", "--metric", metric).stdout
        )
    one = json.loads(mallard("export", journal, "--speedscope", "--metric", "calls").stdout)
    assert [profile["name"] for profile in one["profiles"]] == ["calls"]


def test_speedscope_is_what_its_schema_says(scope: Path) -> None:
    schema = json.loads((SPEEDSCOPE / "file-format-schema.json").read_text())
    found = json.loads(scope.read_text())
    jsonschema.validate(found, schema)
    del found["profiles"][0]["weights"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema)
    odd = "".join(pieces(tree('"quoted"', "näme\n"), METRICS, 'a "program"'))
    jsonschema.validate(json.loads(odd), schema)


def test_speedscope_opens_it(scope: Path, tmp_path: Path) -> None:
    broken = json.loads(scope.read_text())
    broken["profiles"][0]["samples"][0] = [len(broken["shared"]["frames"])]
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    with chromium() as browser:
        page = browser.new_page()
        assert "calls (1/4)" in imported(page, scope)
        assert page.title().startswith("perl")
        page.get_by_text("Sandwich").click()
        page.get_by_text(busiest(json.loads(scope.read_text())), exact=True).first.wait_for()
        assert "Something went wrong" in imported(browser.new_page(), tmp_path / "broken.json")


# --- text -----------------------------------------------------------------------------------------


def test_text_is_the_journal_again(
    mallard: Mallard, journal: Path, tmp_path: Path, summary: dict[str, Any]
) -> None:
    path = tmp_path / "perl.txt"
    done = mallard("export", journal, "--text", "-o", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert mallard("export", journal, "--text").stdout == path.read_text()
    again = json.loads(mallard("info", "--json", path).stdout)
    for what in ("bytes", "peak_live_bytes", "peak_live_objects", "threads", "unmatched_frees"):
        assert again[what] == summary[what]


def test_text_tells_what_it_leaves_out(mallard: Mallard, tmp_path: Path) -> None:
    source = tmp_path / "regions.c"
    source.write_text(REGIONS)
    program, path = tmp_path / "regions", tmp_path / "regions.mlrd"
    subprocess.run(["/usr/bin/cc", "-I", ROOT / "include", source, "-o", program, "-ldl"], check=True)
    assert mallard("record", "-o", path, "--", program).returncode == 0
    done = mallard("export", path, "--text")
    assert done.returncode == 0
    assert done.stderr == (
        f"mallard: warning: {path}: 5 events of regions are left out: the text form has no place for them\n"
    )
    assert mallard("export", path, "--parquet", tmp_path / "tables").returncode == 0
    assert rows("SELECT region, objects, bytes FROM {regions}", tmp_path / "tables") == [(1, 3, 27)]
    assert rows("SELECT count(*), sum(size) FROM {objects} WHERE region = 1", tmp_path / "tables") == [
        (3, 27)
    ]


# --- what can go wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], ONE_FORM),
        (
            ["--text", "--folded"],
            "export takes exactly one of --parquet DIR, --folded, --speedscope and --text",
        ),
        (["--text", "--metric", "calls"], "--metric is for --folded and --speedscope"),
        (["--parquet", "x", "--metric", "calls"], "--metric is for --folded and --speedscope"),
        (["--parquet", "x", "-o", "y"], "--parquet names its folder itself: leave -o out"),
        (["--folded", "--metric", "calls", "--metric", "bytes"], "--folded takes one --metric"),
    ],
)
def test_options_that_do_not_go_together(
    mallard: Mallard, journal: Path, options: list[str], reason: str
) -> None:
    refused = mallard("export", journal, *options)
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", f"mallard: {reason}\n")


@pytest.mark.parametrize("form", ["--folded", "--speedscope", "--text", "--parquet"])
def test_what_is_no_journal_leaves_nothing(mallard: Mallard, tmp_path: Path, form: str) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)))
    where = [tmp_path / "out"] if form == "--parquet" else ["-o", tmp_path / "out"]
    refused = mallard("export", noise, form, *where)
    assert refused.returncode == 2
    assert refused.stderr == f"mallard: cannot read {noise}: it is not a journal\n"
    assert list(tmp_path.iterdir()) == [noise]


@pytest.mark.parametrize("form", ["--parquet", "--folded", "--speedscope", "--text"])
def test_a_file_that_becomes_too_large_leaves_nothing(journal: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    where = [str(path)] if form == "--parquet" else ["-o", str(path)]
    refused = subprocess.run(
        [MALLARD, "export", str(journal), form, *where],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (4096, 4096)),
    )
    assert (refused.returncode, refused.stderr) == (2, f"mallard: cannot write {path}: File too large\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["--folded", "--speedscope", "--text"])
def test_full_disks_and_closed_pipes(mallard: Mallard, journal: Path, form: str) -> None:
    command = [MALLARD, "export", str(journal), form]
    with Path("/dev/full").open("w") as full:
        refused = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr == "mallard: cannot write to standard output: No space left on device\n"
    reading, writing = os.pipe()
    os.close(reading)
    closed = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (closed.returncode, closed.stderr) == (1, "")


def test_a_cut_off_journal_is_exported_and_told(mallard: Mallard, journal: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.mlrd"
    cut.write_bytes(journal.read_bytes()[: -(journal.stat().st_size // 3)])
    for form in (["--text"], ["--folded"], ["--parquet", str(tmp_path / "tables")]):
        done = mallard("export", cut, *form)
        assert done.returncode == 0
        assert (done.stdout == "") == (form[0] == "--parquet")
        assert f"mallard: warning: {cut}: the journal has no end: " in done.stderr


@pytest.mark.parametrize("form", ["--folded", "--text"])
def test_ctrl_c_leaves_nothing_half(tmp_path: Path, form: str) -> None:
    endless = tmp_path / "endless"
    os.mkfifo(endless)
    path = tmp_path / "out"
    path.write_text("what was there")
    command = [MALLARD, "export", str(endless), form, "-o", str(path)]
    exporting = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    with suppress(BrokenPipeError), endless.open("w") as lines:
        lines.write("a 8 10 1 1\n" * 300_000)
        lines.flush()
        time.sleep(0.5)
        exporting.send_signal(signal.SIGINT)
        lines.write("a 8 10 1 1\n" * 300_000)
    assert exporting.wait() == 130
    assert exporting.communicate()[1].strip() in ("", "Aborted!")
    assert path.read_text() == "what was there"
    assert sorted(tmp_path.iterdir()) == [endless, path]
