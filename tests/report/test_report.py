"""The report: one page that needs nothing else, says what the manifest says, and shows when it does not add up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bertdata.cli import dispatch
from bertdata.config import ExamplesConfig
from bertdata.errors import ConfigError, InputError
from bertdata.report import report_html
from bertdata.report.figures import histogram, stacked_bar
from bertdata.report.ledger import ledger
from bertdata.shards import open_shards
from bertdata.show import read_examples
from tests.small_build import write_build

CONFIGS = [
    ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2),
    ExamplesConfig(objective="full-sentences", max_seq_length=64),
]


@pytest.fixture(scope="module", params=CONFIGS, ids=lambda config: config.objective)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("build"), request.param)


def parsed(page: str) -> ElementTree.Element:
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>\n"))


def text_of(element: ElementTree.Element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext()))


def test_the_page_is_well_formed_and_the_same_every_time(build: Path) -> None:
    page = report_html(str(build))
    assert page.startswith("<!DOCTYPE html>\n")
    assert parsed(page).tag == "html"
    assert report_html(str(build)) == page


def test_the_page_asks_nothing_of_a_network(build: Path) -> None:
    root = parsed(report_html(str(build)))
    tags = {element.tag for element in root.iter()}
    assert not tags & {"script", "link", "img", "iframe", "object", "use", "image", "a"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if name.endswith(("src", "href")) or name.startswith("on")}
    style = "".join(element.text or "" for element in root.iter("style"))
    assert not re.search(r"url\(|@import", style)
    policies = [element.get("content") for element in root.iter("meta") if element.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_texts_of_the_corpus_are_text_and_not_markup(build: Path) -> None:
    root = parsed(report_html(str(build), examples=20))
    shown = text_of(root)
    assert "broken: it is <b>bold</b>" in shown
    assert "<i>No end" in shown
    assert "&" in "".join(text_of(article) for article in root.iter("article"))
    assert not list(root.iter("i")) or all(element.get("class", "").startswith("swatch") for element in root.iter("i"))


def test_every_count_of_the_manifest_is_on_the_page(build: Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text())
    shown = text_of(parsed(report_html(str(build))))
    for entry in manifest["splits"].values():
        for name in ("examples", "tokens_in_examples"):
            assert f"{entry['counts'][name]:,}" in shown
        assert all(shard["file"] in shown and shard["sha256"][:16] in shown for shard in entry["shards"])
    assert "1 dropped, too short (1.61%)" in shown
    assert "62 books in" in shown


def test_examples_are_shown_with_their_masks_marked(build: Path) -> None:
    articles = list(parsed(report_html(str(build), examples=3)).iter("article"))
    shards = open_shards(build)
    chosen = [len(shards) * place // 3 for place in range(3)]
    assert len(articles) == 3
    for article, example in zip(articles, read_examples(shards, chosen), strict=True):
        marks = [(mark.get("class"), mark.text) for mark in article.iter("b")]
        pieces = [piece for segment in example.segments for piece in segment if piece.target is not None]
        assert marks == [(piece.kind, piece.text) for piece in pieces]
        assert (example.label or "") in text_of(article)


def test_the_ledger_counts_the_chapters_that_books_were_cut_into(build: Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text())
    counts = {"books": 4, "books_in_chapters": 3, "chapters": 40, "documents": 40}
    step = ledger(manifest | {"sources": {"books": {"counts": counts, "drops": {"no prose": 1}}}})[0]
    assert (step.unit, step.came, step.balanced) == ("books and chapters", 41, True)


def test_the_ledger_adds_up_from_what_came_in_to_the_examples(build: Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text())
    steps = ledger(manifest)
    assert [step.balanced for step in steps] == [True] * len(steps)
    assert steps[0].came == manifest["sources"]["books"]["counts"]["books"]
    assert sum(step.left for step in steps if step.unit == "tokens") == sum(
        entry["counts"]["tokens_in_examples"] for entry in manifest["splits"].values()
    )
    assert "does not add up" not in report_html(str(build))


def test_a_ledger_that_does_not_add_up_says_by_how_much(tmp_path: Path) -> None:
    build = write_build(tmp_path)
    manifest = json.loads((build / "manifest.json").read_text())
    manifest["sources"]["books"]["drops"]["too short"] -= 1
    manifest["splits"]["train"]["counts"]["tokens_in_examples"] += 1234
    (build / "manifest.json").write_text(json.dumps(manifest))
    shown = text_of(parsed(report_html(str(build))))
    assert "does not add up: -1" in shown
    assert "does not add up: +1,234" in shown


def test_the_bars_of_a_figure_are_in_proportion() -> None:
    runs = [(1, 8, 10), (9, 16, 0), (17, 24, 40)]
    root = ElementTree.fromstring(histogram("lengths", "tokens", runs))
    heights = [float(rect.get("height", "")) for rect in root.iter("rect")]
    assert heights[1] == 0
    assert heights[2] == pytest.approx(4 * heights[0])
    assert [text_of(rect) for rect in root.iter("rect")][2] == "17 to 24 tokens: 40 (80.0%)"
    bar = ElementTree.fromstring(stacked_bar("parts", [("a", 30, "c0"), ("none", 0, "c1"), ("b <", 90, "d0")]))
    widths = [float(rect.get("width", "")) for rect in bar.iter("rect")]
    assert len(widths) == 2
    assert (widths[1] + 1) / (widths[0] + 1) == pytest.approx(3)
    assert bar.get("aria-label") == "parts: a 30, none 0, b < 90"


def test_figures_of_nothing_are_drawn_empty() -> None:
    assert "<rect" not in stacked_bar("nothing", [("a", 0, "c0")])
    ElementTree.fromstring(histogram("nothing", "tokens", []))


def test_the_command_writes_the_page(build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "page.html"
    assert dispatch(["report", str(build), "--output", str(path), "--examples", "0"]) == 0
    assert path.read_text("utf-8") == report_html(str(build), examples=0)
    assert "page.html" in capsys.readouterr().out


def test_no_build_and_fewer_than_no_examples_are_refused(build: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no manifest\.json"):
        dispatch(["report", str(tmp_path), "--output", str(tmp_path / "page.html")])
    with pytest.raises(ConfigError, match="--examples is -1"):
        dispatch(["report", str(build), "--examples", "-1", "--output", str(tmp_path / "page.html")])
    assert not (tmp_path / "page.html").exists()
