"""`python -m mallard` is the `mallard` command."""

from mallard.cli import main

main()
