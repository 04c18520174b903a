"""The heat maps of docs/p0089.md: each benchmark's figures here beside the paper's.

benchmark I     a panel a structure: strategies by sizes, over AS1
benchmark II    a panel a heap: splits by sizes of lists, after the shuffle over before
III and IV      a panel: strategies by lines of the paper's tables, over AS1
"""

from collections.abc import Callable, Sequence

from beside_paper import ratio
from heat_picture import Panel, picture
from mallard_bench.findings.measured import Measured
from mallard_bench.papers import BESIDE, GLOBAL, LOCAL, WITH, WITHOUT
from mallard_bench.tables.density_tables import title
from mallard_bench.tables.grid import Heat, around_one

OF_AS1 = ("1/4", "as AS1", "4 times")
OF_BEFORE = ("as before the shuffle", "", "100 times that")
MOST_DEGRADED = 100.0
ALL = (*GLOBAL, *LOCAL)
IN_A_LINE = 3  # structures

Lines = list[list[Panel]]


def density(here: Measured, paper: Measured) -> Lines:
    """Return structures, three in a line, each here and in the paper."""
    structures = sorted({key[0] for key in here.cells}, key=lambda name: int(name[2:]))
    pairs = [
        [of_structure(here, one, title(one)), of_structure(paper, one, "in the paper")] for one in structures
    ]
    return [
        [panel for pair in pairs[first : first + IN_A_LINE] for panel in pair]
        for first in range(0, len(pairs), IN_A_LINE)
    ]


def of_structure(table: Measured, structure: str, name: str) -> Panel:
    """Return the panel of a structure."""
    of = {key: cell for key, cell in table.cells.items() if key[0] == structure}
    cells = {
        (f"2^{size}", label): ratio(cell, of.get((structure, size, "AS1")))
        for (_, size, label), cell in of.items()
    }
    sizes = [f"2^{size}" for size in sorted({key[1] for key in of})]
    return Panel(name, sizes, ALL, cells)


def locality(here: Measured, paper: Measured) -> Lines:
    """Return systems, one in a line: each heap here, then the paper's."""
    systems = sorted({key[1] for key in here.cells if key[0] == "splits"})
    names = {WITHOUT: "AS1, one heap", WITH: "AS7, a multipool each", BESIDE: f"{BESIDE} each"}
    return [
        [
            *(of_heap(here, system, label, f"2^{system} links: {names[label]}") for label in names),
            *(of_heap(paper, system, label, f"in the paper: {label}") for label in (WITHOUT, WITH)),
        ]
        for system in systems
    ]


def of_heap(table: Measured, system: int, label: str, name: str) -> Panel:
    """Return the panel of a heap."""
    of = {
        key[2:]: cell
        for key, cell in table.cells.items()
        if key[:2] == ("splits", system) and key[-1] == label
    }
    cells = {
        (f"2^{lists}", f"2^-{split}"): ratio(cell, of.get((lists, split, False, None, label)))
        for (lists, split, shuffled, _, _), cell in of.items()
        if shuffled
    }
    lists = [f"2^{size}" for size in sorted({key[0] for key in of}, reverse=True)]
    splits = [f"2^-{split}" for split in sorted({key[1] for key in of})]
    return Panel(name, lists, splits, cells)


def utilization(here: Measured, paper: Measured) -> Lines:
    """Return both panels in one line."""
    return beside(here, paper, lambda total, active, block: f"{total} {active} {block}", "T A S")


def contention(here: Measured, paper: Measured) -> Lines:
    """Return both panels in one line."""
    return beside(here, paper, lambda iterations, block, threads: f"{iterations} {block} {threads}", "N S W")


def beside(here: Measured, paper: Measured, name: Callable[[int, int, int], str], corner: str) -> Lines:
    """Return all lines of the paper's tables, by their settings."""
    settings = sorted({key[:-1] for key in here.cells})
    panels = [
        of_all(here, settings, name, f"{corner}, here"),
        of_all(paper, [one for one in settings if (*one, "AS1") in paper.cells], name, "in the paper"),
    ]
    return [panels]


def of_all(
    table: Measured,
    settings: Sequence[tuple[int, int, int]],
    name: Callable[[int, int, int], str],
    heading: str,
) -> Panel:
    """Return the panel of some settings."""
    cells = {
        (name(*one), label): ratio(table.cells[*one, label], table.cells.get((*one, "AS1")))
        for one in settings
        for label in ALL
        if (*one, label) in table.cells
    }
    labels = [label for label in ALL if any(column == label for _, column in cells)]
    return Panel(heading, [name(*one) for one in settings], labels, cells)


PICTURES: dict[str, tuple[Callable[[Measured, Measured], Lines], Heat, tuple[str, str, str]]] = {
    "density": (density, around_one(), OF_AS1),
    "locality": (locality, Heat(1.0, MOST_DEGRADED), OF_BEFORE),
    "utilization": (utilization, around_one(), OF_AS1),
    "contention": (contention, around_one(), OF_AS1),
}


def drawn(benchmark: str, here: Measured, paper: Measured) -> str:
    """Return the picture of a benchmark."""
    panels, heat, ends = PICTURES[benchmark]
    return picture(f"Benchmark {benchmark}, here and in the paper", panels(here, paper), heat, ends)
