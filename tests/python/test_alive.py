"""`mallard leaks`, `mallard peak` and temporaries: held to a program's own log, and to heaptrack."""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest
from conftest import Mallard

TARGET = Path(__file__).resolve().parents[1] / "profile/targets/alive.cpp"
SITE = re.compile(r"site<(\d)>")


@dataclass(slots=True)
class Amounts:
    """What a site has."""

    allocations: int = 0
    bytes: int = 0
    temporaries: int = 0
    leaked: tuple[int, int] = (0, 0)  # bytes, blocks
    peak: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the log."""

    site: int
    thread: int
    size: int
    number: int  # among the allocations of its thread
    call: str  # + or =


@dataclass(slots=True)
class Truth:
    """What the log says, each figure worked out in the plainest way."""

    sites: dict[int, Amounts] = field(default_factory=dict)
    heaptrack_temporaries: Counter[int] = field(default_factory=Counter)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the log; the first line says that it is one."""
        return cls.of(path.read_text().splitlines()[1:])

    @classmethod
    def of(cls, calls: Sequence[str]) -> Self:
        """Go through the calls one by one."""
        found = cls({site: Amounts() for site in range(8)})
        blocks: list[Block] = []
        alive: dict[int, Block] = {}
        of_thread: Counter[int] = Counter()
        at_peak: list[Block] = []
        live = most = 0
        latest: Block | None = None

        def end(number: int, reallocated: bool) -> None:
            nonlocal latest, live
            block = alive.pop(number)
            live -= block.size
            if not reallocated and of_thread[block.thread] == block.number:
                found.sites[block.site].temporaries += 1
            if latest is not None and same_to_heaptrack(latest, block):
                found.heaptrack_temporaries[block.site] += 1
            latest = None

        for line in calls:
            call, *words = line.split()
            numbers = [int(word) for word in words]
            if call == "-":
                end(numbers[0], reallocated=False)
                continue
            if call == "=":
                end(numbers.pop(0), reallocated=True)
            site, thread, size = numbers
            of_thread[thread] += 1
            latest = alive[len(blocks)] = Block(site, thread, size, of_thread[thread], call)
            blocks.append(latest)
            found.sites[site].allocations += 1
            found.sites[site].bytes += size
            live += size
            if live > most:
                most, at_peak = live, list(alive.values())
        for number, amounts in found.sites.items():
            amounts.peak, amounts.leaked = held(at_peak, number), held(alive.values(), number)
        return found


def held(blocks: Iterable[Block], site: int) -> tuple[int, int]:
    """Return bytes and number of a site's blocks."""
    sizes = [block.size for block in blocks if block.site == site]
    return sum(sizes), len(sizes)


