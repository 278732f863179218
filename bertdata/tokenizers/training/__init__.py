"""Documents in, a vocabulary out: words are counted in ranges and partitions, and a model is trained from the counts.

A model (`models.py`) says how words are cut and counted, how a vocabulary is trained from the counts, and how that is
kept.
"""
