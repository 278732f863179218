"""The page of a template with the English names of functions, variables and namespaces, which `pages` reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from bertdata.wikitext.mediawiki.folding import fold_prefix, folded_prefixes
from bertdata.wikitext.mediawiki.language import Language, Names
from bertdata.wikitext.templates.parser_functions import FUNCTIONS, UNKNOWN, VARIABLES

_ENGLISH_NAMESPACES = {4: "wikipedia", 10: "template", 12: "help", 14: "category"}
"""The namespaces by which links and calls of a template page are told apart."""
_LINK_PREFIX = re.compile(r"\[\[\s*+([^\[\]{}|:\n]{1,60}):")
_CALL_PREFIX = re.compile(r"\{\{(?!\{)\s*+([^\[\]{}|:\n]{1,60}):")
_VARIABLE = re.compile(r"(?<!\{)\{\{\s*+([^{}|:\[\]]{1,60})\}\}")
_OF_ARTICLES = {"namespace": "", "namespacee": "", "subjectspace": "", "subjectspacee": "", "namespacenumber": "0"}
"""What variables say on the page of an article, whatever its title."""
_FUNCTION_HEAD = re.compile(r"\{\{(?!\{)([^{}|\[\]:]{1,60}):")


def in_english(text: str, language: Language) -> str:
    """Return what a template adds to an article, with the English names of functions, none of these substituted.

    >>> from bertdata.wikitext.mediawiki.language import language_of
    >>> in_english("{{{{{|safesubst:}}}#als:{{{1|}}}|{{kl:A}}}}", language_of("nl"))
    '{{#if:{{{1|}}}|{{lc:A}}}}'
    >>> in_english("{{#if:{{NAAMRUIMTE}}||{{{1}}}}}", language_of("nl"))
    '{{#if:||{{{1}}}}}'
    >>> in_english("{{safesubst:kl:{{PAGINANAAM}}}}", language_of("nl"))
    '{{lc:{{PAGENAME}}}}'
    """

    def english(head: re.Match[str]) -> str:
        name = language.functions.id_of(head[1].strip()) or ""
        return f"{{{{{_ENGLISH_FUNCTIONS[name]}:" if name in FUNCTIONS else head[0]

    def written(variable: re.Match[str]) -> str:
        name = language.variables.id_of(variable[1].strip()) or ""
        if name in _OF_ARTICLES:
            return _OF_ARTICLES[name]
        return f"{{{{{_ENGLISH_VARIABLES[name]}}}}}" if name in VARIABLES else variable[0]

    return _FUNCTION_HEAD.sub(english, _VARIABLE.sub(written, _modifiers(language).sub("", text)))


@lru_cache(maxsize=64)
def _modifiers(language: Language) -> re.Pattern[str]:
    """Return what matches `safesubst:` and the like in a call, and an argument that says them where a page is saved."""
    words = {name: [word.removesuffix(":") for word in language.words(name)] for name in ("subst", "safesubst", "msg")}
    substituted = "|".join(map(re.escape, words["subst"] + words["safesubst"]))
    others = "|".join(map(re.escape, words["safesubst"] + words["msg"]))
    return re.compile(
        rf"\{{\{{\{{\s*+(?:{substituted})?\s*+\|\s*+(?:(?:{substituted})\s*+:)?\s*+\}}\}}\}}"
        rf"|(?<=\{{\{{)\s*+(?:{others})\s*+:",
        re.IGNORECASE,
    )


def _english(names: Names) -> dict[str, str]:
    """Return from an id to the English name."""
    return {meaning: name.lower() for name, meaning in names.folded.items()} | {
        meaning: name for name, meaning in names.exact.items()
    }


_ENGLISH_FUNCTIONS, _ENGLISH_VARIABLES = _english(UNKNOWN.functions), _english(UNKNOWN.variables)


def in_english_namespaces(text: str, language: Language) -> str:
    """Return what a template adds with the English names of namespaces, that of templates left out of calls.

    >>> from bertdata.wikitext.mediawiki.language import language_of
    >>> in_english_namespaces("{{Šablóna:Ink|a}}[[Kategória:Words]] [[b: c]]", language_of("sk"))
    '{{Ink|a}}[[category:Words]] [[b: c]]'
    """
    names = _english_names(language)
    text = _LINK_PREFIX.sub(lambda link: f"[[{names.get(fold_prefix(link[1]), link[1])}:", text)
    return _CALL_PREFIX.sub(lambda call: "{{" if names.get(fold_prefix(call[1])) == "template" else call[0], text)


@lru_cache(maxsize=64)
def _english_names(language: Language) -> Mapping[str, str]:
    """Return from a folded name of a namespace, in a wiki's language or in English, to its English name."""
    return {
        prefix: english
        for number, english in _ENGLISH_NAMESPACES.items()
        for prefix in folded_prefixes(
            [english, *(name.replace("$1", "Wikipedia") for name in language.namespaces.get(number, ()))]
        )
    }