def same_to_heaptrack(one: Block, other: Block) -> bool:
    """Tell whether heaptrack's file tells two blocks apart: it has their sizes and their stacks."""
    return (one.site, one.thread, one.size, one.call) == (other.site, other.thread, other.size, other.call)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that keeps a log."""
    path = tmp_path_factory.mktemp("alive") / "alive"
    subprocess.run(["g++", "-std=c++20", "-O2", "-g", "-pthread", TARGET, "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def recorded(mallard: Mallard, program: Path) -> tuple[Truth, Path]:
    """What the program says that it did, and the journal of that very run."""
    log, journal = program.with_suffix(".log"), program.with_suffix(".mlrd")
    done = mallard("record", "-o", journal, "--", program, log)
    assert done.returncode == 0, done.stderr
    return Truth.read(log), journal


def of_sites(
    found: list[dict[str, Any]], figures: Callable[[dict[str, Any]], tuple[int, ...]]
) -> dict[int, Any]:
    """Return the sums of some figures of each planted site."""
    sums: dict[int, Any] = {}
    for one in found:
        if matched := SITE.search(one["stack"][one["frame"]]["function"]):
            number = int(matched[1])
            added = zip(sums.get(number, (0,) * 8), figures(one), strict=False)
            sums[number] = tuple(a + b for a, b in added)
    return sums


def test_leaks_are_what_the_program_left(mallard: Mallard, recorded: tuple[Truth, Path]) -> None:
    truth, journal = recorded
    found = json.loads(mallard("leaks", "--json", "--sites", "1000", journal).stdout)
    expected = {number: site.leaked for number, site in truth.sites.items() if site.leaked[1]}
    assert of_sites(found["sites"], lambda site: (site["bytes"], site["blocks"])) == expected
    size = sum(site.leaked[0] for site in truth.sites.values())
    blocks = sum(site.leaked[1] for site in truth.sites.values())
    assert (found["bytes"], found["blocks"]) == (size, blocks), "the runtimes' own blocks are not counted"
    assert found["runtime_blocks"] > 0
    whole = json.loads(mallard("leaks", "--json", "--all", journal).stdout)
    assert whole["bytes"] == size + found["runtime_bytes"]
    assert whole["blocks"] == blocks + found["runtime_blocks"]


def test_peak_is_the_moment_of_the_log(mallard: Mallard, recorded: tuple[Truth, Path]) -> None:
    truth, journal = recorded
    found = json.loads(mallard("peak", "--json", "--sites", "1000", journal).stdout)
    expected = {number: site.peak for number, site in truth.sites.items() if site.peak[1]}
    assert of_sites(found["sites"], lambda site: (site["bytes"], site["blocks"])) == expected
    for figure in ("bytes", "blocks"):
        assert sum(site[figure] for site in found["sites"]) == found[figure]
        assert sum(part[figure] for part in found["subsystems"]) == found[figure]
    assert 0 < found["event"] < found["events"]
    assert 0 < found["time_ns"] < found["end_ns"]


@pytest.mark.parametrize("by", ["module", "thread", "annotation"])
def test_parts_of_the_peak_are_all_of_it(mallard: Mallard, recorded: tuple[Truth, Path], by: str) -> None:
    found = json.loads(mallard("peak", "--json", "--by", by, recorded[1]).stdout)
    assert sum(part["bytes"] for part in found["subsystems"]) == found["bytes"]


def test_temporaries_are_those_of_the_log(mallard: Mallard, recorded: tuple[Truth, Path]) -> None:
    truth, journal = recorded
    profile = mallard("profile", "--json", "--sites", "1000", "--metric", "temporaries", journal)
    found = json.loads(profile.stdout)["sites"]
    expected = {n: (site.allocations, site.bytes, site.temporaries) for n, site in truth.sites.items()}

    def figures(site: dict[str, Any]) -> tuple[int, ...]:
        behaviour = site["behaviour"]
        return behaviour["allocations"], behaviour["bytes"], behaviour["temporaries"]["last"]

    assert of_sites(found, figures) == expected
    counts = [site["behaviour"]["temporaries"]["last"] for site in found]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("metric", ["calls", "bytes", "live_at_peak", "leaked", "temporaries"])
def test_stacks_of_the_call_tree_have_the_same_sums(
    mallard: Mallard, recorded: tuple[Truth, Path], metric: str
) -> None:
    truth, journal = recorded
    folded = mallard("export", journal, "--folded", "--metric", metric).stdout
    expected = {
        number: {
            "calls": site.allocations,
            "bytes": site.bytes,
            "live_at_peak": site.peak[0],
            "leaked": site.leaked[0],
            "temporaries": site.temporaries,
        }[metric]
        for number, site in truth.sites.items()
    }
    assert sums_of(folded) == {number: value for number, value in expected.items() if value}


def sums_of(folded: str) -> dict[int, int]:
    """Return the values of planted sites in folded stacks."""
    sums: Counter[int] = Counter()
    for line in folded.splitlines():
        stack, _, value = line.rpartition(" ")
        if matched := SITE.search(stack):
            sums[int(matched[1])] += int(value)
    return {site: value for site, value in sums.items() if value}


def test_a_free_that_is_not_in_the_log_is_noticed(program: Path, recorded: tuple[Truth, Path]) -> None:
    calls = program.with_suffix(".log").read_text().splitlines()[1:]
    sites = recorded[0].sites.values()
    frees = [number for number, call in enumerate(calls) if call.startswith("-")][:20]  # before the peak
    others = [Truth.of(calls[:free] + calls[free + 1 :]).sites.values() for free in frees]
    for other in others:
        assert [site.leaked for site in other] != [site.leaked for site in sites]
        assert [site.peak for site in other] != [site.peak for site in sites]
    temporaries = [site.temporaries for site in sites]
    assert any([site.temporaries for site in other] != temporaries for other in others)


# --- leaks: suppressions, exit code, what is printed ------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("bytes>0", 1),
        ("bytes>=1", 1),
        ("blocks > 100000", 0),
        ("blocks>0", 1),
        ("1KiB", 1),
        ("1GiB", 0),
        ("bytes>1 MiB", 0),
    ],
)
def test_exit_code_tells_whether_the_condition_holds(
    mallard: Mallard, recorded: tuple[Truth, Path], condition: str, code: int
) -> None:
    done = mallard("leaks", "--fail-if", condition, recorded[1])
    assert done.returncode == code
    assert (f"{condition} holds: " in done.stderr) == (code == 1)


def test_condition_is_about_what_counts(mallard: Mallard, recorded: tuple[Truth, Path]) -> None:
    truth, journal = recorded
    blocks = sum(site.leaked[1] for site in truth.sites.values())
    assert mallard("leaks", "--fail-if", f"blocks>{blocks}", journal).returncode == 0
    assert mallard("leaks", "--fail-if", f"blocks>={blocks}", journal).returncode == 1
    assert mallard("leaks", "--fail-if", f"blocks>{blocks}", "--all", journal).returncode == 1


@pytest.mark.parametrize("condition", ["", "bytes", "bytes<5", "blocks>1KiB", "frames>1", "bytes>-1", "1KB"])
def test_other_conditions_are_told(mallard: Mallard, recorded: tuple[Truth, Path], condition: str) -> None:
    done = mallard("leaks", "--fail-if", condition, recorded[1])
    assert done.returncode == 2
    assert done.stderr.startswith(f"mallard: --fail-if {condition}: must be like")


def test_suppressed_sites_do_not_count(
    mallard: Mallard, recorded: tuple[Truth, Path], tmp_path: Path
) -> None:
    truth, journal = recorded
    left = {number: site.leaked for number, site in truth.sites.items()}
    rules = tmp_path / "rules.supp"
    rules.write_text(
        "# both forms in a file\nleak:site<1>\nleak:no_such_function\n"
        "{\n  the second\n  Memcheck:Leak\n  match-leak-kinds: definite\n"
        "  fun:malloc\n  fun:*site<2>*\n  ...\n}\n"
        "{\n  of a lock\n  Helgrind:Race\n  fun:main\n}\n"
    )
    done = mallard("leaks", "--json", "--suppressions", rules, journal)
    found = json.loads(done.stdout)
    all_of_it = json.loads(mallard("leaks", "--json", "--sites", "1000", journal).stdout)["sites"]
    second = [
        one for one in all_of_it if "site<2>" in one["stack"][0]["function"] and one["call"] == "malloc"
    ]
    one, unused, two = found["suppressions"]
    assert (one["bytes"], one["blocks"]) == left[1]
    assert (two["bytes"], two["blocks"]) == (
        sum(site["bytes"] for site in second),
        sum(site["blocks"] for site in second),
    )
    assert unused["sites"] == 0
    assert f"{rules}:3: suppression is not used: leak:no_such_function" in done.stderr
    assert "of a lock" not in done.stderr
    assert found["blocks"] + one["blocks"] + two["blocks"] == sum(blocks for _, blocks in left.values())


def test_leaks_are_printed_with_their_stacks(mallard: Mallard, recorded: tuple[Truth, Path]) -> None:
    truth, journal = recorded
    done = mallard("leaks", "--sites", "2", "--frames", "2", journal)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    size = sum(site.leaked[0] for site in truth.sites.values())
    assert lines[0].startswith(f"Alive at exit: {size:,} bytes in ")
    assert any(re.match(r"[\d,]+ bytes in \d+ blocks? \([\d.]+ %\): site$", line) for line in lines)
    assert any(re.match(r"    \(anonymous namespace\)::site<\d>  alive\.cpp:\d+$", line) for line in lines)
    assert any(re.match(r"    \.\.\. \d+ more callers?$", line) for line in lines)
    assert any("more sites: " in line for line in lines)
    assert re.fullmatch(
        r"\d+ blocks?, [\d,]+ bytes of the C and C\+\+ runtimes are not counted \(--all shows them\)",
        lines[-1],
    )


def test_peak_is_printed_with_its_moment_and_subsystems(
    mallard: Mallard, recorded: tuple[Truth, Path]
) -> None:
    done = mallard("peak", "--sites", "1", recorded[1])
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(mallard("peak", "--json", recorded[1]).stdout)
    assert done.stdout.startswith(
        f"Alive at the peak: {found['bytes']:,} bytes in {found['blocks']:,} blocks"
    )
    assert f"by event {found['event'] + 1:,} of {found['events']:,}" in done.stdout
    assert found["subsystems"][0]["name"] in done.stdout


# --- heaptrack --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_heaptrack_counts_the_same_of_the_program(program: Path, tmp_path: Path) -> None:
    tracked = heaptrack(tmp_path, [program, tmp_path / "log"])
    truth = Truth.read(tmp_path / "log")
    sites = truth.sites.items()
    assert sums_of(tracked["allocations"]) == {n: site.allocations for n, site in sites}
    assert sums_of(tracked["leaked"]) == {n: site.leaked[0] for n, site in sites if site.leaked[0]}
    assert sums_of(tracked["peak"]) == {n: site.peak[0] for n, site in sites}
    assert sums_of(tracked["temporary"]) == dict(truth.heaptrack_temporaries)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["xmllint", "--noout", "{xml}"],
        ["jq", "-c", "[.n, .text]", "{json}"],
    ],
    ids=["xmllint", "jq"],
)
def test_heaptrack_counts_the_same_of_real_programs(
    mallard: Mallard, command: list[str], tmp_path: Path
) -> None:
    """docs/leaks.md explains what is left out here: the start of libstdc++, and the rule of temporaries."""
    xml, lines = tmp_path / "some.xml", tmp_path / "some.json"
    xml.write_text("<r>" + "".join(f'<i n="{n}"><k>text {n}</k></i>' for n in range(2000)) + "</r>")
    lines.write_text("".join(json.dumps({"n": n, "text": f"text {n}"}) + "\n" for n in range(2000)))
    program: list[Path | str] = [word.format(xml=xml, json=lines) for word in command]
    journal = tmp_path / "program.mlrd"
    assert mallard("record", "-o", journal, "--", *program).returncode == 0
    tracked = heaptrack(tmp_path, program)
    for metric, cost in (("calls", "allocations"), ("leaked", "leaked"), ("live_at_peak", "peak")):
        folded = mallard("export", journal, "--folded", "--metric", metric).stdout
        assert sum_after_start(folded) == sum_after_start(tracked[cost])
    text = mallard("export", journal, "--text").stdout
    assert temporaries_as_heaptrack_has_them(text) == int(tracked["temporary allocations"])


def sum_after_start(folded: str) -> int:
    """Return the sum of all stacks but those of the loader, which starts libstdc++ for heaptrack itself."""
    return sum(
        int(line.rpartition(" ")[2]) for line in folded.splitlines() if not re.search(r"\b_dl_init\b", line)
    )


def temporaries_as_heaptrack_has_them(text: str) -> int:
    """Count blocks that end by the very next event of the process; a reallocation ends one, too."""
    found, latest = 0, None
    for kind, *words in map(str.split, text.splitlines()):
        if kind == "f":
            found += words[0] == latest
        latest = words[1] if kind == "a" else None
    return found


def heaptrack(folder: Path, command: list[Path | str]) -> dict[str, str]:
    """Run a program under heaptrack; return folded stacks by each of its costs, and its own statistics."""
    data = folder / "heaptrack"
    done = subprocess.run(
        ["heaptrack", "-o", data, *command], check=True, capture_output=True, text=True, errors="replace"
    )
    found = dict(re.findall(r"^\t([a-z ]+):\s+(\d+)$", done.stdout + done.stderr, re.MULTILINE))
    (written,) = folder.glob("heaptrack.*")
    for cost in ("allocations", "temporary", "leaked", "peak"):
        folded = folder / f"{cost}.txt"
        subprocess.run(
            [
                *("heaptrack_print", written, "-p", "0", "-a", "0", "-T", "0", "--shorten-templates=0"),
                *("--disable-builtin-suppressions", "--flamegraph-cost-type", cost, "-F", folded),
            ],
            check=True,
            capture_output=True,
        )
        found[cost] = folded.read_text()
    return found
