"""A whole program under one malloc after another: what `mallard compare` and `mallard try` measure.

mallocs.py    which mallocs there are, and what puts one in force
plans.py      plans among them, and the control of a plan
launch.py     one run: mallard-launch, the program, what it took
rounds.py     an untimed round that looks into each process, then turns: A B C, C A B ...
intervals.py  medians and ratios with intervals that do not depend on the shape of the noise
outcome.py    rows, ratios and the verdict; JSON
listing.py    the table of a terminal
bars.py       the page, a chart a figure

halving.py    more rounds for the better candidates
choice.py     which of them to use, if any
trial_outcome.py   its rows, sentences and JSON
"""
