"""The subcommands of `mallard`, one a file."""
