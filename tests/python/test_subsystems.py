"""Subsystems that were planted into trees of calls, and trees without any."""

from collections.abc import Sequence

import numpy as np
import pytest
from made_store import FREE, REALLOC, Calls, Made, Names, make_store

from mallard import figures
from mallard.analysis.model import Frame
from mallard.analysis.partition import Limits, Observed, Partition, collapse, partition
from mallard.analysis.refine import Nodes, refine
from mallard.analysis.subsystems import Division, divide, heavy, is_passage, names_of, observe

# A path of functions, and how often each kind of behaviour occurs at its end.
Planted = dict[str, dict[int, int]]


class Tree:
    """A tree of functions that is given by paths."""

    def __init__(self, planted: Planted) -> None:
        """Make the nodes of all paths."""
        self.parent, self.function = [0], [-1]
        self.names: list[str] = []
        places: dict[tuple[int, str], int] = {}
        ends: list[int] = []
        for path in planted:
            node = 0
            for name in path.split():
                if name not in self.names:
                    self.names.append(name)
                key = node, name
                if key not in places:
                    places[key] = len(self.parent)
                    self.parent.append(node)
                    self.function.append(self.names.index(name))
                node = places[key]
            ends.append(node)
        self.collapsed = collapse(self.parent, self.function)
        rows = [
            (self.collapsed.node_of[end], kind, count)
            for end, kinds in zip(ends, planted.values(), strict=True)
            for kind, count in kinds.items()
        ]
        table = np.array(rows)
        self.observed = Observed(table[:, 0], table[:, 1], table[:, 2].astype(float), 32.0 * table[:, 2])

    def path(self, node: int) -> str:
        """Return the functions on the way to a collapsed node."""
        return " ".join(self.names[self.collapsed.function[n]] for n in self.collapsed.path(node))

    def subsystems(self, **limits: float) -> dict[str, int]:
        """Cut the tree; return how many objects each subsystem has, those that have any."""
        names = ["", *(self.names[number] for number in self.collapsed.function[1:])]
        passage, wrapper = [is_passage(name, "") for name in names], [name == "malloc" for name in names]
        passage[0] = True
        parts = partition(self.collapsed, self.observed, Limits(**limits), wrapper)  # type: ignore[arg-type]
        shares = self.observed.shares(len(names))
        refined = refine(Nodes(self.collapsed, shares, passage, wrapper), parts, Limits(**limits))  # type: ignore[arg-type]
        return self.counted(refined)

    def counted(self, parts: Partition) -> dict[str, int]:
        """Return how many objects each subsystem has."""
        of_node = parts.owner[self.observed.node]
        counts = {
            self.path(root): int(self.observed.objects[of_node == number].sum())
            for number, root in enumerate(parts.roots)
        }
        return {path: count for path, count in counts.items() if count}


def test_recursion_is_folded() -> None:
    tree = Tree({"main f g f g h": {0: 1}, "main f h": {0: 1}, "main g": {0: 1}})
    paths = {tree.path(node) for node in range(1, len(tree.collapsed.parent))}
    assert paths == {"main", "main f", "main f g", "main f g h", "main f h", "main g"}


def test_functions_that_behave_alike_are_one_subsystem() -> None:
    alike = dict.fromkeys(range(10), 100)
    assert Tree({f"main f{n}": alike for n in range(8)}).subsystems() == {"": 8000}


def test_chance_is_no_change_of_behaviour() -> None:
    chance = np.random.default_rng(4)
    planted = {f"main f{n}": dict(enumerate(chance.multinomial(30, [0.02] * 50))) for n in range(20)}
    assert len(Tree(planted).subsystems()) == 1


def test_each_function_of_its_own_behaviour_is_a_subsystem() -> None:
    planted = {f"main f{n}": {n: 1000 + n} for n in range(8)}
    assert Tree(planted).subsystems() == {f"main f{n}": 1000 + n for n in range(8)}


