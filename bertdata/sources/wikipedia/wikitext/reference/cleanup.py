"""The last pass over wikitext: mends the holes of each paragraph, lays its spaces, and drops those without a word.

The passes before leave `HOLE` where a construct vanished from inside a text: empty parentheses, doubled spaces, a comma
before a full stop. Only the surroundings of a hole are touched, so what an author really wrote (code, French spacing,
an emoticon) stays. `kernels/cleanup` is the compiled twin; the two give the same text.
"""

from __future__ import annotations

import re

HOLE = "\x7f"
"""Stands where a construct was dropped; the source is rid of this character before anything else happens."""

LINE_BREAK = "\x0b"
"""A line break that stays inside a paragraph, as the lines of a poem do."""

PARAGRAPH_BREAK = "\n\n"

_PARAGRAPH_BREAK = re.compile(r"\n[ \n]*\n")
_LINE_BREAKS = re.compile(rf" ?{LINE_BREAK}[ {LINE_BREAK}]*+")
_SPACE_RUN = re.compile(r"[ \n]{2,}|\n")
_WORD = re.compile("[^\\W\U00010000-\U0010ffff]")
_ONLY_URL = re.compile(r"[A-Za-z]{3,6}://[^ \n]+")


def finish(text: str) -> str:
    """Return the paragraphs that hold a letter or digit, healed, separated by a blank line; "" if there are none.

    >>> finish(f"Rome  ({HOLE}) is old. \\n\\n({HOLE})\\n\\nSo{LINE_BREAK} it is.")
    'Rome is old.\\n\\nSo\\nit is.'
    """
    paragraphs = (_finish(paragraph) for paragraph in _PARAGRAPH_BREAK.split(text))
    return PARAGRAPH_BREAK.join(
        paragraph for paragraph in paragraphs if _WORD.search(paragraph) and not _ONLY_URL.fullmatch(paragraph)
    )


def _finish(paragraph: str) -> str:
    """Heal one paragraph and lay its spaces; the lines of verse stay lines."""
    paragraph = heal(_SPACE_RUN.sub(" ", paragraph)).strip(" ")
    return _LINE_BREAKS.sub("\n", paragraph).strip(" \n") if LINE_BREAK in paragraph else paragraph


_TOKENS = re.compile(
    rf"[^ {HOLE}()\[\],;:.!?\"]+|[,;:.!?](?![ {HOLE}()\[\]\"'”’]|\Z)[^ {HOLE}()\[\],;:.!?\"]*|.", re.DOTALL
)
_CLOSERS = {")": "(", "]": "["}
_OPENERS = frozenset(["(", "["])
_PAUSES = frozenset([",", ";", ":"])
_STOPS = frozenset([".", "!", "?"])
_LOOSE = _PAUSES | {" ", "–", "—", "-", "/"}
_JOINERS = frozenset(["and", "or", "/", "–", "—"])


def heal(text: str) -> str:
    """Close the holes of one paragraph, reading it once from left to right.

    >>> heal(f"Beijing ({HOLE}; {HOLE}; formerly Peking) is {HOLE}, of course, old {HOLE}.")
    'Beijing (formerly Peking) is, of course, old.'
    >>> heal(f"Rome ({HOLE}, ({HOLE})) is old")
    'Rome is old'
    """
    if HOLE not in text:
        return text
    out: list[str] = []
    hole = spaced = False
    for token in _TOKENS.findall(text):
        if token == HOLE:
            spaced = _pop_spaces(out) or (hole and spaced)
            hole = True
        elif not hole:
            out.append(token)
        elif token == " ":
            spaced = True
        else:
            last = out[-1] if out else ""
            opening = not out or last in _OPENERS
            if (token in _PAUSES and (opening or last in _PAUSES)) or (token in _JOINERS and last in _OPENERS):
                continue
            if token == '"' == last and not spaced:
                out.pop()
                spaced = _pop_spaces(out)
                continue
            if token in _CLOSERS:
                while out and out[-1] in _LOOSE:
                    out.pop()
                if out and out[-1] == _CLOSERS[token]:
                    out.pop()
                    spaced = _pop_spaces(out)
                    continue
            elif token in _STOPS:
                while out and out[-1] in _PAUSES:
                    out.pop()
                if token == "." and out and out[-1] in _STOPS:
                    continue
            elif token not in _PAUSES and spaced and not opening:
                out.append(" ")
            out.append(token)
            hole = False
    _pop_spaces(out)
    return "".join(out)


def _pop_spaces(out: list[str]) -> bool:
    popped = False
    while out and out[-1] == " ":
        out.pop()
        popped = True
    return popped
