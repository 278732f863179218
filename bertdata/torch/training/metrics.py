"""The metrics of tasks: those of classes and of numbers by name, entity F1 by seqeval, SQuAD's exact match and F1.

The last two are written out here by SQuAD's definition (Rajpurkar et al. 2016, section 6.1): answers are compared in
lower case, without punctuation, articles and surplus white space; a question counts with its best reference answer.
"""

from __future__ import annotations

import re
import string
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bertdata.errors import ConfigError, MissingExtraError
from bertdata.finetune.tag_schemes import OUTSIDE, scheme_of

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def text_scores(names: Sequence[str], truth: Sequence[float], predicted: Sequence[float]) -> dict[str, float]:
    """Return the metrics of these names, of `TEXT_METRICS`: classes by their ids, or numbers, (N,) of each.

    >>> text_scores(["accuracy", "macro_f1"], [0, 0, 1, 1], [0, 1, 1, 1])
    {'accuracy': 0.75, 'macro_f1': 0.7333333333333334}
    """
    return {name: TEXT_METRICS[name](truth, predicted) for name in names}


def accuracy(truth: Sequence[float], predicted: Sequence[float]) -> float:
    """Return the share of classes that are right."""
    return sum(label == guess for label, guess in zip(truth, predicted, strict=True)) / len(truth)


def f1(truth: Sequence[float], predicted: Sequence[float]) -> float:
    """Return the F1 of the class with id 1, as MRPC and QQP have it; 0 where it never occurs.

    >>> f1([0, 0, 1, 1], [0, 1, 1, 1])
    0.8
    """
    return _f1_of_classes(truth, predicted).get(1, 0.0)


def macro_f1(truth: Sequence[float], predicted: Sequence[float]) -> float:
    """Return the mean over the classes of `truth` and `predicted` of their F1."""
    scores = _f1_of_classes(truth, predicted)
    return sum(scores.values()) / len(scores)


def _f1_of_classes(truth: Sequence[float], predicted: Sequence[float]) -> dict[float, float]:
    pairs = Counter(zip(truth, predicted, strict=True))
    sizes, guesses = Counter(truth), Counter(predicted)
    classes = sorted(sizes.keys() | guesses.keys())
    return {label: 2 * pairs[label, label] / (sizes[label] + guesses[label]) for label in classes}


def matthews_correlation(truth: Sequence[float], predicted: Sequence[float]) -> float:
    """Return the Matthews correlation of two or more classes (Gorodkin 2004), 0 where either has one class alone.

    >>> round(matthews_correlation([0, 0, 1, 1], [0, 1, 1, 1]), 4)
    0.5774
    """
    sizes, guesses, total = Counter(truth), Counter(predicted), len(truth)
    right = sum(label == guess for label, guess in zip(truth, predicted, strict=True))
    chance = sum(sizes[label] * guesses[label] for label in sizes)
    spread = [total**2 - sum(size**2 for size in counts.values()) for counts in (sizes, guesses)]
    return float((right * total - chance) / (spread[0] * spread[1]) ** 0.5) if all(spread) else 0.0


