"""The native tools: where they are, and the subcommands that hand over to them, or to a program."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, NoReturn

import typer
from typer.core import CompletionItem, TyperCommand  # type: ignore[attr-defined]

from mallard import MallardError

MALLOC = "libmallard-malloc.so"
CHECKED_MALLOC = "libmallard-malloc-checked.so"
CHECKED_EXIT_CODE = 99  # src/malloc/checked/reports.cpp has the same
IMAGE_MAGIC = b"\x89MLP"
FROM_TERMINAL = 0x80  # SI_KERNEL: Ctrl-C has reached the whole group of processes


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


def call(name: str, arguments: list[str]) -> int:
    """Run a native tool to its end, as `become` would; return its exit code."""
    path = tool(name)
    return finish(path, [name.replace("-", " "), *arguments])


def finish(
    file: str,
    words: list[str],
    environment: dict[str, str] | None = None,
    started: Callable[[], object] = lambda: None,
) -> int:
    """Run a program to its end; return its exit code, 128 and the signal's number if one has ended it.

    Ctrl-C reaches both processes, and is the program's to answer. A signal that is sent to this process alone
    is passed on. The program starts without what this process holds back, and then `started` is called.
    """
    watched = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        running = subprocess.Popen(
            words,
            executable=file,
            env=environment,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),  # there is no other thread
        )
        started()
        while running.poll() is None:
            told = signal.sigwaitinfo(watched)
            if told.si_signo != signal.SIGCHLD and told.si_code != FROM_TERMINAL:
                running.send_signal(told.si_signo)
    except OSError as error:
        raise MallardError(f"cannot run {file}: {error.strerror}") from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return running.returncode if running.returncode >= 0 else 128 - running.returncode


def record(context: typer.Context) -> None:
    """Run a program and write a journal of its allocations."""
    become("mallard-record", context.args)


def replay(context: typer.Context) -> None:
    """Replay a journal against every strategy and print the table."""
    if any(word.partition("=")[0] == "--plot" for word in context.args):
        from mallard.plot.replay_plot import replay_and_draw

        replay_and_draw(context.args)
    become("mallard-replay", context.args)


def malloc_library(name: str = MALLOC) -> Path:
    """Path of a library: as the environment says, else where the tools are installed or were built."""
    if (given := os.environ.get("MALLARD_MALLOC_LIBRARY")) and name == MALLOC:
        return Path(given)
    tools = Path(tool("mallard-record")).resolve().parent
    for folder in (tools, tools / "../lib/mallard", tools / "../malloc"):
        if (path := folder / name).is_file():
            return path.resolve()
    raise MallardError(f"{name} is not beside {tools / 'mallard-record'}: install mallard's tools")


def kept_image(plan: Path, program: str) -> Path:
    """Return the image of a plan, in the user's cache; an image is one of itself.

    It stays there, as the program's children open it as well. Its name begins with that of the plan's
    program, which says so where it is of another build. What else is not routed is said here.
    """
    from mallard.compare.plans import build_id_of, changed_files
    from mallard.plan import image_of, read_plan

    try:
        image = plan.read_bytes()
    except OSError as error:
        raise MallardError(f"cannot read {plan}: {error.strerror}") from error
    if image.startswith(IMAGE_MAGIC):
        return plan.resolve()
    read = read_plan(plan)
    image = image_of(read)
    of, file = read.program, Path(shutil.which(program) or program).resolve()
    is_of_it = file.name == Path(of.path or of.name).resolve().name or build_id_of(str(file)) == of.build_id
    called = Path(program if is_of_it else of.name).name
    if called != Path(program).name:
        print(f"mallard: {plan} is for {of.name}: no call of another program is routed", file=sys.stderr)
    if changed := changed_files(read):
        others = ", ".join(changed)
        print(
            f"mallard: {plan} is for other builds of {others}: no call of theirs is routed", file=sys.stderr
        )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mallard" / "plans"
    name = f"{called[:200]}.{sha256(image).hexdigest()[:16]}.image"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        if not (cache / name).is_file():
            with NamedTemporaryFile(dir=cache, delete=False) as written:
                written.write(image)
            Path(written.name).replace(cache / name)
    except OSError as error:
        raise MallardError(f"cannot write {cache / name}: {error.strerror}") from error
    return cache / name


def run(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM", show_default=False)],
    plan: Annotated[
        Path | None,
        typer.Option(metavar="PLAN", help="Give calling contexts the heaps that a plan has for them."),
    ] = None,
    counters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append a line of JSON for each rule of the plan, at the end."),
    ] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Print what is in use when the program ends.")
    ] = False,
    decay: Annotated[
        int | None,
        typer.Option(metavar="MS", min=0, help="Milliseconds that freed memory stays with the process: 500."),
    ] = None,
    huge_pages: Annotated[bool, typer.Option("--huge-pages", help="Ask the system for huge pages.")] = False,
    checked: Annotated[
        bool,
        typer.Option(
            "--checked",
            help="Find double and invalid frees, overflows, and uses after free; name the places.",
        ),
    ] = False,
    leaks: Annotated[
        bool, typer.Option("--leaks", help="Checked: report blocks that nothing points to at the end.")
    ] = False,
    guard: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Checked: put one block in N next to a page without access."),
    ] = None,
    abort: Annotated[bool, typer.Option("--abort", help="Checked: abort at the first error.")] = False,
    exit_code: Annotated[
        int,
        typer.Option(metavar="CODE", min=0, max=255, help="Checked: the exit code after errors; 0: its own."),
    ] = CHECKED_EXIT_CODE,
) -> None:
    """Run a program under mallard's malloc, or under its checked build.

    The program's children have it as well. What it does and costs, what --checked finds: docs/malloc.md.
    Plans: docs/plan.md.
    """
    if checked and (plan is not None or counters is not None):
        raise MallardError("--plan and --counters are not for --checked, which has one heap for all calls")
    if not checked and (leaks or guard is not None or abort):
        raise MallardError("--leaks, --guard and --abort are for --checked")
    if counters is not None and plan is None:
        raise MallardError("--counters is for --plan")
    settings = {
        "MALLARD_MALLOC_PLAN": "" if plan is None else str(kept_image(plan, program[0])),
        "MALLARD_MALLOC_PLAN_COUNTERS": "" if counters is None else str(counters.absolute()),
        "MALLARD_MALLOC_STATS": "1" if stats else "",
        "MALLARD_MALLOC_DECAY_MS": "" if decay is None else str(decay),
        "MALLARD_MALLOC_HUGE_PAGES": "1" if huge_pages else "",
        "MALLARD_MALLOC_LEAKS": "1" if leaks else "",
        "MALLARD_MALLOC_GUARD": "" if guard is None else str(guard),
        "MALLARD_MALLOC_ABORT": "1" if abort else "",
        "MALLARD_MALLOC_EXIT_CODE": str(exit_code) if exit_code != CHECKED_EXIT_CODE else "",
    }
    environment = {**os.environ, **{name: value for name, value in settings.items() if value}}
    library = malloc_library(CHECKED_MALLOC if checked else MALLOC)
    environment["LD_PRELOAD"] = ":".join(filter(None, (str(library), environment.get("LD_PRELOAD"))))
    if checked:
        from mallard.checked import run_checked

        raise typer.Exit(run_checked(program, environment, exit_code))
    become_program(program, environment)


def become_program(program: list[str], environment: dict[str, str]) -> NoReturn:
    """Replace this process by the program."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores, and the program is not to
    try:
        os.execvpe(program[0], program, environment)
    except OSError as error:
        raise MallardError(f"cannot run {program[0]}: {error.strerror}") from error


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
