"""Word counts of texts, the input of the vocabulary trainer.

Words are exactly what BERT's normaliser and pre-tokenizer give. Distinct chunks between spaces are counted first and
each is normalised once (`counter.py`), so the cost is that of finding them. No word is left out here: pruning comes
after the counts of all texts are merged (`training.counts.prune_counts`).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bertdata.errors import InputError
from bertdata.text_arrays import Texts, arrays_of, as_strings, check_utf8
from bertdata.tokenizers.training.counts import SCHEMA, merge_counts
from bertdata.tokenizers.wordpiece.normalizer import Normalizer


def count_words(
    texts: Texts,
    *,
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
) -> pa.Table:
    """Return the words of `texts` and how often each occurs: word (string), count (int64), sorted by word.

    `texts` is a list of strings or an Arrow string array, sliced or chunked. Literal special tokens are text. The GIL
    is released, and memory is that of the table and at most 130 MB. Of a word of over 65,536 characters these are
    counted: it is [UNK] to BERT, and no vocabulary is trained from it. Raises ConfigError and InputError as
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
