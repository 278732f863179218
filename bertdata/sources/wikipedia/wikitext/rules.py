"""The rules of cleaning that the reference and the kernels share: marks, sets of characters, lists of tags, limits."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PLACEHOLDER = "\x7f"
"""Written where a construct was dropped from inside a text, for the last pass to clean up around it."""
LINE_BREAK = "\x0b"
"""A line break that stays inside a paragraph, as the lines of a poem do."""
PARAGRAPH_BREAK = "\n\n"
TEMPLATE_MARK, TABLE_MARK, LINK_MARK = "\x01", "\x02", "\x03"
"""Written where a construct opened whose end has not been seen."""
RESERVED = PLACEHOLDER + LINE_BREAK + TEMPLATE_MARK + TABLE_MARK + LINK_MARK
"""Characters with a meaning of their own between the passes; they are deleted from the wikitext first."""

MAX_DEPTH = 100
"""Constructs nested deeper leave nothing; MediaWiki stops expanding templates at the same depth."""

SPECIAL_TAGS = ("nowiki", "poem", "math", "chem", "ce", "ref")
EXTENSION_TAGS = _words(
    "categorytree gallery graph h1 h2 h3 h4 h5 h6 hiero imagemap indicator inputbox mapframe maplink pre quiz rss "
    "score script source style syntaxhighlight templatedata templatestyles timeline"
)
"""Tags that are dropped with what is between them; one that is never closed hides its line."""
HIDDEN_TAGS = ("del", "includeonly", "rp", "rt", "s", "strike")
"""Tags that are dropped with what is between them; one that is never closed hides nothing."""
TAGS = (*SPECIAL_TAGS, *EXTENSION_TAGS, *HIDDEN_TAGS)
"""The tags of the first pass; the kernels know a tag by its index."""
FORMULA_LENGTH = 60
"""A longer formula is dropped."""
NOT_IN_FORMULAS = "\\{}$"
LITERAL = "[]{}|<>'=*#:;!_~-"
"""Characters of wikitext markup, written as character references where they are meant literally."""
BEFORE_PLACEHOLDER = f" \n([,;:/\"'–—-|>{PLACEHOLDER}"
"""A construct that is dropped after one of these, or at the beginning of a text, leaves a placeholder."""

LINE_MARKUP = "*#:;=|! "
"""Characters that are markup at the beginning of a line."""
LIST_MARKS = "*#:;|"
"""What a line of a list or of a table begins with."""
SENTENCE_ENDS = ".!?:;\"'”’»)]…。！？"
SPACES_OF_PROSE = 8
"""A line that begins with a space is prose only with this many spaces inside, and if a sentence ends it."""
TITLE_EDGES = " \t:"
NAME_EDGES = f" \t\n{PLACEHOLDER}"
"""What is stripped from the name of a template and from the prefix of a link."""
LINE_EDGES = f" \t{PLACEHOLDER}"
INDENTS = f" \t:*#{PLACEHOLDER}"
"""What can come before the `{|` and the `|}` of a table on their lines."""

PAUSES, STOPS, DASHES, OPENERS, CLOSERS = ",;:", ".!?", "–—", "([", ")]"
JOINING_WORDS = ("and", "or")
AFTER_MARK = f" \"'”’{PLACEHOLDER}{OPENERS}{CLOSERS}"
"""A pause or a stop is a token of its own before these and at the end; else it belongs to what follows, as in `3.5`."""

SWITCH_LETTERS = (4, 40)
"""The fewest and the most letters of a behaviour switch such as `__NOTOC__`."""
PROTOCOLS = _words("http https ftp ftps irc ircs news gopher git mailto tel geo magnet urn")
BREAK_TAGS = ("br", "wbr", "hr")
BLOCK_TAGS = _words("p div blockquote center li dd dt tr td th table ul ol dl")
STRIPPED_TAGS = _words(
    "a abbr b bdi bdo big caption ce chem cite code col colgroup data del dfn em font gallery h1 h2 h3 h4 h5 h6 hiero "
    "i img includeonly ins kbd langconvert languages mark math nobr noinclude nowiki onlyinclude poem pre q rb ref "
    "references rp rt rtc ruby s samp section small source span strike strong sub sup syntaxhighlight tbody "
    "templatestyles tfoot thead time translate tt tvar u var"
)
"""Tags of which only what is between them stays."""
ODD_SPACES = (
    "\t\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000"
)
"""White space that becomes a space."""
INVISIBLE = "".join(map(chr, [*range(9), *range(14, 28)])) + "\xad\u200b\u200e\u200f\u2060\ufeff"
"""Control characters, soft hyphens and characters without width, which are deleted."""
