"""Sentences by parameters that the language of each document chooses, and by default ones in other languages.

Documents in a language of `MARKED`, as Japanese, are also cut at the marks of its script. What is loaded and saved, and
the fingerprint of a token file, are those of the languages that its documents are in (`SentencesByLanguage.for_codes`).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from bertdata.io import files
from bertdata.sentences.languages import MARKED, base_code, language_of
from bertdata.sentences.parameters import save_parameters
from bertdata.sentences.segmenter import SentenceSegmenter
from bertdata.sentences.settings import SentencesConfig
from bertdata.text_arrays import Texts, as_array

DEFAULT = "default"
"""What counts call the parameters of documents in a language that has none of its own."""


class SentencesByLanguage:
    """Segmenters by the code of a language, and a default one; those of a language that would do the same are left out.

    `served` are the languages that were given parameters, that of the default ones, and those cut at marks.

    >>> english = SentenceSegmenter.from_pretrained()
    >>> marked = SentenceSegmenter(english.parameters, sentence_marks=True)
    >>> texts = ["It rained. We left.", "雨。雪。"]
    >>> SentencesByLanguage(english, {"ja": marked, "en": english}).segment_batch(texts, ["en", "ja"]).to_pylist()
    [['It rained.', 'We left.'], ['雨。', '雪。']]
    """

    def __init__(self, default: SentenceSegmenter, by_code: Mapping[str, SentenceSegmenter]) -> None:
        self.default = default
        self.by_code = {code: segmenter for code, segmenter in sorted(by_code.items()) if segmenter != default}
        self.served = frozenset({*by_code, language_of(default.parameters)})

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256, 64 hexadecimal digits, of all segmenters and their languages."""
        ours = [[code, segmenter.fingerprint] for code, segmenter in self.by_code.items()]
        return hashlib.sha256(f"by language {self.default.fingerprint} {json.dumps(ours)}".encode()).hexdigest()

    def for_codes(self, codes: Iterable[str]) -> SentencesByLanguage | SentenceSegmenter:
        """Return what cuts documents in some languages, the default segmenter where none has one of its own."""
        chosen = {code: self.by_code[code] for code in map(base_code, codes) if code in self.by_code}
        return SentencesByLanguage(self.default, chosen) if chosen else self.default

    def code_of(self, language: str | None) -> str:
        """Return the code of the segmenter of a document by its language, `DEFAULT` of the others."""
        code = base_code(language or "")
        return code if code in self.by_code else DEFAULT

    def segment_batch(
        self,
        texts: Texts,
        languages: Sequence[str | None],
        *,
        keep_whitespace: bool = False,
        compiled: bool = True,
    ) -> pa.ListArray:
        """Return one row of sentences for each text, as that segmenter's `segment_batch` returns it.

        languages: the code of each text, None or "" where it is not known.
        """
        column = as_array(texts)
        codes = [self.code_of(language) for language in languages]
        rows_of: dict[str, list[int]] = {}
        for row, code in enumerate(codes):
            rows_of.setdefault(code, []).append(row)
        options = {"keep_whitespace": keep_whitespace, "compiled": compiled}
        if len(rows_of) <= 1:
            return self._of(codes[0] if codes else DEFAULT).segment_batch(column, **options)
        segmented = [
            self._of(code).segment_batch(column.take(pa.array(rows)), **options) for code, rows in rows_of.items()
        ]
        order = np.argsort(np.concatenate([np.array(rows) for rows in rows_of.values()]))
        return pa.concat_arrays(segmented).take(pa.array(order))

    def _of(self, code: str) -> SentenceSegmenter:
        return self.default if code == DEFAULT else self.by_code[code]

    def save_pretrained(self, directory: str) -> None:
        """Write the default parameters, and those of each language in a folder below, which its code names."""
        self.default.save_pretrained(directory)
        for code, segmenter in self.by_code.items():
            save_parameters(segmenter.parameters, files.join(directory, code))

    @property
    def saved(self) -> tuple[tuple[str, bool], ...]:
        """The code and whether marks end sentences of each saved segmenter, for `load_saved`."""
        return tuple((code, segmenter.sentence_marks) for code, segmenter in self.by_code.items())


Segmenter = SentenceSegmenter | SentencesByLanguage


def segmenter_of(config: SentencesConfig) -> Segmenter:
    """Return the segmenter of a build; raises ConfigError, with the known names, for unknown parameters."""
    options = {"attach_citations": config.attach_citations}
    default = SentenceSegmenter.from_pretrained(config.default, sentence_marks=config.sentence_marks, **options)
    if not config.goes_by_language:
        return default
    by_code: dict[str, SentenceSegmenter] = {}
    by_language = config.by_language
    for code in {*by_language, *MARKED}:
        marks = config.sentence_marks or code in MARKED
        if code in by_language:
            by_code[code] = SentenceSegmenter.from_pretrained(by_language[code], sentence_marks=marks, **options)
        else:
            by_code[code] = SentenceSegmenter(default.parameters, sentence_marks=marks, **options)
    return SentencesByLanguage(default, by_code)


def load_saved(
    directory: str, attach_citations: bool, sentence_marks: bool, saved: Sequence[tuple[str, bool]]
) -> Segmenter:
    """Return what was saved in a directory by `save_pretrained`, with its options."""
    options = {"attach_citations": attach_citations}
    default = SentenceSegmenter.from_pretrained(directory, sentence_marks=sentence_marks, **options)
    if not saved:
        return default
    return SentencesByLanguage(
        default,
        {
            code: SentenceSegmenter.from_pretrained(files.join(directory, code), sentence_marks=marks, **options)
            for code, marks in saved
        },
    )


def default_of(segmenter: Segmenter) -> SentenceSegmenter:
    """Return what cuts documents in a language without parameters of its own."""
    return segmenter.default if isinstance(segmenter, SentencesByLanguage) else segmenter


def not_served(segmenter: Segmenter, documents: Mapping[str, int]) -> dict[str, int]:
    """Return the documents by language that the default parameters cut for want of others, most first.

    >>> english = SentenceSegmenter.from_pretrained()
    >>> not_served(SentencesByLanguage(english, {"en": english}), {"en": 9, "sv": 1, "fi": 2})
    {'fi': 2, 'sv': 1}
    """
    if not isinstance(segmenter, SentencesByLanguage):
        return {}
    others: Counter[str] = Counter()
    for code, number in documents.items():
        if base_code(code) not in segmenter.served:
            others[code] += number
    return dict(sorted(others.items(), key=lambda item: (-item[1], item[0])))
