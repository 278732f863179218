"""Word counts of texts, the input of the vocabulary trainer.

Words are exactly what BERT's normaliser and pre-tokenizer give. Distinct chunks between spaces are counted first and
each is normalised once (`counter.py`), so the cost is that of finding them. No word is left out here: pruning comes
after the counts of all texts are merged (`prune_counts`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.errors import ConfigError, InputError
from bertdata.text_arrays import Texts, arrays_of, as_strings, check_utf8
from bertdata.tokenizers.wordpiece.normalizer import Normalizer

SCHEMA = pa.schema([pa.field("word", pa.string(), nullable=False), pa.field("count", pa.int64(), nullable=False)])
LARGE_SCHEMA = SCHEMA.set(0, SCHEMA.field("word").with_type(pa.large_string()))


def count_words(
    texts: Texts,
    *,
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
) -> pa.Table:
    """Return the words of `texts` and how often each occurs: word (string), count (int64), sorted by word.

    `texts` is a list of strings or an Arrow string array, sliced or chunked. Literal special tokens are text. The GIL
    is released, and memory is that of the table and at most 130 MB. Raises ConfigError and InputError as
    `WordPieceTokenizer.encode_batch` does.

    >>> count_words(["To be, or not to be"]).to_pydict()
    {'word': [',', 'be', 'not', 'or', 'to'], 'count': [1, 2, 1, 1, 2]}
    """
    from bertdata.tokenizers.wordpiece.train.counter import WordCounter

    normalizer = Normalizer(do_lower_case, strip_accents, tokenize_chinese_chars)
    try:
        with np.errstate(over="ignore"):  # uncompiled, a hash that wraps around warns
            counter = WordCounter(normalizer)
            for array in arrays_of(texts):
                counter.count(array)
            tables = counter.tables()
    except UnicodeDecodeError:
        check_utf8(as_strings(texts))
        raise InputError("the texts are not UTF-8; build the array from decoded text") from None
    return tables[0].sort_by("word").cast(SCHEMA) if len(tables) == 1 else merge_counts(tables)


def merge_counts(tables: Iterable[pa.Table]) -> pa.Table:
    """Return the sum of tables of word counts, sorted by word; the order of the tables makes no difference.

    Raises ConfigError where a table has other columns than word and count.

    >>> merge_counts([count_words(["a b"]), count_words(["b"])]).to_pydict()
    {'word': ['a', 'b'], 'count': [1, 2]}
    """
    found = list(tables)
    for table in found:
        if sorted(table.column_names) != ["count", "word"]:
            raise ConfigError(f"a table of word counts has the columns word and count, found {table.column_names}")
    if not found:
        return SCHEMA.empty_table()
    whole = pa.concat_tables([table.select(["word", "count"]).cast(LARGE_SCHEMA) for table in found])
    summed = whole.group_by("word").aggregate([("count", "sum")]).sort_by("word")
    return pa.table([summed["word"], summed["count_sum"]], LARGE_SCHEMA).cast(SCHEMA)


def prune_counts(table: pa.Table, max_words: int) -> pa.Table:
    """Return the rows of the most frequent words of a table of word counts, at most `max_words`.

    Words of equal counts are all kept or all dropped, so the result does not depend on how the words were counted.
    Where all words fit, all are kept.

    >>> prune_counts(count_words(["a b a c b a d"]), 3).to_pydict()
    {'word': ['a', 'b'], 'count': [3, 2]}
    """
    if table.num_rows <= max_words:
        return table
    counts = table["count"].to_numpy()
    least = int(np.partition(counts, len(counts) - max_words - 1)[len(counts) - max_words - 1]) + 1
    return table.filter(pc.greater_equal(table["count"], least))
