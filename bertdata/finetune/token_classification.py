"""Labels for words (BERT section 5.3, CoNLL-2003): a word's label stands at its first piece, -100 everywhere else.

Words are cut to pieces one by one, as `transformers` does by `is_split_into_words=True`. A word of which the tokenizer
leaves nothing has no piece and no label; such words, and what is over the length, are counted. What this module does
not do: reading files, naming labels (`labels`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertdata.errors import ConfigError
from bertdata.finetune.layout import Encoded, Ints, Segments, join_segments
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.tokenizers.wordpiece import WordPieceTokenizer


def encode_token_classification(
    tokenizer: WordPieceTokenizer,
    sentences: Sequence[Sequence[str]],
    labels: Sequence[Sequence[int]] | None = None,
    *,
    max_seq_length: int = 128,
) -> Encoded:
    """Encode sentences of words to `input_ids`, `token_type_ids` and `labels`.

    labels: the id of each word's label; without them all are -100. Counts examples, words, tokens (special ones
    included), words without a piece, and of truncation the examples it cut, the tokens that went and the words whose
    first piece, and so their label, went. Raises ConfigError where a sentence has not as many labels as words, and
    InputError for a word that has no UTF-8 form.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS
    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "in", "lon", "##don"])
    >>> encoded = encode_token_classification(tokenizer, [["In", "London"]], [[0, 1]])
    >>> encoded.columns["input_ids"].to_pylist(), encoded.columns["labels"].to_pylist()
    ([[2, 5, 6, 7, 3]], [[-100, 0, 1, -100, -100]])
    """
    if max_seq_length < 3:
        raise ConfigError(f"max_seq_length is {max_seq_length}; expected at least 3, for [CLS], a token and [SEP]")
    numbers = np.array([len(words) for words in sentences], np.int64)
    if labels is not None and (len(labels) != len(sentences) or (numbers != [len(one) for one in labels]).any()):
        raise ConfigError("there are not as many labels as words in every sentence; expected one for each word")
    pieces = Segments.of(tokenizer.encode_batch([word for words in sentences for word in words]))
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(pieces.lengths)])
    borders = np.concatenate([np.zeros(1, np.int64), np.cumsum(numbers)])
    starts, lengths = ends[borders[:-1]], np.diff(ends[borders])
    kept = np.minimum(lengths, max_seq_length - 2)
    rows = join_segments(
        Segments(pieces.ids, starts, kept), cls_token_id=tokenizer.cls_token_id, sep_token_id=tokenizer.sep_token_id
    )
    sentence = np.repeat(np.arange(len(sentences)), numbers)
    place = pieces.starts - starts[sentence]
    empty = pieces.lengths == 0
    lost = ~empty & (place >= kept[sentence])
    targets = np.full(len(rows.input_ids), IGNORE_INDEX, np.int32)
    if labels is not None:
        there = ~empty & ~lost
        flat: Ints = np.array([label for one in labels for label in one], np.int64)
        targets[(rows.offsets[:-1][sentence] + 1 + place)[there]] = flat[there]
    counts = {
        "examples": len(sentences),
        "words": int(numbers.sum()),
        "tokens": len(rows.input_ids),
        "words_without_pieces": int(empty.sum()),
        "truncated_examples": int((kept < lengths).sum()),
        "truncated_tokens": int((lengths - kept).sum()),
        "truncated_words": int(lost.sum()),
        "unlabelled_examples": len(sentences) if labels is None else 0,
    }
    return Encoded(rows.columns() | {"labels": rows.lists(targets)}, counts)
