"""What a block of lines is by its geometry: prose, verse, a heading, a table, a list or a synopsis.

How full lines are, how they begin and how they end decides, and not their language. What is called a title, an entry or
a synopsis is short: a long line is always prose.
"""

from __future__ import annotations

import re

from bertdata.sources.books.headings import (
    DIVISION,
    DIVISION_TITLE,
    NUMBERED_TITLE,
    OPENS_SPEECH,
    ORNAMENT,
    TITLE_LIMIT,
    is_mostly_small,
    is_title,
)

Block = list[str]

ENTRY = re.compile(
    rf"{ORNAMENT}(?:{DIVISION}\b(?!\s+(?!the\b|of\b|on\b|to\b|from\b)(?-i:[a-z]))|(?:[ivxlcdm]+|\d{{1,3}})(?:[.):—-]|\s{{2,}}))",
    re.IGNORECASE,
)
_PAGE_NUMBER = re.compile(r"(?:\.[ .]{2,40}|\s{2,40}|[,_]\s?)(?:\d{1,4}|[ivxlc]+)$")
_COLUMNS = re.compile(r"\S(?:\s{3,}|\s*\|\s*)\S")
TAIL = 16
"""The characters at the end of a line in which an end mark is looked for."""
_MARK = rf"[\W_]{{0,{TAIL}}}(?:[\[({{][\w*]{{1,4}}[\])}}][\W_]{{0,{TAIL}}})?$"
ENDS_SENTENCE = re.compile(r"[.!?…。！？]" + _MARK)
ENDS_CLAUSE = re.compile(r"[.!?…。！？,;:—–-]" + _MARK)
_SENTENCE_END = re.compile(r"[.!?…。！？](?=\W{0,3}(?:\s|$))")
_GOES_ON_AFTER_SPEECH = re.compile(r"(?:[,!?.…][\"“”«»’]|[\"“”«»’],)\s+[a-zß-öø-ÿ]")
"""Speech in quotes that goes on in small letters, as in `"Yes," said he`; behind a title in quotes nothing does."""
_DASH = re.compile(r"--+|—+|(?:^|\s)–\s")
_ENDS_DASH = re.compile(r"(?:--|—|–)$")
_SUBJECT = re.compile(r"\b(?:he|she|they|we)\b")
_ONE_CAPITAL = re.compile(r"[\W_]*[^\W\d_]+(?:[\W_]+[^\W\d_A-Z]+)*[\W_]*")
"""Words of which only the first may begin with a capital: "That was all.", not "The Sea." or "May 24."."""
SPACELESS = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff]")
"""Letters of Chinese and Japanese, about two to a word, between which there are no spaces."""
_DIGIT = re.compile(r"\d")
RAGGED_LENGTH = 600
"""Characters from which lines that are not full, and do not end a sentence, are text by the sentences inside them."""
LAYOUT_LIMIT = 2000
"""Characters of the longest synopsis, row of a table or heading of several lines: a synopsis of Project Gutenberg's
novels has 824 at most."""
SIGNS = b"0123456789.,;:'-_=*|#/\\~<>+()[]{}^&%$"
_OTHER_SIGNS = "£"


def kind_of(lines: Block, text: str, width: int) -> str:
    """Return what lines with this text are: "prose", "verse", "heading", or "" for none of them."""
    solid = len(text) - text.count(" ")
    if not any(map(str.isalpha, text)) or (solid > 20 and count_signs(text) > 0.4 * solid):
        return ""
    if len(lines) == 1:
        return "prose" if len(text) > TITLE_LIMIT else _kind_of_line(text, len(lines[0]) - len(text), width)
    if len(text) <= LAYOUT_LIMIT and text.isupper() and not OPENS_SPEECH.match(text):
        return "heading"
    if ("   " in text or "|" in text) and sum(map(has_columns, lines)) * 2 >= len(lines):
        return ""
    if max(map(len, lines)) > TITLE_LIMIT:
        return "prose"
    if is_list(lines) or (ENTRY.match(text) and ends_in_number(text)):
        return ""
    lengths = [*map(len, lines)]
    margin = max(0.8 * width, *lengths) * 0.9
    firsts = [line.split(None, 1)[0] for line in lines[1:]]
    full = sum([length + 1 + len(word) > margin for length, word in zip(lengths, firsts, strict=False)]) / len(firsts)
    lower = sum([word[0].islower() for word in firsts]) / len(firsts)
    if full >= 0.6 or (lower >= 0.5 and full >= 0.3):
        untitled = len(lines) > 3 or ENDS_CLAUSE.search(text[-TAIL:]) or not is_title(text)
        return "prose" if untitled else "heading"
    words = text.count(" ") + 1 + len(SPACELESS.findall(text)) // 2
    ends = ENDS_CLAUSE.search(text[-TAIL:]) or _is_ragged_text(lines, text)
    is_wrapped = lower == 1 and ENDS_SENTENCE.search(text[-TAIL:]) and is_mostly_small(text, 0.5)
    reads = ends and (words >= 3.5 * len(lines) or is_wrapped) and not is_title(text)
    return "verse" if reads and len(_DIGIT.findall(text)) < 0.03 * solid else ""


