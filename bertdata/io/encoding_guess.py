"""Which encoding a text that is not UTF-8 is in: the one that its header declares, else the likeliest for its language.

Headers of Project Gutenberg declare it ("Character set encoding: ISO-8859-7") and name the language. A declared
encoding is taken where the bytes are text in it. Without one, the encodings of 8 bits that Python knows are compared by
how many of the signs that they give are letters of the language (`languages.toml`, from Unicode's CLDR); where no
language is named, it is the one whose letters the bytes are in some encoding, if there are enough of them
(`letters.likely_language`); else charset-normalizer and the signs inside words decide.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from bertdata.io.eight_bits import CONTROLS, USUAL, eight_bits, is_text_in
from bertdata.io.languages import HEAD, languages_of
from bertdata.io.letters import (
    ODD_LETTERS,
    OF_TYPESETTERS,
    letters_of,
    likely_language,
    mixes_scripts,
    odd_words,
    sample_of,
    worth_of,
)

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

_TIE = 0.02
"""A chaos of charset-normalizer that is so much higher is as good."""
_DECLARED = re.compile(
    rb"^[ \t>*|#]*(?:character[ \t]+set(?:[ \t]+encoding)?|character[ \t]+encoding|charset)[ \t]*[:=][ \t]*([^\r\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS_BEFORE = re.compile(r"^(?:ms|microsoft|code|page|windows|win|ibm|dos|ansi|cp|pc)+(?=\d)")
_OF_MANY_BYTES = {
    "big5": ("big5", "cp950", "big5hkscs"),
    "gb2312": ("gb2312", "gbk", "gb18030"),
    "shift_jis": ("shift_jis", "cp932"),
    "euc_jp": ("euc_jp", "euc_jis_2004"),
    "euc_kr": ("euc_kr", "cp949"),
}
"""Encodings, and those that have all their characters and more."""
_GUESSED = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "iso8859_2", "koi8_r", "mac_roman"),
    *("cp437", "cp850", "cp866", "iso8859_5", "iso8859_6", "mac_cyrillic"),
    *("big5", "gb18030", "shift_jis", "euc_jp", "euc_kr"),
)
"""The encodings that are compared by charset-normalizer."""


@cache
def _modules() -> dict[str, str]:
    """Return the name of each encoding of 8 bits by the name that Python's codec gives itself."""
    return {codecs.lookup(name).name: name for name in eight_bits()}


_LOOKED_AT = 14
"""The encodings with the most letters, whose words are looked at."""


@dataclass(frozen=True)
class Guess:
    """An encoding that a text may be in; doubt: why it may be another one, "" where that is not likely."""

    encoding: str
    doubt: str = ""


def guesses(part: bytes, head: bytes = b"") -> list[Guess]:
    r"""Return the encodings that a text which is not UTF-8 may be in, the likeliest first; the first can decode it.

    head: the beginning of its file, where its header is (default: that of the text).

    >>> header = b"Language: Esperanto\nCharacter set encoding: ISO-8859-3\n\n"
    >>> guesses("Ĉiutage".encode("iso8859_3"), header)[0].encoding
    'iso8859_3'
    >>> guesses("Это текст по-русски, и он короткий.".encode("koi8_r"))[0].encoding
    'koi8_r'
    >>> guesses(b"We met \x96 late.")[0].encoding, guesses(b"Das M\xe4dchen kam sp\xe4t nach Hause.")[0].encoding
    ('cp1252', 'cp1252')
    """
    beginning = head or part[:HEAD]
    letters = letters_of(languages_of(beginning) or likely_language(part))
    stated = declared(beginning)
    fitting = [name for name in stated if is_text_in(part, name)]
    by_letters = _by_letters(part, letters) if letters else []
    if fitting:
        return [Guess(fitting[0], _doubt_of_declared(part, fitting[0], by_letters)), *map(Guess, fitting[1:])]
    candidates = by_letters or _by_chaos(part)
    if stated and candidates and not _is_vague(stated):
        doubt = f"its header says {stated[0]}, which it is not"
        return [Guess(candidate.encoding, candidate.doubt or doubt) for candidate in candidates]
    return candidates


def declared(head: bytes) -> tuple[str, ...]:
    r"""Return the encodings, in Python's names, that a header declares, with those that have all of it and more.

    >>> declared(b"Character set encoding: ISO-8859-1\r\n"), declared(b"Character set: Windows Code Page 1250\n")
    (('latin_1', 'cp1252'), ('cp1250',))
    >>> declared(b"Character set encoding: ISO Latin-2 (ISO-8859-2)\n"), declared(b"a book")
    (('iso8859_2',), ())
    """
    for match in _DECLARED.finditer(head[:HEAD]):
        text = match[1].decode("latin_1").strip().strip("*|").strip()
        inner = re.findall(r"\(([^()]*)\)", text)
        for name in (text, re.sub(r"\([^()]*\)", "", text), *inner, *re.split(r"[,;]", text)):
            if encoding := _python_name(name):
                return (encoding, *supersets(encoding))
    return ()


