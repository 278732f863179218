"""Of an article's HTML the prose is kept that the wikitext cleaner keeps of its wikitext."""

from __future__ import annotations

import sys

import pytest

from bertdata.errors import MissingExtraError
from bertdata.sources.wikipedia.published import html
from bertdata.sources.wikipedia.published.form import plain
from bertdata.sources.wikipedia.published.html import prose_of_html
from bertdata.wikitext.mediawiki.language import language_of


def prose(page: str) -> str:
    pytest.importorskip("selectolax")
    return plain(prose_of_html(page)[0])


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>Salt <b>is</b>&nbsp;old &amp; <a href='x'>dear</a>.</p>\n<p>It\nis.</p>", "Salt is old & dear.\n\nIt is."),
        ("<p>Salt<sup class='mw-ref reference'>[1]</sup> is (<span class='IPA'>sɔlt</span>) old.</p>", "Salt is old."),
        ("<table><tr><td>1</td></tr></table><p>Salt.</p><ul><li>a</li></ul><dl><dd>b</dd></dl>", "Salt."),
        ("<figure><figcaption>A pan</figcaption></figure><p>Salt.</p><div class='hatnote'>See x</div>", "Salt."),
        ("<h2 id='a'>See also</h2><p>No</p><section><h3>x</h3><p>No</p></section><h2>Age</h2>Old.", "Old."),
        ("<div class='mw-heading'><h2><i>Références</i></h2><span class='mw-editsection'>x</span></div><p>No</p>", ""),
        ("<p>One<br>two <style>p{}</style><span style='display: none'>no</span>three.</p>", "One two three."),
        ("<blockquote><p>It was said.</p></blockquote><div>Loose text.</div>", "It was said.\n\nLoose text."),
        ("<div class='poem'><p>Roses<br>\nare red<br>\ntoo</p></div>", "Roses\nare red\ntoo"),
        ("<p>So <span class='mwe-math-element'><math alttext='{\\displaystyle x}'>x</math></span> is.</p>", "So x is."),
        ("<p>So <math alttext='\\frac 1 2'><mi>x</mi></math>, it is.</p>", "So, it is."),
        ("<p>a<del>b</del> c<rt>d</rt> x\x7f\x0b</p>", "a c x"),
        ("", ""),
        ("<p>unclosed <b>bold", "unclosed bold"),
    ],
)
def test_prose_is_kept(page: str, text: str) -> None:
    assert prose(page) == text


_VOID = {"embed", "hr", "img", "input"}
_INSIDE = {"table": "<tr><td>not this</td></tr>", "select": "<option>not this</option>"}


@pytest.mark.parametrize("tag", sorted(html._LEFT_OUT - _VOID))
def test_elements_that_hold_no_prose_leave_nothing(tag: str) -> None:
    assert prose(f"<div>Salt.<{tag}>{_INSIDE.get(tag, 'not this')}</{tag}></div>") == "Salt."


@pytest.mark.parametrize("name", sorted(html._CLASSES_LEFT_OUT))
def test_notes_and_boxes_leave_nothing_in_a_paragraph_or_beside_it(name: str) -> None:
    assert (
        prose(f"<p>Salt <span class='x {name}'>not this</span> is.</p><div class='{name}'>Nor this.</div>")
        == "Salt is."
    )


@pytest.mark.parametrize("tag", sorted(html._BLOCKS - html._LEFT_OUT - _VOID))
def test_blocks_part_paragraphs(tag: str) -> None:
    assert prose(f"One.<{tag}>Two.</{tag}>Three.") == "One.\n\nTwo.\n\nThree."


def test_sections_without_prose_end_at_a_heading_of_their_level() -> None:
    page = "<h2>Notes</h2><p>a</p><h3>x</h3><p>b</p><h2>Age</h2><p>Old.</p><h3>Notes</h3><p>c</p><h3>y</h3><p>Very.</p>"
    assert prose(page) == "Old.\n\nVery."


def test_a_formula_without_its_tex_leaves_nothing() -> None:
    assert prose("<p>So <span class='mwe-math-element'><span>not this</span></span>, it is.</p>") == "So, it is."


def test_pages_that_are_no_articles_are_told_by_their_properties() -> None:
    pytest.importorskip("selectolax")
    head = "<html><head><meta property='mw:PageProp/disambiguation'/></head><body><p>x</p></body></html>"
    assert prose_of_html(head)[:2] == ([], "disambiguation")
    assert prose_of_html('<link rel="mw:PageProp/redirect" href="./x"><p>x</p>')[:2] == ([], "redirect")


def test_elements_nested_too_deep_leave_nothing_and_a_page_of_far_deeper_ones_is_dropped() -> None:
    assert prose("<p>Salt.</p>" + "<div>" * 1000 + "deep" + "</div>" * 1000 + "<p>Sea.</p>") == "Salt.\n\nSea."
    assert prose("<p>It <br>rains</p>" * 3000) == "\n\n".join(["It rains"] * 3000)
    for deep in ("<div>" * 2001 + "deep", "<b>" * 100 + "<p>It rained.</p>" * 5, "<div>" * 101 + "deep"):
        assert prose_of_html(deep)[:2] == ([], "nested too deep")


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    with pytest.raises(MissingExtraError, match=r'selectolax is not installed; get it with: pip install "\.\[html\]"'):
        prose_of_html("<p>Salt.</p>")


def test_a_text_in_several_scripts_is_shown_as_the_wiki_shows_it() -> None:
    pytest.importorskip("selectolax")
    two = '{"twoway": [{"l": "zh-hant", "t": "電腦"}, {"l": "zh-hans", "t": "<b>计算机</b>&amp;amp;"}]}'.replace(
        '"', "&quot;"
    )
    empty = f'<span typeof="mw:LanguageVariant" data-mw-variant="{two}"></span>'
    hidden = '<meta typeof="mw:LanguageVariant" data-mw-variant="{}"/>'
    html = f"<p>他用{empty}工作。{hidden}<span data-mw-variant='x'>好</span><span data-mw-variant='x'></span></p>"
    assert prose_of_html(html, language_of("zh"))[0] == ["他用计算机&工作。好"]
    assert prose_of_html(html, language_of("zh"), "zh-tw")[0] == ["他用電腦工作。好"]


def test_a_file_that_the_wiki_lacks_and_an_error_leave_nothing() -> None:
    lacking = (
        '<span typeof="mw:Error mw:File"><a href="./Special:FilePath/A.png" class="new" title="File:A.png">'
        '<span class="mw-file-element mw-broken-media" resource="./File:A.png">a red sign</span></a></span>'
    )
    error = '<strong class="error">Division by zero</strong> <span class="error mw-ext-cite-error">Cite error</span>'
    assert prose_of_html(f"<p>The {lacking} sign {error} stands.</p>")[0] == ["The \x7f sign \x7f \x7f stands."]


def test_what_a_style_hides_leaves_nothing() -> None:
    for style in ("display:none", "DISPLAY : none;", "visibility: hidden"):
        assert prose_of_html(f"<p>It <span style='{style}'>0</span>rained.</p>")[0] == ["It \x7frained."]