def _is_ragged_text(lines: Block, text: str) -> bool:
    """Tell whether a long block reads as sentences whatever its lines end in, as a letter or dedication that is signed.

    A table of contents has as many lines and no sentences.
    """
    if len(text) < RAGGED_LENGTH or not is_mostly_small(text, 0.5):
        return False
    return len(_SENTENCE_END.findall(text)) * 8 >= len(lines)


def count_signs(text: str) -> int:
    plain = text.encode("ascii", "ignore")
    return len(plain) - len(plain.translate(None, SIGNS)) + text.count(_OTHER_SIGNS)


def is_list(lines: Block) -> bool:
    """Tell whether more than half of the lines end in a number or begin as entries do."""
    others = len(lines) - len(lines) // 2
    for line in lines:
        if not (ends_in_number(line) or ENTRY.match(line)):
            others -= 1
            if not others:
                return False
    return True


def _kind_of_line(text: str, indent: int, width: int) -> str:
    words = text.count(" ") + 1
    long = len(text) > 0.75 * width
    speech = OPENS_SPEECH.match(text)
    if len(text) < 1.5 * width and (DIVISION_TITLE.match(text) or (NUMBERED_TITLE.match(text) and is_title(text))):
        return "heading"
    if ends_in_number(text) or (indent > 0.25 * width and words < 8):
        return ""
    if ENDS_SENTENCE.search(text[-TAIL:]):
        titled = 2 <= words <= 8 and is_title(text) and not (_ONE_CAPITAL.fullmatch(text) or _SUBJECT.search(text))
        return "heading" if titled and not speech and not is_mostly_small(text, 0.5) else "prose"
    if ENDS_CLAUSE.search(text[-TAIL:]):
        return "prose" if words > 2 or speech else ""
    if speech and _GOES_ON_AFTER_SPEECH.search(text):
        return "prose"
    return "prose" if long and words > 7 and not is_title(text) else "heading"


def has_columns(line: str) -> bool:
    return len(line) <= LAYOUT_LIMIT and ("   " in line or "|" in line) and bool(_COLUMNS.search(line.strip()))


def ends_in_number(line: str) -> bool:
    return (line[-1].isdigit() or line[-1] in "ivxlc") and bool(_PAGE_NUMBER.search(line[-40:]))


def is_synopsis(lines: Block) -> bool:
    """Tell whether lines are a synopsis, as under a chapter's heading in old books: titles separated by dashes.

    Lines that all end in one are verse. Titles begin with capitals; text goes on in small letters behind a dash, as in
    speech that dashes open, "--You may stay--said she--but not to sing". So do sentences that each have a dash.
    """
    text = " ".join(lines)
    if len(text) > LAYOUT_LIMIT:
        return False
    if len(lines) > 1 and all(_ENDS_DASH.search(line) for line in lines):
        return False
    phrases = [phrase.strip() for phrase in _DASH.split(text)]
    opens, phrases = not phrases[0], [phrase for phrase in phrases if any(map(str.isalnum, phrase))]
    if len(phrases) < 3 or sum(phrase.count(" ") + 1 for phrase in phrases) >= 7 * len(phrases):
        return False
    following = phrases[not opens :]
    small = sum(next(filter(str.isalnum, phrase)).islower() for phrase in following)
    sentences = opens and all(ENDS_SENTENCE.search(phrase[-TAIL:]) for phrase in phrases)
    return 2 * small < len(following) and not sentences
