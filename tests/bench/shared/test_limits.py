"""What a bench promises: when it is held, in which words, and with which exit code."""

import pytest

from limits import Limit, as_command, exit_code, judged, verdict


@pytest.mark.parametrize(("figure", "held"), [(1.0, True), (1.001, False), (None, None)])
def test_held_is_at_most(figure: float | None, held: bool | None) -> None:
    assert Limit("recording", 1.0, figure, "on each").held is held


def test_verdict_names_the_figure_whatever_it_is() -> None:
    missed = Limit("full stacks add", 0.3, 0.3951, "on each, most on jq")
    assert verdict(missed) == "MISSED  full stacks add: 0.395, at most 0.3 (on each, most on jq)"
    assert verdict(Limit("bytes", 3, 2.5, "median of 5")) == "held    bytes: 2.500, at most 3 (median of 5)"
    assert verdict(Limit("programs", 0, 2, "jq, git")) == "MISSED  programs: 2, at most 0 (jq, git)"
    assert verdict(Limit("bytes", 3, None, "median")) == "unknown bytes: -, at most 3 (median)"


@pytest.mark.parametrize(
    ("interrupted", "failed", "check", "held", "code"),
    [
        (False, False, False, [True, True], 0),
        (False, False, False, [True, False], 0),
        (False, False, True, [True, True], 0),
        (False, False, True, [True, False], 1),
        (False, False, True, [True, None], 1),
        (False, True, True, [True, False], 2),
        (True, True, True, [True, False], 130),
    ],
)
def test_exit_code(interrupted: bool, failed: bool, check: bool, held: list[bool | None], code: int) -> None:
    assert exit_code(interrupted, failed, check, held) == code


def test_a_missed_limit_is_the_exit_code_and_its_line_leaves_json_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    missed = Limit("held over live", 1.1, 1.2, "jq")
    assert judged([missed], interrupted=False, check=True, aside=True) == 1
    assert judged([missed], interrupted=False, check=False) == 0
    out, err = capsys.readouterr()
    assert out == err == "MISSED  held over live: 1.200, at most 1.1 (jq)\n"


def test_what_a_command_refuses_is_a_line_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_: object) -> int:
        raise FileNotFoundError("no jq")

    with pytest.raises(SystemExit) as ended:
        as_command("contest", refuse, FileNotFoundError)
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", "contest: no jq\n")
    with pytest.raises(FileNotFoundError):
        as_command("contest", refuse, ValueError)
