"""The languages of Punkt's parameters: NLTK's names of them, and the codes that wikis and records have."""

from __future__ import annotations

from functools import cache

from bertdata.sentences.parameters import NLTK_PREFIX, PunktParameters, load_parameters

NAMES = {
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "et": "estonian",
    "fi": "finnish", "fr": "french", "it": "italian", "ml": "malayalam", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ru": "russian", "sl": "slovene", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""NLTK's name of the parameters of each language that it has."""
_SAME = {"simple": "en", "nb": "no", "nn": "no"}


def base_code(language: str) -> str:
    """Return the code of a language without its region, that of one whose parameters serve it where NLTK has others.

    >>> base_code("de-AT"), base_code("nn"), base_code("")
    ('de', 'no', '')
    """
    code = language.lower().partition("-")[0]
    return _SAME.get(code, code)


def code_of(name: str) -> str:
    """Return the code of the language that parameters are named after, "" where the name tells none.

    >>> code_of("english"), code_of("nltk:german"), code_of("my/parameters")
    ('en', 'de', '')
    """
    return next((code for code, known in NAMES.items() if known == name.removeprefix(NLTK_PREFIX)), "")


def language_of(parameters: PunktParameters) -> str:
    """Return the code of the language of parameters, "" where it is not known, as of those trained on own texts."""
    if parameters.fingerprint == _english():
        return "en"
    return code_of(str(parameters.card.get("language", "")))


def parameters_for(language: str) -> str:
    """Return what to give --sentences for a language.

    >>> parameters_for("de"), parameters_for("ja")
    ('nltk:german', 'a folder from train-sentences')
    """
    name = NAMES.get(base_code(language))
    if name == "english":
        return name
    return f"{NLTK_PREFIX}{name}" if name else "a folder from train-sentences"


@cache
def _english() -> str:
    return load_parameters("english").fingerprint
