"""The languages of Punkt's parameters: NLTK's names of them, and the codes that wikis, models and records have."""

from __future__ import annotations

import re
from functools import cache

from bertdata.sentences.parameters import NLTK_PREFIX, PunktParameters, load_parameters, shipped_names

NAMES = {
    "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "et": "estonian",
    "fi": "finnish", "fr": "french", "it": "italian", "ml": "malayalam", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ru": "russian", "sl": "slovene", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""NLTK's name of the parameters of each language that it has."""
MARKED = frozenset(
    "am ar as azb bho bn ckb fa hi hy ja km lzh mai mr my ne or pa pnb ps sa sd sdh ti ug ur wuu yue zh".split()  # noqa: SIM905
)
"""Languages written with marks that end sentences and that Punkt does not know (see `bertdata.sentences.marks`)."""
_SAME = {"simple": "en", "nb": "no", "nn": "no", "arz": "ar", "ary": "ar", "cmn": "zh", "pes": "fa", "npi": "ne"}
_THREE = {
    "amh": "am", "arb": "ar", "asm": "as", "ben": "bn", "ces": "cs", "dan": "da", "deu": "de", "ekk": "et",
    "ell": "el", "eng": "en", "est": "et", "fin": "fi", "fra": "fr", "guj": "gu", "hin": "hi", "hye": "hy",
    "ita": "it", "jpn": "ja", "kan": "kn", "khm": "km", "mal": "ml", "mar": "mr", "mya": "my", "nld": "nl",
    "nno": "no", "nob": "no", "nor": "no", "ory": "or", "pan": "pa", "pol": "pl", "por": "pt", "rus": "ru",
    "san": "sa", "sin": "si", "slv": "sl", "snd": "sd", "spa": "es", "swe": "sv", "tir": "ti", "tur": "tr",
    "uig": "ug", "urd": "ur", "zho": "zh",
}  # fmt: skip
"""ISO 639-3, as GlotLID has it, of the languages above."""


def base_code(language: str) -> str:
    """Return the code of a language without its region and script, of two letters where it is known here.

    Languages whose parameters are those of another have its code.

    >>> base_code("de-AT"), base_code("nn"), base_code("deu_Latn"), base_code("zh_Hant"), base_code("")
    ('de', 'no', 'de', 'zh', '')
    """
    code = re.split("[-_]", language.lower(), maxsplit=1)[0]
    return _SAME.get(code) or _THREE.get(code, code)


def code_of(name: str) -> str:
    """Return the code of the language that parameters are named after, "" where the name tells none.

    >>> code_of("english"), code_of("nltk:german"), code_of("my/parameters")
    ('en', 'de', '')
    """
    return next((code for code, language_name in NAMES.items() if language_name == name.removeprefix(NLTK_PREFIX)), "")


def shipped_by_code() -> dict[str, str]:
    """Return the names of the parameters that come with bertdata by the codes of their languages."""
    return {code: name for name in shipped_names() if (code := code_of(name))}


def language_of(parameters: PunktParameters) -> str:
    """Return the code of the language of parameters, "" where it is not known, as of those trained on own texts."""
    if parameters.fingerprint == _english():
        return "en"
    return code_of(str(parameters.card.get("language", "")))


def parameters_for(language: str) -> str:
    """Return what to give --sentences for a language.

    >>> parameters_for("de"), parameters_for("sv"), parameters_for("ja"), parameters_for("mt")
    ('german', 'nltk:swedish', 'auto', 'a folder from train-sentences')
    """
    code = base_code(language)
    if code in MARKED:
        return "auto"
    name = NAMES.get(code)
    if name in shipped_names():
        return name
    return f"{NLTK_PREFIX}{name}" if name else "a folder from train-sentences"


@cache
def _english() -> str:
    return load_parameters("english").fingerprint
