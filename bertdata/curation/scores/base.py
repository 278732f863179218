"""What a kind of score defines, their registry, and the scores that `--score` names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from bertdata.curation.scores import SCORES
from bertdata.curation.where import OF_ALL
from bertdata.errors import ConfigError, expected_one_of


@dataclass(frozen=True, kw_only=True)
class ScoreKind:
    """One way to score texts.

    help: what it measures, for --help. form: how its argument is written, as FILE:LABEL. identity: returns what the
    scores by an argument depend on, as JSON, a file by its digest; raises ConfigError or InputError, which say what was
    expected, for an argument or a file that it cannot take, and MissingExtraError. load: returns what scores texts, a
    string array (N,), as floats from 0 to 1, float64 (N,) without nulls; each text alone, so that the scores do not
    depend on how documents are grouped. revision: to be raised when the scores change.
    """

    help: str
    form: str
    identity: Callable[[str], list[Any]]
    load: Callable[[str], Callable[[pa.StringArray], pa.DoubleArray]]
    revision: int = 1


@dataclass(frozen=True)
class Score:
    """A column of scores: its name, the kind, and the argument of that."""

    name: str
    kind: str
    argument: str

    @property
    def identity(self) -> list[Any]:
        """What its values depend on, wherever its files are; raises the errors of `ScoreKind.identity`."""
        chosen = SCORES[self.kind]
        return [self.name, self.kind, chosen.revision, *chosen.identity(self.argument)]

    def of(self, texts: pa.StringArray) -> pa.DoubleArray:
        """Return the scores of texts, float64 (N,); raises ConfigError where the kind does not score each."""
        scores = _loaded(self.kind, self.argument)(texts)
        if scores.type != pa.float64() or len(scores) != len(texts) or scores.null_count:
            raise ConfigError(
                f"the score {self.kind} returned {len(scores)} values of type {scores.type}, {scores.null_count} of "
                f"them null, for {len(texts)} texts; expected a float64 for each"
            )
        return scores


@lru_cache(maxsize=8)
def _loaded(kind: str, argument: str) -> Callable[[pa.StringArray], pa.DoubleArray]:
    kind_of_score: ScoreKind = SCORES[kind]
    return kind_of_score.load(argument)


@lru_cache(maxsize=64)
def parse_score(text: str) -> Score:
    """Return what NAME=KIND:ARGUMENT stands for; raises ConfigError for what is none.

    >>> parse_score("medical=terms:mesh.txt")
    Score(name='medical', kind='terms', argument='mesh.txt')
    """
    name, equals, made = text.partition("=")
    kind, colon, argument = made.partition(":")
    expected = "expected as medical=terms:terms.txt or quality=fasttext:model.bin:good"
    if not (equals and colon and name and kind and argument):
        raise ConfigError(f"--score {text!r} is not NAME=KIND:ARGUMENT; {expected}")
    if not name.isidentifier() or name in ("and", "or", "not", "in", "is", "None", "True", "False"):
        raise ConfigError(f"--score {text!r}: {name!r} cannot be the name of a column in --where; {expected}")
    if name in (*OF_ALL, "text", "language"):
        raise ConfigError(f"--score {text!r}: documents have a column {name!r} already; choose another name")
    if kind not in SCORES:
        raise ConfigError(f"--score {text!r}: there is no kind of score {kind!r}{expected_one_of(kind, SCORES)}")
    return Score(name, kind, argument)
