"""What every test in Python starts from."""

import signal

# A shell's background jobs ignore Ctrl-C, and what they start inherits that: not the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)
