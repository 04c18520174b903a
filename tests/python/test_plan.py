"""`mallard plan` as a user runs it on recorded programs; and how few frames tell contexts apart."""

import json
import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from conftest import Mallard

from mallard import MallardError, _native
from mallard.analysis.store import Store
from mallard.plan import Context, Module, Plan, Rule, Witness, plan_text, read_plan
from mallard.plan.plan_file import parse_plan
from mallard.plan.plan_image import Claim, decision_trie, rule_for, trie_of
from mallard.plan.plan_model import WORDS, Frame
from mallard.plan.planner import RESERVE, Options, Planner, Wanted, planned
from mallard.plan.pool_candidates import Candidates, Told
from mallard.plan.process_memory import heaps_of, memory_of
from mallard.plan.scopes import ending_functions
from mallard.plan.stacks_of_plan import Stacks, module_name

# Mapped: phases, in a program that has memory of its own beside malloc's.
# Shelves: each owns a list and a set, which get things in a random order, and end one after the other.
# Phases: eight functions that each allocate and free as much, one after the other.
# High: how much memory it has had at most, in KiB, with 64 threads at once.
# Short: a block at a time, and 100 small ones that stay.
# Deep: half of the blocks stay and half do not, each allocated by a function that calls itself so often.
# Texts: each is parsed into nodes, by a function that calls itself; they die when parse() returns.
PROGRAM = """
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>

struct node {
  long value = 0;
  std::vector<std::unique_ptr<node>> inside;
};
__attribute__((noinline)) std::unique_ptr<node> group(const char*& at) {
  std::unique_ptr<node> made(new node);
  for (; *at != 0 && *at != ')'; ++at)
    if (*at == '(') {
      made->inside.push_back(group(++at));
    } else {
      made->inside.push_back(std::unique_ptr<node>(new node{*at, {}}));
    }
  return made;
}
__attribute__((noinline)) long parse(const char* text) {
  const auto whole = group(text);
  return whole->inside.size();
}
std::vector<std::string> answers;
__attribute__((noinline)) void keep(long sum) { answers.emplace_back(40 + sum % 2, 'x'); }
__attribute__((noinline)) long parse_all(const std::string& text) {
  for (int i = 0; i < 30; ++i) keep(parse(text.c_str()));
  return answers.size();
}

__attribute__((noinline)) node* descend(int calls) {
  if (calls == 0) return new node;
  node* const found = descend(calls - 1);
  found->value += calls;
  return found;
}
__attribute__((noinline)) long build(int calls) {
  std::vector<std::unique_ptr<node>> all;
  for (int i = 0; i < 20000; ++i) all.emplace_back(descend(calls));
  return all.size();
}
__attribute__((noinline)) long scratch(int calls) {
  std::vector<std::unique_ptr<node>> all(300);
  for (int i = 0; i < 20000; ++i) all[i % all.size()].reset(descend(calls));
  return all.size();
}

struct shelf {
  std::list<long> things;
  std::set<long> names;
  __attribute__((noinline)) void add(long k) { things.push_back(k); names.insert(k); }
};

__attribute__((noinline)) void* keep_it(void* block) { return *static_cast<char*>(block) = 1, block; }

template <int N> __attribute__((noinline)) long phase() {
  std::vector<char*> all;
  all.reserve(4000);
  for (int i = 0; i < 4000; ++i) all.push_back(static_cast<char*>(std::malloc(40 + N)));
  for (char* one : all) std::free(one);
  return all.size();
}

int main(int count, char** words) {
  if (count > 1 && words[1][0] == 't') {
    std::string text;
    for (int i = 0; i < 200; ++i) text += i % 7 == 0 ? "a(b(cd)e)" : "xyz";
    const long sum = parse_all(text);
    keep(sum);
    std::printf("%ld\\n", sum);
    return 0;
  }
  if (count > 2 && words[1][0] == 'd') {
    const int calls = std::atoi(words[2]);
    std::printf("%ld\\n", build(calls) + scratch(calls));
    return 0;
  }
  if (count > 1 && words[1][0] == 'l') {
    std::vector<char*> all(40000);
    for (char*& one : all) one = static_cast<char*>(std::malloc(1000));
    std::printf("%zu\\n", all.size());
    return 0;
  }
  if (count > 1 && words[1][0] == 'h') {
    std::barrier<> all(64);
    std::vector<std::thread> threads(64);
    for (std::thread& one : threads)
      one = std::thread([&all] {
        for (int i = 0; i < 1000; ++i) std::free(keep_it(std::malloc(100)));
        all.arrive_and_wait();
      });
    for (std::thread& one : threads) one.join();
    char line[200];
    std::FILE* const status = std::fopen("/proc/self/status", "r");
    while (std::fgets(line, sizeof line, status) != nullptr && std::strncmp(line, "VmHWM:", 6) != 0) {}
    std::puts(line + 6);
    return 0;
  }
  if (count > 1 && words[1][0] == 's') {
    std::vector<char*> few(100);
    for (char*& one : few) one = static_cast<char*>(std::malloc(48));
    for (int i = 0; i < 40000; ++i) std::free(keep_it(std::malloc(600)));
    std::printf("%zu\\n", few.size());
    return 0;
  }
  if (count > 1 && words[1][0] == 'm') {
    const std::size_t bytes = 48 << 20;
    void* const own = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(own, 1, bytes);
  }
  if (count > 1) {
    long sum = phase<0>() + phase<1>() + phase<2>() + phase<3>();
    std::printf("%ld\\n", sum + phase<4>() + phase<5>() + phase<6>() + phase<7>());
    return 0;
  }
  std::mt19937 chance(1);
  std::vector<shelf> shelves(40);
  for (long k = 0; k < 20000; ++k) shelves[chance() % shelves.size()].add(k);
  std::size_t left = 0;
  for (shelf& one : shelves) left += one.things.size() + one.names.size();
  std::printf("%zu\\n", left);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program above."""
    path = tmp_path_factory.mktemp("plan") / "shelves"
    build = ("g++", "-std=c++20", "-O1", "-g", "-Wl,--build-id", "-x", "c++", "-", "-o", path)
    subprocess.run(build, input=PROGRAM, text=True, check=True)
    return path


