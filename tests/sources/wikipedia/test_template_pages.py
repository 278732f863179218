"""Template pages of a dump are read before its articles are cleaned, whatever the cut of the dump."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bertdata.beam.runner import Runner
from bertdata.engine.run_stages import run_stages, stage_states
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.sources.wikipedia.template_pages import read_entries

ARTICLE = "It is {{ink|deep}} and {{dye|dark}}, {{boxed|wet}} was. " + "It rained all day. " * 40


def page(number: int, title: str, text: str, ns: int = 0, redirect: str = "") -> str:
    target = f'<redirect title="{redirect}"/>' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{target}"
        f"<revision><text>{text.replace('&', '&amp;').replace('<', '&lt;')}</text></revision></page>\n"
    )


def dump(path: Path, ink: str = "<i>very {{{1}}}</i>") -> str:
    pages = [page(number, f"A{number}", ARTICLE) for number in range(1, 20)]
    pages += [
        page(30, "Template:Dye", "", 10, "Template:Ink"),
        page(31, "Template:Ink", ink, 10),
        page(32, "Template:Boxed", "<div>{{{1}}}</div>", 10),
        page(33, "Talk:Ink", "{{{1}}}", 1),
    ]
    path.write_text(f"<mediawiki>{''.join(pages)}</mediawiki>")
    return str(path)


def clean(path: str, folder: Path, **config: int | bool) -> list[str]:
    stage = ReadSource("wikipedia", {path: "wiki"}, str(folder), CleaningConfig(**config))  # type: ignore[arg-type]
    documents = run_stages([stage], Runner(1, quiet=True)).documents
    return [text for task, _ in documents for text in pq.read_table(task.path).column("text").to_pylist()]


def test_articles_have_the_text_of_template_pages_after_them(tmp_path: Path) -> None:
    path = dump(tmp_path / "x.xml")
    assert clean(path, tmp_path / "plain")[0].startswith("It is deep and dark, wet was.")
    whole = clean(path, tmp_path / "whole", template_pages=True)
    assert len(whole) == 19
    assert whole[0].startswith("It is very deep and very dark, was.")
    cut = clean(path, tmp_path / "cut", template_pages=True, range_bytes=4000)
    assert cut == whole
    assert len(list((tmp_path / "cut" / "template-pages").glob("x.xml-*.arrow"))) > 2
    tables = [read_entries(str(tmp_path / name / "template-pages" / "table.arrow")) for name in ("whole", "cut")]
    assert tables[0] == tables[1]
    assert {wiki: [entry.name for entry in entries] for wiki, entries in tables[0].items()} == {
        "": ["boxed", "dye", "ink"]
    }


def test_each_wiki_has_its_own_templates(tmp_path: Path) -> None:
    paths = {}
    for wiki, ink in {"aawiki": "<i>very {{{1}}}</i>", "bbwiki": "<i>most {{{1}}}</i>"}.items():
        path = Path(dump(tmp_path / f"{wiki}.xml", ink))
        head = f"<mediawiki><siteinfo><dbname>{wiki}</dbname></siteinfo>"
        path.write_text(path.read_text().replace("<mediawiki>", head))
        paths[str(path)] = wiki
    stage = ReadSource("wikipedia", paths, str(tmp_path / "out"), CleaningConfig(template_pages=True))
    documents = run_stages([stage], Runner(1, quiet=True)).documents
    texts = [pq.read_table(task.path).column("text").to_pylist()[0][:26] for task, _ in documents]
    assert texts == ["It is very deep and very d", "It is most deep and most d"]


def test_what_is_done_is_kept_until_a_template_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dump(tmp_path / "x.xml")
    stage = ReadSource("wikipedia", {path: "wiki"}, str(tmp_path / "out"), CleaningConfig(template_pages=True))
    assert [(state.title, state.is_known) for state in stage_states([stage])] == [
        ("read templates", True), ("gather templates", False), ("clean wikipedia", False)
    ]  # fmt: skip
    clean(path, tmp_path / "out", template_pages=True)
    assert [(state.done, state.missing) for state in stage_states([stage])] == [(1, 0)] * 3
    dump(tmp_path / "x.xml", "<i>most {{{1}}}</i>")
    assert clean(path, tmp_path / "out", template_pages=True)[0].startswith("It is most deep and most dark, was.")
