"""PTransforms of Punkt training: counts of ranges of documents, and one set of parameters from all of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import apache_beam as beam

from bertdata.beam.transforms import MakeParts, PartResult
from bertdata.engine.parts import Task
from bertdata.sentences import PunktSettings
from bertdata.sentences.stage import counts_part, parameters_part, parameters_task


class CountSentences(MakeParts):
    """Ranges of documents to Punkt's counts."""

    def __init__(self) -> None:
        super().__init__(counts_part)


class TrainSentences(beam.PTransform):  # type: ignore[misc]
    """All counts, by reference, to one set of parameters."""

    def __init__(self, directory: str, settings: PunktSettings) -> None:
        super().__init__()
        self._directory, self._settings = directory, settings

    def expand(self, counted: Any) -> Any:
        return (
            counted
            | beam.Map(lambda done: (None, done))
            | beam.GroupByKey()
            | beam.Map(_parameters_task, self._directory, self._settings)
            | MakeParts(partial(parameters_part, self._settings))
        )


def _parameters_task(group: tuple[None, Iterable[PartResult]], directory: str, settings: PunktSettings) -> Task:
    return parameters_task(list(group[1]), directory, settings)
