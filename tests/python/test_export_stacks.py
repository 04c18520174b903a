"""`mallard export --folded` and `--speedscope`: flamegraph.pl and speedscope themselves read it."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, Mallard, rows
from playwright.sync_api import Browser, Page

from mallard.analysis.model import CallTree
from mallard.export.folded import lines
from mallard.export.speedscope import pieces

FLAMEGRAPH = Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
SPEEDSCOPE = ROOT / "build" / "speedscope" / "package" / "dist" / "release"  # ./dev test brings it
METRICS = ("calls", "bytes", "live_at_peak", "leaked", "temporaries")


def tree(*functions: str, values: Iterable[int] = ()) -> CallTree:
    """Return a call tree in which each function is called by the one before."""
    names = ["program", *functions]
    numbers = list(range(len(names)))
    metrics = {metric: list(values) or numbers for metric in METRICS}
    return CallTree([max(0, n - 1) for n in numbers], numbers, names, [0] * len(names), [""], metrics)


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
        "temporaries": "count(*) FILTER (between = 0 AND free_kind NOT LIKE 'realloc%')",
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


def test_a_journal_without_contexts_is_one_stack(mallard: Mallard, sources: Path) -> None:
    done = mallard("export", sources / "random.rep", "--folded", "--metric", "calls")
    assert done.stdout == "program 2000\n"


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


@pytest.mark.slow
def test_speedscope_is_what_its_schema_says(scope: Path) -> None:
    schema = json.loads((SPEEDSCOPE / "file-format-schema.json").read_text())
    found = json.loads(scope.read_text())
    jsonschema.validate(found, schema)
    del found["profiles"][0]["weights"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema)
    odd = "".join(pieces(tree('"quoted"', "näme\n"), METRICS, 'a "program"'))
    jsonschema.validate(json.loads(odd), schema)


@pytest.mark.slow
def test_speedscope_opens_it(browser: Browser, scope: Path, tmp_path: Path) -> None:
    broken = json.loads(scope.read_text())
    broken["profiles"][0]["samples"][0] = [len(broken["shared"]["frames"])]
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    page = browser.new_page()
    assert f"calls (1/{len(METRICS)})" in imported(page, scope)
    assert page.title().startswith("perl")
    page.get_by_text("Sandwich").click()
    page.get_by_text(busiest(json.loads(scope.read_text())), exact=True).first.wait_for()
    assert "Something went wrong" in imported(browser.new_page(), tmp_path / "broken.json")
