"""`-{ }-` shows what MediaWiki's language converter shows in the variant of the wiki, or in one that is chosen."""

from __future__ import annotations

import pytest

from bertdata import clean_wikitext
from bertdata.errors import ConfigError
from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.reference.variants import resolve_variants, variant_of_html
from tests.growth import assert_linear, repeated


@pytest.mark.parametrize(
    ("language", "text", "shown"),
    [
        ("zh", "-{zh-hans:[[悉尼|悉尼市]];zh-hant:[[雪梨]]}-", "[[悉尼|悉尼市]]"),
        ("zh", "a-{zh-tw:甲&nbsp;乙;zh-cn:丙}-", "a丙"),
        ("zh", "a-{zh-cn:甲;zh-tw:乙-{zh-hk:丙;zh-cn:丁}-}-", "a甲"),
        ("zh", "a-{ zh-hans : 甲 ; zh-hant : 乙 }-", "a甲"),
        ("zh", "a-{zh-hant:乙;zh-hans:甲}-", "a甲"),
        ("zh", "a-{zh-tw:乙;zh-hk:丙}-", "a乙"),
        ("zh", "a-{N|zh-cn}-", "a大陆"),
        ("zh", "a-{R|zh-cn:甲;zh-tw:乙}-", "azh-cn:甲;zh-tw:乙"),
        ("zh", "a-{x=>zh-cn:甲;}-", "a甲"),
        ("zh", "a-{D|zh-cn:甲;zh-tw:乙}-", "a大陆：甲；臺灣：乙；"),
        ("zh", "a-{zh-cn:<span style='color:red'>甲</span>;zh-tw:乙}-", "a<span style='color:red'>甲</span>"),
        ("zh", "a-{zh-cn:{{x|}}-;zh-tw:乙}-b", "a{{x|}}-b"),
        ("zh", "a-{b}- -{}- -{H|zh-cn:甲;zh-tw:乙}- -{T|zh-cn:甲}- -{-|zh-cn:甲}-", "ab    "),
        ("zh", "a-{zh-cn:甲;nonsense:x}-", "a甲;nonsense:x"),
        ("zh", "a-{nonsense:x;zh-cn:甲}-", "anonsense:x;zh-cn:甲"),
        ("zh", "-{ * x}- a", "&#32;* x a"),
        ("zh", "a -{b", "a -{b"),
        ("zh", "a -{b -{c}- d", "a -{b c d"),
        ("zh", "a-{zh;zh-hans|b}-", "ab"),
        ("sr", "a-{sr-el:kuća;sr-ec:кућа}-", "aкућа"),
        ("sr", "a-{pismo|x}-", "ax"),
        ("sh", "a-{sh-cyrl:мост;sh-latn:most}-", "amost"),
        (
            "uz",
            "-{H|uz-latn:daryo;uz-cyrl:дарё}-дарё [[дарё|дарё]] <b title='дарё'>",
            "daryo [[дарё|daryo]] <b title='дарё'>",
        ),
        ("de", "a-{b}-", "a-{b}-"),
        ("", "a-{zh-cn:b;zh-tw:c}- -{d}- -{sr-el:e;sr-ec:f}-", "ab d f"),
        ("", "a-{b\nc}-", "a-{b\nc}-"),
    ],
)
def test_a_rule_shows_the_text_of_the_wiki_s_variant(language: str, text: str, shown: str) -> None:
    assert resolve_variants(text, language_of(language)) == shown


@pytest.mark.parametrize(("variant", "shown"), [("", "甲"), ("zh-hk", "乙"), ("zh-cn", "甲"), ("zh-hant", "乙")])
def test_a_variant_is_chosen(variant: str, shown: str) -> None:
    text = "他在-{zh-hans:甲;zh-hant:乙}-出生。"
    assert clean_wikitext(text, language="zh", variant=variant) == f"他在{shown}出生。"
    assert clean_wikitext(text, language="zh", variant=variant, compiled=True) == f"他在{shown}出生。"


def test_a_variant_that_the_language_has_not_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'zh-xx'.*zh-hans, zh-hant"):
        clean_wikitext("x", language="zh", variant="zh-xx")
    with pytest.raises(ConfigError, match=r"'zh-cn'.*'de'.*none"):
        clean_wikitext("x", language="de", variant="zh-cn")


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ({"disabled": {"t": "x"}}, "x"),
        ({"filter": {"l": ["zh-hans"], "t": "x"}}, "x"),
        ({"twoway": [{"l": "zh-hant", "t": "乙"}, {"l": "zh-hans", "t": "<b>甲</b>"}]}, "<b>甲</b>"),
        ({"oneway": [{"f": "x", "l": "zh-cn", "t": "甲"}]}, "甲"),
        ({"add": True, "show": True, "twoway": [{"l": "zh-cn", "t": "甲"}]}, "甲"),
        ({"add": True, "show": False, "twoway": [{"l": "zh-cn", "t": "甲"}]}, ""),
        ({"name": {"t": "zh-cn"}}, "大陆"),
        ({"describe": True, "twoway": [{"l": "zh-cn", "t": "甲"}]}, "大陆：甲；"),
        ({"twoway": "x"}, ""),
        ([], ""),
        (None, ""),
    ],
)
def test_parsoid_s_attribute(rule: object, shown: str) -> None:
    assert variant_of_html(rule, language_of("zh")) == variant_of_html(rule, language_of("")) == shown


@pytest.mark.costly
@pytest.mark.parametrize(
    "unit", ["-{", "}-", "-{a}-", "-{zh-cn:a;", "{{}-", "-{A|x=>zh-cn:y;}-x", "-{H|zh-cn:a;zh-tw:b}-a"]
)
def test_the_time_is_linear(unit: str) -> None:
    chinese = language_of("zh")
    assert_linear(lambda text: resolve_variants(text, chinese, "zh-cn"), repeated(unit))
