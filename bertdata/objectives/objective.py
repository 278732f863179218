"""`Objective`: which tokens of the documents make a row, and what other packages have to know of these rows.

Special tokens are added by `rows`, masks by `bertdata.masking`.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import key
from bertdata.errors import ConfigError
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate

_COLUMNS = {
    "spans": ("int64", 2),
    "types": ("int8", 1),
    "offsets": ("int64", 1),
    "labels": ("int8", 1),
    "ids": ("int64", 1),
}
"""The dtype and the number of dimensions of each array of a `Plan`."""


@dataclass(frozen=True)
class Objective(ABC):
    """A pretraining objective; a subclass says how its rows are planned.

    name, help: the value of `--objective`, and its help.
    label: the column of a row's label, named as the argument of models; None without one. label_names and
    label_meanings: what its values 0, 1, ... are called and what they mean.
    segments: the fewest and the most segments of a row; None as the most: no limit. token_types: 2 where those after
    the first, which make a pair with it, are of the type of second texts.
    by_sentences: whether rows depend on where sentences end.
    min_documents: how many documents a corpus must have; sentence_pairs: whether one of them must have two sentences.
    settings: the fields of `ExamplesConfig` that this objective reads and some other does not; a build refuses a flag
    of another objective's.
    revision: raise it when `plan` gives other rows, so that shards of this objective are written again.

    Raises ConfigError for an objective without a name.
    """

    name: str = ""
    help: str = ""
    label: str | None = None
    label_names: tuple[str, ...] = ()
    label_meanings: tuple[str, ...] = ()
    segments: tuple[int, int | None] = (1, 1)
    token_types: int = 1
    by_sentences: bool = True
    min_documents: int = 0
    sentence_pairs: bool = False
    settings: tuple[str, ...] = ()
    revision: int = 1

    def __post_init__(self) -> None:
        if not self.name:
            raise self.error("has no name; give it the `name` by which it is registered")

    def error(self, problem: str) -> ConfigError:
        """Return an error that names the class of this objective and its file."""
        module = sys.modules.get(type(self).__module__)
        return ConfigError(f"the objective {type(self).__qualname__} {problem}", path=getattr(module, "__file__", None))

    @abstractmethod
    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy (0 to dupe_factor - 1) of a block.

        A block may be empty. A row has at most `config.max_seq_length` tokens with the special ones: it has room for
        `template.room(config.max_seq_length, pair=...)` tokens of text, and for one less with each further border of
        two documents (`template.separator`). No span is empty, and none begins inside a word (`block.word_start`)
        unless the objective cuts words by its definition. Tokens that are in no row are counted. The ids are unique
        within a shard and not negative. Every draw is keyed by the document and a number in it, so a document's rows do
        not depend on the other documents.
        """

    def key(self, config: ExamplesConfig, purpose: str) -> int:
        """Return the key of the draws for one purpose (see `bertdata.counter_rng`)."""
        return key(config.seed, f"{self.name} {purpose}")

    def broken_rules(
        self,
        borders: NDArray[np.bool_],
        offsets: Ints,
        token_type_ids: NDArray[np.integer] | None,
        template: RowTemplate,
    ) -> Iterator[tuple[str, Ints]]:
        """Yield each rule of the rows' layout and the numbers of the rows that break it; for `bertdata verify`.

        Row i is at offsets[i] to offsets[i + 1]; borders: True at the first special token between two segments, bool
        (T,); token_type_ids: (T,), None where the template has none.
        """
        at = np.flatnonzero(borders)
        rows = np.searchsorted(offsets, at, side="right") - 1
        segment_counts = np.bincount(rows, minlength=len(offsets) - 1) + 1
        fewest, most = self.segments
        if most is None:
            wrong, number = segment_counts < fewest, f"at least {fewest}"
        else:
            wrong, number = (
                (segment_counts < fewest) | (segment_counts > most),
                f"{fewest}" if fewest == most else f"{fewest} or {most}",
            )
        yield f"there are not {number} segments", np.flatnonzero(wrong)
        if token_type_ids is None:
            return
        types = np.zeros(len(token_type_ids), np.uint8)
        if self.token_types == 2:
            first = np.flatnonzero(np.diff(rows, prepend=-1) > 0)
            begin_of_b = np.full(len(offsets) - 1, len(types), np.int64)
            begin_of_b[rows[first]] = at[first] + len(template.between)
            in_b = np.arange(len(types)) >= np.repeat(begin_of_b, np.diff(offsets))
            types[in_b] = template.second_type
        if template.last_type is not None and template.suffix:
            types[offsets[1:] - 1] = template.last_type
        strays = np.flatnonzero(token_type_ids != types)
        yield (
            "token_type_ids do not follow the separators",
            np.unique(np.searchsorted(offsets, strays, side="right") - 1),
        )


def find_objective(name: str) -> Objective:
    """Return the objective of a name; raises ConfigError, which lists the known names, for an unknown one.

    >>> find_objective("sop").label, find_objective("full-sentences").label
    ('sentence_order_label', None)
    """
    objective: Objective = OBJECTIVES[name]
    return objective


def plan_examples(block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
    """Return the examples of one copy (0 to dupe_factor - 1) of a block, for rows of a template.

    Raises ConfigError, which names the class of the objective and its file, for arrays of another dtype or shape.
    """
    objective = find_objective(config.objective)
    plan = objective.plan(block, config, copy, template)
    for name, (dtype, dimensions) in _COLUMNS.items():
        array = np.asarray(getattr(plan, name))
        if str(array.dtype) != dtype or array.ndim != dimensions:
            raise objective.error(
                f"plans {name} that are {array.dtype} in {array.ndim} dimensions; expected {dtype} in {dimensions}, as "
                "`Plan` says"
            )
    return plan
