"""The library as one header, alone in a folder: programs compile against it without a warning and link."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.heaps

SOURCE = Path(__file__).parents[2]
EXAMPLES = [
    p.stem for p in sorted((SOURCE / "examples").glob("[0-9]*.cpp")) if "annotate.h" not in p.read_text()
]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]
OWN_INCLUDES = re.compile(r'(#include "mallard/[^"]+"\n)+')


def succeed(*command: str | Path, folder: Path) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds the header and nothing else."""
    place = tmp_path / "alone"
    succeed("python3", SOURCE / "cmake/single_header.py", place / "mallard.hpp", folder=tmp_path)
    assert [p.name for p in place.iterdir()] == ["mallard.hpp"]
    return place


def test_the_header_includes_the_standard_only(folder: Path) -> None:
    text = (folder / "mallard.hpp").read_text()
    assert not re.search(r'^\s*#\s*include\s*"', text, re.MULTILINE)
    assert (SOURCE / "LICENSE").read_text().splitlines()[2] in text
    headers = re.findall(r"^// --- (mallard/\S+) -+$", text, re.MULTILINE)
    shipped = (p.relative_to(SOURCE / "include").as_posix() for p in (SOURCE / "include").rglob("*.hpp"))
    assert sorted(headers) == sorted(set(shipped) - {"mallard/mallard.hpp"})


@pytest.mark.parametrize("compiler", [pytest.param("g++-12", marks=pytest.mark.slow), "clang++-19"])
def test_two_units_of_one_program(folder: Path, compiler: str) -> None:
    source = shutil.copy(SOURCE / "tests/install/numbers.cpp", folder)
    flags = ("-std=c++20", *WARNINGS)
    succeed(compiler, *flags, "-DTHE_OTHER", "-c", source, "-o", "other.o", folder=folder)
    succeed(compiler, *flags, source, "other.o", "-o", "consumer", folder=folder)
    version = ".".join(re.findall(r"_VERSION_\w+ (\d+)", (folder / "mallard.hpp").read_text()))
    assert succeed(folder / "consumer", folder=folder) == f"mallard {version} holds 3 numbers\n"


@pytest.mark.parametrize(
    "example", [EXAMPLES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in EXAMPLES[1:])]
)
def test_examples_need_nothing_else(folder: Path, example: str) -> None:
    source = (SOURCE / f"examples/{example}.cpp").read_text()
    text, replaced = OWN_INCLUDES.subn('#include "mallard.hpp"\n', source)
    assert replaced == 1
    (folder / "example.cpp").write_text(text)
    succeed("g++-12", "-std=c++20", *WARNINGS, "example.cpp", "-o", "example", "-pthread", folder=folder)
    expected = source.split("\n// It prints:\n")[1].replace("//     ", "")
    assert succeed(folder / "example", folder=folder) == expected
