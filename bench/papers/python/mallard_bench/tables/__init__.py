"""The tables as the paper prints them, for the terminal, one benchmark a file."""
