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

INVISIBLE_REFERENCES = ("&רלמ;", "&رلم;")
"""References that MediaWiki has for the mark from right to left, beside those of HTML; they are deleted, too."""

MAX_DEPTH = 100
"""Constructs nested deeper leave nothing; MediaWiki stops expanding templates at the same depth."""

SPECIAL_TAGS = ("nowiki", "poem", "math", "chem", "ce", "ref")
CODE_TAGS = ("source", "syntaxhighlight")
"""Tags of blocks whose content is shown within a line where their attributes say so."""
BLOCK_EXTENSION_TAGS = (
    *_words(
        "categorytree charinsert dynamicpagelist gallery graph h1 h2 h3 h4 h5 h6 imagemap infobox inputbox mapframe"
    ),
    *_words("pagelist pages pre quiz rss score tabber timeline youtube"),
    *CODE_TAGS,
)
"""Extension tags that show a block, which parts the words before and after it."""
EXTENSION_TAGS = (
    *BLOCK_EXTENSION_TAGS,
    *_words("hiero indicator maplink phonos script style templatedata templatestyles"),
)
"""Tags that are dropped with what is between them; one that is never closed hides its line."""
HIDDEN_TAGS = ("del", "includeonly", "references", "rp", "rt", "s", "strike")
"""Tags that are dropped with what is between them; one that is never closed hides nothing."""
INCLUDE_ONLY = "includeonly"
"""The one of these that hides the rest of the page where it is never closed."""
TAGS = (*SPECIAL_TAGS, *EXTENSION_TAGS, *HIDDEN_TAGS)
"""The tags of the first pass; the kernels know a tag by its index."""
AFTER_USE = " \t\n.,;:!?)"
"""What follows a reference that is used by its name; what it says begins with another character."""
FORMULA_LENGTH = 60
"""A longer formula is dropped."""
NOT_IN_FORMULAS = "\\{}$"
LITERAL = "[]{}|<>'=*#:;!_~-\n"
"""Characters of wikitext markup, written as character references where they are meant literally."""
MARKUP_IN_A_VALUE = 4
"""A quoted value of an attribute may hold so many `<`."""
BEFORE_PLACEHOLDER = f" \n([,;:/\"'–—-|>{PLACEHOLDER}"
"""A construct that is dropped after one of these, or at the beginning of a text, leaves a placeholder."""

PASSED_BEFORE_CALL = f" '\"{PLACEHOLDER}"
"""What is passed over before a template call, to see what it follows."""
PASSED_AFTER_CALL = "'\""
MOST_PASSED = 16
OPENS_CALL = f"([*/+~-–—“‘«„×≈±{LINK_MARK}"
"""A call directly after one of these is part of the sentence, as one after a space is."""
ENDS_SENTENCE = ".!?…。！？"
GOES_ON = ",;-–abcdefghijklmnopqrstuvwxyz"
"""What follows a call that begins a sentence, where the sentence goes on."""

LINE_MARKUP = "*#:;=|! "
"""Characters that are markup at the beginning of a line."""
LIST_MARKS = "*#:;|"
"""What a line of a list or of a table begins with."""
BEGINS_BLOCK = _words("p table ul ol dl h1 h2 h3 h4 h5 h6 /td /th tr /tr caption /caption dt /dt dd /dd li /li")
ENDS_BLOCK = _words(
    "/p /table /ul /ol /dl /h1 /h2 /h3 /h4 /h5 /h6 td th center /center blockquote /blockquote div /div hr /hr aside "
    "/aside figure /figure"
)
"""Tags that begin a block and tags that end one, as MediaWiki's `BlockLevelPass` has it. A line that begins with a
space shows no code where one of these tags is on it, inside a block and inside a quotation."""
SENTENCE_ENDS = ".!?:;\"'”’»)]…。！？"
SPACES_OF_PROSE = 8
"""A line that begins with a space is prose only with this many spaces inside, and if a sentence ends it."""
LETTERS = "\u00c0\u1fff"
"""The first and the last of the characters that stand for the letters beyond ASCII of scripts with spaces."""
SPACES_OF_NOTES = 12
"""The first line below "Notes" is prose with this many spaces inside, if a sentence ends it and it cites nothing."""
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

SWITCH_EDGES = "_\uff3f"
"""What a behaviour switch such as `__NOTOC__` begins and ends with."""
LONGEST_SWITCH, MOST_UNDERSCORES = 100, 12
"""The most bytes of a switch, and the most of these characters in it after the first."""
LONGEST_HIDDEN = 4000
"""Bytes of an element that its style hides; of a longer one, and one that is not closed in its paragraph, the text
stays."""
PROTOCOLS = _words(
    "ftp ftps git gopher http https irc ircs mms nntp redis sftp ssh svn telnet worldwind "
    "bitcoin geo magnet mailto matrix news sip sips sms tel urn xmpp"
)
"""What can begin an address, before a colon (MediaWiki's `$wgUrlProtocols`)."""
URL_SPACES = "\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
"""White space beyond ASCII that ends an address (Unicode's category Zs)."""
BREAK_TAGS = ("br",)
BLOCK_TAGS = _words("p div blockquote center hr li dd dt tr td th table ul ol dl")
STRIPPED_TAGS = _words(
    "a abbr b bdi bdo big caption ce chem cite code col colgroup data del dfn em font gallery h1 h2 h3 h4 h5 h6 hiero "
    "i img includeonly ins kbd langconvert languages mark math nobr noinclude nowiki onlyinclude poem pre q rb ref "
    "references rp rt rtc ruby s samp section small source span strike strong sub sup syntaxhighlight tbody "
    "templatestyles tfoot thead time translate tt tvar u var wbr"
)
"""Tags of which only what is between them stays."""
ODD_SPACES = "\t\x0c\r\x1c\x1d\x1e\x1f\x85\u2028\u2029" + URL_SPACES
"""White space that becomes a space."""
INVISIBLE = "".join(map(chr, [*range(9), *range(14, 28)])) + "\xad\u200b\u200e\u200f\u2060\ufeff"
"""Control characters, soft hyphens and characters without width, which are deleted."""
