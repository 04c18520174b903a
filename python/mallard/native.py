"""The native tools: where they are, and handing the process over to one of them."""

import os
import shutil
import sysconfig
from pathlib import Path
from typing import Any, NoReturn

from typer.core import TyperCommand

from mallard import MallardError


def tool(name: str) -> str:
    """Path of a native tool: the one in this environment, else the one on PATH."""
    own = Path(sysconfig.get_path("scripts")) / name
    path = str(own) if os.access(own, os.X_OK) else shutil.which(name)
    if path is None:
        raise MallardError(f"{name} is neither in this Python environment nor on PATH")
    return path


def become(name: str, arguments: list[str]) -> NoReturn:
    """Replace this process by a native tool, so that signals and the exit code are the tool's own."""
    path = tool(name)
    try:
        os.execv(path, [name, *arguments])
    except OSError as error:
        raise MallardError(f"cannot run {path}: {error.strerror}") from error


class NativeCommand(TyperCommand):
    """A subcommand whose arguments, `--` and `--help` among them, all belong to a native tool."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the arguments as they are."""
        ctx.args = args
        return []
