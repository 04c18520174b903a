"""Frames of addresses in mapped files: from the cache, else from the files themselves.

A file is looked into only for addresses that the cache does not know. What has no build id is not kept: there
is no telling whether the file is still the same.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mallard import _native
from mallard.analysis.symbol_cache import Lines, SymbolCache
from mallard.figures import shown

DEBUG_FILES = Path("/usr/lib/debug")


class SymbolSource:
    """Names addresses; `warnings` has a line for each file that cannot."""

    def __init__(self, cache: SymbolCache) -> None:
        """Keep in `cache` what is found."""
        self.warnings: list[str] = []
        self._cache = cache

    def lines(self, path: str, build_id: str, addresses: Sequence[int]) -> list[Lines]:
        """Return what is known of each address of the file itself; nothing where nothing is known."""
        if not path.startswith("/"):
            return [()] * len(addresses)  # the kernel's, or nobody's: there is no file
        build = f"{build_id} {shown(debug_information(path, build_id))}"
        known = self._cache.load(build) if build_id else {}
        missing = [address for address in addresses if address not in known]
        if missing and (found := self._resolve(path, build_id, missing)) is not None:
            known.update(zip(missing, found, strict=True))
            if build_id and is_final(found):
                self._cache.store(build, known)
        return [known.get(address, ()) for address in addresses]

    def _resolve(self, path: str, build_id: str, addresses: Sequence[int]) -> list[Lines] | None:
        try:
            found = _native.Symbolizer(path, build_id).resolve(np.array(addresses, dtype=np.uint64))
        except ValueError as error:
            self.warnings.append(f"{shown(path)}: {error}; places in it have no names")
            return None
        return [tuple(lines) for lines in found]


def debug_information(path: str, build_id: str) -> str:
    """Return where separate debug information is to be had; what was found without it is then asked anew."""
    file = Path(path)
    places = (
        DEBUG_FILES / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug",
        file.with_name(f"{file.name}.debug"),
        file.parent / ".debug" / f"{file.name}.debug",
        DEBUG_FILES / f"{file.parent}/{file.name}.debug".lstrip("/"),
    )
    found = next((str(place) for place in places if place.exists()), "")
    return found or ("debuginfod" if os.environ.get("DEBUGINFOD_URLS") else "")


def is_final(found: Iterable[Lines]) -> bool:
    """Tell whether to keep it: where a server could have helped and did not, it may the next time."""
    return not os.environ.get("DEBUGINFOD_URLS") or any(file for lines in found for _, file, _ in lines)
