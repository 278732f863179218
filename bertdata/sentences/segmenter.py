"""Sentence boundaries by Punkt (Kiss and Strunk 2006), the same as NLTK's with the same parameters.

Much text is segmented by compiled kernels over UTF-8, little by their reference (`classifier`), with the same result.
The option `attach_citations` is not part of Punkt. A blank line ends a sentence.
"""

from __future__ import annotations

import functools
import hashlib
import os
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.kernels.use import Kernels
from bertdata.sentences import marks
from bertdata.sentences.batch import Spans, find_spans, spans_by
from bertdata.sentences.citations import attach_citations
from bertdata.sentences.classifier import BreakClassifier
from bertdata.sentences.compiled_parameters import Tables, build_tables
from bertdata.sentences.parameters import PunktParameters, load_parameters, save_parameters
from bertdata.text_arrays import Texts, as_array, check_text, offsets_of, text_of

ALGORITHM = "punkt-nltk-3.10/3"
KERNELS = Kernels(*(f"bertdata.sentences.punkt_kernel:{name}_breaks" for name in ("find", "join")))
_SHORT = 150
"""Characters of a text by itself from which a call of the kernels takes less time than plain Python."""


class SentenceSegmenter:
    """Splits text into sentences; what it returns depends on the text, the parameters and the two options alone.

    With `attach_citations`, a mark such as `[3]` or `[...]` at the start of a sentence belongs to the one before;
    without it the boundaries are exactly NLTK's. With `sentence_marks`, sentences also end at marks of other scripts
    (see `bertdata.sentences.marks`).

    >>> SentenceSegmenter.from_pretrained().segment("Dr. Brown lives on St. James St. in the U.S. Do you? Yes.")
    ['Dr. Brown lives on St. James St. in the U.S.', 'Do you?', 'Yes.']
    >>> SentenceSegmenter.from_pretrained(attach_citations=True).segment("It rained. [3] We left.")
    ['It rained. [3]', 'We left.']
    """

    def __init__(
        self, parameters: PunktParameters, *, attach_citations: bool = False, sentence_marks: bool = False
    ) -> None:
        self.parameters = parameters
        self.attach_citations = attach_citations
        self.sentence_marks = sentence_marks
        self._classifier = BreakClassifier(parameters)

    @classmethod
    def from_pretrained(
        cls, name: str = "english", *, attach_citations: bool = False, sentence_marks: bool = False
    ) -> SentenceSegmenter:
        """Return a segmenter with the parameters of a shipped name, a directory, or `nltk:LANGUAGE`.

        See `bertdata.sentences.load_parameters`; raises ConfigError for an unknown name and InputError for a damaged
        file.
        """
        return cls(load_parameters(name), attach_citations=attach_citations, sentence_marks=sentence_marks)

    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        """Write the parameters as `from_pretrained` reads them; the option is not among them.

        Raises OutputError where the directory cannot be written.
        """
        save_parameters(self.parameters, files.path_text(directory))

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), self.parameters, **self._options), ()

    @property
    def _options(self) -> dict[str, bool]:
        return {"attach_citations": self.attach_citations, "sentence_marks": self.sentence_marks}

    def __repr__(self) -> str:
        abbreviations = len(self.parameters.abbrev_types)
        marks = ", sentence_marks=True" if self.sentence_marks else ""
        return f"SentenceSegmenter(abbreviations={abbreviations}, attach_citations={self.attach_citations}{marks})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SentenceSegmenter) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256, 64 hexadecimal digits, of the parameters, the revision of the algorithm, and the options."""
        option = " join_references" if self.attach_citations else ""
        option += f" sentence_marks/{marks.REVISION}" if self.sentence_marks else ""
        return hashlib.sha256(f"{ALGORITHM} {self.parameters.fingerprint}{option}".encode()).hexdigest()

    @functools.cached_property
    def _tables(self) -> Tables:
        return build_tables(self.parameters)

    def segment(self, text: str) -> list[str]:
        r"""Return the sentences of a text, stripped of white space, none empty.

        A blank line (two newlines) ends a sentence; a single newline is white space. Raises ConfigError for what is not
        a string and InputError for a lone surrogate, as the tokenizer does.

        >>> SentenceSegmenter.from_pretrained().segment("A title\n\nIt has one\nsentence. It has two.")
        ['A title', 'It has one\nsentence.', 'It has two.']
        """
        return [text[start:stop] for start, stop in self.spans(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the (start, end) offsets, in characters, of what `segment` returns; `spans_batch` counts bytes.

        >>> SentenceSegmenter.from_pretrained().spans("One. Two.")
        [(0, 4), (5, 9)]
        """
        if not isinstance(text, str):
            raise ConfigError(f"expected one string, found {type(text).__name__}; use segment_batch for many")
        if not text.isascii():
            check_text(text, "the text")
        if len(text) < _SHORT or not KERNELS.pay(len(text)):
            return self._spans_of(text)
        data = np.frombuffer(text.encode(), np.uint8)
        spans = self._find_spans(data, np.array([0, len(data)]), compiled=True)
        if not text.isascii():
            from bertdata.sentences.punkt_kernel import count_characters

            count_characters(data, spans.starts, spans.stops)
        return list(zip(spans.starts.tolist(), spans.stops.tolist(), strict=True))

    def _spans_of(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of a text, in characters, in plain Python."""
        spans = self._classifier.spans(text)
        if self.sentence_marks:
            spans = marks.split_at_marks(text, spans)
        return attach_citations(text, spans) if self.attach_citations else spans

    def segment_batch(
        self, texts: Texts, *, keep_whitespace: bool = False, compiled: bool | None = None
    ) -> pa.ListArray:
        r"""Return one row of sentences for each text: list<string> for strings and `string`, else list<large_string>.

        `texts` is what the tokenizer's `encode_batch` takes: a list of strings, or an Arrow array or chunked array of
        strings. With `keep_whitespace` each sentence keeps the white space after it, so that no text is copied; for a
        tokenizer that ignores white space the result is the same. `compiled` changes the speed and never the result:
        True runs compiled kernels, False plain Python; with None a process loads kernels after 1 MiB of text where they
        were compiled before, and compiles them after 32 MiB where not. Raises ConfigError for another
        type, InputError, naming the row, for a null or a lone surrogate, and InputError where the texts of a batch pass
        2 GiB and are not large_string.

        >>> segmenter = SentenceSegmenter.from_pretrained()
        >>> segmenter.segment_batch(["One. Two.", ""]).to_pylist()
        [['One.', 'Two.'], []]
        >>> segmenter.segment_batch([" One. \n\nTwo.", "Three."], keep_whitespace=True).to_pylist()
        [['One. \n\n', 'Two.'], ['Three.']]
        """
        column, data, _, spans = self._find(texts, compiled)
        if keep_whitespace:
            borders = np.append(spans.starts, spans.stops[-1:] if len(spans.stops) else 0)
            return _lists(spans, _slices(column.type, borders, data))
        borders = np.append(np.stack([spans.starts, spans.stops], axis=1), len(data))
        sentences = pa.array(np.arange(0, 2 * len(spans.starts), 2))
        return _lists(spans, _slices(column.type, borders, data).take(sentences))

    def spans_batch(self, texts: Texts) -> pa.ListArray:
        """Return the (start, end) offsets, in bytes of UTF-8, of the sentences of each text; `spans` counts characters.

        The rows are list<struct<start: int64, end: int64>>, offsets counted from the first byte of the text. Takes and
        refuses what `segment_batch` does.

        >>> SentenceSegmenter.from_pretrained().spans_batch(["Été. Two."]).to_pylist()
        [[{'start': 0, 'end': 6}, {'start': 7, 'end': 11}]]
        """
        _, _, offsets, spans = self._find(texts, None)
        base = np.repeat(offsets[:-1], spans.counts)
        ends = [pa.array(spans.starts - base), pa.array(spans.stops - base)]
        return _lists(spans, pa.StructArray.from_arrays(ends, ["start", "end"]))

    def _find(self, texts: Any, compiled: bool | None) -> tuple[Any, Any, Any, Spans]:
        """Return the texts as one array, its bytes and offsets, and the spans of its sentences in the bytes."""
        column = as_array(texts)
        data, offsets = text_of(column), offsets_of(column)
        size = int(offsets[-1] - offsets[0])
        return column, data, offsets, self._find_spans(data, offsets, KERNELS.pay(size, compiled))

    def _find_spans(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], compiled: bool) -> Spans:
        if not compiled:
            return spans_by(self._spans_of, data, offsets)
        spans = find_spans(data, offsets, self._tables, self._classifier.decide)
        if self.sentence_marks:
            spans = marks.split_batch_at_marks(data, spans)
        if not self.attach_citations:
            return spans
        from bertdata.sentences import citations_kernel

        count = citations_kernel.attach_citations(data, self._tables.chars, *spans)
        return spans._replace(starts=spans.starts[:count], stops=spans.stops[:count])


def _slices(kind: pa.DataType, borders: NDArray[np.int64], data: NDArray[np.uint8]) -> pa.Array:
    """Return the texts between borders in the data, without a copy."""
    borders = borders.astype(np.int32 if pa.types.is_string(kind) else np.int64)
    return pa.Array.from_buffers(kind, len(borders) - 1, [None, pa.py_buffer(borders), pa.py_buffer(data)])


def _lists(spans: Spans, values: Any) -> pa.ListArray:
    offsets = pa.array(np.concatenate([[0], np.cumsum(spans.counts)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, values)