@pytest.fixture(scope="module")
def shelves(mallard: Mallard, program: Path) -> Path:
    """The journal of shelves, with what tells instances apart."""
    journal = program.with_name("shelves.mlrd")
    assert mallard("record", "--witness", "-o", journal, "--", program).returncode == 0
    return journal


@pytest.fixture(scope="module")
def phases(mallard: Mallard, program: Path) -> Path:
    """The journal of phases, without."""
    journal = program.with_name("phases.mlrd")
    assert mallard("record", "-o", journal, "--", program, "phases").returncode == 0
    return journal


def test_memory_that_a_program_maps_itself_counts(mallard: Mallard, program: Path, phases: Path) -> None:
    journal = program.with_name("mapped.mlrd")
    assert mallard("record", "-o", journal, "--", program, "mapped").returncode == 0
    without, found = (json.loads(mallard("plan", "--json", one).stdout) for one in (phases, journal))
    for which in ("recorded_peak_bytes", "predicted_peak_bytes"):
        assert 44 << 20 < found[which] - without[which] < 56 << 20


def test_the_recorded_peak_is_that_of_the_program_alone(
    mallard: Mallard, program: Path, tmp_path: Path
) -> None:
    plain = subprocess.run([program, "high"], capture_output=True, text=True, check=True).stdout
    journal = tmp_path / "high.mlrd"
    assert mallard("record", "-o", journal, "--", program, "high").returncode == 0
    recorded = Store.read(str(journal), lambda _done: None).totals["figures"]["program_peak_rss"]
    assert abs(recorded / 1024 - int(plain.split()[0])) < 600


@pytest.mark.parametrize(
    ("threads", "known", "peak"),
    [
        (1, None, "recorded"),
        (1, -100_000, "known"),
        (1, 100_000, "recorded"),  # a child took the rest
        (2, None, "recorded"),
        (2, -100_000, "known"),
        (2, 100_000, "known"),  # in that run more waited between the threads
    ],
)
def test_the_peak_of_threads_is_that_of_the_run_without_the_recorder(
    phases: Path, threads: int, known: int | None, peak: str
) -> None:
    store = Store.read(str(phases), lambda _done: None)
    recorded = store.totals["figures"]["program_peak_rss"]
    rss = None if known is None else recorded + known
    of_threads = replace(store, threads=store.threads[:1] * threads)
    assert memory_of(of_threads, rss).peak == {"recorded": recorded, "known": rss}[peak]


