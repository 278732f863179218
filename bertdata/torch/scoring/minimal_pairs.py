"""Minimal pairs and sentences in files, and what their scores add up to.

A pair is right where the good sentence has the higher score (BLiMP, Warstadt et al. 2020, arXiv 1912.00582, section 4);
equal scores are not right, and are counted. Files are JSON lines, CSV, TSV or Parquet with a column of good and one of
bad sentences, by default as BLiMP names them, or text with a sentence a line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError, did_you_mean, shortened
from bertdata.io import files
from bertdata.io.compression import endings
from bertdata.io.patterns import expand
from bertdata.sources.labelled.labelled_files import FORMATS, JSON, Row, file_format, read_rows, text_lines

PLAIN = ".txt"
FILE = "file"
"""What results are grouped by where there are several files and nothing else is asked for."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """The columns of files.

    good, bad: those of the two sentences; text: that of single sentences, "" for pairs; by: those whose values have
    results of their own.
    """

    good: str = "sentence_good"
    bad: str = "sentence_bad"
    text: str = ""
    by: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns with the sentences that are scored."""
        return (self.text,) if self.text else (self.good, self.bad)


@dataclass(frozen=True)
class Examples:
    """The rows of files: their sentences, one or two each, their values by each column of groups, the rows as read."""

    texts: tuple[tuple[str, ...], ...]
    groups: Mapping[str, Sequence[str]]
    rows: Sequence[Row]

    @property
    def are_pairs(self) -> bool:
        """Whether each has two sentences."""
        return len(self.texts[0]) == 2

    def sentences(self) -> list[str]:
        """Return all sentences, those of an example one after another."""
        return [text for texts in self.texts for text in texts]


def read_examples(paths: Sequence[str], columns: Columns) -> Examples:
    """Read files, folders of them, or globs; a text file has single sentences.

    Raises ConfigError for a column that is not there and for pairs and single sentences together, InputError, with the
    line, where a sentence is not a string, and where there are none.
    """
    in_folders = [name for name in (*FORMATS, PLAIN) if name != JSON]  # a .json beside pairs often describes them
    files = expand(paths, endings(*in_folders))
    plain = [path for path in files if file_format(path, (PLAIN,)) == PLAIN]
    if plain and len(plain) < len(files) and not columns.text:
        raise ConfigError(
            "holds single sentences, and other files hold pairs; score them apart, or name the column of single "
            "sentences with --text-column",
            path=plain[0],
        )
    by = columns.by or ((FILE,) if len(files) > 1 else ())
    texts: list[tuple[str, ...]] = []
    rows: list[Row] = []
    groups: dict[str, list[str]] = {name: [] for name in by}
    for path in files:
        of_file = _plain_rows(path) if path in plain else read_rows(path)
        names = ("text",) if path in plain else columns.texts
        for place, row in of_file:
            texts.append(tuple(_text(row, name, place, path) for name in names))
            rows.append(row)
            for name in by:
                groups[name].append(_group(row, name, place, path))
    if not texts:
        raise InputError("holds no sentences; expected at least one", path=files[0])
    return Examples(tuple(texts), groups, rows)


def _plain_rows(path: str) -> Any:
    return ((f"line {number}", {"text": line.strip()}) for number, line in text_lines(path) if line.strip())


def _text(row: Row, name: str, place: str, path: str) -> str:
    if name not in row:
        raise ConfigError(
            f"{place} has no column {name!r}{did_you_mean(name, row)}; its columns are {', '.join(map(repr, row))}: "
            "name those of the sentences with --good-column and --bad-column, or --text-column",
            path=path,
        )
    if not isinstance(text := row[name], str):
        raise InputError(f"{place} has {shortened(text)} in {name!r}; expected a sentence", path=path)
    return text


def _group(row: Row, name: str, place: str, path: str) -> str:
    if name in row:
        return str(row[name])
    if name == FILE:
        return files.name(path)
    raise ConfigError(
        f"{place} has no column {name!r}{did_you_mean(name, row)}; its columns are {', '.join(map(repr, row))}: name "
        "one of them with --by",
        path=path,
    )


