"""The kernels over wikitext give what their reference gives, and stay within their buffers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata import InputError
from bertdata.kernels import warmup
from bertdata.kernels.jit import kernel
from bertdata.kernels.use import Kernels
from bertdata.sources.wikipedia.dump.ranges import plan_ranges
from bertdata.sources.wikipedia.dump.reader import Page, read_pages
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
from bertdata.sources.wikipedia.dump.unescape import unescape, unescaper
from bertdata.sources.wikipedia.dump.unescape_kernel import unescape_compiled
from bertdata.wikitext import clean, driver
from bertdata.wikitext.clean import clean_utf8, clean_wikitext, extract_readable
from bertdata.wikitext.driver import extract_utf8
from bertdata.wikitext.kernels.common import ENTITY, TAG, build_table, lookup
from bertdata.wikitext.mediawiki.site_config import Namespaces
from bertdata.wikitext.template_calls import PageContext
from bertdata.wikitext.templates.table import Templates, own_templates
from tests.data import data_path
from tests.generated import examples
from tests.sources.wikipedia.markup import MARKUP
from tests.wikitext.agreement import PAGE, agree


@settings(max_examples=examples(1000), deadline=None)
@given(MARKUP)
def test_any_markup_gives_what_the_reference_gives(source: str) -> None:
    assert agree(source)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_what_the_reference_gives(source: str) -> None:
    assert agree(source)


@pytest.mark.parametrize("others", ["", "é", "é—", "é—\U0001f600", "\ud800"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_kind_of_string_is_read(others: str, data: st.DataObject) -> None:
    pieces = st.sampled_from(["x" * 31, "x" * 33, "It rained. ", "\r", "\n", "\r\n", "\x0b", "\x7f", "\x01", *others])
    assert agree("".join(data.draw(st.lists(pieces, max_size=20))) + others)


@pytest.mark.parametrize(
    "source",
    [
        "{|\n| {{x|[[a]]}}\n| {|\n|b\n|}\n|}\nc",
        "{|\n| {{x\n|}\n}} {{y|\n|}}}} b",
        "{{x|\n{|\n|}}\n|}\n}} b {{nowrap|{{x|}}}}}} c",
        "{{x|-{a;b}- [[c]]}} d [[File:e|{{x|]]}} [[f|g]] ]] h",
        "[[File:a|[[b}} c]] d]] e {{x|[[}} f",
        "{{x|<table><tr>}}</table> b}} c [[File:d|<ul>]]</ul>]] e",
        "{{x|{{{1|{{y}}}}}}} b {{x|{{y|{{{z}} c}}}}",
        "{{ {{x}}|a}} {{x|[[b}} c ]] {{#if:|{{x|[[a]]}}}} {{DISPLAYTITLE:{{x}}|a}} d",
        "[[File:a]] [[ File :b|c\nd [[e]]]] [[:File:f|g [[h]]]] [[File:i|j",
        "[[File:a|b [http://x c]]] d [[File:e|[[f|[g]]] h]] i",
        "{{x|[[a]]" * 20 + "}}" * 17 + " b",
        "{{x|[[a]]" * 120 + "}}" * 120 + "[[b|" * 101 + "[[File:c|[[d]]]]" + "]]" * 101,
    ],
)
def test_what_is_skipped_as_a_whole_ends_where_the_walk_ends_it(source: str) -> None:
    assert agree(f"It is. {source} It was.\n\nIt rained.")


def test_a_block_after_a_comment_parts_two_words() -> None:
    source = "It is a word<!-- b --><gallery>c</gallery>word and more."
    assert agree(source)
    assert extract_utf8(source.encode(), PAGE)[0] == b"It is a word word and more."


@pytest.mark.costly
@pytest.mark.parametrize(
    "source",
    [
        "{{nowrap|" * 300 + "x" + "}}" * 300,
        "[[a|" * 120 + "x" + "]]" * 120,
        "{" * 5000 + "a" + "}" * 5000,
        "{{x" + "|" * 9000 + "}}",
        "{{nowrap|" + "[[=]]" * 30_000 + "}}",
        "<nowiki>" + "[" * 40_000 + "</nowiki>",
        "&nGt;" * 40_000,
        "a\n*\n" * 30_000,
        "({{x}}, " * 20_000,
        "{{lang|de|a|x=b}} {{lang|2=c|de|a}} {{lang|de|a| 2 =c}} {{lang|\xa02=c|de|a}} {{lang|de||text=d}}"
        "{{when|text=e}} {{when|date=May|b}} {{when| text = }} {{when|{{x}}|te=b}} {{nowrap|{{when|t=|text=f=g}}}}",
    ],
)
def test_buffers_grow_with_the_page(source: str) -> None:
    assert agree(source)


def test_the_known_constructs_give_what_the_reference_gives() -> None:
    with data_path("wikipedia", "wikitext-constructs.jsonl").open(encoding="utf-8") as lines:
        assert [row["id"] for row in map(json.loads, lines) if not agree(row["wikitext"])] == []


@pytest.mark.parametrize(
    "dump", ["arwiki.xml.bz2", "dewiki.xml.bz2", "cyberzhg_zhwiki-test-pages.xml", "ruwiki.xml.bz2"]
)
def test_real_pages_give_what_the_reference_gives(dump: str) -> None:
    assert differing(data_path("wikipedia-other", dump)) == []


@pytest.mark.slow
def test_every_page_of_the_real_dumps_gives_what_the_reference_gives() -> None:
    paths = [
        *data_path("wikipedia").glob("*-pages-articles-multistream.xml.bz2"),
        *data_path("wikipedia-other", "itwiki_small-dump.xml.gz").parent.glob("*wiki*.xml*"),
    ]
    assert [title for path in paths for title in differing(path)] == []


def differing(path: Path) -> list[str]:
    site = read_siteinfo(str(path))
    namespaces = Namespaces.from_siteinfo(site.namespaces)
    pages = (page for span in plan_ranges(str(path), 1 << 30).ranges for page in read_pages(span, site))
    articles = (page for page in pages if isinstance(page, Page) and page.ns == 0 and page.redirect is None)
    return [page.title for page in articles if not agree(page.text, PageContext(page.title, namespaces))]


def test_own_templates_are_known_to_both(tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_text("my box = [{1}]\ncitation needed = (?)\nnowrap =\nПривет = {2}\n", encoding="utf-8")
    page = PageContext(templates=own_templates(str(path)))
    source = "It {{My_box|rained}}{{citation needed}} {{nowrap|today}}, {{привет|a|b}}."
    assert agree(source, page)
    assert extract_utf8(source.encode(), page) == (b"It [rained](?), b.", "")


def test_threads_do_not_share_buffers() -> None:
    sources = [f"{{{{convert|{number}|km|mi}}}} ".encode() * 300 for number in range(8)]
    expected = [extract_readable(source, PAGE) for source in sources]
    results: list[tuple[bytes, str] | None] = [None] * len(sources)

    def work(number: int) -> None:
        results[number] = extract_utf8(sources[number], PAGE)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(sources))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == expected


BOXED = "{{box|It is {{box|very}} salt [[water|water of the sea]].}} And {{convert|5|km|mi}} on, {{box|it rained}}. "


@pytest.mark.costly
@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("times", [1, 3000], ids=["a short page", "a page that makes buffers grow"])
def test_a_template_function_may_clean_wikitext(times: int, chosen: bool) -> None:
    def box(arguments: Mapping[str, str]) -> str:
        inner = f"'''{arguments['1']}''' [[a|{'longer ' * 20}]]" if "rained" in arguments["1"] else arguments["1"]
        return (clean_wikitext(inner, templates=templates, compiled=chosen) or "").replace(" longer", "")

    templates = Templates({"box": box})
    expected = "It is very salt water of the sea. And 5 kilometres (3.1 mi) on, it rained. " * times
    assert clean_wikitext(BOXED * times, templates=templates, compiled=chosen) == expected.strip()


def test_an_error_of_a_template_function_leaves_nothing_behind() -> None:
    def box(arguments: Mapping[str, str]) -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        clean_wikitext("It rained. {{box|a}}", templates=Templates({"box": box}), compiled=True)
    assert clean_wikitext("It [[snow]]ed.", compiled=True) == "It snowed."


@pytest.mark.parametrize("source", ["{{nowrap|" * 200_000, "{{x" + "|" * 2_000_000 + "}}", "It rained. " * 500_000])
def test_memory_of_a_very_large_page_is_given_back(source: str) -> None:
    extract_utf8(b"It rained.", PAGE)
    extract_utf8(source.encode(), PAGE)
    extract_utf8(b"It rained.", PAGE)
    assert driver._idle
    for work in driver._idle:
        kept = {name: value for name, value in vars(work).items() if name not in ("table", "blob")}  # shared by all
        arrays = [value for value in kept.values() if isinstance(value, np.ndarray)]
        assert sum(array.nbytes for array in arrays) <= driver._LARGEST_KEPT + (1 << 16)


@pytest.mark.parametrize("chosen", [False, True, None])
@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80", b"\xc3"])
def test_bytes_that_are_not_utf8_are_told_with_their_place(bad: bytes, chosen: bool | None) -> None:
    data = "It raîned. ".encode() + bad + b" [[a"
    with pytest.raises(InputError, match=rf"^byte 12, page 'Rain': .*not UTF-8 \(byte 0x{bad[0]:02x}\)"):
        clean_utf8(data, title="Rain", compiled=chosen)


def test_many_small_pages_run_compiled_as_one_large_page_does(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "'''Salt''' is [[old]]. " * 40
    cleaned: list[int] = []

    def counted(data: bytes, context: PageContext) -> tuple[bytes, str]:
        cleaned.append(len(data))
        return extract_utf8(data, context)

    monkeypatch.setattr(driver, "extract_utf8", counted)
    monkeypatch.setattr(clean, "KERNELS", Kernels(*clean.KERNELS._names))
    monkeypatch.setattr(warmup, "COMPILED_FROM", 5 * len(page))
    expected = clean_wikitext(page, compiled=False)
    assert [clean_wikitext(page) for _ in range(8)] == [expected] * 8
    assert cleaned == [len(page)] * 4


def test_the_size_of_work_that_is_done_once_chooses_what_undoes_its_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "COMPILED_FROM", 1000)
    assert [unescaper(size, None) for size in (999, 1000, 999)] == [unescape, unescape_compiled, unescape]


ESCAPES = ["&lt;", "&gt;", "&quot;", "&amp;", "&apos;", "&#65;", "&#x1F600;", "&#0;", "&#12345678;", "&#xD800;", "&#x;"]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from([*ESCAPES, "&", ";", "#", "lt", "\r", "\n", "\r\n", "é", "x" * 40]), max_size=20))
def test_escapes_are_undone_as_the_reference_undoes_them(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    assert unescape_compiled(data) == unescape(data)


@kernel
def _row_of(table: Any, blob: Any, kind: int, end: int) -> Any:
    return lookup(table, blob, kind, blob, 0, end)


def test_a_name_is_found_only_under_its_kind_and_spelling() -> None:
    table, blob = build_table([(TAG, b"ref", 1, b""), (TAG, b"ref", 2, b""), (ENTITY, b"ref", 3, b"")])
    assert table[_row_of(table, blob, TAG, 3), 4] == 1
    assert table[_row_of(table, blob, ENTITY, 3), 4] == 3
    assert _row_of(table, blob, TAG, 2) == -1


IN_ANOTHER_PROCESS = """
import sys
from tests.sources.wikipedia.markup import PIECES
from tests.wikitext.agreement import agree
state = 1
for _ in range(int(sys.argv[1])):
    source = ""
    for _ in range(40):
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        source += PIECES[(state >> 33) % len(PIECES)]
    assert agree(source), source
"""


def run_apart(pages: int, **variables: str) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-W", "error", "-c", IN_ANOTHER_PROCESS, str(pages)]
    subprocess.run(command, check=True, cwd=root, env={**os.environ, **variables})


@pytest.mark.costly
def test_the_kernels_run_as_plain_python() -> None:
    run_apart(60, NUMBA_DISABLE_JIT="1")


@pytest.mark.slow
def test_the_kernels_stay_within_their_buffers(tmp_path: Path) -> None:
    run_apart(20_000, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["'''Salt''' is [[old]].<ref>x</ref>\0 \ufffd\n\n{|\n| a\n|}\n", "{{x|\n{| [[ ", "It {{ is.", "It  is."]
)
def test_a_page_of_fifty_megabytes_is_read_in_linear_time(piece: str) -> None:
    times = []
    for megabytes in (5, 50):
        source = (piece * (megabytes * 1_000_000 // len(piece))).encode()
        began = time.process_time()
        extract_utf8(source, PAGE)
        times.append(time.process_time() - began)
    assert times[1] < 30 * times[0]
