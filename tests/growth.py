"""How the time of a function grows with its text, and the kinds of repetition that make time grow.

A function that looks at each character a bounded number of times takes twice as long for a text twice as long. One that
begins anew at each character, and looks ahead each time, takes four times as long: hours, for a text of a megabyte.
"""

from __future__ import annotations

import gc
import random
import string
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import TypeVar

T = TypeVar("T")
Repetition = Callable[[int], str]
"""Returns a text of about so many characters."""

MOST, CERTAIN = 2.3, 3.2
"""What a doubling of the text may multiply the time by, on the average of three, and what noise cannot make of it.

A quadratic function has 4, a linear one 2.
"""
DOUBLINGS = 3
"""How often the texts are made longer where the growth is neither that of a linear nor of a quadratic function."""
SMALLEST, ENOUGH = 128, 131_072
FLOOR = 0.008
"""Seconds: the shortest text that is measured takes this long, so that constant costs do not hide the growth.

Where `ENOUGH` characters take less, a step of a quadratic function would have to take under a picosecond.
"""


def growth(costs: Sequence[float]) -> float:
    """Return what each doubling multiplied the costs by, on the (geometric) average.

    >>> growth([1, 4, 16, 64]), growth([5, 10])
    (4.0, 2.0)
    """
    return round(float((costs[-1] / costs[0]) ** (1 / (len(costs) - 1))), 6)


