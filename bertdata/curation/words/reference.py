r"""Words in plain Python: the tokens of spaCy's English tokenizer, without those of white space.

A run of characters between white space is a chunk. Of a chunk, signs of punctuation are taken off both ends until an
exception is left (`don't`, `Mr.`), or nothing more comes off; what is left is an exception, an address of the web, or
is cut at signs between letters. At last, tokens side by side that are one together, as `:` and `)`, are joined.

Source: M. Honnibal, I. Montani, S. Van Landeghem, A. Boyd, "spaCy: Industrial-strength Natural Language Processing in
Python" (2020), the section "How spaCy's tokenizer works" of its documentation. The tables are those of spaCy 3.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from bertdata.curation.words.tables import exceptions, members, tables

Span = tuple[int, int]
"""Where a token begins and ends."""
_DIGITS = frozenset("0123456789")
_CLITICS = ("'s", "'S", "’s", "’S")
_DASHES = ("-", "–", "—", "--", "---", "——", "~")
_DOTS = re.compile(r"\.\.+")


def words(text: str) -> list[str]:
    """Return the words of a text.

    >>> words("Mr. Lee doesn't smile, he says (sadly).")
    ['Mr.', 'Lee', 'does', "n't", 'smile', ',', 'he', 'says', '(', 'sadly', ')', '.']
    """
    return [text[begin:end] for begin, end in word_spans(text)]


def word_spans(text: str) -> list[Span]:
    """Return where each word of a text begins and ends, in characters."""
    spans: list[Span] = []
    for match in re.finditer(r"\S+", text):
        if spans and text[spans[-1][1] : match.start()] != " ":
            spans.append((match.start(), match.start()))  # a token of white space, which no exception reaches over
        begin = match.start()
        for length in _chunk_lengths(match.group()):
            spans.append((begin, begin + length))
            begin += length
    return [(begin, end) for begin, end in _joined(text, spans) if begin < end]


def split_chunk(chunk: str) -> tuple[list[int], bool]:
    """Return how long the tokens of a chunk are, and whether they depend on what is beside the chunk.

    >>> split_chunk("(well-known),"), split_chunk("see:)")
    (([1, 4, 1, 5, 1, 1], False), ([3, 2], True))
    """
    lengths = _chunk_lengths(chunk)
    spans, begin = [], 0
    for length in lengths:
        spans.append((begin, begin + length))
        begin += length
    joined = [end - begin for begin, end in _joined(chunk, spans)]
    return joined, joined != lengths


def chunk_tokens(chunk: str) -> list[str]:
    """Return the tokens of a chunk before those that are an exception together are joined.

    >>> chunk_tokens("see:)")
    ['see', ':', ')']
    """
    tokens, begin = [], 0
    for length in _chunk_lengths(chunk):
        tokens.append(chunk[begin : begin + length])
        begin += length
    return tokens


@cache
def inner_pairs() -> frozenset[tuple[str, str]]:
    """Return the pairs of tokens, one after another, that are within an exception, or might be before they are joined.

    >>> (":", ")") in inner_pairs(), (")", '"') in inner_pairs()
    (True, False)
    """
    every = [sequence for group in _sequences().values() for sequence in group]
    pairs = {pair for sequence in every for pair in pairwise(sequence)}
    ends: dict[str, set[str]] = {}
    begins: dict[str, set[str]] = {}
    for sequence in every:
        ends.setdefault(sequence[-1], {sequence[-1]}).add("".join(sequence))
        begins.setdefault(sequence[0], {sequence[0]}).add("".join(sequence))
    joined = {
        (joined_first, joined_second)
        for first, second in pairs
        for joined_first in ends.get(first, ())
        for joined_second in begins.get(second, ())
    }
    joined |= {(joined_first, second) for first, second in pairs for joined_first in ends.get(first, ())}
    return frozenset(
        pairs | joined | {(first, joined_second) for first, second in pairs for joined_second in begins.get(second, ())}
    )


def _chunk_lengths(chunk: str) -> list[int]:
    exception_tokens = exceptions()
    begin, end = 0, len(chunk)
    before: list[int] = []
    after: list[int] = []
    while begin < end and not _is_exception(chunk, begin, end):
        prefix = _prefix(chunk, begin, end)
        if prefix and begin + prefix < end and _is_exception(chunk, begin + prefix, end):
            before.append(prefix)
            begin += prefix
            break
        suffix = _suffix(chunk, begin + prefix, end)
        if suffix and begin < end - suffix and _is_exception(chunk, begin, end - suffix):
            after.append(suffix)
            end -= suffix
            break
        if not prefix and not suffix:
            break
        before += [prefix] if prefix else []
        after += [suffix] if suffix else []
        begin, end = begin + prefix, end - suffix
    middle = chunk[begin:end]
    if not middle:
        inner: list[int] = []
    elif middle in exception_tokens:
        inner = [len(token) for token in exception_tokens[middle]]
    else:
        inner = [len(middle)] if _is_address(middle) else _cut_inside(middle)
    return [*before, *inner, *reversed(after)]


@cache
def _longest_exception() -> int:
    return max(map(len, exceptions()))


def _is_exception(chunk: str, begin: int, end: int) -> bool:
    return end - begin <= _longest_exception() and chunk[begin:end] in exceptions()


def _prefix(chunk: str, begin: int, end: int) -> int:
    """Return how many characters come off the beginning of chunk[begin:end]."""
    first = chunk[begin]
    if first in members("prefix"):
        return 1
    if first == "+":
        return int(begin + 1 == end or chunk[begin + 1] not in _DIGITS)
    if first == ".":
        last = begin
        while last < end and chunk[last] == ".":
            last += 1
        return last - begin if last - begin > 1 else 0
    for currency in tables()["currencies"]:
        if len(currency) > 1 and chunk.startswith(currency, begin, end):
            return len(currency)
    return 0


def _suffix(chunk: str, begin: int, end: int) -> int:
    """Return how many characters come off the end of chunk[begin:end], the most that any rule takes."""
    if begin >= end:
        return 0
    last = chunk[end - 1]
    length = int(last in members("suffix"))
    if (last in "sS" and chunk[begin:end].endswith(_CLITICS)) or chunk.endswith("……", begin, end):
        length = 2
    if last == ".":
        first = end - 1
        while first > begin and chunk[first - 1] == ".":
            first -= 1
        dots = end - first
        return dots if dots > 1 else int(_period_ends(chunk[max(begin, end - 4) : end - 1]))
    if last == "+" and end - begin > 1 and chunk[end - 2] in _DIGITS:
        length = max(length, 1)
    for unit in _units_by_end().get(last, ()):
        place = end - len(unit)
        if len(unit) > length and place > begin and chunk[place - 1] in _DIGITS and chunk.startswith(unit, place, end):
            length = len(unit)
    return length


@cache
def _units_by_end() -> dict[str, list[str]]:
    """Return the units and currencies, which come off after a digit, by their last characters."""
    units: dict[str, list[str]] = {}
    for unit in (*tables()["units"], *tables()["currencies"]):
        units.setdefault(unit[-1], []).append(unit)
    return units


def _period_ends(before: str) -> bool:
    """Return whether a period comes off after some characters."""
    if before[-1:] in members("before_period") and before:
        return True
    capitals = len(before) >= 2 and before[-1] in members("upper") and before[-2] in members("upper")
    return capitals or (len(before) >= 2 and before[-2] == "°" and before[-1] in "FfCcKk")


def _cut_inside(middle: str) -> list[int]:
    """Return the lengths of the tokens that signs between letters cut a middle into; these are tokens, too."""
    lengths, start = [], 0
    for begin, end in _infixes(middle):
        if begin:
            lengths += [begin - start] if begin > start else []
            lengths.append(end - begin)
            start = end
    return [*lengths, len(middle) - start] if start < len(middle) else lengths


def _infixes(middle: str) -> Iterator[Span]:
    alpha, quote = members("alpha"), members("quote")
    place, size = 0, len(middle)
    while place < size:
        sign = middle[place]
        before = middle[place - 1] if place else ""
        after = middle[place + 1] if place + 1 < size else ""
        length = 0
        if dots := _DOTS.match(middle, place):
            length = dots.end() - place
        elif (
            sign == "…"
            or sign in members("icon")
            or (before and sign in "+-*^" and before in _DIGITS and after and (after in _DIGITS or after == "-"))
        ):
            length = 1
        elif before and after and sign == ".":
            ends = before in members("lower") or before in quote
            length = int(ends and (after in members("upper") or after in quote))
        elif before and after and sign == ",":
            length = int(before in alpha and after in alpha)
        elif before and (before in alpha or before in _DIGITS):
            dashes = (dash for dash in _DASHES if middle.startswith(dash, place))
            followed = (len(dash) for dash in dashes if middle[place + len(dash) : place + len(dash) + 1] in alpha)
            length = next(followed, int(sign in ":<>=/" and after in alpha))
        if length:
            yield place, place + length
        place += length or 1


@cache
def _address() -> re.Pattern[str]:
    r"""Return an expression for addresses of the web, with a scheme or without, and for those of mail.

    A host is labels with a period after each, and a last one of 2 to 63 letters that are not capitals; or four numbers
    that are not those of a private network.
    """
    lower = "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in tables()["classes"]["lower"])
    letter = r"[A-Za-z0-9\u00a1-\uffff]"
    octet = r"(?:1?\d{1,2}|2[0-4]\d|25[0-5])"
    private = r"(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})"
    private += r"(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})"
    numbers = rf"(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.{octet}){{2}}\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])"
    label = rf"(?:{letter}[A-Za-z0-9\u00a1-\uffff_-]{{0,62}})?{letter}\."
    host = rf"(?:{private}{numbers}|(?:{label})+[{lower}]{{2,63}})"
    return re.compile(rf"(?:[\w+\-.]{{2,}}://)?(?:\S+@)?{host}(?::\d{{2,5}})?(?:[/?#]\S*)?")


def _is_address(middle: str) -> bool:
    return "." in middle and _address().fullmatch(middle) is not None


@cache
def _sequences() -> dict[str, list[tuple[str, ...]]]:
    """Return the exceptions that the rules would cut, each as the tokens they cut it into, by the first of these."""
    sequences: dict[str, list[tuple[str, ...]]] = {}
    for text in exceptions():
        inside = any(True for _ in _infixes(text))
        if inside or _prefix(text, 0, len(text)) or _suffix(text, 0, len(text)):
            begin, tokens = 0, []
            for length in _lengths_by_rules(text):
                tokens.append(text[begin : begin + length])
                begin += length
            sequences.setdefault(tokens[0], []).append(tuple(tokens))
    return sequences


def _lengths_by_rules(chunk: str) -> list[int]:
    """Return the lengths of the tokens of a chunk, no exception considered."""
    begin, end = 0, len(chunk)
    before, after = [], []
    while begin < end:
        prefix = _prefix(chunk, begin, end)
        suffix = _suffix(chunk, begin + prefix, end)
        if not prefix and not suffix:
            break
        before += [prefix] if prefix else []
        after += [suffix] if suffix else []
        begin, end = begin + prefix, end - suffix
    middle = chunk[begin:end]
    inner = ([len(middle)] if _is_address(middle) else _cut_inside(middle)) if middle else []
    return [*before, *inner, *reversed(after)]


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans with those side by side that together are an exception as the tokens of that; the longest first."""
    tokens = [text[begin:end] for begin, end in spans]
    matches: list[Span] = []
    sequences = _sequences()
    for place, token in enumerate(tokens):
        for sequence in sequences.get(token, ()):
            if tuple(tokens[place : place + len(sequence)]) == sequence:
                matches.append((place, place + len(sequence)))
    if not matches:
        return list(spans)
    seen: set[int] = set()
    chosen: dict[int, int] = {}
    for first, last in sorted(matches, key=lambda match: (match[0] - match[1], match[0])):
        if first not in seen and last - 1 not in seen:
            chosen[first] = last
        seen.update(range(first, last))
    joined: list[Span] = []
    place = 0
    while place < len(spans):
        last = chosen.get(place, place + 1)
        begin, end = spans[place][0], spans[last - 1][1]
        exception = exceptions().get(text[begin:end]) if place in chosen else None
        if exception:
            for token in exception:
                joined.append((begin, begin + len(token)))
                begin += len(token)
        else:
            joined += spans[place:last]
        place = last
    return joined
