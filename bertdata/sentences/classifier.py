"""How Punkt classifies sentence breaks, in Python: the reference of `punkt_kernel`, which asks it in rare contexts.

Every `.`, `?` and `!` before white space or closing punctuation is a candidate; the word it ends and the next token
decide (Kiss and Strunk 2006, sections 3 and 4). The steps are those of NLTK's `PunktSentenceTokenizer`, in linear time.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from bertdata.sentences.parameters import BEGIN_LOWER, LOWER, MIDDLE_UPPER, UPPER, PunktParameters
from bertdata.sentences.tokens import (
    NON_WORD,
    NUMBER,
    QUOTES,
    SPACE,
    in_small_letters,
    is_ellipsis,
    is_initial,
    is_lower,
    is_upper,
    tokens,
    type_of,
    without_period,
)

_CANDIDATE = re.compile(rf"[.?!](?=([{NON_WORD}])|[{SPACE}]+([^{SPACE}]+))")
_CLOSING = re.compile(rf"""["')\]}}{QUOTES}]+?(?:[{SPACE}]+|(?=--)|$)""", re.MULTILINE)
_LINE_WHITE_SPACE = "\n\t\r\v\f"
_MARKS = frozenset(".?!")
_ALWAYS = frozenset("?!")
_NEVER_FIRST = frozenset(";:,.!?")
_CACHE_ENTRIES = 1 << 16
_CACHE_LENGTH = 64


class BreakClassifier:
    """Classifies candidates by Punkt parameters, and caches up to 65,536 contexts; threads may share it.

    >>> classifier = BreakClassifier(PunktParameters(abbrev_types=frozenset({"dr"})))
    >>> classifier.contains_break("Dr. Brown"), classifier.contains_break("sir. Brown")
    (False, True)
    """

    def __init__(self, parameters: PunktParameters) -> None:
        self.parameters = parameters
        self._not_plain = parameters.abbrev_types | {first for first, _ in parameters.collocations}
        self._decided: dict[str | bytes, bool] = {}

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the (start, end) offsets of the sentences of a text, in characters."""
        result: list[tuple[int, int]] = []
        position = 0
        while position < len(text):
            end = text.find("\n\n", position)
            piece = text[position : end if end >= 0 else len(text)]
            paragraph = piece.strip()
            if paragraph:
                start = position + len(piece) - len(piece.lstrip())
                for first, stop in self._paragraph(paragraph):
                    sentence = paragraph[first:stop]
                    if sentence[:1].isspace() or sentence[-1:].isspace():
                        first += len(sentence) - len(sentence.lstrip())  # noqa: PLW2901
                        sentence = sentence.strip()
                    if sentence:
                        result.append((start + first, start + first + len(sentence)))
            position += len(piece) + 2
        return result

    def _paragraph(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of a stripped paragraph, closing punctuation moved to the sentence it closes."""
        first, stop = 0, -1
        start = 0
        for mark_end, next_start in itertools.chain(self._breaks(text), [(len(text), len(text))]):
            if stop >= 0:
                closing = _CLOSING.match(text, start, mark_end)
                yield first, start + len(closing.group().rstrip()) if closing else stop
                first = closing.end() if closing else start
            start, stop = next_start, mark_end
        yield first, len(text)

    def _breaks(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield (end of mark, start of the next sentence) for every boundary of a stripped paragraph.

        Of two candidates whose words overlap, as in `Go!!!`, the later counts.
        """
        flat = text
        for character in _LINE_WHITE_SPACE:
            flat = flat.replace(character, " ")
        candidate: re.Match[str] | None = None
        mark = word = 0
        for match in _CANDIDATE.finditer(flat):
            at = match.start()
            space = flat.rfind(" ", mark, at)
            begin = word if space <= mark else space + 1
            if candidate is not None and mark <= begin and self._ends_here(text, flat, word, candidate):
                yield mark + 1, candidate.start(2) if candidate[2] else mark + 1
            candidate, mark, word = match, at, begin
        if candidate is not None and self._ends_here(text, flat, word, candidate):
            yield mark + 1, candidate.start(2) if candidate[2] else mark + 1

    def _ends_here(self, text: str, flat: str, word: int, candidate: re.Match[str]) -> bool:
        mark = candidate.start()
        following = candidate[2] or candidate[1]
        if following[0] >= " ":
            if flat[mark] != ".":
                return True
            before = flat[word:mark]
            if len(before) > 1 and before.isalpha() and before.lower() not in self._not_plain:
                return True
        context = text[word : candidate.end(2) if candidate[2] else mark + 2]
        decision = self._decided.get(context)
        return self._remember(context, self.contains_break(context)) if decision is None else decision

    def decide(self, context: bytes) -> bool:
        """Tell whether a sentence ends in a context in UTF-8; raises UnicodeDecodeError for what is not UTF-8."""
        decision = self._decided.get(context)
        if decision is None:
            decision = self._remember(context, self.contains_break(context.decode("utf-8", "surrogatepass")))
        return decision

    def _remember(self, context: str | bytes, decision: bool) -> bool:
        if len(context) <= _CACHE_LENGTH:
            if len(self._decided) >= _CACHE_ENTRIES:
                self._decided.clear()
            self._decided[context] = decision
        return decision

    def contains_break(self, context: str) -> bool:
        """Tell whether a sentence ends in a context before its last token."""
        previous = ""
        for token in tokens(context):
            if previous in _ALWAYS or (previous[-1:] == "." and self._ends_sentence(previous, token)):
                return True
            previous = token
        return False

    def is_abbreviation(self, token: str) -> bool:
        """Tell whether a token with a final period is an abbreviation, or ends in one after a hyphen."""
        word = in_small_letters(token[:-1])
        return (
            token[-1] == "."
            and token[-2:] != ".."
            and (word in self.parameters.abbrev_types or word.rpartition("-")[2] in self.parameters.abbrev_types)
        )

    def breaks_alone(self, token: str) -> bool:
        """Tell whether a token ends a sentence before its neighbour is looked at (section 3 of the paper)."""
        return token in _MARKS or (token[-1] == "." and token[-2:] != ".." and not self.is_abbreviation(token))

    def _ends_sentence(self, token: str, following: str) -> bool:
        """Decide for a token with a final period by the token after it (section 4 of the paper)."""
        parameters = self.parameters
        alone = self.breaks_alone(token)
        initial = is_initial(token)
        type_ = without_period(type_of(token))
        next_type = type_of(following)
        if self.breaks_alone(following):
            next_type = without_period(next_type)
        if (type_, next_type) in parameters.collocations:
            return False
        if not initial and (is_ellipsis(token) or (not alone and token[-2:] != "..")):
            if self._starts_sentence(following, next_type) is True:
                return True
            if is_upper(following[0]) and next_type in parameters.sent_starters:
                return True
        if initial or type_ == NUMBER:
            starts = self._starts_sentence(following, next_type)
            if starts is False:
                return False
            if (
                starts is None
                and initial
                and is_upper(following[0])
                and not parameters.ortho_context.get(next_type, 0) & LOWER
            ):
                return False
        return alone

    def _starts_sentence(self, token: str, type_: str) -> bool | None:
        """Tell by its case whether a token starts a sentence: yes, no, or None for unknown (section 4.1.1)."""
        if token in _NEVER_FIRST:
            return False
        context = self.parameters.ortho_context.get(type_, 0)
        if is_upper(token[0]) and context & LOWER and not context & MIDDLE_UPPER:
            return True
        if is_lower(token[0]) and (context & UPPER or not context & BEGIN_LOWER):
            return False
        return None