# Says the most that it has had in memory, in KiB. It is of many files, whose tables unwinding reads.
LIBRARIES = """
import json, sqlite3, ssl, xml.dom.minidom
kept = [str(i) for i in range(200000)]
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def test_the_recorded_peak_has_no_tables_that_only_unwinding_reads(mallard: Mallard, tmp_path: Path) -> None:
    command = ("/usr/bin/python3", "-c", LIBRARIES)

    def recorded(number: int) -> float:
        journal = tmp_path / f"libraries_{number}.mlrd"
        assert mallard("record", "-o", journal, "--", *command).returncode == 0
        return (
            float(Store.read(str(journal), lambda _done: None).totals["figures"]["program_peak_rss"]) / 1024
        )

    plain = [
        int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(4)
    ]
    # Medians, as each run has its files elsewhere, and so other parts of them mapped around a page fault.
    assert abs(median(map(recorded, range(3))) - median(plain[1:])) < 600


def test_instances_have_pools_where_frees_come_owner_by_owner(
    mallard: Mallard, shelves: Path, tmp_path: Path
) -> None:
    file = tmp_path / "plan.toml"
    ran = mallard("plan", shelves, "-o", file)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "instances: 2 rules" in ran.stdout
    assert "40 instances by" in ran.stdout
    assert f"Try it: mallard try {file} -- " in ran.stdout
    plan = read_plan(file)
    assert plan.title == "instances"
    assert plan.program.name == "shelves"
    assert {rule.pool for rule in plan.rules} == {"shelf::add: list::push_back", "shelf::add: set::insert"}
    assert all(rule.witness and rule.witness.instances == 40 for rule in plan.rules)
    assert all(rule.pools == 256 for rule in plan.rules)
    assert 0 < plan.predicted_peak <= 1.25 * plan.recorded_peak


def test_pools_are_for_sites_and_blind_for_all(mallard: Mallard, shelves: Path) -> None:
    found = {
        family: json.loads(mallard("plan", shelves, "--strategy", family, "--json").stdout)
        for family in ("pools", "blind")
    }
    assert [rule["pools"] for rule in found["pools"]["rules"]] == [1, 1]
    assert [rule["blocks"] for rule in found["pools"]["rules"]] == [20000, 20000]
    assert found["pools"]["share_of_blocks"] > 0.99
    (everything,) = found["blind"]["rules"]
    assert everything["blocks"] >= 40000
    assert found["blind"]["mistaken"] == found["pools"]["mistaken"] == 0
    assert found["blind"]["predicted_peak_bytes"] <= found["pools"]["predicted_peak_bytes"]


def test_pools_that_are_used_one_after_the_other_are_one_group(mallard: Mallard, phases: Path) -> None:
    pools, groups = (
        json.loads(mallard("plan", phases, "--strategy", family, "--json").stdout)
        for family in ("pools", "groups")
    )
    assert len(pools["rules"]) == 8
    assert groups["pools"] <= 2, "at most those that fall into the same moment of the timeline are apart"
    assert {rule["name"] for rule in groups["rules"]} == {f"phase<{number}>" for number in range(8)}
    assert sum(rule["blocks"] for rule in groups["rules"]) == 32000


def test_phases_do_not_add_up_in_the_prediction(mallard: Mallard, phases: Path) -> None:
    found = json.loads(mallard("plan", phases, "--strategy", "pools", "--json").stdout)
    assert sum(rule["peak_bytes"] for rule in found["rules"]) > 1.2e6
    a_slab_each = 8 * (1 << 16)
    assert found["predicted_peak_bytes"] < found["recorded_peak_bytes"] + a_slab_each


@pytest.mark.parametrize(("calls", "blocks"), [(4, [20000, 20000]), (40, [40000])])
def test_what_has_the_same_callers_as_far_as_a_plan_looks_has_one_pool(
    mallard: Mallard, program: Path, tmp_path: Path, calls: int, blocks: list[int]
) -> None:
    journal = tmp_path / "deep.mlrd"
    assert mallard("record", "-o", journal, "--", program, "deep", str(calls)).returncode == 0
    found = json.loads(mallard("plan", journal, "--json").stdout)
    assert [rule["blocks"] for rule in found["rules"]] == blocks
    assert found["mistaken"] == 0


def test_a_limit_makes_pools_fewer(mallard: Mallard, shelves: Path) -> None:
    def limited(most: float) -> dict[str, float]:
        ran = mallard("plan", shelves, "--max-rss", f"{most:.3f}", "--json")
        found: dict[str, float] = json.loads(ran.stdout)
        return found

    free = limited(2)
    allowed = free["predicted_peak_bytes"] / free["recorded_peak_bytes"] - 0.005
    tight = limited(allowed / (1 - RESERVE))
    assert tight["predicted_peak_bytes"] <= (allowed + 0.001) * tight["recorded_peak_bytes"]
    assert tight["pools"] < free["pools"]


def test_a_journal_without_snapshots_says_what_to_record(
    mallard: Mallard, phases: Path, tmp_path: Path
) -> None:
    told = "has nothing that tells instances apart: `mallard record --witness` keeps it"
    ran = mallard("plan", phases)
    assert (ran.returncode, ran.stderr) == (0, f"mallard: {phases} {told}\n")
    assert "Nothing is written: -o FILE keeps the plan." in ran.stdout
    refused = mallard("plan", phases, "--strategy", "instances", "-o", tmp_path / "none.toml")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "`mallard record --witness`" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_contexts_has_no_plan(mallard: Mallard, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("a 8 10 1 5\nf 10 1 7\n")
    ran = mallard("plan", text)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"mallard: {text} has no calling contexts: `mallard record` writes them\n"
    assert mallard("plan", tmp_path / "missing").returncode == 2
    for option in (("--json",), ("--strategy", "pools"), ("--process", "x")):
        refused = mallard("plan", "--compile", text, "-o", tmp_path / "image", *option)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "--compile takes a plan as it is" in refused.stderr


def test_a_program_that_holds_little_has_a_plan_that_says_so(
    mallard: Mallard, program: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "short.mlrd"
    assert mallard("record", "-o", journal, "--", program, "short").returncode == 0
    ran = mallard("plan", journal)
    little = "no caller with 0.5 % of the small blocks keeps 4 KiB alive: pools have little to put together"
    assert f"mallard: {little}\n" in ran.stderr
    assert ran.returncode == 0
    assert "\nmain " in ran.stdout


def test_a_plan_is_compiled_or_refused_with_its_line(mallard: Mallard, shelves: Path, tmp_path: Path) -> None:
    file, image = tmp_path / "plan.toml", tmp_path / "plan.image"
    assert mallard("plan", shelves, "-o", file).returncode == 0
    assert mallard("plan", "--compile", file, "-o", image).returncode == 0
    assert image.read_bytes().startswith(b"\x89MLP\r\n\x1a\n")
    file.write_text(file.read_text().replace('strategy = "pool"', 'strategy = "pond"', 1))
    line = 1 + file.read_text().splitlines().index('strategy = "pond"')
    ran = mallard("plan", "--compile", file, "-o", tmp_path / "none")
    assert (ran.returncode, ran.stderr.startswith(f"mallard: {file}:{line}: strategy must be")) == (2, True)
    assert not (tmp_path / "none").exists()
    assert (
        mallard("plan", "--compile", file).stderr == "mallard: --compile needs -o FILE: an image is no text\n"
    )


def test_the_plan_finds_the_pool_of_each_recorded_stack(shelves: Path, tmp_path: Path) -> None:
    planner = Planner(str(shelves))
    found = planner.plan(Options("pools"))
    nodes = trie_of(found.plan)
    counted = [0] * (1 + len(found.plan.rules))
    for context in planner.candidates.routable:
        places = planner.candidates.stacks.places(context, found.plan.module_numbers)
        rule = rule_for(nodes, places)
        counted[rule] += int(planner.candidates.blocks[context])
    assert counted[1:] == [row.blocks for row in found.rows]


def test_a_region_lasts_until_the_function_in_which_its_blocks_end(
    mallard: Mallard, program: Path, tmp_path: Path
) -> None:
    journal, file, counters = (tmp_path / name for name in ("texts.mlrd", "plan.toml", "counters"))
    assert mallard("record", "-o", journal, "--", program, "texts").returncode == 0
    planner = Planner(str(journal))
    contexts = tuple(
        context for context in planner.candidates.routable if planner.symbols.site_name(context) == "group"
    )
    ends = ending_functions(planner.store, planner.symbols, contexts)
    assert ends[0] == ("parse(char const*)", 1.0)
    assert "main" not in dict(ends), "it is not seen to return"
    assert not any(name.startswith("parse_all") for name, _ in ends), "it is called once"
    wanted = Wanted("nodes", contexts, "region", "they end with parse", until="parse")
    found = planner.of([wanted], Options(max_rss=2))
    assert found.remarks == []
    assert len(found.plan.rules) > 2, "one for each depth of the recursion"
    assert {(rule.strategy, rule.pool) for rule in found.plan.rules} == {("region", "nodes")}
    assert len({rule.until for rule in found.plan.rules}) == 1
    file.write_text(plan_text(found.plan))
    assert read_plan(file).expected == found.plan.expected != ()
    ran = mallard("run", "--plan", file, "--counters", counters, "--", program, "texts")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "30\n", "")
    counts = [json.loads(line) for line in counters.read_text().splitlines()]
    assert [one["hits"] for one in counts[1:]] == [row.blocks for row in found.rows]
    assert 0 < counts[1]["peak_bytes"] < sum(row.bytes for row in found.rows) / 10, "memory comes back"
    assert all(one["live_bytes"] == 0 for one in counts)


def test_a_prediction_follows_the_instances_that_snapshots_show(shelves: Path) -> None:
    planner = Planner(str(shelves))
    wanted = [Wanted("one", planner.candidates.all[0].contexts, "pool", "", Witness("rbx", 40, 64))]
    apart = planner.of(wanted, Options(max_rss=2)).rows[0].peak
    assert (np.diff(planner.snapshots["event"].astype(np.int64)) > 0).all()
    planner.snapshots["words"][:] = 1
    assert planner.of(wanted, Options(max_rss=2)).rows[0].peak < apart, "all are one instance's"


@pytest.fixture
def huge_pages_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little memory is in use."""
    monkeypatch.setattr("mallard.plan.process_memory.WORTH_HUGE_PAGES", 1)


