"""Groups of objects, counted natively in one further pass over a journal."""

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mallard import _native

MS = 1_000_000

# Thread 1 keeps its first object and frees ten others from the first to the last; thread 2 frees the one
# that thread 1 allocated for it. Addresses 0x40 apart share a page.
TEXT = "\n".join(
    [
        f"a 100 1000 1 {1 * MS}",
        *(f"a 64 {0x2000 + 0x40 * n:x} 2 {2 * MS + n}" for n in range(10)),
        *(f"f {0x2000 + 0x40 * n:x} 2 {3 * MS + n}" for n in range(10)),
        f"a 28 1080 1 {4 * MS}",
        f"f 1080 2 {4 * MS + 1}",
    ]
)
EVENTS = 23
BY_THREAD: dict[str, Any] = {"of_thread": np.array([0, 1], np.uint32), "groups": 2}
ALL: dict[str, Any] = {"of_context": np.zeros(1, np.uint32), "groups": 1}


@pytest.fixture
def text(tmp_path: Path) -> str:
    """A small journal in text form."""
    path = tmp_path / "small.txt"
    path.write_text(TEXT + "\n")
    return str(path)


def statistics(
    path: str, *groupings: dict[str, Any], events: int = EVENTS, end_time: int = 5 * MS
) -> _native.StatisticsPass:
    """Return a pass that has read the whole journal."""
    counted = _native.StatisticsPass(path, events, end_time, list(groupings))
    while counted.advance():
        pass
    return counted


def test_figures_are_a_row_a_group(text: str) -> None:
    figures = statistics(text, BY_THREAD).figures(0)
    assert figures["allocations"].tolist() == [2, 10]
    assert figures["bytes"].tolist() == [128, 640]
    assert figures["max_live_bytes"].tolist() == [128, 640]
    assert figures["max_live_objects"].tolist() == [2, 10]
    assert figures["max_live_event"].tolist() == [21, 10]
    assert figures["never"].tolist() == [1, 0]
    assert figures["lifo"].tolist() == [1, 0]
    assert figures["together"].tolist() == [0, 10]
    assert figures["one_by_one"].tolist() == [0, 0]
    assert figures["reallocated"].tolist() == [0, 0]
    assert figures["active_threads"].tolist() == [2, 1]
    assert figures["contention"].tolist() == [0, 0]
    assert figures["overlaps"].tolist() == [0, 0]


def test_groupings_are_counted_side_by_side(text: str) -> None:
    counted = statistics(text, ALL, BY_THREAD, {**ALL, "moments": 1, "buckets": 5})
    assert counted.figures(0)["allocations"].tolist() == [12]
    assert counted.figures(1)["allocations"].tolist() == [2, 10]
    assert counted.figures(0)["one_by_one"].tolist() == [9], "something else was alive"
    assert len(counted.compactness(0)["event"]) == 0
    assert counted.live_bytes(0).shape == (1, 0)
    assert counted.live_bytes(2).tolist() == [[0, 100, 740, 740, 128]]
    with pytest.raises(IndexError):
        counted.figures(3)


def test_contention_needs_the_time_that_operations_take(text: str) -> None:
    taking = {**ALL, "ns_per_operation": np.array([MS / 4])}
    figures = statistics(text, taking).figures(0)
    # Four spans hold operations; in the last one, each thread is busy for a quarter of it.
    assert figures["contention"][0] == pytest.approx(0.25 * 0.25 / 4)
    assert figures["overlaps"][0] == pytest.approx(0.25 * 0.25 * 4)


def test_compactness_is_a_row_a_group_and_moment(text: str) -> None:
    rows = statistics(text, {**BY_THREAD, "moments": 2}).compactness(0)
    assert {name: column.tolist() for name, column in rows.items()} == {
        "group": [0, 1, 0, 1],
        "event": [5, 5, 17, 17],
        "live_bytes": [100, 5 * 64, 100, 3 * 64],
        "line_bytes": [128, 5 * 64, 128, 3 * 64],
        "page_bytes": [4096, 4096, 4096, 4096],
    }


def test_levels_outlive_the_pass(text: str) -> None:
    counted = statistics(text, {**BY_THREAD, "buckets": 5})
    levels = counted.live_bytes(0)
    del counted
    gc.collect()
    assert levels.tolist() == [[0, 100, 100, 100, 128], [0, 0, 640, 640, 0]]


