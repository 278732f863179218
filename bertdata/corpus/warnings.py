"""Warnings of a corpus that looks wrong: figures that the stages count, thresholds for them, and what to do.

`docs/warnings.md` explains the thresholds. A warning stops nothing. What the token store counts for warnings alone is
put into the details of its records by `corpus_signs.count_signs`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bertdata.corpus import advice
from bertdata.corpus.advice import Choices
from bertdata.corpus.lost_marks import lost_marks_of
from bertdata.corpus.lost_text import lost_text, removed_text
from bertdata.corpus.statistics import share_of_copies
from bertdata.corpus.warning_texts import TEXTS
from bertdata.curation.filters import BYTES_DROPPED_BY, BYTES_JUDGED, DROPPED_BY, JUDGED
from bertdata.documents import CHANGED
from bertdata.engine.parts import PartMetadata, add_counts
from bertdata.io.console import byte_size
from bertdata.sentences.languages import base_code
from bertdata.sources.names import InputCount, input_count
from bertdata.sources.text_encodings import DOUBTFUL

MOST_UNKNOWN = 0.01
LEAST_FUNCTION_WORDS = 0.10
MOST_OF_OTHER_LANGUAGES = 0.1
MOST_MARKUP = 0.005
MOST_BROKEN_CHARACTERS = 0.0005
MOST_LOST_MARKS = 0.005
MOST_UNENDED = 0.5
LEAST_SENTENCE, MOST_SENTENCE = 5.0, 80.0
LEAST_DOCUMENT = 24.0
MOST_DROPPED = 0.5
MOST_FILTERED = 0.5
MOST_WITHOUT_PROSE = 0.5
MOST_REMOVED = 0.5
FEWEST_FILTERED = 10_000
"""Of so many documents, a filter is expected to drop or to change one."""
MOST_COPIES = 0.2
MOST_OF_ONE = 0.4
LEAST_VOCABULARY = 0.1
FEWEST_DOCUMENTS = 20
"""With fewer documents, no share of documents is checked."""
FEWEST_BYTES = 500_000
"""With fewer bytes of text, no share of the bytes that a filter saw is checked."""

_EXPECTED_DROPS = (
    "redirect", "not an article", "deleted revision", "disambiguation", "stub", "duplicate", "content model", "filter ",
    "gopher_", "c4_", "fineweb_",
)  # fmt: skip

_NAMED = 5
"""How many books a warning names."""
_OF_TEXT = "language"

CorpusWarning = dict[str, str | float]
"""One warning: what it is about, the figure and the threshold it passed, what was found, and what to do."""


@dataclass(frozen=True)
class Signs:
    """What the token files counted, summed up."""

    counts: Mapping[str, int]
    signs: Mapping[str, int]

    @classmethod
    def of(cls, records: Sequence[PartMetadata]) -> Signs:
        """Sum up records of the token store."""
        signs = (record.details["signs"] for record in records if "signs" in record.details)
        return cls(add_counts(record.counts for record in records), add_counts(signs))

    @property
    def are_known(self) -> bool:
        """Whether there are any tokens, and their signs were counted."""
        return bool(self.counts.get("tokens") and self.signs)

    @property
    def english(self) -> float | None:
        """The share of English function words among the tokens, None where they were not counted."""
        return self.signs["english_function_words"] / self.counts["tokens"] if self.are_known else None


def warnings_of(
    sources: Mapping[str, Any],
    vocabulary: Mapping[str, Any],
    tokens: Sequence[PartMetadata],
    *,
    sentences: Mapping[str, Any] | None = None,
    deduplicated: bool = False,
    choices: Choices | None = None,
    sources_of_tokens: Sequence[str] = (),
    selected: Mapping[str, int] | None = None,
) -> list[dict[str, Any]]:
    """Return the warnings of a build, as the manifest has them.

    sentences: what the manifest says of the sentence parameters; choices: the settings that advice goes by, as far as
    the manifest does not say them; sources_of_tokens: the name of the source of each of `tokens`; selected: how many
    documents there are of each language after a selection, as far as they say it.
    """
    cutting = sentences or {}
    languages = selected or add_counts(source.get("languages", {}) for source in sources.values())
    by_language = cutting.get("by_language")
    units = {unit for source in sources.values() for unit in source["counts"]}
    given = choices or Choices()
    reads_dumps = given.cleans and "wikipedia" in given.reads
    with_languages = replace(
        given,
        language=cutting.get("language", ""),
        by_language=by_language is not None,
        dumps=reads_dumps and InputCount.PAGES in units,
        cleaned_dumps=not reads_dumps and InputCount.PAGES in units,
        books=given.cleans and "books" in given.reads and InputCount.BOOKS in units,
        trained=bool(vocabulary.get("asked")),
    )
    documents = sum(entry["documents"] for entry in (by_language or {}).values())
    signs = Signs.of(tokens)
    language = [] if with_languages.by_language else list(of_language(with_languages, languages, signs))
    of_text = [entry for entry in language if entry["about"] == _OF_TEXT]
    return [
        *of_sources(sources),
        *(of_not_served(cutting["not_served"], documents, with_languages) if with_languages.by_language else ()),
        *(entry for entry in language if entry["about"] != _OF_TEXT),
        *of_vocabulary(vocabulary),
        *of_lost_marks(tokens, sources_of_tokens or [""] * len(tokens), with_languages),
        *_of_tokens(tokens, signs, with_languages, languages, of_text, deduplicated),
    ]


def of_language(choices: Choices, articles: Mapping[str, int], signs: Signs) -> Iterator[CorpusWarning]:
    """Yield at most one warning: the sources say another language than the parameters, or English ones cut other text.

    articles: as in `of_languages`.
    """
    is_english = None if signs.english is None else signs.english >= LEAST_FUNCTION_WORDS
    of_dumps = list(of_languages(articles, choices.language, choices, is_english=is_english))
    yield from of_dumps
    if signs.english is not None and choices.language == "en" and choices.by_sentences and not of_dumps:
        remedy = advice.of_text_that_is_not_english(choices, articles, signs.counts.get("documents", 0))
        yield from _check(_OF_TEXT, signs.english, least=LEAST_FUNCTION_WORDS, remedy=remedy)


def of_languages(
    articles: Mapping[str, int], language: str, choices: Choices | None = None, *, is_english: bool | None = None
) -> Iterator[CorpusWarning]:
    """Yield the warning that articles are of other languages than the sentence parameters, both as codes.

    There is none where rows do not depend on sentences, as those of doc-chunks.

    articles: how many there are of each language, or how many bytes.

    >>> [warning["found"] for warning in of_languages({"de": 9, "en": 1}, "en")]
    ['90.0% of the documents are of another language (de) than the sentence parameters (en)']
    """
    others = {code: number for code, number in articles.items() if base_code(code) != language}
    with_language = replace(choices or Choices(), language=language)
    if not language or not others or not with_language.by_sentences:
        return
    remedy = advice.of_other_language(with_language, articles, is_english=is_english)
    share = sum(others.values()) / sum(articles.values())
    named = ", ".join(sorted(others, key=lambda code: (-others[code], code))[:5])
    about, limit = "language of documents", MOST_OF_OTHER_LANGUAGES
    yield from _check(about, share, most=limit, remedy=remedy, others=named, language=language)


def of_not_served(others: Mapping[str, int], documents: int, choices: Choices | None = None) -> Iterator[CorpusWarning]:
    """Yield the warning that documents are in languages without parameters where these go by language.

    others: how many there are of each such language.

    >>> [warning["remedy"] for warning in of_not_served({"sv": 9}, 10)]
    ['give --sentences-of sv=nltk:swedish']
    """
    given = choices or Choices()
    if others and given.by_sentences:
        remedy = advice.of_languages_without_parameters(given, others)
        named = ", ".join(list(others)[:5])
        share = sum(others.values()) / max(documents, 1)
        yield from _check("sentence parameters", share, most=MOST_OF_OTHER_LANGUAGES, remedy=remedy, others=named)


def _check(
    about: str, figure: float, *, most: float = math.inf, least: float = 0.0, remedy: str = "", **values: Any
) -> Iterator[CorpusWarning]:
    """Yield the warning about a figure if it has passed a threshold."""
    if not least <= figure <= most:
        wording, usual = TEXTS[about]
        text = wording.format(figure=figure, per_thousand=1000 * figure, **values)
        threshold = most if figure > most else least
        yield {"about": about, "figure": figure, "threshold": threshold, "found": text, "remedy": remedy or usual}


def of_sources(sources: Mapping[str, Any]) -> Iterator[CorpusWarning]:
    """Yield the warnings of what was dropped of each source, as the manifest has sources."""
    for name, source in sources.items():
        drops: Mapping[str, int] = source["drops"]
        expected = sum(n for reason, n in drops.items() if any(part in reason for part in _EXPECTED_DROPS))
        came = input_count(source["counts"]) - expected
        most = max(drops, key=lambda reason: drops[reason], default="")
        yield from _check("empty source", source["counts"].get("documents", 0), least=1, source=name, reason=most)
        if came >= FEWEST_DOCUMENTS:
            lost = (sum(drops.values()) - expected) / came
            yield from _check("dropped documents", lost, most=MOST_DROPPED, source=name, reason=most)
        lost_bytes, of_text = lost_text(source["counts"])
        yield from _of_bytes("text without prose", lost_bytes, of_text, MOST_WITHOUT_PROSE, name)
        removed, of_documents = removed_text(source["counts"])
        if came >= FEWEST_DOCUMENTS or of_documents >= FEWEST_BYTES:
            yield from _of_bytes("removed text", removed, of_documents, MOST_REMOVED, name)
        yield from of_encodings(name, source.get(DOUBTFUL, []))
        yield from _of_filters(name, source["counts"], drops)


def _of_bytes(about: str, sizes: Mapping[str, int], of: int, most: float, source: str) -> Iterator[CorpusWarning]:
    """Yield the warning of a source that lost more than a share of its bytes, given those of each reason."""
    named = ", ".join(f"{reason} {byte_size(size)}" for reason, size in sizes.items())
    yield from _check(about, sum(sizes.values()) / max(of, 1), most=most, source=source, reasons=named)


def of_encodings(source: str, doubtful: Sequence[Sequence[str]]) -> Iterator[CorpusWarning]:
    """Yield the warning that books may be in another encoding, given (name, encoding, doubt) of each.

    >>> [one["found"] for one in of_encodings("old", [["b", "cp1252", "cp1250 fits as well"]])]
    ['1 of the books of the source old may be in another encoding than they were read in: b as cp1252 (cp1250 fits as \
well)']
    """
    examples = [f"{name} as {encoding} ({doubt})" for name, encoding, doubt in doubtful[:_NAMED]]
    more = [f"and {len(doubtful) - _NAMED:,} more, in the manifest"] if len(doubtful) > _NAMED else []
    remedy = TEXTS["encoding of books"][1].format(source=source)
    values: dict[str, Any] = {"source": source, "books": "; ".join([*examples, *more]), "remedy": remedy}
    yield from _check("encoding of books", len(doubtful), most=0, **values)


def _of_filters(source: str, counts: Mapping[str, int], drops: Mapping[str, int]) -> Iterator[CorpusWarning]:
    """Yield the warnings of filters that drop most of a source, by documents or by bytes, or nothing of a large one."""
    for name, seen in counts.items():
        text = name.removeprefix(JUDGED)
        seen_bytes = counts.get(BYTES_JUDGED + text, 0)
        if text == name or (seen < FEWEST_DOCUMENTS and seen_bytes < FEWEST_BYTES):
            continue
        lost, changed = counts.get(DROPPED_BY + text, 0), counts.get(CHANGED + text.partition("=")[0], 0)
        beginnings = (f"filter {text}", text.partition("-")[0] + "_")
        reasons = [reason for reason in drops if reason.startswith(beginnings)] or list(drops)
        most = max(reasons, key=lambda reason: drops[reason], default="")
        values: dict[str, Any] = {"filter": text, "source": source, "reason": most, "seen": seen}
        remedy = TEXTS["filtered documents"][1].format(**values)
        shares = {"documents": lost / seen if seen >= FEWEST_DOCUMENTS else 0.0}
        if seen_bytes >= FEWEST_BYTES:
            shares["bytes"] = counts.get(BYTES_DROPPED_BY + text, 0) / seen_bytes
        what = max(shares, key=lambda unit: (shares[unit] > MOST_FILTERED, unit == "documents"))
        yield from _check("filtered documents", shares[what], most=MOST_FILTERED, remedy=remedy, what=what, **values)
        if seen >= FEWEST_FILTERED and not changed:
            yield from _check("idle filter", lost, least=1, **values)


def of_vocabulary(vocabulary: Mapping[str, Any]) -> Iterator[CorpusWarning]:
    """Yield the warning that a trained vocabulary is small: `asked` and `pieces`, as the manifest has them."""
    if asked := vocabulary.get("asked", 0):
        size = vocabulary.get("pieces", 0)
        yield from _check("small vocabulary", size / asked, least=LEAST_VOCABULARY, size=size, asked=asked)


def of_unknown(share: float, choices: Choices | None = None) -> Iterator[CorpusWarning]:
    """Yield the warning of the share of tokens that are [UNK]."""
    yield from _check("[UNK]", share, most=MOST_UNKNOWN, remedy=advice.of_unknown_tokens(choices or Choices()))


def of_lost_marks(tokens: Sequence[PartMetadata], sources: Sequence[str], choices: Choices) -> Iterator[CorpusWarning]:
    """Yield the warning of the source that loses most marks, with the names of the others that lose many."""
    shares = lost_marks_of(tokens, sources)
    names = [name for name, share in shares.items() if share > MOST_LOST_MARKS]
    if names:
        others = names[1 : 1 + _NAMED] + ([f"{len(names) - 1 - _NAMED:,} more"] if len(names) > 1 + _NAMED else [])
        of = f" of the source {names[0]}" if len(shares) > 1 else ""
        of += f" (and many of {', '.join(others)})" if others else ""
        remedy = advice.of_lost_marks(choices)
        yield from _check("lost marks", shares[names[0]], most=MOST_LOST_MARKS, remedy=remedy, of=of)


def _of_tokens(
    records: Sequence[PartMetadata],
    sums: Signs,
    choices: Choices,
    languages: Mapping[str, int],
    of_text: Sequence[CorpusWarning],
    deduplicated: bool,
) -> Iterator[CorpusWarning]:
    if not sums.are_known:
        return
    counts, signs = sums.counts, sums.signs
    tokens, documents, sentences = counts["tokens"], counts.get("documents", 0), counts["sentences"]
    mean = tokens / sentences
    sampled_tokens = max(1, tokens * signs.get("bytes_looked_at", 0) / max(1, counts["text_bytes"]))
    yield from of_unknown(counts["unknown_tokens"] / tokens, choices)
    yield from of_text
    yield from _check("markup", signs.get("closing_tags", 0) / sampled_tokens, most=MOST_MARKUP)
    broken = signs.get("broken_characters", 0) / sampled_tokens
    yield from _check("broken characters", broken, most=MOST_BROKEN_CHARACTERS)
    remedy = advice.of_broken_lines(choices)
    yield from _check("line breaks", signs["sentences_without_end"] / sentences, most=MOST_UNENDED, remedy=remedy)
    short = mean < LEAST_SENTENCE
    remedy = advice.of_short_sentences(choices) if short else advice.of_long_sentences(choices, languages)
    yield from _check("length of sentences", mean, least=LEAST_SENTENCE, most=MOST_SENTENCE, remedy=remedy)
    remedy = advice.of_short_documents(choices)
    yield from _check("length of documents", tokens / documents, least=LEAST_DOCUMENT, remedy=remedy)
    if documents > 1:
        longest = max(record.details.get("longest_document", 0) for record in records)
        yield from _check("one document", longest / tokens, most=MOST_OF_ONE, remedy=advice.of_one_document(choices))
    copies, sampled = share_of_copies([record.details.get("sample", []) for record in records])
    if not deduplicated and choices.dedup != "near" and sampled >= FEWEST_DOCUMENTS:
        yield from _check("copies", copies, most=MOST_COPIES, remedy=advice.of_copies(choices))
