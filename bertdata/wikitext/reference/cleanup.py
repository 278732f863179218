"""The last pass over wikitext: cleans up each paragraph, makes its spaces single, and drops those without a word.

The passes before leave a placeholder where a construct was dropped from inside a text: empty parentheses, doubled
spaces, a comma before a full stop. Only what is next to a placeholder changes, so what an author really wrote (code,
French spacing, an emoticon) stays. `kernels/cleanup` does the same, compiled.
"""

from __future__ import annotations

import re

from bertdata.wikitext import rules
from bertdata.wikitext.rules import LINE_BREAK, PARAGRAPH_BREAK, PLACEHOLDER

_PARAGRAPH_BREAK = re.compile(r"\n[ \n]*\n")
_LINE_BREAKS = re.compile(rf" ?{LINE_BREAK}[ {LINE_BREAK}]*+")
_SPACE_RUN = re.compile(r"[ \n]{2,}|\n")
_WORD = re.compile("[^\\W\U00010000-\U0010ffff]")
_URL = rf"(?:{'|'.join(rules.PROTOCOLS)}):(?://[^ \n]++|[!-~]++)"
_ONLY_URLS = re.compile(f"(?>{_URL})(?: (?>{_URL}))*+", re.IGNORECASE | re.ASCII)


def finish(text: str) -> str:
    """Return the paragraphs that hold a letter or digit, cleaned up, separated by a blank line; "" if there are none.

    >>> finish(f"Rome  ({PLACEHOLDER}) is old. \\n\\n({PLACEHOLDER})\\n\\nSo{LINE_BREAK} it is.")
    'Rome is old.\\n\\nSo\\nit is.'
    """
    paragraphs = (_finish(paragraph) for paragraph in _PARAGRAPH_BREAK.split(text))
    return PARAGRAPH_BREAK.join(
        paragraph for paragraph in paragraphs if _WORD.search(paragraph) and not _ONLY_URLS.fullmatch(paragraph)
    )


def _finish(paragraph: str) -> str:
    """Clean up one paragraph; the lines of verse stay lines."""
    paragraph = clean_up(_SPACE_RUN.sub(" ", paragraph)).strip(" ")
    return _LINE_BREAKS.sub("\n", paragraph).strip(" \n") if LINE_BREAK in paragraph else paragraph


_MARKS = re.escape(rules.PAUSES + rules.STOPS)
_DELIMITERS = re.escape(f' "{PLACEHOLDER}{rules.OPENERS}{rules.CLOSERS}') + _MARKS
_TOKENS = re.compile(
    rf"[^{_DELIMITERS}]+|[{_MARKS}](?![{re.escape(rules.AFTER_MARK)}]|\Z)[^{_DELIMITERS}]*|.", re.DOTALL
)
_OPENERS, _PAUSES, _STOPS = map(frozenset, (rules.OPENERS, rules.PAUSES, rules.STOPS))
_CLOSERS = dict(zip(rules.CLOSERS, rules.OPENERS, strict=True))
_LOOSE = frozenset(f" -/{rules.PAUSES}{rules.DASHES}")
_JOINERS = frozenset([*rules.JOINING_WORDS, *rules.DASHES, "/"])


def clean_up(text: str) -> str:
    """Take the placeholders out of one paragraph, and the marks and spaces that they leave without sense.

    >>> clean_up("Beijing (@; @; formerly Peking) is @, of course, old @.".replace("@", PLACEHOLDER))
    'Beijing (formerly Peking) is, of course, old.'
    >>> clean_up(f"Rome ({PLACEHOLDER}, ({PLACEHOLDER})) is old")
    'Rome is old'
    """
    if PLACEHOLDER not in text:
        return text
    out: list[str] = []
    after = spaced = False
    for token in _TOKENS.findall(text):
        if token == PLACEHOLDER:
            spaced = _pop_spaces(out) or (after and spaced)
            after = True
        elif not after:
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
            after = False
    _pop_spaces(out)
    return "".join(out)


def _pop_spaces(out: list[str]) -> bool:
    popped = False
    while out and out[-1] == " ":
        out.pop()
        popped = True
    return popped
