"""What `./dev cost` prints: figures, gaps, and each limit's verdict in plain words."""

import io
import json

from cost_figures import Measured, Row
from cost_report import method, show, whole
from limits import Limit

FACTS = {"cpu": "a processor", "transparent_huge_pages": "madvise"}
ROWS = [
    Row("jq", "full", "ok", None, 15, 0.75, (0.7, 0.8), 0.125, 61.23, 0.3951, None, 2.5),
    Row("jq", "heaptrack", "failed", "exit code 1: it fell over"),
]
MISSED = Limit("full stacks add", 0.3, 0.3951, "on each, most on jq")


def shown(*measured: Measured) -> str:
    out = io.StringIO()
    show(list(measured), ROWS, [MISSED], FACTS, method(15, 1), out)
    return out.getvalue()


def test_row_shows_every_figure_and_a_failure_its_reason() -> None:
    text = shown(Measured("jq", "sums", stack_depth=17.5))
    full = next(line for line in text.splitlines() if line.split()[:2] == ["jq", "full"]).split()
    assert full == ["jq", "full", "17.5", "0.750", "[0.700,", "0.800]", "0.125", "61.2", "0.395", "-", "2.50"]
    assert "failed: jq, heaptrack: exit code 1: it fell over" in text


def test_depth_stands_beside_every_figure() -> None:
    text = shown(Measured("jq", "sums", stack_depth=17.5))
    figures = [
        line.split() for line in text.splitlines() if line.split()[:1] == ["jq"] and "sums" not in line
    ]
    assert [line[2] for line in figures] == ["17.5", "17.5"]


def test_unknown_depth_is_a_dash_and_a_reason() -> None:
    text = shown(Measured("jq", "sums", no_depth="mallard info: it fell over"))
    assert next(line for line in text.splitlines() if line.split()[:2] == ["jq", "full"]).split()[2] == "-"
    assert "unknown depth: jq: mallard info: it fell over" in text


def test_small_inputs_are_said_to_judge_nothing() -> None:
    assert "too short" in method(3, 0.1)["inputs"]
    assert "too short" not in method(15, 1)["inputs"]


def test_json_has_the_figures_of_the_table() -> None:
    made = json.loads(json.dumps(whole([Measured("jq", "sums")], ROWS, [MISSED], FACTS, method(15, 1))))
    assert made["machine"]["cpu"] == "a processor"
    assert made["programs"] == [{"program": "jq", "does": "sums", "events": None, "stack_depth_median": None}]
    assert made["rows"][0]["of_raw"] == 0.3951
    assert made["rows"][1]["status"] == "failed"
    assert made["limits"][0]["held"] is False