def test_a_program_of_much_memory_has_huge_pages(mallard: Mallard, program: Path, tmp_path: Path) -> None:
    journal, file = tmp_path / "large.mlrd", tmp_path / "plan.toml"
    assert mallard("record", "-o", journal, "--", program, "large").returncode == 0
    plan = ("plan", journal, "--strategy", "pools", "-o", file)
    ran = mallard(*plan)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert " MiB in huge pages, " in ran.stdout
    assert read_plan(file).huge_pages
    planner = Planner(str(journal))
    in_small = planner.plan(Options("pools", huge_pages=False)).plan
    limit = in_small.predicted_peak / in_small.recorded_peak / 0.96  # of which 4 % are reserve
    ran = mallard(*plan, "--max-rss", f"{limit + 0.005:.4f}")
    said = re.fullmatch(r"mallard: huge pages .* MiB more, which --max-rss ([0-9.]+) allows\n", ran.stderr)
    assert said, ran.stderr
    assert (ran.returncode, "huge pages" in ran.stdout, read_plan(file).huge_pages) == (0, False, False)
    assert planner.plan(Options("pools", limit + 0.005, huge_pages=False)).remarks == []
    assert mallard(*plan, "--max-rss", said[1]).stderr == ""
    assert read_plan(file).huge_pages
    blind = ("plan", "--json", journal, "--heap", "glibc", "--strategy", "blind")
    assert json.loads(mallard(*blind).stdout)["huge_pages"], "the blocks are the plan's"


def test_a_prediction_counts_what_huge_pages_hold_in_addition(
    shelves: Path, request: pytest.FixtureRequest
) -> None:
    in_small = planned(str(shelves), Options("pools", max_rss=4)).plan
    assert not in_small.huge_pages
    request.getfixturevalue("huge_pages_pay")
    in_huge = planned(str(shelves), Options("pools", max_rss=4)).plan
    assert in_huge.huge_pages
    assert in_huge.rules == in_small.rules
    half_a_huge_page, slabs = 1 << 20, 128 << 10
    assert in_huge.predicted_peak > in_small.predicted_peak + half_a_huge_page + slabs
    beside_glibc = planned(str(shelves), Options("pools", max_rss=4, default_heap="glibc")).plan
    assert beside_glibc.rules == in_small.rules
    assert in_small.predicted_peak + half_a_huge_page < beside_glibc.predicted_peak < in_huge.predicted_peak