def _python_name(name: str) -> str:
    """Return Python's name of an encoding by a usual spelling, "" where there is none."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix("encoding").removeprefix("unicode").removeprefix("x")
    number = re.sub(r"^(?:isoiec|iso)?latin", "latin", _WORDS_BEFORE.sub("cp", plain))
    part = re.fullmatch(r"(?:iso|isoiec)?8859(\d{1,2})[ie]?", number)
    spellings = (f"iso8859_{part[1]}" if part else "", name.strip(), plain, number, number.replace("cp", ""))
    usual = {"ansi": "cp1252", "mac": "mac_roman", "macintosh": "mac_roman", "applemacintosh": "mac_roman"}
    for spelling in (usual.get(plain, ""), *spellings):
        try:
            info = codecs.lookup(spelling) if spelling else None
        except (LookupError, ValueError, UnicodeError):
            continue
        if info is not None and info._is_text_encoding:
            return _modules().get(info.name, info.name.replace("-", "_"))
    return ""


@cache
def supersets(encoding: str) -> tuple[str, ...]:
    """Return the encodings that have all characters of one, its control characters aside, and more.

    >>> supersets("latin_1"), supersets("iso8859_9"), supersets("iso8859_7"), supersets("big5")
    (('cp1252',), ('cp1254',), (), ('cp950', 'big5hkscs'))
    """
    if encoding in _OF_MANY_BYTES:
        return _OF_MANY_BYTES[encoding][1:]
    if encoding not in eight_bits():
        return ()
    of_encoding = eight_bits()[encoding]
    needed = {place for place, sign in enumerate(of_encoding) if sign and not CONTROLS.match(sign) and sign != "\x85"}
    for name, signs in eight_bits().items():
        is_wider = any(sign and not CONTROLS.match(sign) for sign in signs[:32])
        if name != encoding and is_wider and all(signs[place] == of_encoding[place] for place in needed):
            return (name,)
    return ()


def _is_vague(stated: tuple[str, ...]) -> bool:
    """Return whether what a header declares says nothing of bytes above 127: ASCII, or UTF-8."""
    return codecs.lookup(stated[0]).name in ("ascii", "utf-8")


def _by_letters(part: bytes, letters: dict[str, float]) -> list[Guess]:
    """Return the encodings of 8 bits in which a text has most letters of its language; none where few are its."""
    sample = sample_of(part)
    counts = Counter(sample.translate(None, bytes(range(128))))
    scores = {
        name: sum(count * _worth(signs[byte - 128], letters) for byte, count in counts.items())
        for name, signs in eight_bits().items()
        if all(signs[byte - 128] and not CONTROLS.match(signs[byte - 128]) for byte in counts)
    }
    texts: dict[str, str] = {}
    for name in sorted(scores, key=lambda name: -scores[name])[:_LOOKED_AT]:
        texts[name] = sample.decode(name)
        scores[name] -= 2 * len(ODD_LETTERS.findall(texts[name]))
    places = {name: place for place, name in enumerate(eight_bits())}
    order = sorted(texts, key=lambda name: (-scores[name], places[name]))
    first_of_text: dict[str, str] = {}
    for name in order:
        if scores[name] > 0 and is_text_in(part, name):
            first_of_text.setdefault(texts[name], name)
    order = list(first_of_text.values())
    rivals = [name for name in order[1:] if name in USUAL]
    tied = next((name for name in rivals if scores[name] == scores[order[0]]), "")
    return [Guess(name, f"{tied} fits as well" if tied and name == order[0] else "") for name in order]


def _worth(sign: str, letters: dict[str, float]) -> float:
    """Return what a sign says for an encoding: letters of the language most, others against it."""
    if sign in letters or sign.isalpha():
        return worth_of(sign, letters)
    return 0.1 if sign in OF_TYPESETTERS else -0.1


def _doubt_of_declared(part: bytes, encoding: str, by_letters: list[Guess]) -> str:
    """Return why a declared encoding may be wrong: another gives many more letters of the language."""
    if not by_letters:
        return ""
    sample = sample_of(part)
    best = by_letters[0].encoding
    declared_text, other = sample.decode(encoding), sample.decode(best)
    odd, less = len(ODD_LETTERS.findall(declared_text)), len(ODD_LETTERS.findall(other))
    if declared_text == other or odd <= max(2, 2 * less):
        return ""
    return f"its header says {encoding}, and its words look like {best}"


_KANA = 0.25
"""The share of kana in Japanese, where signs do stand between letters; wrong encodings give Chinese characters."""


def _by_chaos(part: bytes) -> list[Guess]:
    """Return the encodings that charset-normalizer finds likely, cp1252 before others that fit as well.

    Those that it finds alike are told apart by their words: a sign inside a word, or a capital after a small letter, is
    a sign of the wrong one.
    """
    from charset_normalizer import from_bytes

    sample = sample_of(part)
    matches = list(from_bytes(sample, cp_isolation=list(_GUESSED)))
    if not matches:
        return [Guess(name, "no encoding gives words") for name in eight_bits() if is_text_in(part, name)]
    near = [match for match in matches if match.chaos <= matches[0].chaos + _TIE]
    ordered = sorted(near, key=lambda match: (odd_words(str(match)), not _is_western(match)))
    if mixes_scripts(str(ordered[0])) and is_text_in(part, "cp1252") and not mixes_scripts(sample.decode("cp1252")):
        return [Guess("cp1252"), *(Guess(match.encoding) for match in matches)]
    names = [name for match in ordered for name in (["cp1252"] * _is_western(match) + match.could_be_from_charset)]
    names = list(dict.fromkeys([*names, *(match.encoding for match in matches)]))
    signs = [sign for sign in str(ordered[0]) if not sign.isascii()]
    odd = len(ODD_LETTERS.findall(str(ordered[0])))
    is_japanese = sum("\u3041" <= sign <= "\u30ff" for sign in signs) > _KANA * len(signs)
    doubt = "signs stand inside of its words" if odd > max(2, 0.02 * len(signs)) and not is_japanese else ""
    return [Guess(names[0], doubt), *map(Guess, names[1:])]


def _is_western(match: CharsetMatch) -> bool:
    return "cp1252" in match.could_be_from_charset
