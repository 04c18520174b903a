"""What every subcommand raises to tell the user, in one line, why it cannot go on."""


class MallardError(Exception):
    """A reason for the user; the command ends with exit code 2."""
