"""The pictures of docs/strategies: as the heaps draw them now, and told when they are not."""

from pathlib import Path

import pytest

import pictures
from pictures import Life, PictureError


def test_committed_pictures_are_those_of_the_heaps() -> None:
    made = pictures.pictures()
    assert sorted(made) == sorted(path.name for path in pictures.PICTURES.glob("*.svg"))
    assert pictures.differences(made, pictures.PICTURES) == [], "./dev pictures draws them anew"


def test_each_object_is_a_bar_as_long_as_it_lives() -> None:
    picture = pictures.drawn("pool", [Life(0, 10, 0, 48), Life(5, 8, 48, 48)], last=10, reach=4096)
    assert picture.count('fill="#f58518"/>') == 3, "two bars and the legend"
    assert "<title>Where pool puts 2 objects</title>" in picture


def test_another_picture_and_a_missing_one_are_told(tmp_path: Path) -> None:
    (tmp_path / "same.svg").write_text("same", encoding="utf-8")
    (tmp_path / "other.svg").write_text("old", encoding="utf-8")
    made = {"same.svg": "same", "other.svg": "new", "missing.svg": "new"}
    assert pictures.differences(made, tmp_path) == ["other.svg", "missing.svg"]


def test_a_compiler_that_is_not_there_is_told() -> None:
    with pytest.raises(PictureError, match="absent-compiler is not there"):
        pictures.run("absent-compiler")