def pearson(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the linear correlation of numbers (N,), 0 where either does not vary.

    >>> round(pearson([1, 2, 3, 5], [0.1, 0.2, 0.4, 0.4]), 4)
    0.8783
    """
    first, second = (np.asarray(values, np.float64) for values in (truth, predicted))
    first, second = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(np.clip((first @ second) / scale, -1.0, 1.0)) if scale else 0.0


def spearman(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the correlation of the ranks of numbers (N,); equal numbers have the mean of their ranks.

    >>> round(spearman([1, 2, 3, 5], [0.1, 0.2, 0.4, 0.4]), 4)
    0.9487
    """
    return pearson(_ranks(truth), _ranks(predicted))


def _ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Return the rank of each number, from 1."""
    _, numbers, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[numbers]
    return ranks


TEXT_METRICS: dict[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "accuracy": accuracy,
    "f1": f1,
    "macro_f1": macro_f1,
    "matthews_correlation": matthews_correlation,
    "pearson": pearson,
    "spearman": spearman,
}
"""The metrics of texts with classes or numbers, functions of what is true and what was predicted."""


def set_scores(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> dict[str, float]:
    """Return the scores of labels of texts, (N, labels) of each: micro_f1, macro_f1 and exact_match.

    micro_f1: of all pairs of a text and a label; macro_f1: the mean over the labels of their F1, 0 for one that is
    never there and never predicted, as scikit-learn has it; exact_match: the share of texts with all labels right.

    >>> truth = np.array([[1, 1], [0, 1], [0, 0]], np.bool_)
    >>> set_scores(truth, np.array([[1, 0], [0, 1], [0, 0]], np.bool_))
    {'micro_f1': 0.8, 'macro_f1': 0.8333333333333333, 'exact_match': 0.6666666666666666}
    """
    right, sizes = (truth & predicted).sum(0), truth.sum(0) + predicted.sum(0)
    return {
        "micro_f1": float(2 * right.sum() / max(int(sizes.sum()), 1)),
        "macro_f1": float((2 * right / np.maximum(sizes, 1)).mean()),
        "exact_match": float((truth == predicted).all(1).mean()),
    }


def require_seqeval() -> None:
    """Raise MissingExtraError where seqeval is not installed."""
    try:
        import seqeval  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError("seqeval", "finetune") from error


def tag_scores(
    truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], labels: Sequence[str] = ()
) -> dict[str, float]:
    """Return the share of right tags, and of entity tags seqeval's precision, recall and F1 of whole entities.

    labels: all tags of the task, by which the scheme is known (default: those of the sentences). Tags of BIO and BIOES
    are scored in seqeval's default mode, which is that of conlleval, BILOU and BMES in its strict mode, as the default
    mode does not know their letters. Raises MissingExtraError where seqeval is needed and not installed.
    """
    right = sum(tag == guess for tag, guess in zip(chain(*truth), chain(*predicted), strict=True))
    accuracy = {"accuracy": right / max(sum(map(len, truth)), 1)}
    scheme = scheme_of(labels or {tag for rows in (truth, predicted) for row in rows for tag in row} | {OUTSIDE})
    if scheme is None:
        return accuracy
    require_seqeval()
    from seqeval import metrics
    from seqeval import scheme as strict_schemes

    rows = [[[scheme.seqeval_tag(tag) for tag in row] for row in sentences] for sentences in (truth, predicted)]
    rules = {"mode": "strict", "scheme": getattr(strict_schemes, scheme.strict)} if scheme.strict else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = {
            name: float(getattr(metrics, f"{name}_score")(*rows, zero_division=0, **rules))
            for name in ("precision", "recall", "f1")
        }
    return accuracy | scores


def normalized_answer(text: str) -> str:
    """Return an answer as SQuAD compares it.

    >>> normalized_answer("The  Sea, an Ocean!")
    'sea ocean'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def answer_f1(predicted: str, reference: str) -> float:
    """Return the F1 of the words two answers share; of two answers of which one is none, whether both are.

    >>> answer_f1("the salty sea", "a sea"), answer_f1("", "sea"), answer_f1("the", "")
    (0.6666666666666666, 0.0, 1.0)
    """
    words, expected = normalized_answer(predicted).split(), normalized_answer(reference).split()
    if not words or not expected:
        return float(words == expected)
    shared = sum((Counter(words) & Counter(expected)).values())
    return 2 * shared / (len(words) + len(expected))


def answer_scores(predicted: Mapping[str, str], references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return SQuAD's exact match and F1, as shares, over all questions of `references`.

    A question without a reference answer is one whose answer is "" (SQuAD 2.0); one that was not answered counts as
    answered so. Raises ConfigError where there are no questions.

    >>> answer_scores({"q1": "The sea", "q2": "salt"}, {"q1": ["sea", "the salty sea"], "q2": []})
    {'exact_match': 0.5, 'f1': 0.5}
    """
    if not references:
        raise ConfigError("there are no questions to measure answers by; expected at least one")
    exact = f1 = 0.0
    for question, expected in references.items():
        answer = predicted.get(question, "")
        choices = [reference for reference in expected if normalized_answer(reference)] or [""]
        exact += max(normalized_answer(answer) == normalized_answer(reference) for reference in choices)
        f1 += max(answer_f1(answer, reference) for reference in choices)
    return {"exact_match": exact / len(references), "f1": f1 / len(references)}
