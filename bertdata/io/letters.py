"""Letters of languages, and the signs of a text whose encoding is not known: do they make words of one?"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping
from functools import cache

from bertdata.io.eight_bits import CONTROLS, eight_bits
from bertdata.io.languages import known_languages

_SAMPLE = 1 << 16
_HIGH_LINE = re.compile(rb"^[^\n\x80-\xff]*+[\x80-\xff][^\n]*+\n?", re.MULTILINE)
ODD_LETTERS = re.compile(
    r"[^\W\d_¹²³¼-¾](?:[^\w\s'’‘\-–—./,:;@&\u00ad·]|[¹²³¼-¾])+[^\W\d_¹²³¼-¾]|[a-zà-öø-ÿа-яα-ω][A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_ASCII_LETTERS, _BEYOND_ASCII = string.ascii_letters.encode(), bytes(range(128, 256))
_LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ɏ]")
_OF_ANOTHER_SCRIPT = re.compile("[Ͱ-ϿЀ-ӿא-ת\u0620-\u064a\u0e01-\u0e5b]")
OF_TYPESETTERS = "“”„‘’‚«»‹›–—…§°·\u00a0\u00ad£€¡¿"

_MOST_ODD = 0.02
"""The share of signs inside of words from which on a text is in another encoding."""
_LEAST = 0.9
"""How many of the signs of a text are letters of its language, or marks, at least."""
_LEAST_SIGNS, _LEAST_SHARE = 4, 0.01
"""How many different bytes over 127, and how many for each letter of ASCII, tell a language; English has fewer."""
_LOOKED_AT = 14
"""The encodings that fit best, whose words are looked at."""
_CONJUNCTIONS, _SAID = 0.04, 5
"""The share of words that are conjunctions from which on more say nothing more, and how much they say beside signs."""


def letters_of(codes: tuple[str, ...]) -> dict[str, float]:
    """Return the letters beyond ASCII of languages: 1 for their own, 0.5 for those of foreign words in them."""
    letters: dict[str, float] = {}
    for code in codes:
        language = known_languages()[code]
        for text, worth in ((language.get("more", ""), 0.5), (language.get("letters", ""), 1.0)):
            for sign in text + text.upper():
                letters[sign] = max(worth, letters.get(sign, 0.0))
    return letters


def likely_language(part: bytes) -> tuple[str, ...]:
    r"""Return the code of the language whose letters, in some encoding of 8 bits, the bytes over 127 are; () of none.

    Of languages and encodings that fit alike, the words for "and" and "or" decide, and then what is usual. It is one
    that is written in Latin letters, most of which are ASCII: letters of other scripts alone do not tell languages.

    >>> likely_language("Příliš žluťoučký kůň úpěl ďábelské ódy.".encode("cp852"))
    ('cs',)
    >>> likely_language(b"We met \x96 late."), likely_language("これは日本語の文です。".encode("euc_jp"))
    ((), ())
    """
    sample = sample_of(part)
    counts = Counter(sample.translate(None, bytes(range(128))))
    in_ascii, beyond = (len(part) - len(part.translate(None, some)) for some in (_ASCII_LETTERS, _BEYOND_ASCII))
    if len(counts) < _LEAST_SIGNS or not _LEAST_SHARE * in_ascii < beyond < in_ascii:
        return ()
    readings: dict[tuple[str, ...], tuple[float, str]] = {}
    for name, signs in eight_bits().items():
        of_bytes = tuple(signs[byte - 128] for byte in counts)
        if of_bytes not in readings and all(sign and not CONTROLS.match(sign) for sign in of_bytes):
            readings[of_bytes] = max(_fits(dict(zip(of_bytes, counts.values(), strict=True))).values()), name
    best, language_of_best = 0.0, ""
    for fits, name in sorted(readings.values(), key=lambda reading: -reading[0])[:_LOOKED_AT]:
        text = sample.decode(name)
        odd = odd_words(text)
        if fits < _LEAST or odd > max(1, _MOST_ODD * counts.total()):
            continue
        words = Counter(word.lower() for word in _WORD.findall(text))
        signs_of_text = Counter(sign for sign in text if not sign.isascii())
        for code, fits_language in _fits(signs_of_text).items():
            language = known_languages()[code]
            conjunctions = sum(words[language.get(name, "")] for name in ("and", "or")) / max(1, words.total())
            score = fits_language - 2 * odd / counts.total() + _SAID * min(_CONJUNCTIONS, conjunctions)
            if fits_language >= _LEAST and score > best:
                best, language_of_best = score, code if any(map(str.isalpha, signs_of_text)) else ""
    return (language_of_best,) if language_of_best else ()


def _fits(signs: Mapping[str, int]) -> dict[str, float]:
    """Return by languages which share of some signs, with their numbers, are its letters, or marks of typesetters."""
    total = sum(signs.values())
    marks = sum(number for sign, number in signs.items() if sign in OF_TYPESETTERS)
    letters = [(sign, number) for sign, number in signs.items() if sign.isalpha()]
    return {
        code: (marks + sum(number * worth_of(sign, own) for sign, number in letters)) / total
        for code, own in _letters_by_language().items()
    }


@cache
def _letters_by_language() -> Mapping[str, Mapping[str, float]]:
    return {code: letters_of((code,)) for code in known_languages()}


def worth_of(sign: str, letters: Mapping[str, float]) -> float:
    """Return what a letter says for an encoding: one of the language most, another against it."""
    return letters.get(sign, -1.0) - 0.01 * sign.isupper()


def sample_of(part: bytes) -> bytes:
    """Return the lines with bytes above 127, some 64 KiB of them."""
    sample = bytearray()
    for match in _HIGH_LINE.finditer(part):
        sample += match[0]
        if len(sample) > _SAMPLE:
            break
    return bytes(sample[: 2 * _SAMPLE])


def mixes_scripts(text: str) -> bool:
    """Return whether most words with letters beyond ASCII have Latin letters beside those of another script.

    >>> mixes_scripts("at the cafй"), mixes_scripts("at the café"), mixes_scripts("IT-отдел")
    (True, False, False)
    """
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    return 2 * sum(map(_is_mixed, words)) > len(words)


def _is_mixed(word: str) -> bool:
    return bool(_LATIN.search(word) and _OF_ANOTHER_SCRIPT.search(word))


def odd_words(text: str) -> int:
    """Return how many signs beyond ASCII, or capitals beside them, stand inside of words, and words of two scripts.

    >>> odd_words("lÉtat"), odd_words("l\u0629tat"), odd_words("l'état"), odd_words("at the cafй")
    (1, 1, 0, 1)
    """
    odd = sum(not letters.isascii() for letters in ODD_LETTERS.findall(text))
    return odd + sum(map(_is_mixed, _WORD.findall(text)))
