"""Names for the places a program allocates from: functions, files and lines of each calling context."""

from pathlib import Path

from mallard.analysis.model import Frame
from mallard.analysis.module_map import NO_MODULE, locate
from mallard.analysis.store import Store


class Symbols:
    """The frames of each calling context of one journal."""

    def __init__(self, store: Store) -> None:
        """Find the module of each return address."""
        self.warnings: list[str] = []
        self._contexts = store.contexts
        self._modules = store.modules
        self._names = store.names
        self._module, self._address = locate(store)

    def frames(self, context: int) -> list[Frame]:
        """Return the stack of a context, innermost first; annotated scopes are frames named by them."""
        stack: list[Frame] = []
        while context != 0:
            stack += self.frames_of_node(context)
            context = int(self._contexts["parent"][context])
        return stack

    def frames_of_node(self, context: int) -> list[Frame]:
        """Return what the context adds to its parent's stack, innermost first."""
        if scope := int(self._contexts["name"][context]):
            return [Frame(function=self._names[scope], module="")]
        module = int(self._module[context])
        address = int(self._address[context])
        if module == NO_MODULE:
            return [Frame(function=f"0x{address:x}", module="")]
        name = Path(self._modules[module]["path"]).name
        return [Frame(function=f"{name}+0x{address:x}", module=name)]

    def site_name(self, context: int) -> str:
        """Return the innermost function that is no allocator's wrapper."""
        stack = self.frames(context)
        return stack[0].function if stack else "unknown"
