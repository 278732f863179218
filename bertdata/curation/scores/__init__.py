"""Scores: a number for each document, decided from its text alone; texts come in, float64 columns go out.

`--score NAME=KIND:ARGUMENT` makes the column NAME where the token store is written, for `--where`, `--source-where` and
phases. The kinds are a registry:

    terms:FILE           the share of the words that are inside terms of a list
    fasttext:FILE:LABEL  the probability of a label by a model of fastText
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertdata.registry import Registry, loading

if TYPE_CHECKING:
    from bertdata.curation.scores.base import Score, ScoreKind, parse_score

__all__ = ["SCORES", "Score", "ScoreKind", "parse_score"]

SCORES: Registry[Any] = Registry(
    "kind of score",
    {"terms": "bertdata.curation.scores.terms:TERMS", "fasttext": "bertdata.curation.scores.fasttext:FASTTEXT"},
    "bertdata.curation.scores.base:ScoreKind",
)
"""What `--score NAME=KIND:ARGUMENT` names, each a `base.ScoreKind`."""

__getattr__ = loading(
    __name__,
    {
        "Score": "base",
        "ScoreKind": "base",
        "parse_score": "base",
    },
)