def test_a_recorded_program_is_counted_as_its_objects_are(journal: Path) -> None:
    stream = _native.ObjectStream(str(journal))
    parts: list[_native.Columns] = []
    while (batch := stream.next()) is not None:
        parts.append(batch)
    heap = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    contexts = len(stream.contexts()["parent"])
    totals = stream.totals()

    own = {"of_context": np.arange(contexts, dtype=np.uint32), "groups": contexts}
    over_time = totals["over_time"]
    rows = len(over_time["live_bytes"])
    whole = {"of_context": np.zeros(contexts, np.uint32), "groups": 1, "moments": 32, "buckets": rows}
    counted = statistics(
        str(journal), own, whole, events=totals["events"], end_time=over_time["bucket_ns"] * rows
    )
    figures = counted.figures(0)
    assert (figures["allocations"] == np.bincount(heap["context"], minlength=contexts)).all()
    assert (figures["bytes"] == np.bincount(heap["context"], heap["size"], contexts)).all()
    ends = ["never", "reallocated", "together", "lifo", "one_by_one"]
    assert (np.sum([figures[end] for end in ends], axis=0) == figures["allocations"]).all()
    assert figures["reallocated"].sum() == (heap["origin"] != 0).sum()
    assert figures["never"].sum() == totals["end_live_objects"]

    assert counted.figures(1)["max_live_bytes"][0] == totals["peak_live_bytes"]
    assert counted.figures(1)["max_live_event"][0] == totals["peak_event"]
    assert (counted.live_bytes(1)[0] == over_time["live_bytes"]).all()
    rows_of_all = counted.compactness(1)
    assert len(rows_of_all["event"]) == 32
    assert (rows_of_all["live_bytes"] <= rows_of_all["line_bytes"]).all()
    assert (rows_of_all["line_bytes"] <= rows_of_all["page_bytes"]).all()


def test_progress_goes_to_the_end(text: str) -> None:
    counted = _native.StatisticsPass(text, EVENTS, 0, [ALL])
    with pytest.raises(RuntimeError, match="not been read to its end"):
        counted.figures(0)
    while counted.advance():
        assert 0 <= counted.progress <= 1
    assert counted.progress == 1
    assert not counted.advance()


def test_what_is_no_journal_is_said(tmp_path: Path) -> None:
    with pytest.raises(_native.JournalError):
        _native.StatisticsPass(str(tmp_path / "missing"), 0, 0, [])


@pytest.mark.parametrize(
    ("grouping", "reason"),
    [
        ({**ALL, "groups": 0}, "no groups"),
        ({**BY_THREAD, "groups": 1}, "does not have"),
        ({**ALL, "ns_per_operation": np.array([1.0, 2.0])}, "ns_per_operation"),
        (
            {**ALL, "of_thread": np.zeros(1, np.uint32)},
            "a grouping is by context and by thread",
        ),
    ],
)
def test_groupings_that_contradict_themselves_are_refused(
    text: str, grouping: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        _native.StatisticsPass(text, EVENTS, 0, [grouping])


def test_what_is_no_array_is_refused(text: str) -> None:
    with pytest.raises(TypeError, match="of_context"):
        _native.StatisticsPass(text, EVENTS, 0, [{"of_context": "0", "groups": 1}])


def test_places_of_owners_are_found_by_context_or_group(witnesses: Path) -> None:
    snapshots, by_context = _native.owner_places(str(witnesses))
    assert snapshots == len(_native.snapshots(str(witnesses))["event"])
    assert len({len(column) for column in by_context.values()}) == 1, "a row has all columns"
    assert len(by_context["group"]) > 0
    assert (by_context["distinct"] * 8 <= by_context["blocks"]).all()
    assert by_context["place"].max() < len(_native.owner_place_names()) == 26
    np.testing.assert_allclose(
        by_context["gain"],
        by_context["together"] - np.maximum(by_context["in_order"], by_context["chance"]),
    )
    assert (by_context["owners"] >= by_context["distinct"]).all()
    _, one_group = _native.owner_places(str(witnesses), np.full(1 << 16, 7, np.uint32))
    assert set(one_group["group"]) == {7}
    assert one_group["blocks"].max() > by_context["blocks"].max()
    _, no_group = _native.owner_places(str(witnesses), np.zeros(1 << 16, np.uint32))
    assert len(no_group["group"]) == 0
    names = _native.owner_place_names()
    assert (names[0], names[6], names[25]) == ("rbx", "sp+0", "sp+152")


def test_places_of_owners_and_snapshots_say_how_far_they_are_and_can_be_stopped(
    text: str, witnesses: Path
) -> None:
    def stop(share: float) -> None:
        raise InterruptedError

    for read in (_native.owner_places, _native.snapshots):
        shares: list[float] = []
        read(str(witnesses), progress=shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1
        with pytest.raises(InterruptedError):
            read(str(witnesses), progress=stop)
        with pytest.raises(_native.JournalError):
            read(f"{text}.gone")
    snapshots, found = _native.owner_places(text)
    assert (snapshots, len(found["group"])) == (0, 0)
    assert _native.snapshots(text)["words"].shape == (0, 26)


def test_groups_of_owners_that_are_no_numbers_are_refused(witnesses: Path) -> None:
    with pytest.raises(TypeError):
        _native.owner_places(str(witnesses), "contexts")  # type: ignore[arg-type]
