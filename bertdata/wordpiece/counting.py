"""Word counts of texts, the input of the vocabulary trainer.

Words are exactly what BERT's normaliser and pre-tokenizer give. Distinct chunks between spaces are counted first and
each is normalised once, so the cost is that of finding them. Nothing here trains or tokenizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.wordpiece.chunks import Texts, as_strings, split_rows, work_units
from bertdata.wordpiece.normalizer import Normalizer

SCHEMA = pa.schema([pa.field("word", pa.string(), nullable=False), pa.field("count", pa.int64(), nullable=False)])


def count_words(
    texts: Texts,
    *,
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
) -> pa.Table:
    """Return the words of `texts` and how often each occurs: word (string), count (int64), sorted by word.

    `texts` is a list of strings or an Arrow string array, sliced or chunked. Literal special tokens are text. Raises
    ConfigError and InputError as `WordPieceTokenizer.encode_batch` does.

    >>> count_words(["To be, or not to be"]).to_pydict()
    {'word': [',', 'be', 'not', 'or', 'to'], 'count': [1, 2, 1, 1, 2]}
    """
    normalizer = Normalizer(do_lower_case, strip_accents, tokenize_chinese_chars)
    chunk_counts: dict[str, int] = {}
    for first_row, rows in work_units(as_strings(texts)):
        chunks = split_rows(rows, first_row)
        counts = np.bincount(chunks.codes, minlength=len(chunks.distinct)).tolist()
        for chunk, count in zip(chunks.distinct, counts, strict=True):
            chunk_counts[chunk] = chunk_counts.get(chunk, 0) + count
    word_counts: dict[str, int] = {}
    for chunk, count in chunk_counts.items():
        for word in normalizer.words(chunk):
            word_counts[word] = word_counts.get(word, 0) + count
    return _table(word_counts)


def _table(word_counts: Mapping[str, int]) -> pa.Table:
    words = sorted(word_counts)
    return pa.table([pa.array(words, pa.string()), pa.array([word_counts[word] for word in words], pa.int64())], SCHEMA)


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
    large = SCHEMA.set(0, SCHEMA.field("word").with_type(pa.large_string()))
    whole = pa.concat_tables([table.select(["word", "count"]).cast(large) for table in found])
    summed = whole.group_by("word").aggregate([("count", "sum")]).sort_by("word")
    return pa.table([summed["word"], summed["count_sum"]], large).cast(SCHEMA)
