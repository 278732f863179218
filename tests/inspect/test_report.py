"""The report: one page that needs nothing else, says what the manifest says, and shows when it does not add up."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bertdata.cli.main import dispatch
from bertdata.corpus.ledger import ledger
from bertdata.engine.fingerprints import sealed
from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.inspect.examples import label_texts, read_examples
from bertdata.inspect.report import report_html
from bertdata.inspect.stats import histogram, mask_text, measure
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.reader import open_splits
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


def parts_of(element: ElementTree.Element) -> list[tuple[str, str, float]]:
    """Return the parts of bars: their colour, their text, and the percent of the width that they take."""
    return [
        (part.get("class", ""), part.get("title", ""), float(re.fullmatch(r"width: ([\d.]+)%", style)[1]))  # type: ignore[index]
        for part in element.iter("span")
        if (style := part.get("style"))
    ]


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
    assert (step.unit, step.came, step.difference) == ("books and chapters", 41, 0)


def test_the_ledger_adds_up_from_what_came_in_to_the_examples(build: Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text())
    steps = ledger(manifest)
    assert not any(step.difference for step in steps)
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
    files.write_json(str(build / "manifest.json"), sealed(manifest))
    shown = text_of(parsed(report_html(str(build))))
    assert "does not add up: -1" in shown
    assert "does not add up: +1,234" in shown


def test_the_tiles_are_the_figures_of_all_splits_together(build: Path) -> None:
    root = parsed(report_html(str(build)))
    shown = {text_of(cell[0]): text_of(cell[1]) for tiles in root.iter("dl") for cell in tiles}
    figures = [measure(shards) for shards in open_splits(str(build))]
    rows, tokens = (
        sum(split_figures.rows for split_figures in figures),
        sum(each_split.tokens for each_split in figures),
    )
    ordinary, unknown = (
        sum(split_figures.ordinary_tokens for split_figures in figures),
        sum(each_split.unknown_tokens for each_split in figures),
    )
    assert shown == {
        "examples": f"{rows:,}",
        "tokens in rows": f"{tokens:,}",
        "fill": f"{tokens / (rows * figures[0].max_seq_length):.1%}",
        "realised mask rate": f"{sum(each_split.predictions for each_split in figures) / ordinary:.2%}",
        "[UNK]": f"{unknown / ordinary:.3%}",
    }


def test_each_split_has_its_lengths_labels_and_masks(build: Path) -> None:
    shown = text_of(parsed(report_html(str(build))))
    for shards in open_splits(str(build)):
        measured = measure(shards)
        filled = (
            f"{shards.split}: {measured.rows:,} rows, {measured.fill:.1%} of {measured.max_seq_length} tokens filled"
        )
        assert f" to {measured.max_seq_length}" in shown
        assert filled in shown
        assert f"{shards.split}: {mask_text(measured)}." in shown
        if shards.info.label:
            names = label_texts(shards.expect_pretraining().objective)
            for name, number in zip(names, measured.labels, strict=True):
                assert f"{name}: {number:,} ({number / sum(measured.labels):.1%})" in shown
            assert f"{shards.split}, {shards.info.label}" in shown
        if measured.masked is not None and measured.kept is not None:
            kinds = {
                "[MASK]": measured.masked,
                "random token": measured.predictions - measured.masked - measured.kept,
                "kept": measured.kept,
            }
            for kind, number in kinds.items():
                assert f"{kind}: {number:,} ({number / measured.predictions:.1%})" in shown
        assert ("tokens at predicted positions" in shown) == (measured.masked is not None)


def test_of_many_reasons_the_most_frequent_have_colours_and_the_rest_one_together(tmp_path: Path) -> None:
    build = write_build(tmp_path)
    manifest = json.loads((build / "manifest.json").read_text())
    source = manifest["sources"]["books"]
    source["drops"] = {f"reason {number}": number + 1 for number in range(8)}
    source["counts"]["books"] = source["counts"]["documents"] + 36
    files.write_json(str(build / "manifest.json"), sealed(manifest))
    step = next(step for step in parsed(report_html(str(build))).iter("div") if step.get("class") == "step")
    bars = [(color, text.split(" (")[0]) for color, text, *_ in parts_of(step)]
    assert bars[1:] == [
        ("d0", "reason 7: 8"),
        ("d1", "reason 6: 7"),
        ("d2", "reason 5: 6"),
        ("d3", "reason 4: 5"),
        ("d4", "reason 3: 4"),
        ("d5", "3 other reasons: 6"),
    ]
    keys = [(key[0].get("class"), text_of(key).split(" (")[0]) for key in step.iter("li")]
    assert keys[1:] == [(f"swatch d{min(place, 5)}", f"{8 - place} dropped, reason {7 - place}") for place in range(8)]
    assert "adds up" in text_of(step)


def test_the_parts_of_a_bar_are_in_proportion_and_none_is_drawn_for_0(tmp_path: Path) -> None:
    build = write_build(tmp_path)
    manifest = json.loads((build / "manifest.json").read_text())
    manifest["sources"]["books"]["drops"] = {"none": 0, "a < b": 90}
    files.write_json(str(build / "manifest.json"), sealed(manifest))
    step = next(step for step in parsed(report_html(str(build))).iter("div") if step.get("class") == "step")
    documents = manifest["sources"]["books"]["counts"]["documents"]
    share = 90 / (documents + 90)
    parts = parts_of(step)
    assert [text for _, text, *_ in parts] == [
        f"went on: {documents} ({1 - share:.1%})",
        f"a < b: 90 ({share:.1%})",
    ]
    assert [width for *_, width in parts] == pytest.approx([100 * (1 - share), 100 * share], abs=0.01)


def test_a_histogram_has_a_bar_for_each_bin_as_long_as_its_share_of_the_largest_and_its_numbers(build: Path) -> None:
    charts = [figure for figure in parsed(report_html(str(build))).iter("figure") if "tokens filled" in text_of(figure)]
    for chart, shards in zip(charts, open_splits(str(build)), strict=True):
        figures = measure(shards)
        bins = histogram(figures.lengths)
        rows = [[f"{first} to {last}", "", f"{number:,} ({number / figures.rows:.1%})"] for first, last, number in bins]
        assert [[text_of(cell) for cell in row] for row in list(chart.iter("tr"))[1:]] == rows
        longest = max(number for *_, number in bins)
        bars = [parts_of(row) for row in list(chart.iter("tr"))[1:]]
        assert [len(parts) for parts in bars] == [1 if number else 0 for *_, number in bins]
        expected = [100 * number / longest for *_, number in bins if number]
        assert [parts[0][2] for parts in bars if parts] == pytest.approx(expected, abs=1e-3)


def test_bars_need_no_library_and_hide_from_screen_readers_what_is_text_beside_them(
    build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = report_html(str(build))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert report_html(str(build)) == page
    hidden = [element for element in parsed(page).iter() if element.get("aria-hidden") == "true"]
    assert {element.get("class") for element in hidden} == {"strip", "bar"}
    assert not any(text_of(element) for element in hidden)
    shown = [part for element in hidden for part in parts_of(element)]
    assert len(shown) > 20
    assert len(shown) == len(parts_of(parsed(page)))


def test_every_colour_of_a_bar_is_one_of_the_style_in_both_modes(build: Path) -> None:
    page = report_html(str(build))
    for color in {color for color, *_ in parts_of(parsed(page))}:
        assert f".strip .{color}, .bar .{color} {{ background: var(--{color}); }}" in page
        assert page.count(f"--{color}: #") == 2


def test_broken_pieces_are_named_up_to_twenty_and_the_rest_counted(tmp_path: Path) -> None:
    build = write_build(tmp_path)
    manifest = json.loads((build / "manifest.json").read_text())
    broken = [
        {"path": f"{number}.xml", "place": "page 9", "offset": 12_345, "reason": "it ends"} for number in range(23)
    ]
    manifest["sources"]["books"]["broken"] = broken
    files.write_json(str(build / "manifest.json"), sealed(manifest))
    [details] = [section for section in parsed(report_html(str(build))).iter("details") if "broken" in text_of(section)]
    rows = [[text_of(cell) for cell in row] for row in details.iter("tr")]
    assert rows[0] == ["file", "title or place", "offset", "what is wrong"]
    assert rows[1:] == [[f"{number}.xml", "page 9", "byte 12,345", "it ends"] for number in range(20)]
    assert text_of(details).startswith("23 broken pieces, left out")
    assert "3 more are named in the manifest." in text_of(details)


def test_one_broken_piece_is_told_in_the_singular_without_an_offset(build: Path) -> None:
    [details] = [section for section in parsed(report_html(str(build))).iter("details") if "broken" in text_of(section)]
    assert text_of(details).startswith("1 broken piece, left out")
    [_, row] = [[text_of(cell) for cell in row] for row in details.iter("tr")]
    assert row == ["books.txt", "<i>No end", "", "it is <b>bold</b>"]
    assert "more are named" not in text_of(details)


def test_the_head_says_what_was_made_of_what(build: Path) -> None:
    root, info = parsed(report_html(str(build))), open_shards(build).expect_pretraining().examples
    title = f"{info.objective.upper()} examples of {info.max_seq_length} tokens"
    assert [text_of(next(root.iter(tag))) for tag in ("title", "h1")] == [title, title]
    shown = text_of(root)
    assert "Sources: books. Vocabulary: " in shown
    assert ("Static masking, 2 copies." in shown) == (info.dupe_factor == 2)
    assert ("Dynamic masking." in shown) == (info.dupe_factor == 1)


def test_examples_say_their_place_their_segments_and_their_label(build: Path) -> None:
    shards = open_shards(build)
    [article] = parsed(report_html(str(build), examples=1)).iter("article")
    [example] = read_examples(shards, [0])
    label = f", {example.label}" if example.label else ""
    head = f"train 0: {example.tokens} tokens, {example.predictions} to predict{label}"
    assert text_of(next(article.iter("h3"))) == head
    names = [span.text for span in article.iter("span") if span.get("class") == "segment"]
    assert names == (["A", "B"] if shards.info.label else [" "])
    pieces = [piece for segment in example.segments for piece in segment if piece.kind == "special"]
    quiet = [span.text for span in article.iter("span") if span.get("class") == "quiet"]
    assert quiet == [piece.text for piece in pieces]


def test_a_ledger_of_several_copies_or_a_mix_says_so(build: Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text())
    copies = manifest["info"]["examples"]["dupe_factor"]
    last = [step for step in ledger(manifest) if step.unit == "tokens"]
    said = ", 2 copies" if copies == 2 else ""
    assert [step.title for step in last] == [f"tokens to {split} examples{said}" for split in ("train", "validation")]
    assert [step.came for step in last] == [entry["counts"]["tokens"] * copies for entry in manifest["splits"].values()]
    manifest["info"]["epochs"] = [1.5]
    manifest["splits"]["train"]["counts"]["tokens_in_copies"] = 77
    train, validation = (step for step in ledger(manifest) if step.unit == "tokens")
    assert (train.title, train.came) == ("tokens to train examples, mixed by weight", 77)
    assert validation.title == f"tokens to validation examples{said}"


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


def test_a_file_that_is_no_report_is_not_written_over(build: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert dispatch(["report", str(build), "--output", str(page)]) == 0
    assert dispatch(["report", str(build), "--output", str(page)]) == 0
    for other in (tmp_path / "thesis.html", build / "manifest.json"):
        other.touch()
        before = other.read_bytes() or b"<html>years of work</html>"
        other.write_bytes(before)
        with pytest.raises(OutputError, match="not a report of bertdata"):
            dispatch(["report", str(build), "--output", str(other)])
        assert other.read_bytes() == before
