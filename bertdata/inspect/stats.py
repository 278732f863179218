"""`bertdata stats`: figures of a build, measured from its shards, or of a vocabulary on texts.

Batches are read one after another from the memory map, so memory does not grow with the build.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.corpus import summary
from bertdata.io import compression
from bertdata.io.console import Row
from bertdata.io.decoding import decode_utf8
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards import Shards
from bertdata.shards.packed import unpacked, word_starts
from bertdata.tokenizers.base import Tokenizer

_CHUNK = 4 << 20
_BINS = 16
_BAR = 40


@dataclass(frozen=True)
class Figures:
    """Figures of one split. `tokens` counts all ids of the rows, `ordinary_tokens` those that are not [CLS] or [SEP].

    A packed row holds several examples; max_seq_length is that of rows. lengths[n] is the number of rows of n tokens.
    Of the predictions, `masked` became [MASK] and `kept` stayed as they were; both are None under dynamic masking,
    where `predictions` are those of epoch 0. labels[i] is the number of examples with pair label i, empty where the
    objective has none.
    """

    rows: int
    examples: int
    tokens: int
    ordinary_tokens: int
    unknown_tokens: int
    max_seq_length: int
    lengths: tuple[int, ...]
    labels: tuple[int, ...]
    predictions: int
    masked: int | None
    kept: int | None
    similar_words: bool = False

    @property
    def fill(self) -> float:
        """The share of `max_seq_length` that the rows fill on average."""
        return self.tokens / max(1, self.rows * self.max_seq_length)

    @property
    def unknown_share(self) -> float:
        """The share of [UNK] among the ordinary tokens."""
        return self.unknown_tokens / max(1, self.ordinary_tokens)

    @property
    def mask_rate(self) -> float:
        """The realised share of the ordinary tokens that are predicted."""
        return self.predictions / max(1, self.ordinary_tokens)


def measure(shards: Shards) -> Figures:
    """Measure every row of one split."""
    info = shards.expect_pretraining()
    tokenizer = shards.tokenizer()
    masker = info.masker(tokenizer, split=shards.split, build=shards.build)
    static = not info.draws_masks
    lengths = [np.zeros(0, np.int64)]
    labels = np.zeros(2 if info.label else 0, np.int64)
    counts: Counter[str] = Counter()
    for rows in shards.table.to_batches():
        lengths.append(np.diff(rows["input_ids"].offsets.to_numpy()))
        batch = unpacked(rows)
        ids, offsets = batch["input_ids"].flatten().to_numpy(), batch["input_ids"].offsets.to_numpy()
        original = ids
        if static:
            targets = batch["labels"].flatten().to_numpy()
            predicted = targets != IGNORE_INDEX
            original = np.where(predicted, targets, ids.astype(np.int64))
            masked, unchanged = (predicted & (ids == other) for other in (info.mask_token_id, original))
            counts.update(predictions=int(predicted.sum()), masked=int(masked.sum()), kept=int(unchanged.sum()))
        else:
            examples, starts = batch["example_id"].to_numpy(), word_starts(batch)
            number, _ = masker.count(ids, offsets - offsets[0], examples, 0, levels=0, word_starts=starts)
            counts.update(predictions=number)
        ordinary = len(ids) - int(masker.special(original).sum())
        unknown = int((original == tokenizer.unk_token_id).sum())
        counts.update(examples=batch.num_rows, tokens=len(ids), ordinary_tokens=ordinary, unknown_tokens=unknown)
        if info.label:
            labels += np.bincount(batch[info.label].to_numpy(), minlength=2)
    return Figures(
        rows=len(shards),
        max_seq_length=info.examples.row_length,
        lengths=tuple(np.bincount(np.concatenate(lengths), minlength=info.examples.row_length + 1).tolist()),
        labels=tuple(labels.tolist()),
        masked=counts["masked"] if static else None,
        kept=counts["kept"] if static else None,
        similar_words=bool(info.masking.similar_words),
        **{name: counts[name] for name in ("examples", "tokens", "ordinary_tokens", "unknown_tokens", "predictions")},
    )


def histogram(lengths: Sequence[int], bins: int = _BINS) -> list[tuple[int, int, int]]:
    """Return (first length, last length, rows) of at most `bins` bins of equal width from 1 to the longest.

    >>> histogram([0, 0, 3, 4, 1], bins=2)
    [(1, 2, 3), (3, 4, 5)]
    """
    longest = len(lengths) - 1
    width = max(1, -(-longest // bins))
    starts = range(1, longest + 1, width)
    return [(at, min(at + width - 1, longest), sum(lengths[at : at + width])) for at in starts]


def figure_rows(split: str, figures: Figures) -> list[Row]:
    """Return the rows of the table of one split, its histogram last."""
    rows = [
        (f"{split}: rows", f"{figures.rows:,}"),
        *([("  examples packed into them", f"{figures.examples:,}")] if figures.examples != figures.rows else []),
        (
            "  tokens",
            f"{figures.tokens:,} ({figures.tokens / max(1, figures.rows):.1f} a row, "
            f"{figures.fill:.1%} of {figures.max_seq_length})",
        ),
        ("  [UNK]", f"{figures.unknown_tokens:,} of {figures.ordinary_tokens:,} ({figures.unknown_share:.3%})"),
        ("  realised mask rate", mask_text(figures)),
    ]
    if figures.labels:
        rows.append(("  pair labels", ", ".join(f"{i}: {number:,}" for i, number in enumerate(figures.labels))))
    return [*rows, *length_rows(figures.lengths)]


def length_rows(lengths: Sequence[int]) -> list[Row]:
    """Return the rows of a histogram of the tokens in a row, each bin with a bar; `lengths` as in `histogram`."""
    bins = histogram(lengths)
    most = max([1, *(number for *_, number in bins)])
    digits, rows = len(f"{most:,}"), []
    for first, last, number in bins:
        bar = "#" * round(_BAR * number / most) or ("." if number else "")
        rows.append((f"  {first} to {last} tokens", f"{number:>{digits},} {bar}"))
    return rows


def mask_text(figures: Figures) -> str:
    """Return the realised mask rate and, of static masks, the shares of [MASK], random and kept tokens."""
    shares = (figures.masked, figures.kept)
    return summary.mask_text(figures.predictions, figures.ordinary_tokens, *shares, similar=figures.similar_words)


@dataclass(frozen=True)
class VocabularyFigures:
    """Figures of a vocabulary on texts. Words are those of its pre-tokenizer, where punctuation marks are words.

    `bytes` are UTF-8 bytes of the texts, spaces and line ends included; an unknown word has an [UNK].
    """

    bytes: int
    words: int
    tokens: int
    single_token_words: int
    unknown_words: int

    @property
    def tokens_per_word(self) -> float:
        """Tokens for each word; the least is 1."""
        return self.tokens / max(1, self.words)

    @property
    def single_token_share(self) -> float:
        """The share of the words that are one token."""
        return self.single_token_words / max(1, self.words)

    @property
    def unknown_share(self) -> float:
        """The share of the words that are [UNK]."""
        return self.unknown_words / max(1, self.words)

    @property
    def bytes_per_token(self) -> float:
        """Bytes of text for each token."""
        return self.bytes / max(1, self.tokens)


def measure_vocabulary(tokenizer: Tokenizer, paths: Sequence[str]) -> VocabularyFigures:
    """Measure a vocabulary on text files; raises InputError, with the offset, where a file is not UTF-8."""
    counts: Counter[str] = Counter()
    for path in paths:
        for text, taken in _chunks(path):
            encoded, starts = tokenizer.encode_batch_with_words(pa.array([text])).columns
            ids: NDArray[np.unsignedinteger] = encoded.flatten().to_numpy()
            begins = starts.flatten().to_numpy(zero_copy_only=False)
            last = np.append(begins[1:], True)
            unknown = ids == tokenizer.unk_token_id
            unknown_words = len(np.unique(np.cumsum(begins)[unknown]))
            counts.update(bytes=taken, words=int(begins.sum()), tokens=len(ids), unknown_words=unknown_words)
            counts.update(single_token_words=int((begins & last & ~unknown).sum()))
    return VocabularyFigures(**{field.name: counts[field.name] for field in fields(VocabularyFigures)})


def _chunks(path: str) -> Iterator[tuple[str, int]]:
    """Yield the text of a file in parts, with the bytes of each; each but the first begins with white space."""
    pending, offset = [b""], 0
    with compression.open_decompressed(path) as stream:
        while data := stream.read(_CHUNK):
            cut = max(data.rfind(space) for space in (b"\n", b" "))
            if cut >= 0:
                raw = b"".join([*pending, data[:cut]])
                yield decode_utf8(raw, path, offset, hint="expected plain text"), len(raw)
                offset += len(raw)
                pending = []
            pending.append(data[max(cut, 0) :])
    raw = b"".join(pending)
    yield decode_utf8(raw, path, offset, hint="expected plain text"), len(raw)


def vocabulary_rows(tokenizer: Tokenizer, figures: VocabularyFigures) -> list[Row]:
    """Return the rows of the table on a vocabulary."""
    return [
        ("vocabulary", f"{tokenizer.vocab_size:,} tokens"),
        ("text", f"{figures.bytes:,} bytes"),
        ("words", f"{figures.words:,}, punctuation marks among them"),
        ("tokens", f"{figures.tokens:,}"),
        ("tokens per word", f"{figures.tokens_per_word:.3f}"),
        ("words of one token", f"{figures.single_token_share:.2%}"),
        ("words that are [UNK]", f"{figures.unknown_share:.4%} ({figures.unknown_words:,})"),
        ("bytes per token", f"{figures.bytes_per_token:.3f}"),
    ]
