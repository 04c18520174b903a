"""The native tools: where they are, and the subcommands that hand the process over to one of them."""

import os
import re
import shutil
import signal
import subprocess
import sysconfig
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import CompletionItem, TyperCommand  # type: ignore[attr-defined]

from mallard import MallardError


def tool(name: str) -> str:
    """Path of a native tool: the one in this environment, else the one on PATH."""
    own = Path(sysconfig.get_path("scripts")) / name
    path = str(own) if os.access(own, os.X_OK) else shutil.which(name)
    if path is None:
        raise MallardError(f"{name} is neither in this Python environment nor on PATH")
    return path


def become(name: str, arguments: list[str]) -> NoReturn:
    """Replace this process by a native tool, so that signals and the exit code are the tool's own.

    Its usage shows it as the user has called it. Python ignores SIGPIPE; the tool, and the program that it
    runs, must not inherit that.
    """
    path = tool(name)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execv(path, [name.replace("-", " "), *arguments])
    except OSError as error:
        raise MallardError(f"cannot run {path}: {error.strerror}") from error


def record(context: typer.Context) -> None:
    """Run a program and write a journal of its allocations."""
    become("mallard-record", context.args)


def replay(context: typer.Context) -> None:
    """Replay a journal against every strategy and print the table."""
    become("mallard-replay", context.args)


class NativeCommand(TyperCommand):
    """A subcommand whose arguments, `--` and `--help` among them, all belong to the tool mallard-NAME."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the arguments as they are."""
        ctx.args = args
        return []

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        """Complete the tool's options, which its help lists; not those of a program that it runs."""
        if not incomplete.startswith("-") or "--" in ctx.args:
            return []
        asked = [tool(f"mallard-{self.name}"), "--help"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        options = re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+)", said)
        return [CompletionItem(option) for option in options if option.startswith(incomplete)]
