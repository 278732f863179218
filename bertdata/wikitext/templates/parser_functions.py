"""The parser functions and variables whose text needs neither a wiki nor the clock: `{{formatnum:}}`, `{{PAGENAME}}`.

`FUNCTIONS` is the registry: MediaWiki's id of a function, and what writes its text. A wiki calls it by the words that
its language has for the id, or by the English ones. What needs the wiki or the clock (`{{#invoke:}}`, `{{#ifexist:}}`,
`{{CURRENTYEAR}}`) leaves no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, quote_plus

from bertdata.wikitext.character_references import undo_character_references
from bertdata.wikitext.mediawiki import facts, titles
from bertdata.wikitext.mediawiki.folding import case_variants, fold_name, fold_prefix
from bertdata.wikitext.mediawiki.grammar import inflect
from bertdata.wikitext.mediawiki.language import Language, Names, language_of
from bertdata.wikitext.mediawiki.plural import choose_form
from bertdata.wikitext.mediawiki.titles import Title
from bertdata.wikitext.reference.tags import content_of
from bertdata.wikitext.rules import EXTENSION_TAGS, HIDDEN_TAGS, SPECIAL_TAGS
from bertdata.wikitext.templates.codes import LANGUAGE_NAMES
from bertdata.wikitext.templates.expressions import evaluate, shown

UNKNOWN = language_of("")
ERROR = '<strong class="error"></strong>'
"""What a function leaves where MediaWiki shows an error: nothing that is seen, but `{{#iferror:}}` knows it."""
_NUMBER = re.compile(r"[-+]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][-+]?\d{1,3})?", re.ASCII)
_SHOWS_ERROR = re.compile(r"<(?:strong|span|p|div)\s[^<>]*class(?:=|&#61;)[\"'](?:[^\"'<>]*\s)?error[\s\"']")
_WHOLE = re.compile(r"\s*([-+]?\d{1,9})", re.ASCII)
_LONGEST_PADDING = 500
_MOST_PARTS = 25
_MODIFIERS = ("subst", "safesubst", "msg", "msgnw", "raw")
_IN_TITLES = str.maketrans({sign: f"&#{ord(sign)};" for sign in "[]{}|<>'\"=;"})


@dataclass(frozen=True)
class Call:
    """A call: what is after the colon, the arguments, all stripped, and the page that it is on."""

    first: str
    values: list[str]
    title: str
    language: Language

    def value(self, place: int) -> str:
        """Return an argument, "" where there is none."""
        return _nth(self.values, place)

    def page(self) -> Title | None:
        """Return the title that the call names, else that of the page."""
        if self.first:
            return Title.parse(self.first, self.language)
        return Title.parse(self.title, self.language, as_it_is=True)


Function = Callable[[Call], str | None]


def render_parser_function(head: str, arguments: list[str], title: str, language: Language = UNKNOWN) -> str | None:
    """Return the text of a call on a wiki of a language; None where it leaves nothing.

    `head` is all before the first bar ("#if: x", "lc:ABC", "PAGENAME"), `title` the title of the page.

    >>> render_parser_function("formatnum:12345", [], ""), render_parser_function("#if: x", ["yes", "no"], "")
    ('12,345', 'yes')
    >>> german = language_of("de")
    >>> render_parser_function("ZAHLENFORMAT:12345.6", [], "", german)
    '12.345,6'
    """
    name, colon, first = head.partition(":")
    names = language.functions if colon else language.variables
    function = FUNCTIONS.get(names.id_of(name.strip()) or "")
    if function is None or not (colon or is_variable(name, language)):
        return None
    page = "" if colon else title  # `{{PAGENAME:}}` names no page
    return function(Call(first.strip(), [argument.strip() for argument in arguments], page, language))


def is_variable(name: str, language: Language) -> bool:
    """Tell whether a name, as it is written, is that of a variable that is written here."""
    return fold_name(name) in known_variables(language) and language.variables.id_of(name.strip()) in VARIABLES


@lru_cache(maxsize=64)
def known_variables(language: Language) -> frozenset[str]:
    """Return the folded names of the variables that are written here."""
    return frozenset(_folded(language.variables, VARIABLES, fold_name))


@lru_cache(maxsize=64)
def known_functions(language: Language) -> frozenset[str]:
    """Return what can be before the colon of a call that may leave text, folded: functions, `subst` and the like."""
    words = [word.removesuffix(":") for name in _MODIFIERS for word in language.words(name)]
    return frozenset(
        [
            *_folded(language.functions, FUNCTIONS, fold_prefix),
            *map(fold_prefix, words),
            *case_variants(map(fold_prefix, map(str.lower, words))),
        ]
    )


def _folded(names: Names, wanted: Container[str], fold: Callable[[str], str]) -> list[str]:
    listed = [fold(name) for name, meaning in names.written.items() if meaning in wanted]
    return [*listed, *case_variants(fold(name) for name, meaning in names.folded.items() if meaning in wanted)]


def without_modifier(head: str, language: Language) -> str:
    """Return the head of a call without `subst:`, `safesubst:`, `msg:` and the like.

    >>> without_modifier("safesubst: lc:ABC", UNKNOWN), without_modifier("lc:ABC", UNKNOWN)
    ('lc:ABC', 'lc:ABC')
    """
    name, colon, rest = head.partition(":")
    is_modifier = colon and name.strip().lower() in _modifiers(language)
    return without_modifier(rest.strip(), language) if is_modifier else head


@lru_cache(maxsize=64)
def _modifiers(language: Language) -> frozenset[str]:
    """Return `subst` and the like, in lower case."""
    return frozenset(word.lower().removesuffix(":") for name in _MODIFIERS for word in language.words(name))


def _nth(values: list[str], index: int) -> str:
    return values[index] if 0 <= index < len(values) else ""


def _whole(text: str) -> int:
    """Return the whole number that a text begins with, as PHP reads it: 0 where it begins with none."""
    match = _WHOLE.match(text)
    return int(match[1]) if match else 0


def _equal(first: str, second: str) -> bool:
    """Compare as PHP does: numbers by their value, all else as text, character references undone.

    >>> _equal("01", "1.0"), _equal("a&amp;b", "a&b"), _equal("a", "A")
    (True, True, False)
    """
    return _comparable(first) == _comparable(second)


def _comparable(text: str) -> str | float:
    """Return what a text is compared by: the value of a number, else the text with its character references undone."""
    text = undo_character_references(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _format_number(call: Call) -> str:
    options, numbers = call.values[:2], call.language.numbers
    if any(call.language.is_option("rawsuffix", option) for option in options):
        return numbers.unformat(call.first)
    plain = any(call.language.is_option("nocommafysuffix", option) for option in options)
    text = numbers.format(call.first, separators=not plain)
    lossless = any(call.language.is_option("lossless", option) for option in options)
    return call.first if lossless and numbers.unformat(text) != call.first else text


def _plural(call: Call) -> str:
    return choose_form(call.language.numbers.unformat(call.first), call.values, call.language.plural_rules)


def _gender(call: Call) -> str:
    """Choose for somebody whose gender is not known: the third form, else the first."""
    return call.values[2] if len(call.values) > 2 else call.value(0)


def _switch(call: Call) -> str:
    """Choose as `{{#switch:}}` does: cases without `=` fall through to the next one that has a result."""
    wanted, matched, default_next = _comparable(call.first), False, False
    default, last = "", None
    for case in call.values:
        key, equals, result = (part.strip() for part in case.partition("="))
        is_default = call.language.is_option("default", key)
        if equals:
            last = None
            if matched or _comparable(key) == wanted:
                return result
            if is_default or default_next:
                default, default_next = result, False
        else:
            last = key
            matched = matched or _comparable(key) == wanted
            default_next = default_next or is_default
    return default if last is None else last


def _expression(call: Call) -> str:
    value = evaluate(call.first)
    return shown(value) if value is not None else ERROR if call.first else ""


def _if_expression(call: Call) -> str:
    value = evaluate(call.first)
    if call.first and value is None:
        return ERROR
    return call.value(0 if value else 1)


def _if_error(call: Call) -> str:
    if _SHOWS_ERROR.search(call.first):
        return call.value(0)
    return call.value(1) if len(call.values) > 1 else call.first


def _time(call: Call) -> str | None:
    from bertdata.wikitext.mediawiki.dates import read_date, write_date

    when = read_date(call.value(0))
    if when is None:
        return None
    language = language_of(call.value(1)) if facts.code_of(call.value(1)) else call.language
    return write_date(when, call.first, language.calendar, language.numbers)


def _dateformat(call: Call) -> str:
    from bertdata.wikitext.mediawiki.dates import reformat_date

    return reformat_date(call.first, call.value(0), call.language.calendar)


def _title_parts(call: Call) -> str:
    title = Title.parse(call.first, call.language)
    if title is None:
        return call.first
    parts, begin = title.full.split("/", _MOST_PARTS - 1), _whole(call.value(1))
    begin -= begin > 0
    begin = max(0, len(parts) + begin) if begin < 0 else begin
    count = _whole(call.value(0))
    return "/".join(parts[begin : None if not count else begin + count if count > 0 else len(parts) + count])


def _padded(call: Call) -> str | None:
    """Return what fills a text up to a length."""
    filling = call.value(1) if len(call.values) > 1 else "0"
    missing = min(_whole(call.value(0)), _LONGEST_PADDING) - len(call.first)
    return (filling * missing)[:missing] if filling and missing > 0 else ""


def _namespace(call: Call) -> str | None:
    number = _whole(call.first)
    if not number and call.first != "0":
        namespace = titles.namespace_number(call.first, call.language)
        if namespace is None:
            return None
        number = namespace
    return titles.namespace_name(number, call.language)


def _language_name(call: Call) -> str:
    """Return the name of a language in that language, in English where English is asked for."""
    code = (call.first or call.language.code or "en").lower()
    if call.value(0) == "en" and code in LANGUAGE_NAMES:
        return LANGUAGE_NAMES[code]
    autonyms: dict[str, str] = facts.member(facts.AUTONYMS)
    return autonyms.get(code) or autonyms.get(facts.code_of(code)) or call.first


def _tag(call: Call) -> str | None:
    """Return what the tag shows around its text."""
    name = call.first.lower()
    if name == "ref" or name in EXTENSION_TAGS or name in HIDDEN_TAGS:
        return None
    return content_of(name, call.value(0)) or None if name in SPECIAL_TAGS else call.value(0)


def _url_encoded(call: Call) -> str:
    if call.language.is_option("url_path", call.value(0)):
        return quote(call.first, safe="")
    if call.language.is_option("url_wiki", call.value(0)):
        return quote(call.first.replace(" ", "_"))
    return quote_plus(call.first)


def _of_page(write: Callable[[Title], str]) -> Function:
    """Return the function that writes something of the title of a page."""

    def function(call: Call) -> str:
        page = call.page()
        return write(page).translate(_IN_TITLES) if page else ""

    return function


def _encoded(write: Callable[[Title], str]) -> Function:
    """Return the function that writes the same for an address."""
    return _of_page(lambda page: quote(write(page).replace(" ", "_"), safe="/:,;@!*()~$"))


_OF_PAGES: dict[str, Callable[[Title], str]] = {
    "pagename": lambda page: page.text,
    "fullpagename": lambda page: page.full,
    "basepagename": lambda page: page.base,
    "rootpagename": lambda page: page.root,
    "subpagename": lambda page: page.subpage,
    "subjectpagename": lambda page: page.subject.full,
    "talkpagename": lambda page: page.talk.full if page.talk else "",
    "namespace": lambda page: page.prefix,
    "subjectspace": lambda page: page.subject.prefix,
    "talkspace": lambda page: page.talk.prefix if page.talk else "",
}

FUNCTIONS: dict[str, Function] = {
    **{name: _of_page(write) for name, write in _OF_PAGES.items()},
    **{name + "e": _encoded(write) for name, write in _OF_PAGES.items()},
    "namespacenumber": _of_page(lambda page: str(page.namespace)),
    "formatnum": _format_number,
    "plural": _plural,
    "gender": _gender,
    "grammar": lambda call: inflect(call.value(0), call.first, call.language.grammar),
    "formal": lambda call: call.first,
    "bidi": lambda call: call.first,
    "lc": lambda call: call.first.lower(),
    "uc": lambda call: call.first.upper(),
    "lcfirst": lambda call: titles.lower_first(call.first, call.language.code),
    "ucfirst": lambda call: titles.upper_first(call.first, call.language.code),
    "padleft": lambda call: f"{_padded(call)}{call.first}",
    "padright": lambda call: f"{call.first}{_padded(call)}",
    "if": lambda call: call.value(0 if call.first else 1),
    "ifeq": lambda call: call.value(1 if _equal(call.first, call.value(0)) else 2),
    "iferror": _if_error,
    "ifexpr": _if_expression,
    "expr": _expression,
    "switch": _switch,
    "time": _time,
    "timel": _time,
    "formatdate": _dateformat,
    "titleparts": _title_parts,
    "ns": _namespace,
    "nse": lambda call: quote((_namespace(call) or "").replace(" ", "_")),
    "language": _language_name,
    "tag": _tag,
    "urlencode": _url_encoded,
    "anchorencode": lambda call: call.first.replace(" ", "_"),
    "=": lambda call: "=",
}
"""From the id of a function to what writes its text."""

VARIABLES = frozenset([*_OF_PAGES, *(name + "e" for name in _OF_PAGES), "namespacenumber", "="])
"""The ids of those that are called without arguments, too."""