def accuracy(scores: Floats) -> dict[str, Any]:
    """Return what the scores of pairs, float64 (N, 2), the good sentence first, add up to.

    standard_error: of the accuracy, as that of N draws.

    >>> accuracy(np.array([[-1.0, -2.0], [-3.0, -3.0], [-5.0, -4.0], [-1.0, -9.0]]))
    {'pairs': 4, 'right': 2, 'equal': 1, 'accuracy': 0.5, 'standard_error': 0.25}
    """
    right = int((scores[:, 0] > scores[:, 1]).sum())
    share = right / len(scores)
    return {
        "pairs": len(scores),
        "right": right,
        "equal": int((scores[:, 0] == scores[:, 1]).sum()),
        "accuracy": share,
        "standard_error": math.sqrt(share * (1 - share) / len(scores)),
    }


def likelihood(token_scores: Sequence[Floats], *, base_two: bool) -> dict[str, Any]:
    """Return what the token scores of sentences, float64 (T,) each, add up to.

    pseudo_perplexity: the base of the logarithms to the power of minus the mean over all tokens.

    >>> likelihood([np.array([-1.0, -3.0]), np.array([-2.0])], base_two=True)
    {'sentences': 2, 'tokens': 3, 'score': -6.0, 'score_per_token': -2.0, 'pseudo_perplexity': 4.0}
    """
    total, tokens = math.fsum(float(score) for scores in token_scores for score in scores), sum(map(len, token_scores))
    mean = total / tokens
    return {
        "sentences": len(token_scores),
        "tokens": tokens,
        "score": total,
        "score_per_token": mean,
        "pseudo_perplexity": 2.0**-mean if base_two else math.exp(-mean),
    }


def results(examples: Examples, token_scores: Sequence[Floats], scores: Floats, *, base_two: bool) -> dict[str, Any]:
    """Return what the scores of examples add up to, and the same by the values of each column.

    token_scores, scores: of all sentences, those of an example one after another. mean_accuracy: of a column, over its
    values, each with the same weight.
    """
    width = len(examples.texts[0])

    def of(numbers: Sequence[int]) -> dict[str, Any]:
        if examples.are_pairs:
            return accuracy(scores.reshape(-1, width)[numbers])
        return likelihood([token_scores[number] for number in numbers], base_two=base_two)

    whole = of(range(len(examples.texts)))
    by: dict[str, Any] = {}
    for name, values in examples.groups.items():
        numbers: dict[str, list[int]] = {}
        for number, value in enumerate(values):
            numbers.setdefault(value, []).append(number)
        by[name] = {value: of(numbers[value]) for value in sorted(numbers)}
    if not by:
        return whole
    if examples.are_pairs:
        means = {name: float(np.mean([entry["accuracy"] for entry in values.values()])) for name, values in by.items()}
        whole["mean_accuracy"] = means
    return whole | {"by": by}


def write_scores(path: str, examples: Examples, token_scores: Sequence[Floats], scores: Floats) -> None:
    """Write the rows as JSON lines with their scores and numbers of tokens; raises OutputError.

    Of pairs they are `score_good`, `score_bad`, `tokens_good` and `tokens_bad`, of sentences `score` and `tokens`.
    Raises ConfigError where rows have such a column.
    """
    ends = ("_good", "_bad") if examples.are_pairs else ("",)
    lines = []
    for number, row in enumerate(examples.rows):
        sentences = [len(ends) * number + place for place in range(len(ends))]
        made = {f"score{end}": float(scores[sentence]) for end, sentence in zip(ends, sentences, strict=True)}
        made |= {f"tokens{end}": len(token_scores[sentence]) for end, sentence in zip(ends, sentences, strict=True)}
        if there := [name for name in made if name in row]:
            raise ConfigError(f"a row has a column {there[0]!r} already; rename it, or leave --output out", path=path)
        lines.append(json.dumps({**row, **made}, ensure_ascii=False, default=str))
    files.write_bytes(path, ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