def assert_linear(
    run: Callable[[T], object],
    text_of: Callable[[int], T],
    *,
    smallest: int = SMALLEST,
    enough: int = ENOUGH,
    floor: float = FLOOR,
    most: float = MOST,
    attempts: int = 5,
) -> None:
    """Raise AssertionError if the processor time of `run` grows faster than its text.

    `text_of(n)` makes a text, or what else `run` takes, of about n characters. The length begins with `smallest`, at
    which a quadratic function ends soon; it grows until a run takes `floor` seconds, and four times what it takes for
    one character. Then 8n is timed, and where that grew too fast n, 2n, 4n and 8n, again and again, as some costs come
    once, and the least times count; a length is long enough if a second run, which may find words in a cache, takes as
    long.
    Where `enough` characters take less than `floor` the growth does not matter.

    A linear function that fills a cache of the processor between n and 8n grows faster than 2 there, and by 2 again
    for longer texts; the growth of a quadratic one comes nearer to 4 with each doubling, whatever linear cost it has
    beside. So where the growth is between `most` and `CERTAIN` the lengths are doubled, `DOUBLINGS` times at most.
    """
    run(text_of(1))
    floor = max(floor, 4 * seconds(run, text_of(1)))
    size = smallest
    while (first := seconds(run, text_of(size))) < floor or (first := seconds(run, text_of(size))) < floor:
        if size >= enough:
            return
        size = min(4 * size, enough)
    while size > smallest and (half := seconds(run, text_of(size // 2))) >= floor:
        size, first = size // 2, half
    if seconds(run, text_of(8 * size)) <= first * most**3:
        return
    sizes = [size, 2 * size, 4 * size, 8 * size]
    least = [first, *[float("inf")] * 3]
    for _ in range(DOUBLINGS + 1):
        measured = _measured(run, text_of, sizes, least, most, attempts)
        if growth(measured) <= most:
            return
        if growth(measured) > CERTAIN:
            break
        sizes, least = [*sizes[1:], 2 * sizes[-1]], [*least[1:], float("inf")]
    times = ", ".join(f"{length:,}: {taken:.4f}" for length, taken in zip(sizes, measured, strict=False))
    raise AssertionError(
        f"the time grows by {growth(measured):.2f} for each doubling, expected at most {most}; seconds by length "
        f"{times}; the text begins {text_of(size)!r:.80}"
    )


def _measured(
    run: Callable[[T], object],
    text_of: Callable[[int], T],
    sizes: list[int],
    least: list[float],
    most: float,
    attempts: int,
) -> list[float]:
    """Return the least times of texts of some sizes, and change `least` to them; the last ones may be left out.

    Further attempts are made while the growth is too fast, but only two where noise cannot be why.
    """
    measured = least
    for attempt in range(attempts):
        for place, length in enumerate(sizes):
            least[place] = min(least[place], seconds(run, text_of(length)))
            if place > 1 and growth(least[: place + 1]) > CERTAIN:
                break
        measured = [taken for taken in least if taken < float("inf")]
        if growth(measured) <= most or (attempt and growth(measured) > CERTAIN):
            break
    return measured


def assert_linear_count(count: Callable[[T], int], text_of: Callable[[int], T], *, smallest: int = SMALLEST) -> None:
    """Raise AssertionError if the work that `count` returns grows faster than its text; without a clock."""
    counts = [count(text_of(smallest << doubling)) for doubling in range(4)]
    if growth(counts) > MOST:
        raise AssertionError(f"the work grows by {growth(counts):.2f} for each doubling, expected {MOST}: {counts}")


def seconds(run: Callable[[T], object], text: T) -> float:
    """Return the processor time of one run, of all threads of this process, without that of Python's garbage collector.

    The collector looks at all objects of the process, those of other tests too, and only in runs that make many.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        begin = time.process_time()
        run(text)
        return time.process_time() - begin
    finally:
        if collects:
            gc.enable()


def repeated(unit: str, *, after: str = "", before: str = "") -> Repetition:
    """Return what makes texts of one unit again and again, after a beginning and before an end.

    >>> repeated("ab", after="<", before="!")(8)
    '<ababab!'
    """
    return lambda length: after + unit * max((length - len(after) - len(before)) // len(unit), 1) + before


def drawn(alphabet: str, *, after: str = "", before: str = "", group: int = 0, separator: str = "") -> Repetition:
    """Return what makes texts of characters drawn from an alphabet, the same each time, in groups with a separator.

    >>> drawn("01", after="x ", group=3, separator=".")(13)
    'x 110.010.100'
    """

    @lru_cache(maxsize=8)
    def text_of(length: int) -> str:
        characters = "".join(random.Random(0).choices(alphabet, k=length))
        if group:
            characters = separator.join(characters[at : at + group] for at in range(0, length, group))
        return after + characters[: max(length - len(after) - len(before), 1)] + before

    return text_of


PUNCTUATION = string.punctuation
SPACES = [" ", "\t", "\n", "\r\n", "\xa0", "\u3000", "\u2028", "\x0b", "\x1c"]
LETTERS = [
    "a",
    "A",
    "I",
    "1",
    "é",
    "ß",
    "漢",
    "가",
    "ا",
    "ก",
    "。",
    "…",
    "”",
    "«",
    "—",
    "ﬁ",
    "\U0001f600",
    "\U0001d400",
]
MARKS = ["\u0301", "\u200d", "\u00ad", "\ufe0f", "\u200b", "\ufffd", "\x00", "\x7f", "\u202e", "\u2581", "Ġ"]
UNITS = [*PUNCTUATION, *SPACES, *LETTERS, *MARKS]
"""Single units: each ASCII punctuation mark, kinds of white space, of letters, and of marks that join or hide."""
BEGINNINGS = [
    *(
        "'",
        '"',
        "“",
        "«",
        "(",
        "[",
        "{",
        "<",
        "[[",
        "{{",
        "<!--",
        "<a ",
        "&",
        "&#",
        "\\",
        "%",
        "$",
        "#",
        "_",
        "*",
        "^{",
        "|",
    ),
    *("@", "x@", "a.b@", "http://", "https://x.y/", "www.", "ftp://", "1.2.3.", "[1.2.3.", "+1 (", "#REDIRECT [["),
    *(
        "=",
        "== ",
        "* ",
        "1. ",
        "- ",
        "Mr. ",
        "CHAPTER ",
        "a\n",
        "\n\n",
        '{"',
        '["',
        '{"text": "',
        "a,",
        "a\t",
        '"a',
        "--",
    ),
]
"""What begins something that a run after it does not end."""
RUNS = ["a", "1", "A ", "a ", "a-", "a.", "a. ", "1,", "a@", "a/", "a\n", " ", "\n", " \n", "é", ". ", "'a", "==", "漢"]
ENDS = ["", "!", "\n", "@ x", " x", "."]

BASE64 = string.ascii_letters + string.digits + "+/"
DRAWN: dict[str, Repetition] = {
    "base64": drawn(BASE64),
    "a picture in base64": drawn(BASE64, after="Write to me@x.org. Picture: data:image/png;base64,"),
    "base64 in lines": drawn(BASE64, group=76, separator="\n"),
    "base64 and @": drawn(BASE64, before="@"),
    "hexadecimal": drawn(string.hexdigits[:16]),
    "hexadecimal bytes": drawn(string.hexdigits[:16], group=2, separator=":"),
    "digits in groups": drawn(string.digits, group=3, separator=","),
    "digits and dots": drawn(string.digits, group=2, separator="."),
    "telephone": drawn(string.digits, group=3, separator="-", after="+"),
    "letters in dots": drawn(string.ascii_lowercase, group=3, separator="."),
    "letters in hyphens": drawn(string.ascii_lowercase, group=4, separator="-"),
    "one word": drawn(string.ascii_lowercase),
    "words": drawn(string.ascii_lowercase, group=5, separator=" "),
    "lines": drawn(string.ascii_lowercase + " ", group=40, separator="\n"),
    "punctuation": drawn(string.punctuation),
    "brackets": drawn("()[]{}<>"),
    "quotes": drawn("'\"`“”‘’«»"),
    "white space": drawn(" \t\n\r"),
    "CJK": drawn("".join(map(chr, range(0x4E00, 0x4F00)))),
    "bits": drawn("01"),
    "everything": drawn(string.printable),
}
"""Texts of drawn characters."""
LONGER = [
    *("http://a.b/c ", "www.a.b ", "a@b.co ", "8.8.8.8 ", "8.8.8.", "1,234.5 ", "2020-01-01 ", "a.b.", "a@b.", "x@[1."),
    *(
        "(a) ",
        "[a] ",
        "[1]",
        "{a}",
        "<a>",
        "</a>",
        "<a><b>",
        "&amp;",
        "&#65;",
        "\\n",
        "%20",
        "''a'' ",
        '"a" ',
        '"a",',
        "“a” ",
    ),
    *(
        "It rained. ",
        "Mr. A. B. ",
        "e.g. ",
        "a... ",
        "a?! ",
        "A\n\n",
        "a \n",
        "\n \n",
        "- a\n",
        "* a\n",
        "1. a\n",
        "| a |\n",
    ),
    *(
        "== a ==\n",
        "CHAPTER I\n\n",
        "{{a}}",
        "[[a]]",
        "[[a|b]]",
        "{|\n",
        "|-\n",
        "a\tb\n",
        "a,b\n",
        '{"a":1}\n',
        "[[",
        "[[]",
        '[""',
    ),
    *(
        "don't ",
        "well-known ",
        "A-",
        "--a",
        "a--",
        "_a_",
        "*a*",
        "a_",
        "á",
        "가́",
        "👍🏽",
        "e\u0301\u0323",
        "漢字。",
        "ab ba ",
    ),
]
"""Repeated units of more than one class."""


def _named() -> Iterator[tuple[str, Repetition]]:
    for unit in UNITS + LONGER:
        yield f"{unit!r} again and again", repeated(unit)
    yield from DRAWN.items()
    for mark, other in product(PUNCTUATION, "a1 \n"):
        yield f"{mark!r} and {other!r} in turn", repeated(mark + other)
    for beginning, run in product(BEGINNINGS, ["a", "a ", "a-", "\n"]):
        yield f"{run!r} again and again after {beginning!r}", repeated(run, after=beginning)
    for run, end in product(["a", "a.", " ", "1"], [*PUNCTUATION, "@ x", "\n", "漢"]):
        yield f"{run!r} again and again before {end!r}", repeated(run, before=end)


def _product() -> Iterator[tuple[str, Repetition]]:
    for first, second in product([*UNITS, "a"], repeat=2):
        yield f"{first!r} and {second!r} in turn", repeated(first + second)
    for letter, mark, space in product("aA1", PUNCTUATION, SPACES):
        yield f"{letter!r}, {mark!r} and {space!r} in turn", repeated(letter + mark + space)
    for beginning, run, end in product(BEGINNINGS, [*RUNS, *PUNCTUATION], ENDS):
        yield f"{run!r} again and again after {beginning!r} before {end!r}", repeated(run, after=beginning, before=end)


REPETITIONS: dict[str, Repetition] = dict(_named())
"""Kinds of repetition by name, some hundred: what the quick tests take."""


def some_repetitions(share: int, shares: int) -> dict[str, Repetition]:
    """Return every so many kinds of repetition, and others for the next share: all in so many shares.

    A quick test takes one share for each function that it measures, so that each kind is taken with some function.
    """
    return dict(islice(REPETITIONS.items(), share % shares, None, shares))


def every_repetition() -> dict[str, Repetition]:
    """Return all kinds, some ten thousand: alternations of two and three units, each run after each beginning."""
    return {**REPETITIONS, **dict(_product())}
