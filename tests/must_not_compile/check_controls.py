"""Controls: check.py complains of files whose mistake compiles, is refused for another reason, or is not one.

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
#if defined(MISTAKE)
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
        assert "compiles in spite of its mistake" in self.complaints(SOUND.replace("pond{};", "{};"))

    def test_another_error_is_told(self) -> None:
        """A misspelt name is no proof of anything."""
        assert "is refused without a word of" in self.complaints(SOUND.replace("pond{};", "ponds{};"))

    def test_a_file_that_never_compiles_is_told(self) -> None:
        """The rest of the file must be sound."""
        found = self.complaints(SOUND + "int n = ;\n")
        assert "does not compile without its mistake" in found

    def test_a_file_that_expects_nothing_is_told(self) -> None:
        """Every file says what the compiler must."""
        assert "does not say '// error: ...'" in self.complaints(SOUND.replace("// error:", "//"))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    arguments, rest = parser.parse_known_args()
    Controls.compiler = arguments.compiler
    unittest.main(argv=["check_controls.py", *rest])


if __name__ == "__main__":
    main()
