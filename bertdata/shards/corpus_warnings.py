"""What looks wrong with a corpus: figures that the stages count, thresholds for them, and what to do.

`docs/warnings.md` lists the thresholds and why they are where they are. A warning stops nothing. What the token store
counts only for this is in the details of its records, where `count_signs` puts it. It is counted in each text by
itself, so the figures of a corpus are the same however it is cut into parts.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.engine.parts import Counters, PartMetadata, add_counts
from bertdata.sources.names import input_count
from bertdata.tokenizers.base import Tokenizer

MOST_UNKNOWN = 0.01
LEAST_FUNCTION_WORDS = 0.10
MOST_MARKUP = 0.005
MOST_BROKEN_CHARACTERS = 0.0005
MOST_UNENDED = 0.5
LEAST_SENTENCE, MOST_SENTENCE = 5.0, 80.0
LEAST_DOCUMENT = 24.0
MOST_DROPPED = 0.5
MOST_COPIES = 0.2
MOST_OF_ONE = 0.4
LEAST_VOCABULARY = 0.1
FEWEST_DOCUMENTS = 20
"""Of fewer documents no share of documents is looked at."""
SAMPLE = 256
"""Texts that a record keeps a hash of: those whose hashes are smallest, so that those of all parts are known."""

_EXPECTED_DROPS = ("redirect", "not an article", "disambiguation", "stub", "duplicate", "content model", "filter ")
_FUNCTION_WORDS = frozenset(
    "the of and to in a is that for it as was with be by on not he i this are or his from at which but have an had "  # noqa: SIM905
    "they you were their one all we can her has there been if more when will would who so no".split()
)
_ENDS = (
    ".",
    "!",
    "?",
    "…",
    "。",
    "！",
    "？",
    "।",
    "؟",
    "۔",
    "።",
    ":",
    ";",
    '"',
    "'",
    "”",
    "’",
    "»",
    ")",
    "]",
    "」",
    "』",
)
_BROKEN = ("\ufffd".encode(), "â€".encode(), b"\xc3\x83\xc2")
"""U+FFFD, and what UTF-8 becomes when it is read as Windows-1252 or Latin-1: an Ã in front of what was a byte."""
_START = 512
LOOKED_AT, STRIDE = 1 << 13, 1 << 16
"""Markup and broken characters are counted in the first bytes of each stretch of so many of a text."""

SignTables = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""By token id, whether it is an English function word, and whether a sentence may end in it (also [UNK])."""


@dataclass(frozen=True)
class Warned:
    """One warning: what was found, the figure and the threshold it passed, and what to do."""

    about: str
    figure: float
    threshold: float
    found: str
    remedy: str


def sign_tables(tokenizer: Tokenizer) -> SignTables:
    """Return the tables of a vocabulary."""
    words = {*_FUNCTION_WORDS, *(word.capitalize() for word in _FUNCTION_WORDS)}
    texts = tokenizer.token_texts
    ends = np.array([one in _ENDS for one in texts])
    ends[tokenizer.unk_token_id] = True
    return np.array([one in words for one in texts]) & ~tokenizer.continuation, ends


def count_signs(
    texts: pa.ChunkedArray,
    tokens: NDArray[np.integer],
    sentence_ends: NDArray[np.integer],
    document_lengths: NDArray[np.integer],
    tables: SignTables,
    tally: Counters,
) -> None:
    """Note what only warnings read, of documents, their tokens and where their sentences end in these.

    It is added to `signs`, `sample` and `longest_document` in the details of the tally.
    """
    function_words, ends = tables
    signs: Counter[str] = Counter(tally.details.get("signs", {}))
    signs["english_function_words"] += int(np.count_nonzero(function_words[tokens]))
    signs["sentences_without_end"] += len(sentence_ends) - int(np.count_nonzero(ends[tokens[sentence_ends - 1]]))
    sample: list[list[int]] = tally.details.get("sample", [])
    for chunk in texts.chunks:
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = memoryview(chunk.buffers()[2] or b"")
        for begin, end in pairwise(offsets.tolist()):
            sample.append([zlib.crc32(data[begin : min(end, begin + _START)]), end - begin])
            for start in range(begin, end, STRIDE):
                piece = bytes(data[start : min(end, start + LOOKED_AT)])
                signs["bytes_looked_at"] += len(piece)
                signs["closing_tags"] += piece.count(b"</")
                signs["broken_characters"] += sum(piece.count(one) for one in _BROKEN)
    longest = int(document_lengths.max()) if len(document_lengths) else 0
    tally.details |= {
        "signs": dict(signs),
        "sample": sorted(sample)[:SAMPLE],
        "longest_document": max(longest, tally.details.get("longest_document", 0)),
    }


