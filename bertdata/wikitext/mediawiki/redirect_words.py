"""The words that begin a redirect in the wikis that MediaWiki knows, and where a redirect leads.

The words are those of the magic word `redirect`, of all languages together. Every wiki understands the English one. A
dump marks a redirect by `<redirect>`; in the first Content File Exports, which lack it, only the words tell.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

from bertdata.wikitext.mediawiki import facts

REDIRECT_WORDS: frozenset[str] = frozenset(facts.member(facts.ALL)["redirect"])
_SPACE = r"[ \t\n\r\f\v]*+"
_SIGNS = sorted({re.split(r"\w", word, maxsplit=1)[0] for word in REDIRECT_WORDS})
_BEGIN = re.compile(rb"[ \t\n\r\0\x0b]*+(?=%b)" % "|".join(map(re.escape, _SIGNS)).encode())
_HEAD = 4096
"""Bytes in which a word and its link are looked for; a title has at most 255."""


@lru_cache(maxsize=1)
def _redirect() -> re.Pattern[str]:
    """Return an expression for a redirect, which takes a few milliseconds to compile."""
    return re.compile(
        rf"(?:{'|'.join(map(re.escape, sorted(REDIRECT_WORDS, key=len, reverse=True)))}){_SPACE}:?{_SPACE}"
        r"\[\[([^|\n]*?)(?:\|[^\n]*?)?\]\]",
        re.IGNORECASE,
    )


def redirect_target(wikitext: bytes) -> str | None:
    """Return the title that a page redirects to, without the part after `#`, None where it is not a redirect.

    A redirect is what MediaWiki takes for one (`WikitextContent::getRedirectTargetAndText`): a word of the table in any
    case, with its number sign, at the beginning but for spaces, then a link, with at most a colon and spaces between.
    The words of all wikis are understood in each.

    >>> redirect_target("#WEITERLEITUNG [[Köln#Dom|der Dom]]".encode()), redirect_target(b"#redirect : [[:Rome]]")
    ('Köln', 'Rome')
    >>> redirect_target("# [[Köln]]".encode()), redirect_target(b"#REDIRECT to [[Rome]]")
    (None, None)
    """
    begin = _BEGIN.match(wikitext)
    redirect = begin and _redirect().match(wikitext[begin.end() : begin.end() + _HEAD].decode("utf-8", "replace"))
    return unquote(redirect[1]).strip().removeprefix(":").partition("#")[0].strip() if redirect else None
