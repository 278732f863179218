"""Between the first pass over wikitext and the second: `-{ }-`, the text of a wiki that is written in several scripts.

It is read as MediaWiki's `ConverterRule` does: flags, then a choice for each variant, of which that of the wiki's is
shown, or the first of those that MediaWiki tries in its place. A rule that holds for the page (flags A and H) changes
the text after it. Words that are converted without a rule stay as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from bertdata.wikitext.mediawiki import facts
from bertdata.wikitext.mediawiki.language import Language, language_of
from bertdata.wikitext.rules import LINE_MARKUP

_TOKEN = re.compile(r"-\{(?!\{)|\{\{|\}\}|\}-")
_ENTITY = re.compile(r"(&[#a-zA-Z0-9]+);")
_ENTITY_END = "\x01"
_CODE = re.compile(r"(?:\A|;|\|)\s*+(?:[^;:{}|\n]*=>\s*+)?([a-z]{2,3}(?:-[a-z]+){0,2})\s*[:;|]", re.IGNORECASE)
_NOT_CONVERTED = r"\[\[[^\[\]|]*\||<[^<>]*>|\{\{[^{}]*\}\}|https?://[^\s\]]*"
_DEEPEST = 10
_FLAGS = frozenset("ATRD-HN")
_OWN_FLAGS = {"sr": {"S": "S", "писмо": "S", "pismo": "S"}}


_MOST_WORDS = 200
"""The words that the rules of a page may change; those of further rules stay as they are written."""


@dataclass
class _Rules:
    """The variants of a page, the one that it is shown in, and the rules that it has set so far."""

    variants: Mapping[str, Any]
    variant: str
    words: dict[str, str] = field(default_factory=dict)


def resolve_variants(text: str, language: Language, variant: str = "") -> str:
    """Return text with each `-{...}-` as a variant of the language shows it; default: as the wiki does.

    A language without variants has no such markup. Where no language is stated, the codes of a rule tell.

    >>> chinese = language_of("zh")
    >>> resolve_variants("-{zh-hant:[[雪梨]];zh-hans:[[悉尼|市]]}-, -{R|c}-, -{H|zh-cn:d}-.", chinese)
    '[[悉尼|市]], c, .'
    >>> resolve_variants("-{zh-cn:a;zh-tw:b}-", chinese, "zh-hk"), resolve_variants("-{x}-", language_of("de"))
    ('b', '-{x}-')
    """
    if "-{" not in text or (language.code and not variants_of(language)):
        return text
    rules = _rules_of(language, variant) if language.code else None
    inner: list[list[str]] = [[]]
    calls = [0]
    position = 0
    for token in _TOKEN.finditer(text):
        if token.start() < position:
            continue
        before = text[position : token.start()]
        position = token.end()
        inner[-1].append(_converted(before, rules) if len(inner) == 1 and rules else before)
        mark = token[0]
        if mark == "-{" and len(inner) <= _DEEPEST:
            inner.append([])
            calls.append(0)
        elif mark == "}-" and len(inner) > 1 and not calls[-1]:
            _close(inner, calls, rules, text, language)
        elif mark == "}}" and len(inner) > 1 and not calls[-1]:
            inner[-1].append("}")
            position -= 1
        else:
            calls[-1] += {"{{": 1, "}}": -1}.get(mark, 0)
            calls[-1] = max(0, calls[-1])
            inner[-1].append(mark)
    inner[-1].append(_converted(text[position:], rules) if len(inner) == 1 and rules else text[position:])
    return "-{".join("".join(parts) for parts in inner)


def _close(inner: list[list[str]], calls: list[int], rules: _Rules | None, text: str, language: Language) -> None:
    """Replace a rule by the text that it shows."""
    content = "".join(inner.pop())
    calls.pop()
    if rules is None:
        match = _CODE.search(content)
        code = facts.member(facts.ALL)["variants"].get(match[1].lower(), "") if match else ""
        if "\n" in content:
            inner[-1].append("-{" + content + "}-")
            return
        rules = _rules_of(language_of(code or "zh"), "")
    displayed = _shown(content, rules)
    before = inner[-1][-1] if inner[-1] and inner[-1][-1] else ""
    begins_line = len(inner) == 1 and (before.endswith("\n") or not any(inner[-1]))
    if begins_line and displayed and displayed[0] in LINE_MARKUP:
        displayed = f"&#{ord(displayed[0])};{displayed[1:]}"
    inner[-1].append(displayed)


@lru_cache(maxsize=64)
def variants_of(language: Language) -> Mapping[str, Any]:
    """Return the variants of a language, those of its base where it is itself a variant; nothing where it has none."""
    base = language_of(language.code.partition("-")[0])
    return language.variants or (base.variants if language.code in base.variants.get("codes", ()) else {})


def check_variant(variant: str, language: Language) -> list[str]:
    """Return the variants of a language, where it does not have this one; an empty list where it has."""
    codes = list(variants_of(language).get("codes", ()))
    return [] if variant in codes else codes or ["none"]


def _rules_of(language: Language, variant: str) -> _Rules:
    variants = variants_of(language)
    if variant not in variants["codes"]:
        variant = language.code if language.code in variants["codes"] else variants["default"]
    return _Rules(variants, variant)


def variant_of_html(rule: Any, language: Language, variant: str = "") -> str:
    """Return the HTML that Parsoid's `data-mw-variant` stands for; "" where it shows nothing.

    >>> rule = {"twoway": [{"l": "zh-hant", "t": "電腦"}, {"l": "zh-hans", "t": "计算机"}]}
    >>> variant_of_html(rule, language_of("zh")), variant_of_html({"disabled": {"t": "x"}}, language_of("zh"))
    ('计算机', 'x')
    """
    if not isinstance(rule, dict) or rule.get("show") is False:
        return ""
    for name in ("disabled", "filter"):
        if isinstance(rule.get(name), dict):
            return str(rule[name].get("t") or "")
    choices = [choice for name in ("twoway", "oneway") for choice in rule.get(name) or () if isinstance(choice, dict)]
    both = {str(choice.get("l")).lower(): str(choice.get("t") or "") for choice in choices if "f" not in choice}
    one_way: dict[str, dict[str, str]] = {}
    for choice in choices:
        if "f" in choice:
            one_way.setdefault(str(choice.get("l")).lower(), {})[str(choice["f"])] = str(choice.get("t") or "")
    if not language.code or not variants_of(language):
        code = next(iter([*both, *one_way]), "")
        language = language_of(facts.member(facts.ALL)["variants"].get(code, "zh"))
    rules = _rules_of(language, variant)
    if isinstance(rule.get("name"), dict):
        return str(rules.variants["names"].get(rule["name"].get("t"), ""))
    if rule.get("describe"):
        return _description(both, one_way, rules)
    return _choice(both, one_way, rules) if both or one_way else ""


def _converted(text: str, rules: _Rules) -> str:
    """Return text with the words replaced that the rules of the page convert, but not in targets and tags."""
    if not rules.words or not text:
        return text
    words = "|".join(map(re.escape, sorted(rules.words, key=len, reverse=True)))
    return re.sub(f"({_NOT_CONVERTED})|({words})", lambda match: match[1] or rules.words[match[2]], text)


def _shown(content: str, rules: _Rules) -> str:
    """Return what `-{content}-` shows, as `ConverterRule::parse` has it."""
    flags, text, chosen = _flags(content, rules)
    codes = rules.variants["codes"]
    if chosen or "R" in flags:
        return text
    if "N" in flags:
        return str(rules.variants["names"].get(text.strip(), ""))
    both, one_way = _choices(text.replace("=&gt;", "=>"), rules)
    if not both and not one_way:
        if not flags & {"+", "-"} and "T" not in flags:
            return text
        both = dict.fromkeys(codes, text) if text else {}
    if "+" in flags and len(rules.words) < _MOST_WORDS:
        rules.words.update(_words(both, one_way, rules))
    if "-" in flags:
        for word in _words(both, one_way, rules):
            rules.words.pop(word, None)
    if flags & {"H", "-", "T"}:
        return ""
    if "D" in flags:
        return _description(both, one_way, rules)
    return _choice(both, one_way, rules) if both or one_way else text


def _flags(content: str, rules: _Rules) -> tuple[set[str], str, bool]:
    """Return the flags before the bar, what is after it, and whether the flags are variants."""
    before, bar, text = content.partition("|")
    if not bar or "[[" in before or "{{" in before:
        return {"S"}, content, False
    local_flags = _OWN_FLAGS.get(rules.variants["codes"][0], {})
    written = [flag.strip() for flag in before.split(";")]
    flags = {local_flags.get(flag, flag) for flag in written if flag in local_flags or flag in _FLAGS}
    codes = {flag for flag in written if flag in rules.variants["codes"]}
    if not flags and not codes:
        flags = {"S"}
    elif "R" in flags or "N" in flags or "-" in flags:
        flags = {next(flag for flag in "RN-" if flag in flags)}
    elif flags == {"T"} and not codes:
        flags = {"T", "H"}
    elif "H" in flags:
        flags = {"+", "H"} | (flags & {"T", "D"})
    else:
        flags |= {"+", "S"} if "A" in flags else set()
        if codes:
            return set(), text, True
    return flags, text, False


def _choices(text: str, rules: _Rules) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the text for each variant, and for each what stands for a word; nothing where one is not well formed."""
    both: dict[str, str] = {}
    one_way: dict[str, dict[str, str]] = {}
    parts = _separator(tuple(rules.variants["codes"])).split(_ENTITY.sub(rf"\1{_ENTITY_END}", text))
    for part in (raw.replace(_ENTITY_END, ";") for raw in parts):
        name, colon, to = part.partition(":")
        if not colon:
            continue
        to, (word, arrow, target) = to.strip(), name.strip().partition("=>")
        code = (target if arrow else word).strip().lower()
        if code not in rules.variants["codes"]:
            return {}, {}
        if arrow and word.strip():
            one_way.setdefault(code, {})[word.strip()] = to
        elif not arrow and to:
            both[code] = to
    return both, one_way


