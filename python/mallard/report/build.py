"""From journals to what the page shows of each: its profile, its call tree, its replay."""

from mallard.analysis.call_tree import call_tree
from mallard.analysis.profile import READ, Options, profile_of
from mallard.analysis.progress import progress_bar
from mallard.analysis.store import Store
from mallard.analysis.symbols import Symbols
from mallard.analysis.verdict import judged
from mallard.processes import processes, summary_of
from mallard.report.data import JournalReport, culled
from mallard.report.replay import replay_of


def of_journal(journal: str, options: Options, replay: str) -> JournalReport:
    """Return all that the page shows of one journal; `replay` is what report/replay.py takes."""
    with progress_bar(f"report {journal}") as progress:
        store = Store.read(journal, lambda share: progress(READ * share))
        symbols = Symbols(store)
        profile = profile_of(store, symbols, options, progress)
        tree = culled(call_tree(store, symbols))
        started = store.totals["start_unix_ns"]
        store.sql.close()
    replayed, hint = replay_of(journal, profile.totals.events, replay)
    if replayed is not None:
        profile = judged(profile, replayed["rows"])
    return JournalReport(profile, tree, replayed, hint, started or None)


def with_children(journals: list[str]) -> list[str]:
    """Return the journals, each followed by those of its child processes and theirs."""
    found = [one.journal for journal in journals for one in processes(journal, summary_of(journal))]
    return list(dict.fromkeys(found))
