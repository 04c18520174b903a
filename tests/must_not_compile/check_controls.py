"""Controls: check.py complains of mistakes that compile, are refused for another reason, or are none.

check_controls.py --compiler COMPILER
"""

from __future__ import annotations

import argparse
import tempfile
import unittest
from pathlib import Path

import check

SOUND = """// error: /conversion from .pond. to|no viable conversion/
struct duck {};
#if defined(MISTAKE_OF_DUCKS)
struct pond {};
duck d = pond{};
#else
duck d = duck{};
#endif
"""


class Controls(unittest.TestCase):
    """One planted file a way of proving nothing."""

    compiler = "c++"

    def complaints(self, text: str) -> str:
        """What is said of a planted file."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "planted.cpp")
            source.write_text(text, encoding="utf-8")
            return "\n".join(check.violations(self.compiler, source))

    def test_a_mistake_that_is_found_is_right(self) -> None:
        """The file that the others differ from passes."""
        assert self.complaints(SOUND) == ""

    def test_a_mistake_that_compiles_is_told(self) -> None:
        """With nothing wrong in it, there is nothing to find."""
        assert "compiles in spite of MISTAKE_OF_DUCKS" in self.complaints(SOUND.replace("pond{};", "{};"))

    def test_another_error_is_told(self) -> None:
        """A misspelt name is no proof of anything."""
        assert "is refused for MISTAKE_OF_DUCKS without a word of" in self.complaints(
            SOUND.replace("pond{};", "ponds{};")
        )

    def test_a_file_that_never_compiles_is_told(self) -> None:
        """The rest of the file must be sound."""
        found = self.complaints(SOUND + "int n = ;\n")
        assert "does not compile without its mistakes" in found

    def test_a_mistake_that_expects_nothing_is_told(self) -> None:
        """Every mistake says what the compiler must, and none has what another says."""
        assert "nothing says '// error: ...'" in self.complaints(SOUND.replace("// error:", "//"))
        second = SOUND[SOUND.index("#if") :].replace("DUCKS", "GEESE").replace("duck d", "duck g")
        found = self.complaints(SOUND + second)
        assert "before MISTAKE_OF_GEESE" in found
        assert "before MISTAKE_OF_DUCKS" not in found

    def test_a_file_without_mistakes_is_told(self) -> None:
        """A misspelt condition takes its mistake away."""
        assert "has no mistake" in self.complaints(SOUND.replace("MISTAKE_", "MISTAKEN_"))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    arguments, rest = parser.parse_known_args()
    Controls.compiler = arguments.compiler
    unittest.main(argv=["check_controls.py", *rest])


if __name__ == "__main__":
    main()