@lru_cache(maxsize=64)
def _separator(codes: tuple[str, ...]) -> re.Pattern[str]:
    """Return what parts the choices: a semicolon before the code of a variant, or at the end."""
    names = "|".join(map(re.escape, codes))
    return re.compile(rf";\s*+(?=(?:{names})\s*+:|[^;]*?=>\s*+(?:{names})\s*+:|\Z)", re.IGNORECASE)


def _choice(both: Mapping[str, str], one_way: Mapping[str, Mapping[str, str]], rules: _Rules) -> str:
    """Return the text for the variant of the page, else for one that is tried in its place, else the first."""
    for code in (rules.variant, *rules.variants["tried"].get(rules.variant, ())):
        if code in both:
            return both[code]
    words = one_way.get(rules.variant) or next(iter(one_way.values()), {})
    if rules.variant in one_way or not both:
        return next(iter(words.values()), "")
    return next(iter(both.values()))


def _description(both: Mapping[str, str], one_way: Mapping[str, Mapping[str, str]], rules: _Rules) -> str:
    """Return the choices as a reader sees them explained."""
    (colon, end), names = rules.variants["separators"], rules.variants["names"]
    phrases = [f"{names.get(code, code)}{colon}{text}{end}" for code, text in both.items()]
    for code, words in one_way.items():
        phrases += [f"{word}⇒{names.get(code, code)}{colon}{text}{end}" for word, text in words.items()]
    return "".join(phrases)


def _words(both: Mapping[str, str], one_way: Mapping[str, Mapping[str, str]], rules: _Rules) -> dict[str, str]:
    """Return what a rule for the page makes of words in the variant of the page."""
    variants = rules.variants
    if rules.variant in variants["without_manual"]:
        return {}
    filled = dict(both)
    for code in variants["codes"]:
        chosen = next((both[other] for other in variants["tried"].get(code, ()) if other in both), "")
        if code not in both and chosen:
            filled[code] = chosen
    target = filled.get(rules.variant)
    words = {text: target for text in filled.values() if target and text != target}
    return {**words, **one_way.get(rules.variant, {})}
