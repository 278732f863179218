"""Templates as a wiki's pages define them: what is expanded, what prints nothing, what is left alone."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.wikitext.clean import OVER_BUDGET, clean_utf8, clean_wikitext
from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.mediawiki.site_config import Namespaces
from bertdata.wikitext.template_calls import PageContext, numbered
from bertdata.wikitext.templates import expansions
from bertdata.wikitext.templates.expansions import PAGE_WORK, PageExpansions
from bertdata.wikitext.templates.page_table import Entry, entry, gather, page_handlers, with_pages
from bertdata.wikitext.templates.pages import NotSimpleError, PageTemplate, included, is_silent_page
from bertdata.wikitext.templates.table import BUILT_IN, Templates, templates_of
from tests.generated import examples
from tests.growth import assert_linear, repeated
from tests.wikitext.agreement import agree

PAGES = {
    "Ink": "<span style='color:red'>{{{1}}}</span><noinclude>{{documentation}} {{{1}}}</noinclude>",
    "Dye": "#REDIRECT [[Template:Ink]]",
    "Tint": "#REDIRECT [[Template:Nowrap]]",
    "Doubt it": "#REDIRECT [[Template:Citation needed]]",
    "Gone": "#REDIRECT [[Template:Never]]",
    "Pair": "{{{a|{{{1|?}}}}}} and {{ink|{{{2}}}}}",
    "Maybe": "{{{1}}}{{#if:{{{2|}}}|&nbsp;({{{2}}})}}",
    "Season": "[[{{{1}}} season|{{{2|{{{1}}}}}}]][[fr:x]]",
    "Moiety": "<includeonly>½</includeonly><noinclude>Prints a half.</noinclude>",
    "Only": "Not this. <onlyinclude>''{{{1}}}''</onlyinclude> Nor this.",
    "Kind": "{{#switch:{{lc:{{{1}}}}}|a|b=early|#default=late}}",
    "Wide": "{{nowrap|{{{1}}}}}, {{lang-de|{{{2}}}}}",
    "Loop": "{{{1}}}{{loop|{{{1}}}}}",
    "Twice": "{{loop|{{{1}}}}}{{loop|{{{1}}}}}",
    "Noted": "{{{1}}}<ref>A source.</ref><!-- a comment -->",
    "Boxed": "<div class='box'>{{{1}}}</div>",
    "Grid": "{|\n| {{{1}}}\n|}",
    "Marked": "<sup>[[Wikipedia:Sources|{{{1}}}]]</sup>",
    "Lines": "{{{1}}}\n\n{{{2}}}",
    "Bracketed": "&#91;{{{1}}}&#93;",
    "Perhaps": "{{{{{|safesubst:}}}#if:{{{1|}}}|has {{{1}}}}}",
    "Surely": "{{<includeonly>safesubst:</includeonly>#if:{{{1|}}}|{{SAFESUBST:ink|{{{1}}}}}}}",
    "Barred": "{{{1}}}{{!}}{{=}}[[Rome{{!}}{{{1}}}]]",
    "Equal": "{{#switch:{{{1}}}|a{{=}}b=first|c|{{{1}}}}}{{ink|{{{1}}}}}",
    "Named": "{{{name|{{PAGENAME}}}}}{{TALKSPACE}}",
    "Guarded": "{{#iferror:{{#expr:{{{1}}}}}|bad|good}}",
    "Word": "<i lang='{{{1}}}'>{{{2}}}</i>{{#if:{{NAMESPACE}}||[[Category:In {{#switch:{{{1}}}\n|de=German\n}}]]}}",
    "Cased": "{{#switch:{{{1}}}\n | a = first\n | #default = {{#if:{{{2|}}}\n  | {{{2}}}\n }}\n}}",
    "Unclear": "which?{{{date|}}}[[Category:Unclear words]]",
    "Computed": "{{#ifexist:{{{1}}}|a}}",
    "Module": "{{#invoke:x|{{{1}}}}}",
    "Needs": "{{{1}}} {{computed|2}}",
    "Broken": "{{{1}}} }} x",
    "Dynamic": "{{ink/{{{1}}}|a}}",
}


def built(**more: str) -> Templates:
    entries = []
    for title, text in {**PAGES, **more}.items():
        target = text.partition("[[")[2].removesuffix("]]") if text.startswith("#REDIRECT") else None
        if entry_made := entry(f"Template:{title}", text, target):
            entries.append(entry_made)
    return with_pages(BUILT_IN, gather(entries))


TEMPLATES = built()


@pytest.mark.parametrize(
    ("call", "text"),
    {
        "ink|blue": "<span style='color:red'>blue</span>",
        "dye|blue": "<span style='color:red'>blue</span>",
        "ink": "<span style='color:red'></span>",
        "tint|blue": "blue",
        "doubt it|blue": None,
        "pair|x|y": "x and <span style='color:red'>y</span>",
        "pair|a=|2=y": " and <span style='color:red'>y</span>",
        "maybe|x": "x",
        "maybe|x|y": "x&nbsp;(y)",
        "season|1999|the last": "the last",
        "season|1999": "1999",
        "moiety": "½",
        "only|x": "''x''",
        "kind|A": "early",
        "kind|z": "late",
        "wide|a|b": "a, German: b",
        "noted|x": "x",
        "boxed|x": None,
        "grid|x": None,
        "marked|x": None,
        "lines|a|b": None,
        "bracketed|a\nb": "&#91;a b&#93;",
        "bracketed|a\n* b": None,
        "perhaps|x": "has x",
        "surely|x": "<span style='color:red'>x</span>",
        "barred|a": "a|&#61;a",
        "equal|1=a=b": "first<span style='color:red'>a&#61;b</span>",
        "equal|1=d=e": "d&#61;e<span style='color:red'>d&#61;e</span>",
        "word|de|Haus": "<i lang='de'>Haus</i>",
        "cased|a": "first",
        "cased|b|x": "x",
        "unclear": None,
        "guarded|1 +": "bad",
        "guarded|1 + 1": "good",
    }.items(),
)
def test_a_simple_page_is_expanded_as_the_wiki_does(call: str, text: str | None) -> None:
    name, *parts = call.split("|")
    assert TEMPLATES.carries_text(name)
    assert TEMPLATES.render(name, numbered(parts)) == text


@pytest.mark.parametrize("name", ["gone", "computed", "module", "needs", "broken", "dynamic"])
def test_what_only_a_wiki_can_expand_stays_unknown(name: str) -> None:
    assert not TEMPLATES.carries_text(name)


def test_templates_that_call_themselves_end() -> None:
    assert TEMPLATES.render("loop", {"1": "x"}) == "x"
    assert TEMPLATES.render("twice", {"1": "x"}) == "xx"
    templates = built(There="{{here}}{{{1}}} {{ink|a}}", Here="{{there|b}}c{{There|d}}")
    assert templates.render("there", {"1": "e"}) == "ce <span style='color:red'>a</span>"
    red = "<span style='color:red'>a</span>"
    assert templates.render("here", {}) == f"b {red}cd {red}"


def test_a_call_of_long_arguments_is_not_expanded_whether_they_are_printed_or_not() -> None:
    assert TEMPLATES.render("ink", {"1": "x" * 5000}) is None
    assert TEMPLATES.render("moiety", {"1": "x" * 5000}) is None


def test_what_is_known_by_name_and_a_users_own_templates_come_first() -> None:
    assert entry("Template:Nowrap", "no", None) is None
    assert entry("Template:Lang-pl", "no", None) is None
    assert entry("Template:Disambig", "no", None) is None
    assert entry("Template:Sfn", "no", None) is None
    own = with_pages(Templates({"ink": lambda arguments: "own"}), [Entry("ink", "text", "page")])
    assert own.render("ink", {}) == "own"


def test_the_first_page_of_a_name_counts() -> None:
    handlers = page_handlers(gather([Entry("ink", "text", "a"), Entry("ink", "text", "b")]))
    assert handlers["ink"]({}) == "a"


@pytest.mark.parametrize(
    "source",
    [
        "It is {{ink|''deep''}} and{{dye|[[dark]]}} {{moiety}}. {{Boxed|It went.}} {{tint|It}} {{maybe|a|b=c}}.",
        "It is {{ink|{{ink|a=b}}}} and {{nowrap|{{moiety}}}} so.",
    ],
)
def test_pages_are_written_in_prose_by_the_kernels_and_the_reference_alike(source: str) -> None:
    assert agree(source, PageContext(templates=TEMPLATES))


def test_prose_has_the_text_of_pages() -> None:
    source = "It is {{ink|deep}}, {{season|1999|last}} {{moiety}}.{{doubt it|x}} It {{boxed|is}} {{unheard|blue}}."
    assert clean_wikitext(source, templates=TEMPLATES) == "It is deep, last ½. It blue."


def test_a_page_has_the_title_of_the_article_that_calls_it() -> None:
    for compiled in (False, True):
        prose = clean_wikitext(
            "It is {{named}} or {{named|name=a}}.", title="Salt", templates=TEMPLATES, compiled=compiled
        )
        assert prose == "It is SaltTalk or aTalk."


PIECES = [
    "{{{",
    "}}}",
    "{{",
    "}}",
    "[[",
    "]]",
    "|",
    "1",
    "a",
    "#if:",
    "lc:",
    "ink",
    "nowrap",
    "=",
    "\n",
    " ",
    "<!--",
    "-->",
]


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.sampled_from([*PIECES, "<noinclude>", "<onlyinclude>", "<ref>", "</ref>"]), max_size=30).map("".join)
)
def test_any_page_is_expanded_or_refused(source: str) -> None:
    text = included(source)
    assert text is not None
    try:
        template = PageTemplate.parse(text)
    except NotSimpleError:
        return
    expanded = template.expand({"1": "x", "a": "y"}, lambda name, arguments: name)
    assert expanded is None or expanded.strip()
    assert "{{" not in (expanded or "")


WIDE = {"cases": "{{#switch:{{{1}}}" + "|a" * 6000 + "|{{{1}}}}}", "Many": "{{cases|{{{1}}}}} " * 190}
WIDE["Differ"] = "".join(f"{{{{cases|{number}{{{{{{1}}}}}}}}}}" for number in range(190))


@pytest.fixture
def _small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansions, "PAGE_WORK", 20_000)


@pytest.mark.costly
@pytest.mark.usefixtures("_small_budget")
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("number", [1, 5, 3000])
def test_a_call_over_its_share_of_the_budget_of_its_page_prints_nothing_and_is_counted(
    number: int, compiled: bool
) -> None:
    calls = " ".join(f"{{{{differ|{call}}}}}" for call in range(number))
    left_out: Counter[str] = Counter()
    source = f"It rained. {{{{ink|blue}}}} {calls}".encode()
    prose = clean_utf8(source, templates=built(**WIDE), left_out=left_out, compiled=compiled)
    assert prose == b"It rained. blue"
    assert left_out == {OVER_BUDGET: number}


@pytest.mark.usefixtures("_small_budget")
def test_calls_with_the_same_arguments_are_expanded_once() -> None:
    left_out: Counter[str] = Counter()
    source = b"It rained. " + b"{{many|x}} " * 2000
    prose = clean_utf8(source, templates=built(**WIDE), left_out=left_out)
    assert prose is not None
    assert prose.count(b"x x") > 2000
    assert not left_out


@pytest.mark.usefixtures("_small_budget")
def test_the_text_of_a_call_does_not_depend_on_the_calls_before_it() -> None:
    dear, cheap = "{{differ|1}} {{differ|2}}", "{{kind|A}} {{pair|x|y}}"
    texts = [clean_wikitext(f"It. {calls}", templates=built(**WIDE)) for calls in (dear + cheap, cheap + dear)]
    assert texts == ["It. early x and y"] * 2


def test_the_budget_is_divided_among_different_calls_and_each_has_a_least_share() -> None:
    assert PageExpansions(b"").share == PageExpansions(b"{{a|b}}{{a|b}}").share == PAGE_WORK
    assert PageExpansions(b"{{a|b}}{{a|c}}").share == PAGE_WORK // 2
    assert PageExpansions(b"".join(b"{{a|%d}}" % n for n in range(100_000))).share == 200


def test_texts_that_grow_are_over_the_budget() -> None:
    templates = built(
        Grows="{{{1}}}" * 2000, Hides="".join(f"{{{{#if:{{{{grows|{{{{{{1}}}}}}{n}}}}}|}}}}" for n in range(9))
    )
    left_out: Counter[str] = Counter()
    clean_utf8(b"It. {{hides|" + b"y" * 3900 + b"}}", templates=templates, left_out=left_out)
    assert left_out == {OVER_BUDGET: 1}


def test_a_chain_that_lacks_its_last_template_goes_in_linear_time() -> None:
    def chain(length: int) -> list[Entry]:
        return [Entry(f"t{number}", "text", f"{{{{t{number + 1}}}}}") for number in range(length)]

    assert gather(chain(5)) == []
    assert len(gather([*chain(5), Entry("t5", "text", "x")])) == 6
    assert_linear(gather, chain)


_SLOW_SILENT = re.compile(
    r"^\s*(?:\{\||[*#;:!|]-?)|class=[\"']?[^\"'<>]*(?:navbox|noprint|metadata|reference)", re.IGNORECASE | re.MULTILINE
)
_SILENT_PIECES = ["class=", "'", '"', "<", ">", "navbox", "reference", " ", "\n", "x", "|", "*", "\t", "{|"]


@given(st.lists(st.sampled_from(_SILENT_PIECES), max_size=12).map("".join))
def test_a_page_is_silent_by_the_first_sign_of_a_line_or_by_a_class(text: str) -> None:
    assert is_silent_page(text) == (_SLOW_SILENT.search(text) is not None)


@pytest.mark.costly
@pytest.mark.parametrize(
    "unit",
    ["\n", " ", " \n", "class=", "class='", "display:", "display: ", "{{", "[[", "<", "\n|", "[[category:", "{{\n|"],
)
def test_patterns_over_template_pages_take_linear_time(unit: str) -> None:
    assert_linear(lambda text: (is_silent_page(text.replace("|", "a")), included(text[:20_000])), repeated(unit))


def test_a_page_is_written_with_the_functions_and_numbers_of_its_wiki() -> None:
    dutch = language_of("nl")
    page_entry = entry("Sjabloon:Lengte", "{{#als:{{{1|}}}|{{formatnum:{{{1}}}}} m}}", None, dutch)
    assert page_entry is not None
    templates = with_pages(templates_of("nl"), gather([page_entry]))
    assert entry("Sjabloon:Ruimte", "{{#als:{{NAAMRUIMTE}}||{{{1}}}}}", None, dutch) == Entry(
        "ruimte", "text", "{{#if:||{{{1}}}}}"
    )
    text = "Hij is {{lengte|12345.5}} lang, {{Sjabloon:lengte|7}} breed."
    for compiled in (False, True):
        namespaces = Namespaces.of_language("nl")
        prose = clean_wikitext(text, templates=templates, namespaces=namespaces, compiled=compiled)
        assert prose == "Hij is 12.345,5 m lang, 7 m breed."


def test_the_names_of_templates_and_namespaces_are_those_of_the_wiki() -> None:
    pages = {
        "Шаблон:Цвет": "<i>{{{1}}}</i>[[Категория:Слова]]",
        "Шаблон:Два": "{{цвет|{{{1}}}}} и {{Шаблон:цвет|{{{2}}}}}",
        "Шаблон:Краска": "#REDIRECT",
        "Шаблон:Что это": "что это[[Категория:Неясно]]",
        "Шаблон:Откуда": "[[Википедия:Ссылки|{{{1}}}]]",
    }
    russian = language_of("ru")
    entries = [
        page_entry
        for title, text in pages.items()
        if (page_entry := entry(title, text, "Шаблон:Цвет" if text == "#REDIRECT" else None, russian))
    ]
    templates = with_pages(templates_of("ru"), gather(entries))
    text = (
        "Лес {{цвет|тёмен}}, {{Цвет|глух}}, {{два|сыр|стар}} и {{краска|зелен}}{{что это}} {{откуда|здесь}} весь год."
    )
    for compiled in (False, True):
        prose = clean_wikitext(text, templates=templates, namespaces=Namespaces.of_language("ru"), compiled=compiled)
        assert prose == "Лес тёмен, глух, сыр и стар и зелен весь год."
