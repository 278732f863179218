"""Tables of word counts, of whatever a model of vocabularies takes for words: summed and pruned."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.errors import ConfigError

SCHEMA = pa.schema([pa.field("word", pa.string(), nullable=False), pa.field("count", pa.int64(), nullable=False)])
LARGE_SCHEMA = SCHEMA.set(0, SCHEMA.field("word").with_type(pa.large_string()))


def merge_counts(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the sum of tables of word counts, sorted by word; the order of the tables makes no difference.

    Raises ConfigError where a table has other columns than word and count.

    >>> tables = [pa.table({"word": ["a", "b"], "count": [1, 1]}), pa.table({"word": ["b"], "count": [1]})]
    >>> merge_counts(tables).to_pydict()
    {'word': ['a', 'b'], 'count': [1, 2]}
    """
    all_tables = list(tables)
    for table in all_tables:
        if sorted(table.column_names) != ["count", "word"]:
            raise ConfigError(f"a table of word counts has the columns word and count, found {table.column_names}")
    if not all_tables:
        return SCHEMA.empty_table()
    whole = pa.concat_tables([table.select(["word", "count"]).cast(LARGE_SCHEMA) for table in all_tables])
    summed = whole.group_by("word").aggregate([("count", "sum")]).sort_by("word")
    return pa.table([summed["word"], summed["count_sum"]], LARGE_SCHEMA).cast(SCHEMA)


def prune_counts(table: pa.Table, max_words: int) -> pa.Table:
    """Return the rows of the most frequent words of a table of word counts, at most `max_words`.

    Words of equal counts are all kept or all dropped, so the result does not depend on how the words were counted.
    Where all words fit, all are kept.

    >>> prune_counts(pa.table({"word": ["a", "b", "c", "d"], "count": [3, 2, 1, 1]}), 3).to_pydict()
    {'word': ['a', 'b'], 'count': [3, 2]}
    """
    if table.num_rows <= max_words:
        return table
    counts = table["count"].to_numpy()
    least = int(np.partition(counts, len(counts) - max_words - 1)[len(counts) - max_words - 1]) + 1
    return table.filter(pc.greater_equal(table["count"], least))
