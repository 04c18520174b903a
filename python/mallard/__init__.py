"""Finds out which memory-allocation strategy would pay in a C or C++ program."""


class MallardError(Exception):
    """Why the command cannot go on, in one line for its user; exit code 2."""
