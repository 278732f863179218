"""The probability that a model of fastText gives to a label, as to texts that are educational.

The whole text is one line, as fastText predicts lines.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa

from bertdata.curation.fasttext_models import LABEL, load_fasttext, one_line
from bertdata.curation.scores.base import ScoreKind
from bertdata.errors import ConfigError, did_you_mean
from bertdata.io import files


def _parts(argument: str) -> tuple[str, str]:
    """Return the file and the label of FILE:LABEL."""
    path, colon, label = argument.rpartition(":")
    if not (path and colon and label):
        raise ConfigError(
            f"--score fasttext:{argument} names no file and label; expected as quality=fasttext:model.bin:good"
        )
    return path, label.removeprefix(LABEL)


def _identity(argument: str) -> list[Any]:
    path, label = _parts(argument)
    labels = [get_label.removeprefix(LABEL) for get_label in load_fasttext(path, "--score").get_labels()]
    if label not in labels:
        raise ConfigError(
            f"--score fasttext:{argument}: the model has no label {label!r}{did_you_mean(label, labels)}; its labels "
            f"are {', '.join(labels[:20])}{' ...' if len(labels) > 20 else ''}"
        )
    return [label, files.sha256(path)]


def _load(argument: str) -> Callable[[pa.StringArray], pa.DoubleArray]:
    path, label = _parts(argument)
    return partial(_probabilities, load_fasttext(path, "--score"), LABEL + label)


def _probabilities(model: Any, label: str, texts: pa.StringArray) -> pa.DoubleArray:
    """Return the probability of a label for each text, from 0 to 1; 0 where the model says nothing of a text.

    fastText adds 1e-5 to a probability before it takes the logarithm, so it may be a little over 1: that is 1.
    """
    probabilities = []
    for text in texts.to_pylist():
        predictions = {name: share for share, name in model.f.predict(one_line(text), -1, -1.0, "strict")}
        probabilities.append(min(1.0, predictions.get(label, 0.0)))
    return pa.array(probabilities, pa.float64())


FASTTEXT = ScoreKind(
    help="probability of a label by a model of fastText (.bin or .ftz)",
    form="FILE:LABEL",
    identity=_identity,
    load=_load,
)
