"""The manual page mallard(1), made of the help texts of the command and its tools.

    man_page.py OUTPUT VERSION TOOL...     the tools are mallard-record and mallard-replay

Of a help text it understands:

    Usage: ...              the synopsis of a command
    Options:                a heading; below it
      --name VALUE  text    an entry, and its text, which may go on in lines that are indented further
    text                    a paragraph anywhere else
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from mallard.cli import COMMANDS, NATIVE, application, mallard  # noqa: E402

ELSEWHERE = {"bench"}  # a package of its own, which need not be there
USAGE = re.compile(r"Usage: (.*)")
HEADING = re.compile(r"(\w[\w ]*):")
ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?")


def help_of(command: str, tools: dict[str, Path]) -> str:
    """What a command says of itself."""
    if command in NATIVE:
        asked = [f"mallard {command}", "--help"]
        tool = tools[f"mallard-{command}"]
        return subprocess.run(asked, executable=tool, capture_output=True, text=True, check=True).stdout
    with redirect_stdout(io.StringIO()) as said:
        application(command)([command, "--help"], prog_name="mallard", standalone_mode=False)
    return said.getvalue()


def escaped(text: str) -> str:
    """Text that roff shows as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def page_of(text: str) -> Iterator[str]:
    """The lines of roff for one help text."""
    in_entries = False
    for line in text.splitlines():
        if found := USAGE.fullmatch(line):
            yield from (".P", f".B {escaped(found[1])}", ".P")
        elif found := HEADING.fullmatch(line):
            in_entries = True
            yield from (".P", f"{escaped(found[1])}:")
        elif in_entries and (found := ENTRY.fullmatch(line)):
            yield from (".TP", f".B {escaped(found[1])}")
            if found[2]:
                yield escaped(found[2])
        elif line.startswith(" "):
            yield escaped(line.strip())
        else:
            in_entries = in_entries and not line
            yield escaped(line) if line else ".P"


def manual(tools: dict[str, Path], version: str) -> Iterator[str]:
    """The lines of the page."""
    yield f'.TH MALLARD 1 "" "mallard {version}" "User Commands"'
    yield from (".SH NAME", f"mallard \\- {escaped((mallard.__doc__ or '').rstrip('.'))}")
    yield from (".SH SYNOPSIS", ".B mallard", ".I COMMAND", "[\\fIOPTIONS\\fR] ...")
    yield ".SH COMMANDS"
    for command, summary in COMMANDS.items():
        yield f'.SS "mallard {command}"'
        yield from [escaped(summary)] if command in ELSEWHERE else page_of(help_of(command, tools))
    yield from (".SH EXIT STATUS", "0, 2 after one line that says what is wrong, 130 after Ctrl\\-C.")
    yield "A recording exits as the recorded program does."


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("version", metavar="VERSION")
    parser.add_argument("tools", type=Path, nargs="+", metavar="TOOL")
    arguments = parser.parse_args()
    text = "\n".join(manual({tool.name: tool for tool in arguments.tools}, arguments.version)) + "\n"
    arguments.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
