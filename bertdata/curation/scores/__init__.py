"""Scores: a number for each document, decided from its text alone; texts come in, float64 columns go out.

`--score NAME=KIND:ARGUMENT` makes the column NAME where the token store is written, for `--where`, `--source-where` and
phases. The kinds are a registry:

    terms:FILE           the share of the words that are inside terms of a list
    fasttext:FILE:LABEL  the probability of a label by a model of fastText
"""

from bertdata.curation.scores.base import SCORES, Score, ScoreKind, parse_score

__all__ = ["SCORES", "Score", "ScoreKind", "parse_score"]
