"""The groups of each benchmark at each level, one benchmark a file."""
