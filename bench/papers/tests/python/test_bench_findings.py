"""The paper's findings: they hold in its own tables, and are refused or left open by tables that differ."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zlib import crc32

import pytest

from mallard_bench.expected_documents import GROUPS, documents
from mallard_bench.findings import FINDINGS, judged, left_out
from mallard_bench.findings.claims import finding_of
from mallard_bench.findings.interval import Interval, smallest
from mallard_bench.findings.judge import ALWAYS, Finding, Verdict, each, ends, made_by, middle, quotient
from mallard_bench.findings.measured import Key, Measured, measured
from mallard_bench.findings.selection import selection

HOLDS, DOES_NOT, OPEN = Verdict.HOLDS, Verdict.DOES_NOT, Verdict.OPEN
BENCHMARKS = list(GROUPS)
NOTHING = Measured()

# What the paper's own tables do not show; beside each of these findings stands why.
NOT_IN_THE_TABLES = {
    "Beyond 2^14 vectors everything takes longer an element.": OPEN,
    "Made by clang, vectors of containers take two to three times as long through a base class.": OPEN,
    "Systems of less than 2^18 links, which caches hold, gain nothing from local heaps.": OPEN,
    "Multipool accessed directly is the most consistent winner.": DOES_NOT,
}

Document = dict[str, Any]


def verdicts(benchmark: str, tables: list[Document]) -> dict[str, Verdict]:
    """Verdicts by sentence and table, since some sentences are true of several."""
    table = measured(benchmark, tables)
    return {
        f"{finding.table} {finding.sentence}": finding.judge(table).verdict for finding in FINDINGS[benchmark]
    }


def changed(tables: list[Document], change: Callable[[Document, Document], None]) -> list[Document]:
    """A copy, each row of which was changed, given its group."""
    result = copy.deepcopy(tables)
    for document in result:
        for row in document["rows"]:
            change(document["group"], row)
    return result


def names(row: Document) -> tuple[str, str]:
    """What the time and the spread of a row are called."""
    return ("wall_ns_per_event", "wall_spread") if "wall_spread" in row else ("ns_per_event", "spread")


def scaled(row: Document, factor: float) -> None:
    time, spread = names(row)
    if row["status"] == "ok":
        row[time] *= factor
        row[spread] = [bound * factor for bound in row[spread]]


def inverted(_: Document, row: Document) -> None:
    """Make what was slow fast."""
    time, spread = names(row)
    if row["status"] == "ok":
        row[time] = 1 / row[time]
        low, high = row[spread]
        row[spread] = [1 / high, 1 / low]


def steepened(_: Document, row: Document) -> None:
    """Make every difference larger, to the second power."""
    time, spread = names(row)
    if row["status"] == "ok":
        row[time] **= 2
        row[spread] = [bound**2 for bound in row[spread]]


def levelled(_: Document, row: Document) -> None:
    """Let everything take the same, and end well."""
    time, spread = names(row)
    row |= {"status": "ok", time: 1.0, spread: [1.0, 1.0]}


def uneven(group: Document, row: Document) -> None:
    """Let strategies, sizes and splits differ by factors that have no order."""
    marks = [*group.values(), row["label"], row.get("split"), row.get("shuffled"), row.get("factor")]
    scaled(row, 1 + crc32(str(marks).encode()) % 7)


def graded(group: Document, row: Document) -> None:
    """Let times grow with the number of the strategy and with every setting."""
    settings = [value for value in group.values() if isinstance(value, int)]
    scaled(row, int(row["label"][2:]) * sum(settings))


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_findings_hold_in_the_tables_of_the_paper(benchmark: str) -> None:
    for finding, said in judged(benchmark, documents(benchmark)):
        expected = NOT_IN_THE_TABLES.get(finding.sentence, HOLDS)
        assert said.verdict == expected, (finding.table, finding.sentence, said.figures)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_each_finding_is_refused_by_some_table(benchmark: str) -> None:
    """A check that cannot fail says nothing: each finding fails in one of five wrong tables."""
    right = documents(benchmark)
    for document in right:
        document["machine"] = {"cores": 8, "compiler": "clang 19"}
    changes = (inverted, steepened, levelled, uneven, graded)
    wrong = [verdicts(benchmark, changed(right, change)) for change in changes]
    untold = {key for key in wrong[0] if "Systems of less than 2^18" in key}
    for key in set(wrong[0]) - untold:
        assert DOES_NOT in [table[key] for table in wrong], key


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_nothing_can_be_told_of_what_was_not_measured(benchmark: str) -> None:
    assert judged(benchmark, []) == []
    assert (
        left_out(benchmark, [])
        == f"Left out: {len(FINDINGS[benchmark])} findings about what was not measured."
    )
    skipped = changed(documents(benchmark), lambda _, row: row.update(status="skipped"))
    assert set(verdicts(benchmark, skipped).values()) == {OPEN}
    assert all(not finding.judge(NOTHING).figures for finding in FINDINGS[benchmark])


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_no_finding_is_refused_for_noise(benchmark: str) -> None:
    """Spreads so wide that they all overlap leave everything open but how strategies end."""

    def widen(_: Document, row: Document) -> None:
        if row["status"] == "ok":
            row[names(row)[1]] = [1e-9, 1e9]

    said = verdicts(benchmark, changed(documents(benchmark), widen))
    assert {key for key, verdict in said.items() if verdict != OPEN} == {
        key for key in said if "runs out of" in key
    }


def test_strategies_of_others_do_not_count_nor_repeated_rows_but_as_noise() -> None:
    tables = documents("density")
    for document in tables:
        wrong = copy.deepcopy(document["rows"])
        document["rows"] += [{**row, "repeated": True} for row in wrong]
        for row in wrong:
            inverted({}, row)
        document["rows"] += [{**row, "label": None} for row in wrong]
        document["rows"] += [{**row, "label": None, "repeated": True} for row in wrong]
    assert measured("density", tables) == measured("density", documents("density"))


def test_fifo_multipool_is_told_beside_multipool_and_decides_nothing() -> None:
    right = {finding.sentence: said for finding, said in judged("locality", documents("locality"))}
    assert not [said for said in right.values() if "fifo_multipool" in said.figures]
    tables = documents("locality")
    for table in tables:
        for row in [row for row in table["rows"] if row["label"] == "AS7"]:
            other = {**row, "label": None, "strategy": "fifo_multipool"}
            scaled(other, 9.0 if row["shuffled"] else 2.0)
            table["rows"].append(other)
    said = {finding.sentence: said for finding, said in judged("locality", tables)}
    assert {sentence: one.verdict for sentence, one in said.items()} == {
        sentence: one.verdict for sentence, one in right.items()
    }
    large = said[
        "With a multipool each, walks over lists of 2^12 links and more stay below twice, too."
    ].figures
    assert "; ratios from 1 to 2.2, median 1.59; against: " in large
    assert "; fifo_multipool beside: ratios from 4.5 to 9.9, median 7.16" in large
    gain = said["For lists of 2^12 links and more a multipool each gains a factor of four and more."].figures
    assert "; fifo_multipool beside: ratios from " in gain


def test_ratios_of_a_group_are_made_round_by_round() -> None:
    slow = (1.0, 1.4, 0.9, 1.2, 2.0)
    one, other = (
        Interval(5.0 * times, 4.0, 12.0, rounds=tuple(5.0 * times * each for each in slow), group=1)
        for times in (1, 2)
    )
    ratio = one / other
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((0.5, 0.5, 0.5))
    assert (ratio * 4 / (other / other)).high == pytest.approx(2.0)
    elsewhere = one / replace(other, group=2)
    assert (elsewhere.low, elsewhere.high) == (4 / 12, 12 / 4)
    least = smallest([one, other]) / other
    assert (least.low, least.high) == pytest.approx((0.5, 0.5))


def test_rounds_of_a_group_are_those_of_its_rows() -> None:
    document = {
        "group": {"structure": "DS1", "size": 6},
        "machine": {"cores": 1, "compiler": "gcc"},
        "rows": [
            timed("AS1", [10.0, 20.0, 10.0], repeated=False),
            timed("AS7", [5.0, 10.0, 5.0], repeated=False),
            timed("AS1", [10.0, 20.0, 11.0], repeated=True),
        ],
    }
    table = measured("density", [document])
    one, base = table.time("DS1", 6, "AS7"), table.time("DS1", 6, "AS1")
    assert one
    assert base
    ratio = one / base
    assert (ratio.low, ratio.high, ratio.noise) == pytest.approx((0.5, 0.5, 1.0))


def timed(label: str, rounds: list[float], repeated: bool) -> Document:
    """A row of some rounds, whose own spread is wide."""
    return {
        "label": label,
        "repeated": repeated,
        "status": "ok",
        "rounds_ns": rounds,
        "ns_per_event": sorted(rounds)[1],
        "spread": [1.0, 100.0],
    }


def test_a_part_of_the_sizes_is_enough_for_what_is_about_each_size() -> None:
    quick = [table for table in documents("density") if table["group"]["size"] in (6, 10)]
    said = verdicts("density", quick)
    assert said["DS3 Wink-out wins everywhere."] == HOLDS
    assert said["DS3 The global allocator takes much longer an element in larger sets."] == HOLDS
    assert said["DS2 Beyond 2^14 elements everything takes abruptly longer."] == OPEN
    assert DOES_NOT not in said.values()


def test_the_fastest_of_several_needs_all_of_them() -> None:
    tables = documents("density")
    for table in tables:
        table["rows"] = [row for row in table["rows"] if row["label"] != "AS12"]
    said = verdicts("density", tables)
    assert said["DS11 The best heaps are ten to twenty times as fast as the global allocator."] == OPEN
    assert said["DS11 Local heaps are slower through a base class."] == HOLDS


def test_heaps_exchanged_refuse_that_multipool_is_best() -> None:
    exchange = dict(zip(("AS3", "AS4", "AS5", "AS6"), ("AS7", "AS8", "AS9", "AS10"), strict=True))
    exchange |= {other: one for one, other in exchange.items()}

    def swap(_: Document, row: Document) -> None:
        row["label"] = exchange.get(row["label"], row["label"])

    said = verdicts("density", changed(documents("density"), swap))
    best = {key: verdict for key, verdict in said.items() if "Multipool is the best heap" in key}
    assert len(best) == 9
    assert set(best.values()) == {DOES_NOT}


def test_small_systems_are_judged_by_themselves() -> None:
    """Tables 16 and 18 as if they were of 2^17 links: there a multipool gains much."""
    tables = [
        table
        for table in documents("locality")
        if (table["group"]["table"], table["group"]["global"]) == ("splits", 21)
    ]
    for table in tables:
        table["group"]["global"] = 17
    said = {finding.sentence: result.verdict for finding, result in judged("locality", tables)}
    assert said == {
        "Systems of less than 2^18 links, which caches hold, gain nothing from local heaps.": DOES_NOT
    }


def test_monotonic_that_ends_well_is_told() -> None:
    tables = changed(documents("utilization"), levelled)
    for table in tables:
        table["method"] = {"memory_limit": 3 << 30}
    said = {finding.sentence: result for finding, result in judged("utilization", tables)}
    result = said["From a total of 2^32 bytes monotonic runs out of memory."]
    assert (result.verdict, result.figures) == (
        DOES_NOT,
        "0 of 88; counted as holding: everywhere; at most 3 GiB a strategy",
    )


def test_threads_without_a_processor_do_not_count() -> None:
    tables = changed(documents("contention"), lambda group, row: scaled(row, max(1, group["threads"] / 2)))
    sentence = "IV More threads, each with a processor, make nothing slower."
    assert verdicts("contention", tables)[sentence] == DOES_NOT
    for table in tables:
        table["machine"] = {"cores": 2, "compiler": "gcc"}
    assert verdicts("contention", tables)[sentence] == HOLDS
    for table in tables:
        table["machine"] = {"cores": 1, "compiler": "gcc"}
    assert verdicts("contention", tables)[sentence] == OPEN


def test_what_clang_does_is_not_judged_of_others() -> None:
    sentence = (
        "all Made by clang, vectors of containers take two to three times as long through a base class."
    )
    tables = documents("density")
    assert verdicts("density", tables)[sentence] == OPEN
    for table in tables:
        table["machine"] = {"cores": 2, "compiler": "clang 19"}
    assert verdicts("density", tables)[sentence] == DOES_NOT
    tables[0]["machine"] = {"cores": 2, "compiler": "gcc 12"}
    assert verdicts("density", tables)[sentence] == OPEN
    said = made_by("clang", each(ratios_of(2.0)))(Measured(compilers=frozenset(["gcc 12"])))
    assert (said.verdict, said.figures) == (OPEN, "this is gcc 12")


def test_what_is_found_over_all_is_not_judged_of_one() -> None:
    tables = [table for table in documents("density") if table["group"]["structure"] in ("DS6", "DS10")]
    said = {key: verdict for key, verdict in verdicts("density", tables).items() if key.startswith("all")}
    assert said.pop("all With vector<string> inside, wink-out makes no difference with multipool.") == HOLDS
    assert set(said.values()) == {OPEN}


def ratios_of(*figures: float | tuple[float, float]) -> Callable[[Measured], dict[int, Interval]]:
    """Ratios without noise, or between two bounds."""
    bounds = [figure if isinstance(figure, tuple) else (figure, figure) for figure in figures]
    return lambda _: {
        place: Interval((a + b) / 2, a, b, of=("DS3", f"2^{place}")) for place, (a, b) in enumerate(bounds)
    }


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ([2.0, 2.0, 2.0, 2.0], HOLDS),
        ([2.0, 2.0, 2.0, 0.5], HOLDS),
        ([2.0, 2.0, 0.5, 0.5], DOES_NOT),
        ([2.0, 2.0, (0.9, 1.1), 0.5], OPEN),
        ([2.0, 2.0, 1.0, 0.5], OPEN),
        ([2.0, (0.9, 1.1), 0.5, 0.5], DOES_NOT),
    ],
)
def test_each_needs_its_share_beyond_noise(figures: list[Any], verdict: Verdict) -> None:
    assert each(ratios_of(*figures), share=0.75)(NOTHING).verdict == verdict


def test_each_has_two_bounds() -> None:
    said = each(ratios_of(0.8, 1.0, 1.3, (1.05, 1.15)), 0.9, 1.1)(NOTHING)
    assert said.figures == (
        "1 of 4, 1 within noise; counted as holding: 0.9 to 1.1 in 90 %; ratios from 0.8 to 1.3, "
        "median 1.05; against: DS3 2^2 1.3, DS3 2^0 0.8"
    )


def test_what_noise_hides_is_told_of_findings_of_no_difference() -> None:
    figures = each(ratios_of((0.9, 1.1), (1.02, 1.1), 1.0), 0.95, 1.05)(NOTHING).figures
    assert figures.startswith("1 of 3, 2 within noise, 1 of these no different from 1; ")


def test_the_worst_exceptions_are_named() -> None:
    figures = each(ratios_of(1.2, 0.9, 0.7, 0.95, 0.8, 0.98), share=ALWAYS)(NOTHING).figures
    assert "counted as holding: above 1 everywhere" in figures
    assert figures.endswith("against: DS3 2^2 0.7, DS3 2^4 0.8, DS3 2^1 0.9 and 2 more")
    assert "against" not in each(ratios_of(1.2, 1.3))(NOTHING).figures


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ([1.0, 5.0, 40.0], HOLDS),
        ([1.0, 2.0, 40.0], DOES_NOT),
        ([(3.0, 6.0), (3.0, 6.0)], OPEN),
    ],
)
def test_middle_is_about_the_median(figures: list[Any], verdict: Verdict) -> None:
    assert middle(ratios_of(*figures), 4.0, 20.0)(NOTHING).verdict == verdict


def test_the_median_stands_between_its_noise_and_beside_what_is_accepted() -> None:
    """The smallest and the largest ratio are no bounds of the median, and are not written as if they were."""
    said = middle(ratios_of((0.4, 0.5), (1.0, 1.1), (2.0, 2.6)), 0.95, 1.2)(NOTHING)
    assert (said.verdict, said.figures) == (
        HOLDS,
        "median of 3: 1.05, by noise 1 to 1.1; counted as holding: 0.95 to 1.2; ratios from 0.45 to 2.3",
    )


def with_rounds(tables: list[Document], rounds: int) -> list[Document]:
    """A copy, measured in this many rounds."""
    return changed(tables, lambda _, row: row.update(rounds_ns=[row[names(row)[0]]] * rounds))


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_one_or_two_rounds_tell_nothing(benchmark: str) -> None:
    """A spread of two rounds has no width that means anything."""
    for rounds, said in ((1, "1 round, too few"), (2, "2 rounds, too few")):
        for finding, judgement in judged(benchmark, with_rounds(documents(benchmark), rounds)):
            if "runs out of" not in finding.sentence and "clang" not in finding.sentence:
                assert judgement.verdict == OPEN, finding.sentence
                assert said in judgement.figures
                assert "against" not in judgement.figures
    assert verdicts(benchmark, with_rounds(documents(benchmark), 3)) == verdicts(
        benchmark, documents(benchmark)
    )


def twice_measured(tables: list[Document], factors: list[float]) -> list[Document]:
    """A copy, each group of which has AS1 twice, differing by its factor."""
    result = copy.deepcopy(tables)
    for document, factor in zip(result, factors, strict=True):
        second = {**document["rows"][0], "repeated": True}
        scaled(second, factor)
        document["rows"].append(second)
    return result


def test_no_difference_counts_that_two_measurements_of_the_same_have() -> None:
    small = [table for table in documents("density") if table["group"]["structure"] == "DS3"]
    sentence = "DS3 Wink-out wins everywhere."
    alike = [1.0] * len(small)
    assert verdicts("density", twice_measured(small, alike))[sentence] == HOLDS
    for noise in (1.2, 1 / 1.2):
        assert verdicts("density", twice_measured(small, [noise] * len(small)))[sentence] == OPEN
    # Groups whose two happen to be alike have the noise of most others; a single noisy group is only itself.
    assert verdicts("density", twice_measured(small, [1.0, 1.0, *[1.2] * (len(small) - 2)]))[sentence] == OPEN
    table = measured("density", twice_measured(small, [1.2, *alike[1:]]))
    noises = [time.noise for size in (7, 6) if (time := table.time("DS3", size, "AS3"))]
    assert noises == pytest.approx([1.0, 1.2])


def test_noise_is_of_a_ratio_not_of_each_time() -> None:
    one, other = Interval(2.0, 1.99, 2.01, noise=1.1), Interval(1.0, 1.0, 1.0, noise=1.05)
    assert one / other == Interval(2.0, 2.0 / 1.1, 2.0 * 1.1, noise=1.1)


def test_ratios_are_named_by_what_differs() -> None:
    table = measured("density", documents("density"))
    times = [
        table.time("DS3", size, label) for size, label in ((6, "AS1"), (6, "AS3"), (7, "AS1"), (7, "AS3"))
    ]
    a, b, c, d = (time for time in times if time)
    assert (a / b).of == ("DS3", "2^6", "AS1/AS3")
    assert (c / a).of == ("DS3", "2^7/2^6", "AS1")
    assert ((c / d) / (a / b)).of == ("DS3", "2^7/2^6", "AS1/AS3")
    assert ((a / b) / (c / a)).of == ("DS3", "2^6/(2^7/2^6)", "(AS1/AS3)/AS1")


def test_multipool_must_gain_more_than_monotonic() -> None:
    """Heaps that are alike, each twice as fast as the global allocator."""
    tables = changed(documents("density"), levelled)
    for table in tables:
        for row in table["rows"]:
            scaled(row, 2.0 if row["label"] in ("AS1", "AS2") else 1.0)
    said = verdicts("density", tables)
    inside = "all Without an unordered_set<int> inside"
    assert said[f"{inside} multipool gains much more than monotonic."] == DOES_NOT
    assert said[f"{inside} monotonic is 1.2 to 2.5 times as fast as the global allocator."] == HOLDS


def test_monotonic_may_not_take_too_much_longer_either() -> None:
    longer = changed(
        documents("utilization"), lambda _, row: scaled(row, 10.0 if row["label"] in ("AS3", "AS5") else 1.0)
    )
    sentence = (
        "III With blocks of more than 2^12 bytes monotonic takes roughly twenty to sixty times as long."
    )
    assert verdicts("utilization", longer)[sentence] == DOES_NOT


def test_quotients_are_of_equal_places() -> None:
    both = quotient(ratios_of(6.0, 8.0, 1.0), ratios_of((2.0, 3.0), 2.0))(NOTHING)
    assert both[0] == Interval(6.0 / 2.5, 2.0, 3.0)
    assert both[1] == Interval(4.0, 4.0, 4.0)
    assert set(both) == {0, 1}


def test_times_too_short_to_be_told_from_nothing() -> None:
    """Net of the floor a time may be zero or less: at most the other is any multiple of it."""
    assert Interval(2, 1, 3) / Interval(0.5, -0.5, 1) == Interval(4, 1, float("inf"))
    tables = changed(documents("density"), lambda _, row: row.update(ns_per_event=0.0, spread=[-1.0, 1.0]))
    assert set(verdicts("density", tables).values()) == {OPEN}


def test_how_cells_end() -> None:
    rows = [
        {"label": "AS3", "status": "out_of_memory", "ns_per_event": None, "spread": None},
        {"label": "AS5", "status": "skipped", "ns_per_event": None, "spread": None},
        {"label": "AS7", "status": "ok", "ns_per_event": 2.0, "spread": [1.0, 3.0]},
    ]
    table = measured(
        "utilization",
        [
            {
                "group": {"total": 8, "active": 4, "block": 2},
                "machine": {"cores": 1, "compiler": "gcc"},
                "rows": rows,
            }
        ],
    )
    assert table.time(8, 4, 2, "AS7") == Interval(2.0, 1.0, 3.0)
    assert table.time(8, 4, 2, "AS3") is None
    for label, verdict in {"AS3": HOLDS, "AS5": OPEN, "AS7": DOES_NOT, "AS9": OPEN}.items():
        assert ends(cell_of(label), "out_of_memory")(table).verdict == verdict


def cell_of(label: str) -> Callable[[Measured], list[Key]]:
    return lambda _: [(8, 4, 2, label)]


@pytest.mark.parametrize("line", ["AS1 / AS2 )", "(AS1 : AS2", "AS1 // AS2 AS3", "AS1 @ size 7->"])
def test_a_line_that_says_no_ratios_is_refused(line: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  as many reasons as lines
        selection(line)


@pytest.mark.parametrize("judge", ["", "2", "near 2", "above two"])
def test_words_that_name_no_bounds_are_refused(judge: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        finding_of(["density", "DS1", "7.1", ""], "None.", "AS1 / AS2", judge, "")


def test_findings_are_told_apart() -> None:
    every = [finding for findings in FINDINGS.values() for finding in findings]
    assert len({(finding.table, finding.sentence) for finding in every}) == len(every)
    assert all(isinstance(finding, Finding) and finding.sentence.endswith(".") for finding in every)
    ranges = [finding.claimed for finding in every if finding.claimed]
    assert all(low <= high for low, high in ranges)
