"""The `mallard` command: one file of commands/ a subcommand; native.py has those that are native tools.

`mallard --help` must stay cheap: only the subcommand that is called is loaded, with its options, and only
when it runs are rich and the native module. The others are no more than a line each.
"""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any, NoReturn

import typer

from mallard import is_interrupt, why
from mallard.output import unread

# In the order of --help; each is the first line of what the subcommand says of itself.
COMMANDS = {
    "record": "Run a program and write a journal of its allocations.",
    "run": "Run a program under mallard's malloc, or under its checked build.",
    "replay": "Replay a journal against every strategy and print the table.",
    "import": "Convert a text journal or a CS:APP trace into a journal.",
    "info": "Show what a journal holds and what recording cost.",
    "profile": "Show what each part of a program allocates and what it could gain.",
    "leaks": "Show what a program never frees, by calling context.",
    "peak": "Show what is alive when a program has most bytes alive.",
    "export": "Write a journal in a form that other tools read.",
    "report": "Write a report of one or more journals as one HTML page.",
    "plan": "Make a plan: which calling contexts of a program get heaps of their own.",
    "advise": "Find out which strategy would pay, where and how much.",
    "compare": "Run a whole program under several mallocs in turn and compare what it takes.",
    "doctor": "Find out what a program could gain: record it, advise, and try that on the program itself.",
    "try": "Find out which plan or malloc pays under a whole program, if any does.",
    "strategies": "List the strategies that a replay compares.",
    "bench": "Measure strategies by the benchmarks of papers.",
}
NATIVE = ("record", "replay")
BECOMING_OTHERS = (*NATIVE, "run")  # which end as another program in the same process
INTERRUPTED = 130  # 128 + SIGINT


def loaded(name: str) -> tuple[Callable[..., None], dict[str, Any]]:
    """Return the function of a subcommand, and how it takes its arguments."""
    if name in NATIVE:
        from mallard import native

        return getattr(native, name), {"cls": native.NativeCommand, "add_help_option": False}
    if name == "run":
        from mallard import native

        return native.run, {
            "context_settings": {"allow_interspersed_args": False}
        }  # those behind are the program's
    spelled = f"{name}_" if iskeyword(name) else name
    module = import_module(f"mallard.commands.{spelled}")
    return getattr(module, spelled), getattr(module, "TAKEN", {})


def subcommands(function: Callable[..., None]) -> dict[str, Callable[..., None]]:
    """Return the subcommands that a subcommand has itself; most have none."""
    found: dict[str, Callable[..., None]] = getattr(sys.modules[function.__module__], "SUBCOMMANDS", {})
    return found


def listed() -> None:
    """Stand for a subcommand that is not called."""


def application(called: str | None) -> typer.Typer:
    """Return the command line with all of the one subcommand and the names of the others."""
    app = made(mallard, completion=True)
    for name, summary in COMMANDS.items():
        if name != called:
            app.command(name, help=summary)(listed)
            continue
        function, options = loaded(name)
        if parts := subcommands(function):
            group = made(function)
            for part, of in parts.items():
                group.command(part)(of)
            app.add_typer(group, name=name)
        else:
            app.command(name, **options)(function)
    return app


def made(callback: Callable[..., None], completion: bool = False) -> typer.Typer:
    """Return a command line of subcommands, with options for the completion of a shell if wanted."""
    app = typer.Typer(
        rich_markup_mode=None,
        add_completion=completion,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(callback)
    return app


def show_version(wanted: bool) -> None:
    """Print the version and what it was built with, and stop, if that is wanted."""
    if wanted:
        import platform
        from importlib.metadata import version

        from mallard import _native

        runtime = [f"{name} {version(name)}" for name in ("duckdb", "numpy", "typer")]
        print(f"mallard {version('mallard')}")
        print(f"built with {_native.built_with()}")
        print(f"running with {', '.join([f'Python {platform.python_version()}', *runtime])}")
        raise typer.Exit


def mallard(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=show_version,
            is_eager=True,
            help="Print the version and what it was built with.",
        ),
    ] = False,
) -> None:
    """Find out which memory-allocation strategy would pay in a C or C++ program."""


def main() -> NoReturn:
    """Run the command line; what goes wrong is one line on stderr and exit code 2."""
    given = sys.argv[1:] or ["--help"]
    called = next((argument for argument in being_completed() or given if not argument.startswith("-")), None)
    try:
        app = application(called)
        if (
            given == [called]
            and called in COMMANDS
            and called not in NATIVE
            and subcommands(loaded(called)[0])
        ):
            given.append("--help")
        code = app(given, prog_name="mallard", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        unread()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer has met it first
            unread()
        raise
    except typer.Abort:
        interrupted()
    except typer.TyperException as error:
        refuse(one_line(error.format_message(), given))
    except Exception as error:
        if is_interrupt(error):
            interrupted()
        if not (reason := why(error)):
            raise
        refuse(reason)
    if code == INTERRUPTED:
        interrupted()
    sys.exit(code)


def being_completed() -> list[str]:
    """Return the arguments so far of the line that a shell wants to have completed; empty if none does."""
    if "_MALLARD_COMPLETE" not in os.environ:
        return []
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return line.split()[1:]


def one_line(message: str, given: list[str]) -> str:
    """Return what is wrong with the arguments, in one line, and the way out where there is one."""
    return " ".join(message.split()) + (hint(given) if message.startswith("No such option") else "")


def hint(given: list[str]) -> str:
    """Return how to write a number below 0, which is taken for an option where no -- stands before it."""
    place = next((place for place, word in enumerate(given) if word[:1] == "-" and word[1:].isdigit()), None)
    if place is None or "--" in given[:place]:
        return ""
    return f"; write `-- {' '.join(given[place:])}`"


def interrupted() -> NoReturn:
    """Say that Ctrl-C has ended the command; exit as shells expect it then."""
    print("mallard: interrupted", file=sys.stderr)
    sys.exit(INTERRUPTED)


def refuse(what: str) -> NoReturn:
    """Say in one line what is wrong."""
    print(f"mallard: {what}", file=sys.stderr)
    sys.exit(2)
