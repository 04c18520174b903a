"""A program under the checked malloc: reports by address come in, and go out by name.

    mallard run --checked -- PROGRAM
        |  MALLARD_MALLOC_READER=socket
        '--> PROGRAM and its children --a message a report--> names, files, lines --> stderr
                                                                at the end: one line, an exit code

    report 4711 double free                         a message: its kind, then its text
    mallard: double free: 40 bytes at 0x2590bde60010
        freed again by free:
          #0 /usr/bin/prog+0x1184        -->          #0 drop at drop.c:12
                                                      #1 main at main.c:7       (drop was inlined into it)

src/malloc/checked/reports.cpp writes them, each as one message; those that come while one is named wait in
the socket. Files are looked into once, as they are now.
"""

import os
import re
import shutil
import socket
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import numpy as np

from mallard import MallardError, _native
from mallard.figures import shown
from mallard.native import finish

MOST_BYTES = 1 << 17  # of a message
FRAME = re.compile(r" +#\d+ (?:(/.*)\+)?0x([0-9a-f]+)(?: (\S+))?")
# What calls `main`, or the function of a thread.
STARTING = {
    "_start",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone3",
}
STOP = b"stop"


def run_checked(program: list[str], environment: dict[str, str], exit_code: int) -> int:
    """Run the program to its end, print what is reported meanwhile, and return the exit code of the whole."""
    file = shutil.which(program[0])
    if file is not None and (reason := _native.out_of_reach(file)):
        raise MallardError(f"{program[0]} cannot be checked: {reason}")
    findings = Findings()
    with (
        TemporaryDirectory(prefix="mallard-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reader,
    ):
        path = str(Path(folder) / "reports")
        reader.bind(path)
        listening = Thread(target=listen, args=(reader, findings))
        try:
            code = finish(
                program[0], program, {**environment, "MALLARD_MALLOC_READER": path}, listening.start
            )
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ending, suppress(OSError):
                ending.sendto(STOP, path)
            if listening.is_alive():
                listening.join()
    tell(f"mallard: {findings.summary(program[0])}\n")
    if not findings.checked:
        return 2
    return exit_code if findings.count and exit_code and code < 128 else code


@dataclass(slots=True)
class Findings:
    """What was found in a program and its children."""

    checked: set[int] = field(default_factory=set)  # processes that the library was in force in
    reported: dict[int, Counter[str]] = field(default_factory=dict)  # by process: reports of each kind
    summed: dict[int, Counter[str]] = field(default_factory=dict)  # what a process has counted when it ended

    @property
    def kinds(self) -> Counter[str]:
        """Return how often each kind was found."""
        total: Counter[str] = Counter()
        for one in (self.reported | self.summed).values():
            total.update(one)
        return total

    @property
    def count(self) -> int:
        """Return how much was found."""
        return self.kinds.total()

    def summary(self, program: str) -> str:
        """Return one line for the end."""
        if not self.checked:
            return f"{shown(program)} was not checked: another malloc is in force in it"
        processes = f" in {len(self.checked)} processes" if len(self.checked) != 1 else ""
        if not self.count:
            return f"no errors{processes}"
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        return f"{self.count} error{'s' if self.count != 1 else ''}{processes}: {kinds}"


def listen(reader: socket.socket, findings: Findings) -> None:
    """Take messages until the one that says stop; print the reports among them.

    A sender waits for room, so nobody may go on sending to a socket that is no longer read.
    """
    names = Names()
    with reader:
        while (message := reader.recv(MOST_BYTES)) != STOP:
            head, _, text = os.fsdecode(message).partition("\n")
            word, process, *rest = head.split(" ", 2)
            if word == "checked":
                findings.checked.add(int(process))
            elif word == "summary":
                findings.summed[int(process)] = counted(rest[0])
            else:
                findings.reported.setdefault(int(process), Counter())[rest[0]] += 1
                tell(shown(named(text, names)))


def tell(text: str) -> None:
    """Print to standard error, which may no longer be read: what is found counts all the same."""
    with suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)


def counted(text: str) -> Counter[str]:
    """Return the counts of a summary: "double free 2, leak 1"."""
    pairs = (part.rsplit(" ", 1) for part in text.split(", "))
    return Counter({kind: int(count) for kind, count in pairs})


class Names:
    """Names code addresses of any file."""

    def __init__(self) -> None:
        """Know no file."""
        self._files: dict[str, _native.Symbolizer | None] = {}
        self._known: dict[tuple[str, int], list[tuple[str, str, int]]] = {}

    def learn(self, places: set[tuple[str, int]]) -> None:
        """Name addresses of a report, those of one file together."""
        wanted: dict[str, list[int]] = {}
        for path, address in places - self._known.keys():
            wanted.setdefault(path, []).append(address)
        for path, addresses in wanted.items():
            if path not in self._files:
                try:
                    self._files[path] = _native.Symbolizer(path, None)
                except (ValueError, RuntimeError, OSError):
                    self._files[path] = None
            file = self._files[path]
            found = file.resolve(np.array(addresses, dtype=np.uint64)) if file else [[]] * len(addresses)
            self._known.update({(path, address): of for address, of in zip(addresses, found, strict=True)})

    def of(self, path: str, address: int) -> list[tuple[str, str, int]]:
        """Return function, file and line of an address that was learnt, the innermost inlined first."""
        return self._known.get((path, address), [])


def named(text: str, names: Names) -> str:
    """Return a report with names in place of addresses; what has none stays."""
    lines = text.splitlines()
    frames = [FRAME.fullmatch(line) for line in lines]
    names.learn({(frame[1], int(frame[2], 16)) for frame in frames if frame and frame[1]})
    out: list[str] = []
    stack: list[Place] = []
    for line, frame in zip([*lines, ""], [*frames, None], strict=True):
        if frame is not None:
            stack += places_of(frame, names)
            continue
        out += [f"      #{number} {place.text}" for number, place in enumerate(without_start(stack))]
        out.append(line)
        stack = []
    return "\n".join(out)


@dataclass(frozen=True, slots=True)
class Place:
    """A frame as it is shown."""

    function: str
    text: str


def without_start(stack: list[Place]) -> list[Place]:
    """Return a stack without what has called `main`, or begun the thread."""
    kept = len(stack)
    while kept > 1 and stack[kept - 1].function in STARTING:
        kept -= 1
    return stack[:kept]


def places_of(frame: re.Match[str], names: Names) -> list[Place]:
    """Return what is known of a frame: a place for each function that was inlined into it, too."""
    path, address, exported = frame[1], int(frame[2], 16), frame[3] or ""
    if path is None:
        return [Place("", f"0x{address:x}")]
    found = [
        Place(function, f"{function or '??'} at {file}:{line}" if file else f"{function} in {path}")
        for function, file, line in names.of(path, address)
    ]
    return found or [Place(exported, f"{exported} {path}+0x{address:x}".strip())]
