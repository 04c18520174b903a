"""`mallard bench`: its subcommands are those of the package mallard-bench, which is installed by itself."""

from mallard import MallardError

try:
    from mallard_bench.subcommands import SUBCOMMANDS
except ModuleNotFoundError as error:
    if not str(error.name).startswith("mallard_bench"):
        raise
    raise MallardError(
        "bench is not installed: in a checkout, `./dev bench BENCHMARK` builds and runs it, "
        "`pip install ./bench/papers` adds it to any environment"
    ) from error

__all__ = ["SUBCOMMANDS", "bench"]


def bench() -> None:
    """Measure strategies by the benchmarks of papers."""
