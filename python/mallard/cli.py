"""The `mallard` command: one file of commands/ a subcommand.

`mallard --help` must stay cheap: only a subcommand that runs loads rich or the native module.
"""

import sys
from typing import Annotated, NoReturn

import typer

from mallard.commands.export import export
from mallard.commands.import_ import import_
from mallard.commands.info import info
from mallard.commands.profile import profile
from mallard.commands.record import record
from mallard.commands.replay import replay
from mallard.commands.report import report
from mallard.commands.strategies import strategies
from mallard.errors import MallardError
from mallard.native import NativeCommand

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)
app.command(cls=NativeCommand, add_help_option=False)(record)
app.command(cls=NativeCommand, add_help_option=False)(replay)
app.command("import")(import_)
app.command()(info)
app.command()(profile)
app.command()(export)
app.command()(report)
app.command()(strategies)


def show_version(wanted: bool) -> None:
    """Print the version and stop, if it is wanted."""
    if wanted:
        from importlib.metadata import version

        print(f"mallard {version('mallard')}")
        raise typer.Exit


@app.callback()
def mallard(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find out which memory-allocation strategy would pay in a C or C++ program."""


def main() -> NoReturn:
    """Run the command line; what goes wrong is one line on stderr and exit code 2."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="mallard", standalone_mode=False))
    except typer.Abort:
        sys.exit(130)
    except RuntimeError as error:
        if str(error) != "Query interrupted":  # so DuckDB tells of Ctrl-C
            raise
        sys.exit(130)
    except MallardError as error:
        refuse(str(error))
    except typer.TyperException as error:
        refuse(error.format_message())


def refuse(what: str) -> NoReturn:
    """Say in one line what is wrong."""
    print(f"mallard: {what}", file=sys.stderr)
    sys.exit(2)