def share_of_copies(samples: Iterable[Sequence[Sequence[int]]]) -> tuple[float, int]:
    """Return the share of documents that begin as another one of the same length does, and of how many it is told.

    Each sample holds the smallest hashes of the documents of a part. The smallest of them all are those of the corpus.

    >>> share_of_copies([[[1, 9], [2, 9]], [[1, 9], [7, 9]]])
    (0.25, 4)
    """
    known = sorted(tuple(one) for sample in samples for one in sample)[:SAMPLE]
    return (1 - len(set(known)) / len(known) if known else 0.0), len(known)


def warnings_of(
    sources: Mapping[str, Any],
    vocabulary: Mapping[str, Any],
    tokens: Sequence[PartMetadata],
    *,
    english: bool = False,
    deduplicated: bool = False,
) -> list[dict[str, Any]]:
    """Return the warnings of a build, as the manifest has them; `english`: sentences are cut by English parameters."""
    found = [*_of_sources(sources), *_of_vocabulary(vocabulary), *_of_tokens(tokens, vocabulary, english, deduplicated)]
    return [asdict(one) for one in found]


def _of_sources(sources: Mapping[str, Any]) -> Iterator[Warned]:
    for name, source in sources.items():
        expected = sum(n for reason, n in source["drops"].items() if any(one in reason for one in _EXPECTED_DROPS))
        came = input_count(source["counts"]) - expected
        lost = sum(source["drops"].values()) - expected
        if came >= FEWEST_DOCUMENTS and lost > MOST_DROPPED * came:
            most = max(source["drops"], key=lambda reason: source["drops"][reason])
            yield Warned(
                "dropped documents",
                lost / came,
                MOST_DROPPED,
                f"{lost / came:.1%} of the source {name} was dropped, most of it as: {most}",
                "look at the files that the manifest names under `broken`, and at --text-column",
            )


def _of_vocabulary(vocabulary: Mapping[str, Any]) -> Iterator[Warned]:
    pieces, asked = vocabulary.get("pieces", 0), vocabulary.get("asked", 0)
    if asked and pieces < LEAST_VOCABULARY * asked:
        yield Warned(
            "small vocabulary",
            pieces / asked,
            LEAST_VOCABULARY,
            f"the vocabulary has {pieces:,} of the {asked:,} pieces asked for",
            "add text, ask for fewer with --vocab-size, or use --vocab bertdata-30k-uncased for English",
        )