def test_eight_behind_dispatchers_helpers_and_threads() -> None:
    found = Tree(
        {
            "_start main": {90: 5},
            "_start main dispatch": {91: 1},
            "_start main dispatch a make_node": {0: 1000},
            "_start main dispatch b make_node": {1: 3000},
            "_start main dispatch c": {2: 500},
            "_start main dispatch d make_node": {3: 2000},
            "_start main e": {4: 500, 5: 500},
            "_start main e work": {4: 700, 5: 700},
            "_start main f f f make_node": {6: 1500},
            "_start main f f make_node": {6: 500},
            "clone3 start_thread g make_node": {7: 400},
            "clone3 start_thread h": {8: 5000},
        }
    ).subsystems()
    assert found == {
        "": 6,
        "_start main dispatch a": 1000,
        "_start main dispatch b": 3000,
        "_start main dispatch c": 500,
        "_start main dispatch d": 2000,
        "_start main e": 2400,
        "_start main f": 2000,
        "clone3 start_thread g": 400,
        "clone3 start_thread h": 5000,
    }


def test_a_subsystem_inside_another_is_cut_out_of_it() -> None:
    found = Tree(
        {
            "main p make_node": {1: 1000},
            "main p q make_node": {2: 1000},
            "main r": {3: 1000},
            "main s make_node": {4: 1000},
        }
    ).subsystems()
    assert found == {"main p": 1000, "main p q": 1000, "main r": 1000, "main s": 1000}


def test_no_more_subsystems_than_wanted() -> None:
    planted = {f"main f{n}": {n: 1000} for n in range(30)}
    assert len(Tree(planted).subsystems(most=5)) == 5


@pytest.mark.parametrize("most", range(1, 8))
def test_what_is_left_of_the_program_needs_room_of_its_own(most: int) -> None:
    planted = {"main start": {0: 60}, "main run rest": {1: 1000, 2: 1000}, "main run cut": {3: 900}}
    planted |= {f"main run f{n}": {4 + n: 800} for n in range(4)}
    assert len(Tree(planted).subsystems(most=most)) <= most


def test_a_trifle_is_no_subsystem() -> None:
    found = Tree({"main f": {0: 200}, "main g": {1: 200}, "main h": {2: 15}, "main i": {3: 15}}).subsystems()
    assert found == {"": 30, "main f": 200, "main g": 200}


def test_the_same_input_gives_the_same_cuts() -> None:
    chance = np.random.default_rng(9)
    planted = {f"main f{n % 7} g{n}": {int(k): 50 for k in chance.integers(0, 9, 3)} for n in range(60)}
    assert Tree(planted).subsystems() == Tree(planted).subsystems()


def test_an_allocators_wrapper_is_no_subsystem() -> None:
    planted = {"main f": {0: 1000}, "main g": {5: 1000}, "main g malloc": {7: 1000}}
    assert Tree(planted).subsystems() == {"main f": 1000, "main g": 2000}
    named = {path.replace("malloc", "make"): kinds for path, kinds in planted.items()}
    assert Tree(named).subsystems() == {"main f": 1000, "main g": 1000, "main g make": 1000}


def test_the_start_of_a_thread_moves_inwards() -> None:
    invoked = "clone3 start_thread std::thread::_M_run() helper::{lambda()#1}::operator()()"
    found = Tree({f"{invoked} f malloc": {0: 1000}, "main g malloc": {1: 1000}}).subsystems()
    assert found == {f"{invoked} f": 1000, "main g": 1000}


