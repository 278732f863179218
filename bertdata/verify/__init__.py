"""A finished build in, its disagreements with its manifest out.

build       of a build: every row counted again, every sum
rows        of imports and fine-tuning data
inputs      whether what a build was made from has changed since
claims      what both have in common; accounts: sums of a build's manifest; recount: the rows of one shard
duplicates  examples that are in a build more than once
"""
