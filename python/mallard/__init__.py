"""Finds out which memory-allocation strategy would pay in a C or C++ program."""