@pytest.mark.usefixtures("huge_pages_pay")
def test_a_plan_that_huge_pages_would_lift_above_the_limit_has_small_ones(
    shelves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_huge = planned(str(shelves), Options("pools", max_rss=4)).plan
    limit = in_huge.predicted_peak / in_huge.recorded_peak / 0.96  # of which 4 % are reserve
    assert planned(str(shelves), Options("pools", max_rss=1.001 * limit)).plan.huge_pages
    in_small = planned(str(shelves), Options("pools", max_rss=0.999 * limit)).plan
    assert not in_small.huge_pages
    assert in_small.rules == in_huge.rules
    assert in_small.predicted_peak < in_huge.predicted_peak
    monkeypatch.setattr("mallard.plan.process_memory.WORTH_HUGE_PAGES", in_small.predicted_peak)
    assert not planned(str(shelves), Options("pools", max_rss=4)).plan.huge_pages, "little heap"


@pytest.mark.usefixtures("huge_pages_pay")
def test_small_owners_share_pools_for_huge_pages(shelves: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mallard.plan.planner.MANY_POOLS", 0)  # slabs of fewer pools are small as well
    monkeypatch.setattr("mallard.plan.planner.LEAN", 10)
    planner = Planner(str(shelves))
    generous = planner.plan(Options(max_rss=4)).plan
    assert generous.huge_pages
    limit = 0.999 * generous.predicted_peak / generous.recorded_peak
    monkeypatch.setattr("mallard.plan.planner.LEAN", limit)
    lean = planner.plan(Options(max_rss=4)).plan
    assert lean.huge_pages
    assert lean.pools < generous.pools
    assert planner.plan(Options(max_rss=4, huge_pages=False)).plan.pools == generous.pools


@pytest.mark.slow
@pytest.mark.usefixtures("huge_pages_pay")
def test_small_owners_share_pools_in_small_pages_where_huge_ones_would_take_too_much(
    shelves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mallard.plan.planner.MANY_POOLS", 0)
    monkeypatch.setattr("mallard.plan.process_memory.HALF_A_HUGE_PAGE", 0)
    monkeypatch.setattr("mallard.plan.planner.LEAN", 10)
    planner = Planner(str(shelves))
    generous = planner.plan(Options(max_rss=4, huge_pages=False)).plan
    peak = generous.predicted_peak / generous.recorded_peak
    monkeypatch.setattr("mallard.plan.planner.LEAN", 0.975 * peak)
    lean = planner.plan(Options(max_rss=1.03 * peak / 0.96)).plan
    assert not lean.huge_pages
    assert lean.pools < generous.pools
    monkeypatch.setattr("mallard.plan.planner.LEAN", peak)
    assert planner.plan(Options(max_rss=4)).plan.huge_pages, "as --max-rss allows"


def test_threads_that_live_at_once_have_a_heap_each_in_the_prediction(
    mallard: Mallard, program: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "high.mlrd"
    assert mallard("record", "-o", journal, "--", program, "high").returncode == 0
    planner = Planner(str(journal))
    assert planner.heaps is not None
    assert set(planner.heaps.tolist()) == {*range(65)}
    each = planner.plan(Options("blind", max_rss=9)).plan.predicted_peak
    planner.heaps = None
    assert each - planner.plan(Options("blind", max_rss=9)).plan.predicted_peak >= 60 * 4096


@pytest.mark.parametrize(
    ("lives", "heaps"),
    [
        ([], []),
        ([(5, 5)], [0]),
        ([(0, 0)], [0]),
        ([(1, 0), (2, 3), (4, 6)], [0, 1, 1]),
        ([(1, 3), (3, 5)], [0, 1]),
        ([(3, 5), (1, 2), (4, 0), (5, 6)], [0, 0, 1, 2]),
        ([(1, 9), (1, 8), (2, 7), (8, 9), (9, 0), (10, 0)], [0, 1, 2, 2, 1, 2]),
    ],
)
def test_a_thread_takes_over_the_heap_that_was_left_last(
    lives: list[tuple[int, int]], heaps: list[int]
) -> None:
    assert heaps_of([{"start_ns": start, "end_ns": end} for start, end in lives]).tolist() == heaps


def test_what_is_wanted_is_merged_or_refused(shelves: Path) -> None:
    planner = Planner(str(shelves))
    lists, sets = (one.contexts for one in planner.candidates.all)
    witness = Witness("rbx", 40, 256)
    both = [
        Wanted("one", lists, "pool", "instances", witness),
        Wanted("one", (*sets, *lists), "multipool", "apart"),
    ]
    free = planner.of(both, Options(max_rss=2, title="advised"))
    assert free.plan.title == "advised"
    assert [(row.rule.pool, row.rule.strategy, row.rule.pools) for row in free.rows] == [
        ("one", "pool", 256),
        ("one (2)", "multipool", 1),
    ]
    limit = 1.035 * free.plan.predicted_peak / free.plan.recorded_peak  # which leaves no reserve
    tight = planner.of(both, Options(max_rss=limit))
    assert tight.plan.pools < free.plan.pools
    assert tight.plan.predicted_peak < free.plan.predicted_peak
    assert any("--max-rss" in remark for remark in tight.remarks)
    with pytest.raises(MallardError, match="pond is no strategy"):
        planner.of([Wanted("one", lists, "pond", "")], Options())
    with pytest.raises(MallardError, match="no caller that is asked for can be named"):
        planner.of([Wanted("none", lists, "region", "", until="nobody")], Options())


@pytest.mark.parametrize(
    ("together", "chance", "part", "is_one"),
    [
        (0.40, 0.15, 0.0, True),  # a clear gain
        (0.19, 0.01, 0.9, True),  # a smaller one, of owners whose ends show
        (0.19, 0.01, 0.3, False),  # of which hardly any does
        (0.30, 0.15, 0.9, False),  # which chance explains half of
    ],
)
def test_a_witness_has_a_clear_gain_or_owners_whose_ends_show(
    shelves: Path, monkeypatch: pytest.MonkeyPatch, together: float, chance: float, part: float, is_one: bool
) -> None:
    row = {"group": 1, "place": 0, "blocks": 900, "distinct": 60, "owners": 60, "in_order": 0.0}
    row |= {"together": together, "chance": chance, "gain": together - chance, "told": part}
    columns = {name: np.array([value]) for name, value in row.items()} | {"sketch": np.arange(64)[None]}
    monkeypatch.setattr(_native, "owner_places", lambda *_: (900, columns))
    found, reason = Planner(str(shelves)).candidates.witnesses(lambda _: None)
    assert (len(found), not reason) == (is_one, is_one)


def test_what_has_the_same_owners_shares_their_pools() -> None:
    few, many, others = (frozenset(range(begin, begin + 64)) for begin in (0, 4, 40))
    assert Told("rbx", 60, 0.5, few).has_owners_of(Told("rbp", 60, 0.3, many))
    assert not Told("rbx", 60, 0.5, few).has_owners_of(Told("rbx", 60, 0.5, others))


def test_words_of_snapshots_have_the_names_of_places() -> None:
    assert [word.replace("stack", "sp") for word in WORDS] == _native.owner_place_names()


@pytest.mark.parametrize("name", ["app", "a < b", "two\nlines", "\x1b[31mred", " ", "caf\udce9"])
def test_frames_in_a_file_of_any_name_are_read_again(name: str) -> None:
    module = Module(module_name(f"/opt/{name}"), "00ff")
    rule = Rule("pool", (Context((Frame(module.name, 1, 8), Frame(module.name, 2))),))
    assert parse_plan(plan_text(Plan("t", (module,), (rule,))).encode(), "plan.toml").rules == (rule,)


# What tests/malloc/malloc_stress.cpp opens and closes.
LIBRARY = """
#include <stdlib.h>
#include <string.h>
void end(void* p) { free(p); }
char* copy(char const* text) { return realloc(strdup(text), 100000); }
"""


@pytest.fixture(scope="module")
def stress(mallard: Mallard, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Threads, forks, libraries and signals at once; its plan lies beside it."""
    path = tmp_path_factory.mktemp("stress") / "stress"
    library = path.with_name("library.so")
    subprocess.run(
        ("gcc", "-shared", "-fPIC", "-fno-builtin", "-x", "c", "-", "-o", library),
        input=LIBRARY,
        text=True,
        check=True,
    )
    names = (f'-DMALLARD_DEEP_LIBRARY="{library}"', f'-DMALLARD_DEEP_LIBRARY_NAME="{library.name}"')
    source = Path(__file__).parents[1] / "malloc" / "malloc_stress.cpp"
    build = ("g++", "-std=c++20", "-O1", "-fno-builtin", "-Wl,--build-id", "-pthread", source, "-o", path)
    subprocess.run((*build, *names), check=True)
    journal, plan = path.with_name("stress.mlrd"), path.with_name("plan.toml")
    assert mallard("record", "-o", journal, "--", path, "--turns", "3").returncode == 0
    assert mallard("plan", journal, "-o", plan, "--max-rss", "4").returncode == 0
    return path


@pytest.mark.parametrize("strategy", ["pool", "monotonic", "reap", "instances"])
def test_a_plan_does_no_harm_to_threads_forks_and_libraries(
    mallard: Mallard, stress: Path, tmp_path: Path, strategy: str
) -> None:
    plan = read_plan(stress.with_name("plan.toml"))
    witness = Witness("rbx", 30, 64) if strategy == "instances" else None
    rules = [
        replace(rule, strategy="pool" if witness else strategy, witness=witness)
        for rule in plan.rules
        if rule.strategy != "default"
    ]
    assert len(rules) > 2
    file, counters = tmp_path / "plan.toml", tmp_path / "counters"
    file.write_text(plan_text(replace(plan, rules=tuple(rules))))
    ran = mallard("run", "--plan", file, "--counters", counters, "--", stress, "--turns", "8")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = [json.loads(line) for line in counters.read_text().splitlines()]
    assert {one["rule"] for one in told if one["hits"] > 100} >= set(range(1, len(rules)))


class MadeStacks(Stacks):
    """Stacks by hand: contexts are nodes of a tree, each with a place and the bytes to its caller."""

    def __init__(self, parents: Sequence[int], places: Sequence[int], steps: Sequence[int]) -> None:
        """Take the tree; node 0 is the unknown context."""
        count = len(parents)
        self.modules = [Module("prog", "aa")]
        self.outer = np.array(parents)
        self.first = np.arange(count)
        self.module = np.array([-1, *[0] * (count - 1)])
        self.offset = np.array(places, np.uint64)
        self.step = np.array(steps, np.uint64)
        self.place = np.array(places)
        self.goes_on = (self.step > 0) & (self.outer > 0)

    def path(self, context: int) -> list[tuple[int, int]]:
        """Return the frames of a context as the trie has them."""
        found = []
        while context:
            found.append((0, int(self.place[context])))
            context = int(self.outer[context])
        return found


def told(
    stacks: MadeStacks, rule_of: dict[int, int], weight: Sequence[float]
) -> tuple[dict[int, int], float, int]:
    """Return the rule that each context gets, how much is mistaken, and how many frames are named."""
    found, mistaken = stacks.told_apart(rule_of, np.array(weight))
    claims = [
        Claim(tuple(((0, frame.offset), frame.step) for frame in one.frames), one.rule) for one in found
    ]
    nodes = decision_trie(claims)
    return {context: rule_for(nodes, stacks.path(context)) for context in rule_of}, mistaken, len(found)


def test_contexts_are_named_by_as_few_frames_as_tell_rules_apart() -> None:
    #          main 1, a 2, b 3; malloc's caller 5 in each of them, twice below a
    stacks = MadeStacks([0, 0, 1, 1, 2, 3, 2], [0, 1, 2, 3, 5, 5, 6], [0, 0, 16, 16, 32, 32, 48])
    same, mistaken, named = told(stacks, {4: 1, 5: 1, 6: 2}, [0, 0, 0, 0, 9, 5, 1])
    assert (same, mistaken, named) == ({4: 1, 5: 1, 6: 2}, 0, 2)
    apart, mistaken, named = told(stacks, {4: 1, 5: 2, 6: 2}, [0, 0, 0, 0, 9, 5, 1])
    assert (apart, mistaken, named) == ({4: 1, 5: 2, 6: 2}, 0, 3)
    found, _ = stacks.told_apart({4: 1, 5: 2}, np.array([0, 0, 0, 0, 9.0, 5]))
    assert [one.frames for one in found] == [
        (Frame("prog", 5),),
        (Frame("prog", 5, 32), Frame("prog", 3)),
    ], "the most frequent is for all other callers"


def test_what_few_blocks_would_need_is_not_told_apart() -> None:
    stacks = MadeStacks([0, 0, 1, 1, 2, 3, 3], [0, 1, 2, 3, 5, 5, 6], [0, 0, 16, 16, 32, 32, 32])
    rules = {4: 1, 5: 2, 6: 2}
    few, more, of_few = (
        [0, 0, 0, 0, 100_000 - rare, rare, other] for rare, other in ((40, 9960), (60, 9940), (40, 40))
    )
    assert told(stacks, rules, few) == ({4: 1, 5: 1, 6: 2}, 40, 2)
    assert told(stacks, rules, more) == (rules, 0, 3)
    assert told(stacks, rules, of_few) == (rules, 0, 3), "the rule would lose half of its blocks"
    for exact in (1, 2):
        found, mistaken = stacks.told_apart(rules, np.array(few), exact={exact})
        assert (len(found), mistaken) == (3, 0)


def test_no_plan_looks_where_stacks_become_too_many() -> None:
    for callers in (250, 260):
        ends = [*range(callers + 2, 2 * callers + 2)]  # calls of 5, each from another caller; main is 1
        parents = [0, 0, *[1] * callers, *range(2, callers + 2)]
        places = [0, 1, *range(10, callers + 10), *[5] * callers]
        seen = MadeStacks(parents, places, [0, 0, *[16] * (2 * callers)]).seen([ends[::2], ends[1::2]])
        assert len(set(seen.values())) == (callers if callers == 250 else 1)


def test_a_plan_looks_no_further_than_where_subsystems_part() -> None:
    # main 1 calls many, which call a or b (2, 3), which call 5
    each = 200
    parents = [0, 0, *[1] * (2 * each), *range(2, 2 * each + 2), *range(2 * each + 2, 4 * each + 2)]
    places = [0, 1, *range(10, 2 * each + 10), *[2] * each, *[3] * each, *[5] * (2 * each)]
    ends = [*range(4 * each + 2, 6 * each + 2)]
    stacks = MadeStacks(parents, places, [0, 0, *[16] * (6 * each)])
    assert len(set(stacks.seen([ends[:each], ends[each:]]).values())) == 2
    assert len(set(stacks.seen([ends]).values())) == 1, "one subsystem alone"


def test_stacks_are_seen_alike_that_differ_beyond_the_deepest_frame() -> None:
    deep = 40
    last = 2 * deep
    parents = [0, 0, 0, *range(1, 2 * deep - 1)]  # two that call 5, which calls itself
    places = [0, 1, 2, *[5] * (2 * deep - 2)]
    stacks = MadeStacks(parents, places, [0, 0, 0, *[16] * (2 * deep - 2)])
    first, second = stacks.seen([[last - 1], [last]]).values()
    assert first == second
    first, second = stacks.seen([[21], [22]]).values()
    assert first != second
    stacks.step[last] = 32
    first, second = stacks.seen([[last - 1], [last]]).values()
    assert first != second, "a plan can tell them apart by the distance of their callers"


def test_what_is_put_together_is_of_the_largest_subsystem() -> None:
    depth = 40
    ends = [3 * (depth - 1) + end for end in (1, 2, 3)]
    parents = [0, 0, 0, 0, *range(1, 3 * depth - 2)]  # three that call 5, which calls itself
    places = [0, 1, 2, 3, *[5] * (3 * depth - 3)]
    candidates = Candidates.__new__(Candidates)
    candidates.stacks = MadeStacks(parents, places, [0, 0, 0, 0, *[16] * (3 * depth - 3)])
    candidates.blocks = np.zeros(len(parents))
    candidates.blocks[ends] = 10, 30, 20
    sites = {(part, 5, 5): [end] for part, end in enumerate(ends)}
    assert candidates.told_apart(sites) == {(1, 5, 5): [ends[1], ends[2], ends[0]]}
    near = {(part, 5, 5): [3 + end] for part, end in enumerate((1, 2, 3))}
    candidates.blocks[4:7] = 1
    assert candidates.told_apart(near) == near


def calls() -> MadeStacks:
    """Return what main (1) does: it calls a, b and c (2, 3, 4), which call 5; also a calls 6, a and b call 7.

    The stack of the last context ends with a call of 5.
    """
    parents, places = [0, 0, 1, 1, 1, 2, 3, 4, 2, 2, 3, 0], [0, 1, 2, 3, 4, 5, 5, 5, 6, 7, 7, 5]
    return MadeStacks(parents, places, [0, 0, 16, 16, 16, *[32] * 7])


BLOCKS = {5: 9000, 6: 900, 7: 100, 8: 20_000, 9: 2, 10: 3}  # of their contexts


def plan_of_calls() -> Plan:
    """Return a plan whose rules differ in who calls 5 and 7."""

    def rule(*contexts: tuple[int, ...]) -> Rule:
        return Rule("pool", tuple(Context(tuple(Frame("prog", at, 32) for at in path)) for path in contexts))

    return Plan("t", (Module("prog", "aa"),), (rule((5, 3), (6,), (7, 3)), rule((5, 4), (7, 2))))


def expected(blocks: dict[int, int], stacks: Stacks | None = None) -> list[tuple[int, ...]]:
    """Return the frames of what is expected."""
    found = (stacks or calls()).expected(plan_of_calls(), blocks)
    return [tuple(frame.offset for frame in frames) for frames, _ in found]


def test_the_most_frequent_caller_is_expected_though_no_rule_names_it() -> None:
    found = calls().expected(plan_of_calls(), BLOCKS)
    assert found == [((Frame("prog", 5, 32), Frame("prog", 2)), 5)]


def test_a_caller_is_expected_where_enough_blocks_pass() -> None:
    assert expected({**BLOCKS, 9: 900}) == [(5, 2), (7, 2)]
    assert expected({**BLOCKS, 9: 900, 10: 901}) == [(5, 2), (7, 3)]


def test_a_caller_in_no_file_is_not_expected() -> None:
    stacks = calls()
    stacks.module[2] = -1
    assert expected(BLOCKS, stacks) == [(5, 3)]


def test_nothing_is_expected_where_no_stack_goes_on() -> None:
    assert expected({}) == []
    assert expected({8: 3}) == []
    assert expected({11: 5}) == []


def test_callers_at_another_distance_are_not_expected() -> None:
    stacks = MadeStacks([0, 0, 1, 1, 2, 3], [0, 1, 2, 3, 5, 5], [0, 0, 16, 16, 40, 32])
    assert expected({4: 900, 5: 10}, stacks) == [(5, 3)]


def test_frames_without_a_known_distance_cannot_be_told_apart() -> None:
    stacks = MadeStacks([0, 0, 1, 1, 2, 3], [0, 1, 2, 3, 5, 5], [0, 0, 16, 16, 0, 0])
    rules, mistaken, _ = told(stacks, {4: 1, 5: 2}, [0, 0, 0, 0, 9, 5])
    assert (rules, mistaken) == ({4: 1, 5: 1}, 5)


def test_of_several_distances_to_the_next_frame_the_most_frequent_is_looked_at() -> None:
    stacks = MadeStacks([0, 0, 1, 1, 2, 3], [0, 1, 2, 3, 5, 5], [0, 0, 16, 16, 32, 40])
    found, mistaken = stacks.told_apart({4: 1, 5: 2}, np.array([0, 0, 0, 0, 9.0, 5]))
    assert [(one.frames, one.rule) for one in found] == [
        ((Frame("prog", 5),), 2),
        ((Frame("prog", 5, 32), Frame("prog", 2)), 1),
    ]
    assert mistaken == 0


def test_contexts_of_any_program_get_their_own_rules() -> None:
    chance = random.Random(11)
    for _ in range(100):
        parents, places = [0], [0]
        for node in range(1, chance.randint(5, 60)):
            parents.append(chance.randrange(node))
            places.append(chance.randint(1, 5))
        stacks = MadeStacks(parents, places, [0] + [8 + 8 * place for place in places[1:]])
        paths = {tuple(stacks.path(context)): context for context in range(1, len(parents))}
        rule_of = {context: chance.randrange(4) for context in paths.values()}
        rules, mistaken, _ = told(stacks, rule_of, [1 + chance.random() for _ in parents])
        assert mistaken == 0
        assert rules == rule_of
