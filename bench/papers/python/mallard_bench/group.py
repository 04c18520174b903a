"""A group: what one call of mallard-bench measures, a line of one of the paper's tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """One line of a table: its settings by the names of mallard-bench's options, and what it will cost."""

    title: str
    settings: dict[str, int | str]
    seconds: float  # it takes, about

    def arguments(self) -> list[str]:
        """Return the settings as arguments."""
        return [f"--{name}={value}" for name, value in self.settings.items()]
