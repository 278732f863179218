"""The columns of shards, each said once: its name, what has a value of it, where it goes in a batch, what it means.

Writers, readers, packing, collators, cards and `--keep` go by this table. Types depend on the vocabulary and the number
of sources; `PretrainingInfo.typed_columns` says which columns some shards have, with the types of values. A column
more is an entry here, a line there, and the code that makes its values.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import pyarrow as pa


class Of(Enum):
    """What has one value of a column. In packed rows what an example has one of is a list."""

    TOKEN = "token"
    EXAMPLE = "example"
    BORDER = "border"


class Into(Enum):
    """How a column gets into a batch: lists that are padded, numbers, or not by itself (a loader reads it)."""

    LISTS = "lists"
    NUMBERS = "numbers"
    NOT = "not"


@dataclass(frozen=True)
class Column:
    """A column of rows; meaning: as a dataset card says it, after its name.

    >>> COLUMNS["source"].field(pa.uint8(), packed=False), COLUMNS["source"].field(pa.uint8(), packed=True)
    (pyarrow.Field<source: uint8>, pyarrow.Field<source: list<item: uint8>>)
    """

    name: str
    of: Of
    meaning: str
    into: Into = Into.NOT

    def field(self, value: pa.DataType, packed: bool) -> pa.Field:
        """Return the field of a schema, given the type of one value and whether a row holds several examples."""
        return pa.field(self.name, value if self.of is Of.EXAMPLE and not packed else pa.list_(value))


INPUT_IDS = "input_ids"
TOKEN_TYPE_IDS = "token_type_ids"
WORD_STARTS = "word_starts"
EXAMPLE_ID = "example_id"
SOURCE = "source"
LABELS = "labels"
MASK_RATE = "mask_rate"
CU_SEQLENS = "cu_seqlens"

COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        Column(INPUT_IDS, Of.TOKEN, "the ids of the tokens, an unpadded list", Into.LISTS),
        Column(TOKEN_TYPE_IDS, Of.TOKEN, "the token types, an unpadded list", Into.LISTS),
        Column(WORD_STARTS, Of.TOKEN, "where words begin, and at special tokens; where an id alone does not tell"),
        Column(EXAMPLE_ID, Of.EXAMPLE, "what dynamic masks are drawn by"),
        Column(SOURCE, Of.EXAMPLE, "the number of the source of the first token"),
        Column(LABELS, Of.TOKEN, "the id to predict, -100 where nothing is predicted", Into.LISTS),
        Column(MASK_RATE, Of.EXAMPLE, "the rate that a row is masked with"),
        Column(CU_SEQLENS, Of.BORDER, "the borders of the examples in a packed row"),
    )
}
"""The columns whose names are always the same, by name."""
OF_TOKENS = tuple(name for name, column in COLUMNS.items() if column.of is Of.TOKEN)
"""The columns with a value for each token; the others, but the borders, have one for each example."""
OF_BATCHES = ("attention_mask", "position_ids", "epoch", "level", "mask_rates", "loss_weights", "maskable")
"""The names that batches have beside those of columns."""


def label_column(name: str, labels: tuple[str, ...] = ()) -> Column:
    """Return the column of an objective's label: the number of one of its names for each example.

    >>> label_column("next_sentence_label", ("IsNext", "NotNext")).meaning
    'of a pair: 0 IsNext, 1 NotNext'
    """
    names = ", ".join(f"{number} {label}" for number, label in enumerate(labels))
    return Column(name, Of.EXAMPLE, f"of a pair: {names}" if names else "of a pair", Into.NUMBERS)


def carried_column(name: str) -> Column:
    """Return the column of a document's value that its rows carry (`--keep`)."""
    return Column(name, Of.EXAMPLE, "of the document of the first token")
