"""The benchmarks of the papers: their own values, their findings, and our runs of them."""
