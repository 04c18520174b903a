"""The pictures of docs: as the heaps draw them now, and told when they are not."""

import tempfile
from pathlib import Path

import pytest

import pictures
from pictures import Life, PictureError

pytestmark = pytest.mark.heaps


def test_committed_pictures_are_those_of_the_heaps() -> None:
    made = pictures.pictures()
    assert sorted(made) == sorted(path.name for path in pictures.PICTURES.glob("*.svg"))
    assert pictures.differences(made, pictures.PICTURES) == [], "./dev pictures draws them anew"


def test_each_object_is_a_bar_as_long_as_it_lives() -> None:
    lives = [Life(0, 10, 0, 48, "48 B"), Life(5, 8, 48, 48, "48 B")]
    picture = pictures.drawn("pool", lives, pictures.SIZES, last=10, reach=4096)
    assert picture.count('fill="#f58518"/>') == 3, "two bars and the legend"
    assert "<title>Where pool puts 2 objects</title>" in picture


def test_objects_of_a_region_end_together_with_it() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (lives,) = pictures.places(Path(folder), "regions").values()
    ends = {kind: {life.death for life in lives if life.kind == kind} for kind in pictures.REGIONS}
    assert {kind: len(deaths) for kind, deaths in ends.items()} == {
        "process": 2, "cache": 2, "connection": 3, "request": 9
    }  # fmt: skip
    assert max(ends["process"]) <= max(ends["cache"]), "a child that outlives its parent is empty"


def test_another_picture_and_a_missing_one_are_told(tmp_path: Path) -> None:
    (tmp_path / "same.svg").write_text("same", encoding="utf-8")
    (tmp_path / "other.svg").write_text("old", encoding="utf-8")
    made = {"same.svg": "same", "other.svg": "new", "missing.svg": "new"}
    assert pictures.differences(made, tmp_path) == ["other.svg", "missing.svg"]


def test_a_compiler_that_is_not_there_is_told() -> None:
    with pytest.raises(PictureError, match="absent-compiler is not there"):
        pictures.run("absent-compiler")
