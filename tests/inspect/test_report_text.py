"""The report shows what texts are like: shares of sources, lengths, odd documents, dropped pages, the vocabulary."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.engine.origin import Origin, begin, finish
from bertdata.errors import InputError
from bertdata.inspect import report_text, text_figures
from bertdata.inspect.report import report_html
from bertdata.inspect.report_text import dropped_part, source_shares, vocabulary_part
from bertdata.inspect.text_figures import MOST_PARTS, document_files, doubling_bins, measure_text, rejected_pages
from bertdata.inspect.word_figures import count_ids, measure_counted, measure_words
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.inspect.test_report import parsed, text_of
from tests.small_build import tokenizer, write_build

PROSE = "the salt holds the water and the lamp hides a stone. "
TEXTS = [PROSE * 3, PROSE, "12 | 34 | 56 | 78 || 90 - 12 - 34 * 56 ## 78 :: 90", "ɡɡ 塩 salt"]


def write_documents(path: Path, texts: list[str] = TEXTS) -> Path:
    names = [f"d{number}" for number in range(len(texts))]
    table = pa.table(
        {
            "id": names,
            "source": ["books"] * len(texts),
            "title": ["" if name == "d0" else name for name in names],
            "text": texts,
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    return path


def test_the_shortest_documents_and_those_with_the_fewest_letters_are_found(tmp_path: Path) -> None:
    figures = measure_text([str(write_documents(tmp_path / "a.parquet"))], tokenizer(), samples=1)
    assert figures is not None
    assert (figures.documents, figures.characters) == (4, sum(map(len, TEXTS)))
    assert [(text.name, text.characters) for text in figures.shortest] == [("d3", len(TEXTS[3]))]
    assert [(text.name, text.characters) for text in figures.longest] == [("d0", len(TEXTS[0]))]
    assert [(text.name, text.letters) for text in figures.oddest] == [("d2", 0.0)]
    assert sum(number for *_, number in figures.lengths) == 4


def test_documents_are_not_more_than_there_are_and_a_kind_is_not_called_a_source(tmp_path: Path) -> None:
    text = measure_text([str(write_documents(tmp_path / "a.parquet"))], None, samples=1)

    def shown(sources: dict[str, int]) -> str:
        counts = {name: {"counts": {"documents": number}} for name, number in sources.items()}
        return " ".join(text_of(part) for part in report_text.documents_part(text, counts))

    mean = f"{sum(map(len, TEXTS)) / 4:,.0f} on average"
    assert f"Characters of all 4 documents, {mean}" in shown({"books": 4})
    assert "later stages" not in shown({"books": 4})
    assert f"Characters of all 4 documents, {mean} (with 1 that later stages dropped)" in shown({"books": 3})
    assert f"Characters of 4 of 9 documents, {mean}" in shown({"books": 9})
    assert "books, " in shown({"books": 4})
    assert "books, " not in shown({"notes": 2, "tickets": 2})


def test_characters_that_become_unknown_are_counted_where_they_are() -> None:
    figures = measure_words(tokenizer(), ["ɡ salt ɡ", "塩 water"])
    assert figures.unknown_characters == (("ɡ", 2), ("塩", 1))
    assert (figures.words, figures.tokens, figures.single_token_words, figures.unknown_tokens) == (5, 5, 2, 3)


def test_a_dropped_document_stands_under_its_heading_with_its_rule_and_its_beginning() -> None:
    samples = {"few_words": [[0, "d7", "Salt", "Too\n short."], [1, "d9", "", ""]]}
    [part] = dropped_part({"books": {"dropped_texts": samples}})
    assert [text_of(element) for element in part.iter() if element.tag in ("h3", "h4", "p")] == [
        "few_words",
        "Salt books, d7",
        "Too short.",
        "d9 books",
        "(nothing stays of its text)",
    ]


def test_the_rarest_tokens_in_train_are_ordinary_ones_that_are_there() -> None:
    vocabulary = tokenizer()
    counts = np.zeros(vocabulary.vocab_size, np.int64)
    counts[vocabulary.special_ids] = 1
    ordinary = [number for number in range(vocabulary.vocab_size) if number not in vocabulary.special_ids]
    counts[ordinary[:3]] = [900, 2, 50]
    shown = "".join(text for part in vocabulary_part(vocabulary, None, counts) for text in part.itertext())
    assert "3 of the 3 rarest tokens in train" in shown
    places = [shown.rindex(vocabulary.tokens[ordinary[place]]) for place in (1, 2, 0)]
    assert places == sorted(places)


def test_no_text_has_no_figures(tmp_path: Path) -> None:
    assert measure_text([], tokenizer()) is None
    assert measure_words(tokenizer(), []).words == 0


@pytest.mark.parametrize("masking", ["static", "dynamic"])
def test_ids_are_counted_as_they_were_before_masking(masking: str, tmp_path: Path) -> None:
    build = write_build(tmp_path, ExamplesConfig(masking=masking, max_seq_length=32))
    shards = open_shards(build)
    counts = count_ids(shards)
    manifest = json.loads((build / "manifest.json").read_text())
    assert counts.sum() == manifest["splits"]["train"]["counts"]["row_tokens"]
    assert counts[shards.tokenizer().mask_token_id] == 0


def test_parts_are_read_evenly_of_many_and_the_next_where_one_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3 * MOST_PARTS):
        write_documents(tmp_path / "stages" / "books" / f"books-{number:05d}.parquet", TEXTS if number else [])
    assert len(document_files(str(tmp_path))) == 3 * MOST_PARTS - 1
    monkeypatch.setattr(text_figures, "READ_WHOLE", 1000)
    names = [Path(path).name for path in document_files(str(tmp_path))]
    assert names == [f"books-{3 * number or 1:05d}.parquet" for number in range(MOST_PARTS)]
    (tmp_path / "128").mkdir()
    phase = [Path(path).resolve() for path in document_files(str(tmp_path / "128"))]
    assert phase == [Path(path) for path in document_files(str(tmp_path))]
    assert document_files(str(tmp_path / "128")) != document_files(str(tmp_path))


def test_documents_without_other_columns_are_measured_and_without_text_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": [PROSE]}), tmp_path / "a.parquet")
    figures = measure_text([str(tmp_path / "a.parquet")], None)
    assert figures is not None
    assert [text.name for text in figures.shortest] == ["untitled"]
    assert figures.words is None
    pq.write_table(pa.table({"body": [PROSE]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="no column `text`, as documents have"):
        measure_text([str(tmp_path / "a.parquet")], None)


def test_counted_words_give_what_their_texts_would() -> None:
    words = {"salt": 3, "keeper": 2, "ɡ": 5, "water": 1}
    tables = [pa.table({"word": [word], "count": pa.array([number], pa.int64())}) for word, number in words.items()]
    vocabulary, texts = tokenizer(), [" ".join(word for word, number in words.items() for _ in range(number))]
    figures, whole = measure_counted(vocabulary, tables), measure_words(tokenizer(), texts)
    assert (figures.words.words, figures.words.tokens) == (whole.words, whole.tokens) == (11, 13)
    assert figures.words.single_token_words == whole.single_token_words == 4
    assert figures.words.unknown_tokens == whole.unknown_tokens == 5
    assert figures.words.unknown_characters == whole.unknown_characters == (("ɡ", 5),)
    assert (
        figures.token_counts.tolist()
        == np.bincount(vocabulary.encode(texts[0]), minlength=vocabulary.vocab_size).tolist()
    )
    assert figures.lengths == (0, 9, 2)
    assert figures.costliest == (("keeper", 2, ("keep", "##er")),)


def test_dropped_pages_are_named_by_reason_where_they_were_kept(tmp_path: Path) -> None:
    rejects, build = tmp_path / "rejects", tmp_path / "build"
    rejects.mkdir()
    build.mkdir()
    rows = [
        {"id": 1, "title": title, "offset": 0, "reason": reason} for title, reason in (("A", "list"), ("B", "list"))
    ]
    rows.append({"id": 9, "title": None, "offset": 0, "reason": "no prose"})
    (rejects / "part.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert rejected_pages(str(build)) == []
    for settings in ("cleaning", "CleaningConfig"):  # of a build, and of clean-wikipedia
        origin = Origin("build", {}, settings={settings: {"rejects": str(rejects)}})
        begin(str(build), origin, force=True)
        finish(str(build), origin)
        assert rejected_pages(str(build)) == [("list", "A"), ("list", "B"), ("no prose", "9")]


def test_shares_are_those_of_the_sources_in_documents_text_and_tokens() -> None:
    sources = {
        "a": {"counts": {"documents": 3, "text_bytes": 100}},
        "b": {"counts": {"documents": 1, "text_bytes": 300}},
    }
    mix = {"a": {"tokens": 40}, "b": {"tokens": 60}}
    shown = [text_of(share) for share in source_shares({"sources": sources, "mix": mix})]
    assert ["75.0%" in text for text in shown] == [True, True, False]
    assert "b: 60 (60.0%)" in shown[2]
    assert source_shares({"sources": {"a": sources["a"]}}) == []


def test_the_page_has_the_vocabulary_and_says_where_documents_were_deleted(tmp_path: Path) -> None:
    build = write_build(tmp_path)
    write_documents(build / "stages" / "books" / "a.parquet")
    shown = text_of(parsed(report_html(str(build))))
    assert "12 | 34" in shown
    assert "deleted" not in shown
    headings = [text_of(heading) for heading in parsed(report_html(str(build))).iter("h2")]
    assert {"Documents", "Vocabulary"} <= set(headings)
    shutil.rmtree(build / "stages")
    shown = text_of(parsed(report_html(str(build))))
    assert "The stages of this build were deleted" in shown
    assert "never in train" in shown


def test_bins_double() -> None:
    assert doubling_bins(np.array([1])) == [(1, 1, 1)]
    assert doubling_bins(np.array([1023, 1024])) == [(512, 1023, 1), (1024, 2047, 1)]


@pytest.mark.parametrize(
    ("words", "never"),
    [([], "0 tokens (0.0%)"), (["a"], "1 token (100.0%)"), (["a", "b", "c", "d"], "4 tokens (100.0%)")],
)
def test_the_share_of_rare_tokens_is_of_the_ordinary_ones(words: list[str], never: str) -> None:
    small = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *words])
    rows, elements = report_text._rare(small, np.zeros(small.vocab_size, np.int64), "train")
    assert rows[0] == ("never in train", never)
    assert elements == []
