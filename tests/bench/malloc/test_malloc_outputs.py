"""Outputs that are the same, that differ under a malloc, and that differ anyway; what a job leaves behind."""

import time
import zlib
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import malloc_outputs
import malloc_plans
from mallard.analysis.store import Store
from mallard.plan import Context, Frame, Module, Plan, Rule, image_of
from mallard.plan.plan_image import HEADER, RULE
from malloc_outputs import DIFFERENT, HANGS, REPORTS, SAME, VARIES, Job, compare, jobs, names
from malloc_plans import (
    USUAL,
    Cost,
    Outcome,
    cost_limits,
    further_jobs,
    hits_of_recorded,
    kept_in_place,
    plan_limits,
    recognising,
)

# Any library that can be loaded in front of others.
LIBRARY = "libm.so.6"


def job(script: str) -> Job:
    """Return a job of these lines."""
    return Job("job", "/bin/sh", "dash", script)


@pytest.mark.parametrize(
    ("script", "verdict", "codes"),
    [
        ("$RUN seq 3", SAME, (0, 0)),
        ("$RUN seq 3; exit 7", SAME, (7, 7)),
        ("$RUN sh -c 'echo \"all ${LD_PRELOAD:+but one}\"'", DIFFERENT, (0, 0)),
        ("$RUN sh -c 'exit ${LD_PRELOAD:+3}'", DIFFERENT, (0, 3)),
        ("$RUN sh -c 'kill -9 $$'; echo not printed", SAME, (137, 137)),
        ("$RUN cat /proc/sys/kernel/random/uuid", VARIES, (0, 0)),
        (
            "$RUN sh -c 'echo \"mallard: ${LD_PRELOAD:+1 error}\" | grep err >errors.txt || :'",
            REPORTS,
            (0, 0),
        ),
        ("$RUN env | sed -n 's/^LD_/mallard: &/p' >a.txt; cat /proc/sys/kernel/random/uuid", REPORTS, (0, 0)),
    ],
)
def test_a_job_is_the_same_or_not(tmp_path: Path, script: str, verdict: str, codes: tuple[int, int]) -> None:
    found = compare(job(script), LIBRARY, tmp_path)
    assert (found.verdict, found.codes) == (verdict, codes)


def test_the_first_line_that_differs_is_told(tmp_path: Path) -> None:
    found = compare(job("echo one; $RUN sh -c 'echo ${LD_PRELOAD:-none}'; echo three"), LIBRARY, tmp_path)
    assert found.first_difference == f"'none' became '{LIBRARY}'"


def test_a_server_that_its_client_leaves_is_ended(tmp_path: Path) -> None:
    found = compare(job("$RUN sleep 1000 & echo $! >../server; exit 1"), LIBRARY, tmp_path)
    assert found.codes == (1, 1)
    server = Path(f"/proc/{(tmp_path / 'server').read_text().strip()}/stat")
    with suppress(OSError):  # it dies when its turn comes, and is forgotten
        while server.read_text().split()[2] != "Z":
            time.sleep(0.01)


def test_a_job_that_hangs_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(malloc_outputs, "PATIENCE", 0.1)
    found = compare(job("echo begun; $RUN sh -c '[ -z \"$LD_PRELOAD\" ] || sleep 1000'"), LIBRARY, tmp_path)
    assert found.verdict != SAME
    assert compare(job("$RUN sleep 1000"), LIBRARY, tmp_path).verdict == HANGS  # both do


def test_jobs_are_complete_and_called_differently(tmp_path: Path) -> None:
    assert len(set(names())) == len(names())
    servers = {"redis-server", "postgres", "nginx"}
    wanted = "python3 sqlite3 jq xmllint perl g++ z3 lua php git cmake ninja node java chromium"
    assert servers.union(wanted.split()) <= set(names())
    for each in jobs(tmp_path, tmp_path):
        assert "$RUN" in each.script, each.name
        assert Path(each.path).is_absolute(), each.name


