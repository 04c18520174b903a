"""Finds out which memory-allocation strategy would pay in a C or C++ program."""


class MallardError(Exception):
    """Why the command cannot go on, for its user: one line, and exit code 2."""