def _of_tokens(
    records: Sequence[PartMetadata], vocabulary: Mapping[str, Any], english: bool, deduplicated: bool
) -> Iterator[Warned]:
    counts = add_counts(record.counts for record in records)
    tokens, documents = counts.get("tokens", 0), counts.get("documents", 0)
    signs = add_counts(record.details["signs"] for record in records if "signs" in record.details)
    if not tokens or not signs:
        return
    unknown = counts["unknown_tokens"] / tokens
    if unknown > MOST_UNKNOWN:
        trained = (
            "raise --limit-alphabet, or train on more text"
            if vocabulary.get("asked")
            else ("train a vocabulary on these texts (leave --vocab out), or give one of their language")
        )
        yield Warned("[UNK]", unknown, MOST_UNKNOWN, f"{unknown:.1%} of the tokens are [UNK]", trained)
    words = signs["english_function_words"] / tokens
    if english and words < LEAST_FUNCTION_WORDS:
        yield Warned(
            "language",
            words,
            LEAST_FUNCTION_WORDS,
            f"only {words:.1%} of the tokens are English function words (the, of, and ...), and sentences are cut by "
            "English parameters",
            "for another language give --sentences nltk:LANGUAGE or a folder from train-sentences",
        )
    looked_at = tokens * signs.get("bytes_looked_at", 0) / max(1, counts["text_bytes"])
    tags = signs.get("closing_tags", 0) / max(1, looked_at)
    if tags > MOST_MARKUP:
        yield Warned(
            "markup",
            tags,
            MOST_MARKUP,
            f"there are {1000 * tags:.1f} closing tags (</...>) for 1,000 tokens: this is HTML or XML, not text",
            "take the text out of the markup first",
        )
    broken = signs.get("broken_characters", 0) / max(1, looked_at)
    if broken > MOST_BROKEN_CHARACTERS:
        yield Warned(
            "broken characters",
            broken,
            MOST_BROKEN_CHARACTERS,
            f"there are {1000 * broken:.1f} characters for 1,000 tokens that were decoded wrongly (U+FFFD, Ã©, â€)",
            "decode the files by the encoding they have, and write them as UTF-8",
        )
    yield from _of_sentences(counts, signs["sentences_without_end"])
    longest = max(record.details.get("longest_document", 0) for record in records)
    if longest > MOST_OF_ONE * tokens and documents > 1:
        yield Warned(
            "one document",
            longest / tokens,
            MOST_OF_ONE,
            f"one document has {longest / tokens:.0%} of all tokens",
            "part it into documents (--split-chapters for books; blank lines in .txt), or add others",
        )
    copies, sampled = share_of_copies([record.details.get("sample", []) for record in records])
    if not deduplicated and sampled >= FEWEST_DOCUMENTS and copies > MOST_COPIES:
        yield Warned(
            "copies",
            copies,
            MOST_COPIES,
            f"about {copies:.0%} of the documents are copies of others",
            "leave them out with --dedup exact, or --dedup near",
        )


def _of_sentences(counts: Mapping[str, int], without_end: int) -> Iterator[Warned]:
    tokens, sentences, documents = (counts[name] for name in ("tokens", "sentences", "documents"))
    unended = without_end / sentences
    if unended > MOST_UNENDED:
        yield Warned(
            "line breaks",
            unended,
            MOST_UNENDED,
            f"{unended:.0%} of the sentences end without a period or the like: lines seem to be broken inside them",
            "join the lines of a paragraph; name books with --books, which joins them; in .txt a line is a sentence",
        )
    mean = tokens / sentences
    if not LEAST_SENTENCE <= mean <= MOST_SENTENCE:
        short = mean < LEAST_SENTENCE
        yield Warned(
            "length of sentences",
            mean,
            LEAST_SENTENCE if short else MOST_SENTENCE,
            f"a sentence has {mean:.1f} tokens in the mean",
            "join what belongs together: in .txt a line is a sentence"
            if short
            else "their ends are not found: give --sentences of this language, or a sentence a line in .txt",
        )
    mean = tokens / documents
    if mean < LEAST_DOCUMENT:
        yield Warned(
            "length of documents",
            mean,
            LEAST_DOCUMENT,
            f"a document has {mean:.1f} tokens in the mean",
            "join what belongs together into documents (in .txt a blank line parts them), or choose --objective "
            "full-sentences, which fills rows over their borders",
        )


@cache
def english_parameters() -> str:
    """Return the fingerprint of the English sentence parameters that come with bertdata."""
    from bertdata.sentences import SentenceSegmenter

    return SentenceSegmenter.from_pretrained("english").parameters.fingerprint


def warning_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Return a block of text on the warnings of a build, of several phases those of the first; nothing without any."""
    one = next(iter(manifest["phases"].values())) if "phases" in manifest else manifest
    found = one.get("warnings", [])
    lines = [f"{len(found)} warning{'s' * (len(found) > 1)} (thresholds: docs/warnings.md)"] if found else []
    for warned in found:
        lines += [f"  {warned['about']}: {warned['found']}", f"    {warned['remedy']}"]
    return lines