def test_a_plan_is_held_to_the_process_that_was_recorded() -> None:
    told = [{"process": 7, "rule": 1, "hits": 90}, {"process": 7, "rule": 0, "hits": 9}]
    told += [{"process": 8, "rule": 1, "hits": 190}, {"process": 8, "rule": 2, "hits": 50}]
    assert hits_of_recorded(told, Counter({1: 92, 2: 0})) == (Counter({1: 90, 0: 9}), 2)
    assert hits_of_recorded([], Counter({1: 92})) == (Counter(), 92)


def test_calls_of_realloc_that_stay_in_their_blocks_are_counted(tmp_path: Path) -> None:
    journal = tmp_path / "trace.rep"
    # Of glibc's blocks: 17 bytes have 24, 30 have 40, of which 8 would leave more than half unused.
    journal.write_text("0\n1\n6\n1\na 0 17\nr 0 20\nr 0 24\nr 0 30\nr 0 8\nf 0\n")
    store = Store.read(str(journal), lambda _done: None)
    assert kept_in_place(store, LIBRARY) == Counter({0: 2})


@pytest.mark.parametrize(
    ("change", "missed"),
    [
        ({}, None),
        ({"processes": 0}, "programs that do not run under a plan"),
        ({"verdict": DIFFERENT}, "programs that print something else"),
        ({"mistaken": 0.003}, "blocks whose context is taken for another"),
        ({"astray": 0.003}, "calls that go astray"),
        ({"predicted": 120}, "predicted peak is off by"),
        ({"max_rss": (105, 140, 105)}, None),
        ({"max_rss": (105, 140, 140)}, "predicted peak is off by"),
        ({"max_rss": (105, 0, 105)}, "predicted peak is off by"),
        ({"max_rss": ()}, "predicted peak is off by"),
    ],
)
def test_plans_are_held_to_outputs_contexts_and_peaks(change: dict[str, Any], missed: str | None) -> None:
    good = Outcome("good", SAME, processes=1, rules=3, predicted=100, max_rss=(105,) * 3)
    found = list(plan_limits([good, replace(good, name="other", **change)]))
    assert [limit.promise for limit in found if not limit.held] == ([missed] if missed else [])
    absent = next(limit for limit in plan_limits([good], [job("")]) if not limit.held)
    assert absent.promise == "programs that are not installed"
    assert not any(limit.held for limit in plan_limits([]))


def test_jobs_of_plans_are_there_and_need_no_others_name(tmp_path: Path) -> None:
    further = [job.name for job in further_jobs(tmp_path)]
    assert not set(further) & set(names())
    assert set(USUAL) <= {*names(), *further}


def test_an_image_that_only_recognises_has_the_same_contexts_and_no_pools() -> None:
    module = Module("prog", "0102")
    rules = [Rule("pool", (Context((Frame("prog", at, 8), Frame("prog", 1))),)) for at in (1, 2)]
    image = image_of(Plan("two", (module,), tuple(rules), huge_pages=True))
    found = recognising(image)
    rules_begin = HEADER.unpack_from(image)[12]
    assert found[HEADER.size : rules_begin] == image[HEADER.size : rules_begin]
    assert [one[0] for one in RULE.iter_unpack(image[rules_begin:])] == [0, 1, 1]
    assert [one[0] for one in RULE.iter_unpack(found[rules_begin:])] == [0, 0, 0]
    assert HEADER.unpack_from(image)[14] == 1  # huge pages
    assert HEADER.unpack_from(found)[14] == 0
    assert zlib.crc32(found[HEADER.size :]) == HEADER.unpack_from(found)[3]


def test_what_recognising_may_cost_is_judged_by_medians() -> None:
    cheap = Cost("cheap", 3, (1.0, 1.1, 1.2), (1.1, 1.1, 1.15), (1.0, 1.1, 1.2))
    dear = Cost("dear", 3, (1.0, 1.1, 1.2), (1.1, 1.2, 1.3), (1.0, 1.1, 1.2))
    assert [limit.held for limit in cost_limits([cheap, dear, Cost("no plan")])] == [True, False]


def test_the_time_of_a_job_is_that_of_all_its_processes(tmp_path: Path) -> None:
    before = malloc_plans.cpu_time()
    malloc_outputs.run(
        job("sh -c 'sh -c \"i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done\"'"), "env", tmp_path
    )
    assert malloc_plans.cpu_time() > before