def test_a_large_tree_is_reduced_to_what_has_a_share() -> None:
    tree = collapse([0, *((n - 1) // 3 for n in range(1, 100_000))], [-1, *range(1, 100_000)])
    nodes, ones = np.arange(100_000), np.ones(100_000)
    observed = Observed(nodes, nodes % 5, ones, ones)
    small = heavy(tree, observed, 0.01)
    assert len(small.parent) < 200
    assert observed.at(small.node_of).objects.sum() == 100_000
    assert set(small.node_of.tolist()) == set(range(len(small.parent)))


@pytest.mark.parametrize(
    ("function", "module", "passed"),
    [
        ("main", "a.out", True),
        ("__libc_start_call_main", "libc.so.6", True),
        ("libc.so.6+0x271ca", "libc.so.6", True),
        (
            "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)()> > >::_M_run()",
            "a.out",
            True,
        ),
        ("(anonymous namespace)::helper<work>::{lambda}::operator()", "a.out", True),
        ("helper<work>(int)::<lambda()>::operator()(int) const", "a.out", True),
        ("for_each<main::{lambda()#1}>(main::{lambda()#1})", "a.out", False),
        ("std::vector<int>::push_back(int&&)", "a.out", False),
        ("main_loop", "a.out", False),
        ("start_thread_pool", "a.out", False),
    ],
)
def test_passages_say_nothing_of_a_program(function: str, module: str, passed: bool) -> None:
    assert is_passage(function, module) == passed


def divided(by: str, calls: Calls, objects: Sequence[Made], most: int = 12) -> tuple[Division, list[int]]:
    """Divide a program, and return the group of each context or thread as well."""
    store = make_store(objects, calls)
    division = divide(store, Names(store, calls.functions), by, Limits(most=most))
    assert division.grouping.group_of.max() < division.grouping.groups == len(division.names)
    return division, division.grouping.group_of.tolist()


def many(context: int, size: int, lifetime: int, start: int) -> list[Made]:
    """Return a hundred objects."""
    return [Made(start + n, start + n + lifetime, context=context, size=size) for n in range(100)]


CALLS = Calls(
    parents=(0, 0, 1, 1, 2, 3, 3),
    functions=("", "main", "parse", "print", "parse", "helper", "libother.so!copy"),
    scopes={},
)


def test_by_subtree_names_paths_and_contexts() -> None:
    objects = [*many(2, 100, 1000, 0), *many(4, 100, 1000, 200), *many(5, 16, 1, 400), *many(6, 16, 1, 600)]
    division, groups = divided("subtree", CALLS, objects)
    assert sorted(division.names) == ["parse", "print", "rest of made"]
    parse, written = division.names.index("parse"), division.names.index("print")
    assert [groups[context] for context in (2, 4, 5, 6)] == [parse, parse, written, written]
    assert [frame.function for frame in division.paths[written]] == ["main", "print"]


def test_one_subsystem_has_the_name_of_the_program() -> None:
    division, _ = divided("subtree", CALLS, many(2, 100, 10, 0))
    assert division.names == ["made"]


def test_the_program_is_called_as_it_was_started() -> None:
    started = ["/usr/bin/redis-server", "--port", "0"]
    assert figures.program_name(started, "/usr/bin/redis-check-rdb", "run.mlrd") == "redis-server"
    assert figures.program_name([], "/usr/bin/redis-check-rdb", "run.mlrd") == "redis-check-rdb"
    assert figures.program_name([], "", "folder/run.mlrd") == "run.mlrd"


def test_subsystems_of_one_function_are_told_apart() -> None:
    calls = Calls(parents=(0, 0, 1, 1, 2, 3), functions=("", "main", "f", "g", "work", "work"))
    objects = [*many(4, 16, 1, 0), *many(2, 3000, 50, 200), *many(3, 300, 999, 600), *many(5, 90, 9, 900)]
    division, _ = divided("subtree", calls, objects)
    assert {"work (called by f)", "work (called by g)"} <= set(division.names)


def test_subsystems_of_one_function_and_one_caller_are_told_apart_by_further_callers() -> None:
    ways = (["read", "call"], ["write", "call"], ["write", "call"])
    paths = [[Frame(function, "") for function in ("main", *way, "lib.so+0x10")] for way in ways]
    assert names_of(paths) == [
        "lib.so+0x10 (called by call)",
        "lib.so+0x10 (called by call from write)",
        "lib.so+0x10 (called by call from write) (2)",
    ]


def test_by_module_is_that_of_the_innermost_frame() -> None:
    objects = [*many(5, 16, 1, 0), *many(6, 16, 1, 200)]
    division, groups = divided("module", CALLS, objects)
    assert [division.names[groups[context]] for context in (5, 6)] == ["prog", "libother.so"]


def test_the_c_library_allocates_for_its_caller() -> None:
    calls = Calls(parents=(0, 0, 1), functions=("", "main", "libc.so.6!getdelim"))
    division, groups = divided("module", calls, many(2, 16, 1, 0))
    assert division.names[groups[2]] == "prog"


def test_by_thread_is_that_of_the_allocation() -> None:
    objects = [Made(n, None, thread=[0, 2, 2, 3][n % 4]) for n in range(40)]
    division, groups = divided("thread", CALLS, objects)
    assert division.grouping.key == "thread"
    assert [division.names[groups[thread]] for thread in (2, 0, 3)] == ["t2 (102)", "t0 (100)", "t3 (103)"]


def test_small_threads_share_a_subsystem_if_there_are_many() -> None:
    objects = [Made(n, None, thread=[0, 1, 1, 2, 2, 2, 3][n % 7]) for n in range(70)]
    division, groups = divided("thread", CALLS, objects, most=3)
    assert division.names == ["t2 (102)", "t1 (101)", "2 other threads"]
    assert [groups[thread] for thread in (0, 1, 2, 3)] == [2, 1, 0, 2]


def test_threads_of_one_name_and_number_are_told_apart() -> None:
    store = make_store([Made(n, None, thread=[1, 2, 2][n % 3]) for n in range(30)], CALLS)
    store.threads[1] = store.threads[2]
    division = divide(store, Names(store, CALLS.functions), "thread", Limits())
    assert division.names == ["t2 (102)", "t2 (102) (2)"]


@pytest.mark.parametrize(("most", "names"), [(2, ["libb.so", "2 other modules"]), (1, ["3 modules"])])
def test_small_modules_share_a_subsystem_if_there_are_many(most: int, names: list[str]) -> None:
    calls = Calls((0, 0, 1, 1), ("", "main", "liba.so!f", "libb.so!f"))
    objects = [*many(1, 16, 1, 0), *many(2, 16, 1, 200), *many(3, 16, 1, 400), *many(3, 16, 1, 600)]
    division, groups = divided("module", calls, objects, most)
    assert division.names == names
    assert groups[3] == 0
    assert groups[1] == groups[2] == len(names) - 1


def test_by_annotation_is_the_innermost_scope() -> None:
    calls = Calls(
        parents=(0, 0, 1, 2, 3, 4),
        functions=("", "main", "request", "f", "body", "g"),
        scopes={2: "request", 4: "body"},
    )
    objects = [*many(1, 16, 1, 0), *many(3, 16, 1, 200), *many(5, 16, 1, 400)]
    division, groups = divided("annotation", calls, objects)
    assert [division.names[groups[context]] for context in (1, 3, 5)] == ["unannotated", "request", "body"]


KINDS = Calls(parents=(0, 0, 1, 1), functions=("", "main", "a", "b"))
NODES = np.array([0, 1, 2, 3])


def alike(first: Made, second: Made) -> bool:
    """Return whether two objects are of one kind."""
    return bool(observe(make_store([first, second], KINDS), NODES).bin.max() == 0)


def test_sizes_within_a_factor_of_four_are_one_kind() -> None:
    assert alike(Made(0, 5, size=33), Made(1, 6, size=128))
    assert not alike(Made(0, 5, size=32), Made(1, 6, size=33))
    assert not alike(Made(0, 5, size=128), Made(1, 6, size=129))


def test_lifetimes_within_a_factor_of_sixteen_are_one_kind() -> None:
    assert alike(Made(0, 16), Made(1, 256))
    assert not alike(Made(0, 15), Made(1, 17))
    assert not alike(Made(0, 255), Made(1, 257))
    assert not alike(Made(0, 255), Made(1, None))


def test_ends_are_kinds() -> None:
    freed, foreign = Made(0, 5), Made(1, 6, thread=1)
    reallocated = Made(2, 7, free_kind=REALLOC)
    assert alike(freed, Made(1, 6, thread=2, free_thread=2, free_kind=FREE + 3))
    assert not alike(freed, foreign)
    assert not alike(freed, reallocated)
    assert not alike(foreign, reallocated)


def test_rows_are_sums_of_a_node_and_a_kind() -> None:
    objects = [Made(0, 1, context=2, size=40), Made(1, 2, context=2, size=50), Made(2, None, context=3)]
    found = observe(make_store(objects, KINDS), NODES)
    rows = zip(found.node.tolist(), found.objects.tolist(), found.bytes.tolist(), strict=True)
    assert sorted(rows) == [(2, 2, 90), (3, 1, 32)]
    assert found.shares(4).tolist() == [0, 0, (2 / 3 + 90 / 122) / 2, (1 / 3 + 32 / 122) / 2]
