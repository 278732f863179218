"""Spans of characters in a text, as annotation tools write them, to words with tags of BIO.

    {"text": "EU rejects it", "label": [[0, 2, "ORG"]]}                                   doccano
    {"text": ..., "entities": [{"start_offset": 0, "end_offset": 2, "label": "ORG"}]}     doccano, with relations
    ["EU rejects it", {"entities": [[0, 2, "ORG"]]}]                                      spaCy, a pair as a row
    {"text": ..., "spans": [{"start": 0, "end": 2, "label": "ORG"}], "tokens": [...]}     Prodigy
    {"text": ..., "label": [{"start": 0, "end": 2, "text": "EU", "labels": ["ORG"]}]}     Label Studio, JSON-MIN
    {"data": {"text": ...}, "annotations": [{"result": [{"value": {"start": 0, ...}}]}]}  Label Studio, JSON
    {"text": ..., "entities": [{"name": "EU", "span": [0, 2], "type": "ORG"}]}            Wikipedia data of Stockmark
    {"text": ..., "label": {"ORG": {"EU": [[0, 1]]}}}                                     CLUENER: the last character

An end is the place behind the last character; in CLUENER's form it is the place of the last one. Words are cut where a
span begins or ends, and as by BERT's pre-tokenizer: at white space, and around punctuation, Chinese and Japanese
characters. Prodigy's rows bring their words, as `tokens`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bertdata.errors import InputError
from bertdata.io.console import counted
from bertdata.sources.text_template import value_at

TEXTS, SPANS = ("text", "sentence", "data.text"), ("spans", "entities", "label", "labels", "annotations")
"""The known names of the columns of texts and of their spans."""
_STARTS, _ENDS = ("start", "start_offset"), ("end", "end_offset")
_KINDS, _QUOTED = ("label", "labels", "type"), ("text", "name")
_OF_OBJECTS = (_STARTS, _ENDS, _KINDS, _QUOTED)
"""The keys of a span that is an object."""
_ACCEPTED = "accept"
_OUTSIDE = "O"
Tagged = tuple[tuple[str, ...], tuple[str, ...] | None]
"""Words, and the tag of each, None where the spans are not known."""


@dataclass(frozen=True, order=True)
class Span:
    """The characters from `start` to `end` of a text and their kind.

    quoted: these characters as the file has them beside the places, "" where it has none.
    """

    start: int
    end: int
    kind: str
    quoted: str = ""


def span_columns(row: Mapping[str, Any], text_column: str | None, span_column: str | None) -> tuple[str, str] | None:
    """Return the columns of the text and of the spans of a row, None where it is not of this kind.

    >>> span_columns({"text": "EU", "label": [[0, 2, "ORG"]]}, None, None)
    ('text', 'label')
    >>> span_columns({"text": "A.", "label": "x"}, None, None)
    """
    texts = [text_column] if text_column else TEXTS
    text = next((name for name in texts if isinstance(value_at(row, name), str)), None)
    names = [span_column] if span_column else [name for name in SPANS if name != text]
    spans = next((name for name in names if _may_be_spans(value_at(row, name))), None)
    return (text, spans) if text and spans else None


def _may_be_spans(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and not any(isinstance(item, str | int) for item in value)
    )


def tagged_words(row: Mapping[str, Any], text_column: str, span_column: str, place: str, path: str) -> Tagged:
    """Return the words of a row, and the tags that its spans give them.

    Raises InputError, with the place, for a span that is not in the text or holds something else than it says, for two
    that overlap, and for a row that an annotator did not accept.
    """
    text, given = value_at(row, text_column), value_at(row, span_column)
    if not isinstance(text, str):
        raise InputError(f"{place} has {text!r} in {text_column!r}; expected a text", path=path)
    answer = row.get("answer") if "_task_hash" in row else None
    given = [] if given is None and answer == _ACCEPTED else given
    if isinstance(answer, str) and answer != _ACCEPTED:
        raise InputError(
            f"{place} has the answer {answer!r} of Prodigy; expected accepted ones: take these, as with jq -c "
            f"'select(.answer == \"{_ACCEPTED}\")' FILE > NEW",
            path=path,
        )
    spans = None if given is None else _checked(sorted(_spans(given, place, path)), text, place, path)
    borders = {border for span in spans or () for border in (span.start, span.end)}
    pieces = [*_pieces(text, _token_borders(row, len(text)), borders)]
    words = tuple(text[start:end] for start, end in pieces)
    return words, None if spans is None else tuple(_tags(pieces, spans))


def _spans(given: Any, place: str, path: str) -> Iterator[Span]:
    """Yield the spans, which are in one of the forms above."""
    if isinstance(given, dict):
        for kind, by_text in given.items():
            lists = by_text.items() if isinstance(by_text, dict) else [("", by_text)]
            for text, ends in lists:
                for pair in ends if isinstance(ends, list) and isinstance(by_text, dict) else [ends]:
                    if not isinstance(pair, list) or [type(end) for end in pair] != [int, int]:
                        raise InputError(
                            f"{place} has {by_text!r} under {kind!r}; expected texts with [start, last] of each",
                            path=path,
                        )
                    yield Span(pair[0], pair[1] + 1, kind, text)
        return
    annotated = [item for item in given if isinstance(item, dict) and "result" in item]
    if annotated:
        if len(given) != 1:
            raise InputError(f"{place} has {counted(len(given), 'annotation')}; expected one", path=path)
        given = [item for item in annotated[0]["result"] if "start" in item.get("value", {})]
    for item in given:
        span = _span(item.get("value", item) if isinstance(item, dict) else item)
        if span is None:
            raise InputError(
                f"{place} has {item!r} for a span; expected [start, end, label], or an object with start, end and "
                "label",
                path=path,
            )
        yield span


def _span(item: Any) -> Span | None:
    values: Sequence[Any] = item if isinstance(item, list) else ()
    quoted = ""
    if isinstance(item, dict):
        start, end, kind, text = (next((item[name] for name in names if name in item), None) for names in _OF_OBJECTS)
        start, end = item["span"] if isinstance(item.get("span"), list) and len(item["span"]) == 2 else (start, end)
        values, quoted = (start, end, kind[0] if isinstance(kind, list) and len(kind) == 1 else kind), text or ""
    if len(values) != 3 or [type(value) for value in values] != [int, int, str] or not values[2]:
        return None
    start, end, kind = values
    return Span(start, end, kind, quoted if isinstance(quoted, str) else "")


def _checked(spans: list[Span], text: str, place: str, path: str) -> list[Span]:
    """Return spans without white space at their ends."""
    after, trimmed = Span(0, 0, ""), []
    for span in spans:
        inside = text[span.start : span.end] if 0 <= span.start < span.end <= len(text) else ""
        if not inside.strip() or (span.quoted and span.quoted != inside):
            raise InputError(
                f"{place} has the span {span.start} to {span.end} ({span.kind}), which is {inside!r} of "
                f"{counted(len(text), 'character')}"
                + (f", and says {span.quoted!r}" if span.quoted else "")
                + "; expected its start and end in Unicode characters, counted from 0, and the end after its last one",
                path=path,
            )
        if span.start < after.end:
            raise InputError(
                f"{place} has the spans {after.start} to {after.end} ({after.kind}) and {span.start} to {span.end} "
                f"({span.kind}), which overlap; expected one tag for each word: leave out the ones inside of others",
                path=path,
            )
        start = span.start + len(inside) - len(inside.lstrip())
        after = Span(start, start + len(inside.strip()), span.kind)
        trimmed.append(after)
    return trimmed


def _token_borders(row: Mapping[str, Any], length: int) -> list[tuple[int, int]] | None:
    """Return where the tokens of Prodigy begin and end, None where a row has none."""
    tokens = row.get("tokens")
    if not isinstance(tokens, list) or not tokens or not all(isinstance(token, dict) for token in tokens):
        return None
    borders = [(token.get("start"), token.get("end")) for token in tokens]
    if not all(
        isinstance(start, int) and isinstance(end, int) and 0 <= start <= end <= length for start, end in borders
    ):
        return None
    return [(start, end) for start, end in borders if start is not None and end is not None]


def _pieces(text: str, tokens: list[tuple[int, int]] | None, borders: set[int]) -> Iterator[tuple[int, int]]:
    """Yield where the words of a text begin and end."""
    for first, last in _words(text) if tokens is None else tokens:
        start = first
        for place in range(first + 1, last + 1):
            alone = tokens is None and place < last and (_is_alone(text[place]) or _is_alone(text[place - 1]))
            if place == last or place in borders or alone:
                if text[start:place].strip():
                    yield start, place
                start = place


def _words(text: str) -> list[tuple[int, int]]:
    from tokenizers.pre_tokenizers import BertPreTokenizer

    return [place for _, place in BertPreTokenizer().pre_tokenize_str(text)]


@cache
def _is_alone(character: str) -> bool:
    """Tell whether BERT's normalizer puts spaces around a character, as around Chinese ones.

    >>> _is_alone("海"), _is_alone("a"), _is_alone("の")
    (True, False, False)
    """
    from tokenizers.normalizers import BertNormalizer

    normalizer = BertNormalizer(clean_text=False, handle_chinese_chars=True, strip_accents=False, lowercase=False)
    return bool(normalizer.normalize_str(character) == f" {character} ")


def _tags(pieces: Sequence[tuple[int, int]], spans: Sequence[Span]) -> Iterator[str]:
    waiting, before = [*reversed(spans)], None
    for start, end in pieces:
        while waiting and waiting[-1].end <= start:
            waiting.pop()
        span = waiting[-1] if waiting and waiting[-1].start <= start and end <= waiting[-1].end else None
        yield _OUTSIDE if span is None else f"{'I' if span is before else 'B'}-{span.kind}"
        before = span
