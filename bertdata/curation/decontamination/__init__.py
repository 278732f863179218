"""Decontamination: documents that hold n-grams of test data are dropped, or the passage around each is cut out.

`words` says what a word is, `ngrams` finds runs of them, `ngram_table` has those of test data, `search` finds these in
texts, `cutting` takes passages out of a text, and `stage` makes a stage of it.
"""
