"""`mallard export`: a journal in the forms that other tools read."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mallard import MallardError
from mallard.commands.profile import Metric


def export(
    journal: Annotated[str, typer.Argument(metavar="JOURNAL", help="A journal, binary or text; may be .xz.")],
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="DIR", help="Tables of objects, contexts and more.")
    ] = None,
    folded: Annotated[bool, typer.Option("--folded", help="Folded stacks, for flamegraph.pl.")] = False,
    speedscope: Annotated[bool, typer.Option("--speedscope", help="The JSON of speedscope.")] = False,
    text: Annotated[bool, typer.Option("--text", help="One event a line.")] = False,
    metric: Annotated[
        list[Metric] | None,
        typer.Option(
            help="Weights of a stack: one for --folded (default: bytes), any for --speedscope (all)."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="Where to write; default: standard output.")
    ] = None,
) -> None:
    """Write a journal in a form that other tools read."""
    from mallard.output import spare

    if [parquet is not None, folded, speedscope, text].count(True) != 1:
        raise MallardError("export takes exactly one of --parquet DIR, --folded, --speedscope and --text")
    if parquet is not None and output is not None:
        raise MallardError("--parquet DIR names the output already: omit -o")
    if metric and not (folded or speedscope):
        raise MallardError("--metric is for --folded and --speedscope")
    if metric and folded and len(metric) > 1:
        raise MallardError("--folded takes one --metric")
    spare([journal], output)
    if text:
        told = as_text(journal, output)
    elif parquet is not None:
        told = as_tables(journal, parquet)
    else:
        metrics = metric or ([Metric.BYTES] if folded else list(Metric))
        told = as_stacks(journal, folded, [str(wanted) for wanted in metrics], output)
    for line in told:
        print(f"mallard: warning: {journal}: {line}", file=sys.stderr)


def as_text(journal: str, output: Path | None) -> list[str]:
    """Write the text form."""
    from mallard.analysis.progress import progress_bar
    from mallard.export.text import export_text

    with progress_bar("write text") as progress:
        return export_text(journal, output, progress)


def as_tables(journal: str, folder: Path) -> list[str]:
    """Write Parquet files."""
    from mallard.analysis.progress import progress_bar
    from mallard.analysis.store import Store
    from mallard.analysis.symbols import Symbols
    from mallard.export.parquet import export_parquet

    with progress_bar(f"read {journal}") as progress:
        store = Store.read(journal, progress)
    symbols = Symbols(store)
    with progress_bar(f"write {folder}") as progress:
        export_parquet(store, symbols, folder, progress)
    return [*store.totals["warnings"], *symbols.warnings]


def as_stacks(journal: str, folded: bool, metrics: list[str], output: Path | None) -> list[str]:
    """Write the call tree, as folded stacks or for speedscope."""
    from mallard.analysis.call_tree import call_tree
    from mallard.analysis.progress import progress_bar
    from mallard.analysis.store import Store
    from mallard.analysis.symbols import Symbols
    from mallard.export.folded import export_folded
    from mallard.export.speedscope import export_speedscope
    from mallard.figures import program_name

    with progress_bar(f"read {journal}") as progress:
        store = Store.read(journal, progress)
    symbols = Symbols(store)
    tree = call_tree(store, symbols)
    if folded:
        export_folded(tree, metrics[0], output)
    else:
        name = program_name(store.totals["arguments"], store.totals["program"], journal)
        export_speedscope(tree, metrics, name, output)
    return [*store.totals["warnings"], *symbols.warnings]
