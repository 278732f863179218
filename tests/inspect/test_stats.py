"""Figures measured from bytes: they are what a slow count of the rows gives, and what the build counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError
from bertdata.inspect import stats
from bertdata.inspect.stats import Figures, VocabularyFigures, histogram, measure, measure_vocabulary
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.reader import open_splits
from tests.small_build import texts, tokenizer, write_build

CONFIGS = [
    ExamplesConfig(max_seq_length=32),
    ExamplesConfig(objective="sop", masking="static", max_seq_length=32, dupe_factor=2),
    ExamplesConfig(objective="full-sentences", max_seq_length=64),
]


@pytest.fixture(scope="module", params=CONFIGS, ids=lambda config: config.objective)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("build"), request.param)


def test_measured_figures_are_those_the_build_counted(build: Path) -> None:
    for shards in open_splits(str(build)):
        figures, counts = measure(shards), shards.manifest["splits"][shards.split]["counts"]
        assert figures.rows == counts["examples"]
        assert figures.tokens == counts["row_tokens"]
        assert figures.ordinary_tokens == counts["tokens_in_examples"]
        assert figures.predictions == counts["predictions"]
        assert (figures.masked, figures.kept) == (counts.get("predictions_mask"), counts.get("predictions_kept"))
        assert sum(figures.labels[1:]) == counts["labels_1"]


def test_measured_figures_are_those_of_a_slow_count(build: Path) -> None:
    shards = open_shards(build)
    figures = measure(shards)
    unk = shards.tokenizer().unk_token_id
    rows = [shards[number] for number in range(len(shards))]
    lengths = [len(row["input_ids"]) for row in rows]
    assert list(figures.lengths) == [lengths.count(n) for n in range(figures.max_seq_length + 1)]
    assert figures.fill == pytest.approx(sum(lengths) / len(rows) / figures.max_seq_length)
    unknown = 0
    for row in rows:
        ids = row["input_ids"].tolist()
        labels = row["labels"].tolist() if "labels" in row else [-100] * len(ids)
        originals = [token if label == -100 else label for token, label in zip(ids, labels, strict=True)]
        unknown += originals.count(unk)
    assert figures.unknown_tokens == unknown > 0


def test_the_splits_of_a_folder_are_all_of_a_build_and_one_of_a_split(build: Path) -> None:
    assert [shards.split for shards in open_splits(str(build))] == ["train", "validation"]
    assert [shards.split for shards in open_splits(str(build / "validation"))] == ["validation"]
    assert [shards.split for shards in open_splits(str(build), ["validation"])] == ["validation"]
    with pytest.raises(InputError, match="no split 'test'"):
        open_splits(str(build), ["train", "test"])


def test_a_histogram_holds_every_row_once() -> None:
    for longest in (1, 2, 15, 16, 17, 128, 512):
        lengths = [0, *range(1, longest + 1)]
        runs = histogram(lengths)
        assert len(runs) <= 16
        assert sum(number for _, _, number in runs) == sum(lengths)
        covered = [n for first, last, _ in runs for n in range(first, last + 1)]
        assert covered == list(range(1, longest + 1))


def test_a_split_without_rows_has_figures() -> None:
    empty = Figures(0, 0, 0, 0, 0, 128, (0,) * 129, (0, 0), 0, None, None)
    assert (empty.fill, empty.unknown_share, empty.mask_rate) == (0, 0, 0)
    assert stats.figure_rows("train", empty)[0] == ("train: rows", "0")


def test_the_table_of_a_split_says_what_was_measured() -> None:
    figures = Figures(1000, 3000, 96_000, 90_000, 45, 128, (0, 0, 7, 993), (2000, 1000), 13_500, 10_800, 1_350)
    assert stats.figure_rows("train", figures) == [
        ("train: rows", "1,000"),
        ("  examples packed into them", "3,000"),
        ("  tokens", "96,000 (96.0 a row, 75.0% of 128)"),
        ("  [UNK]", "45 of 90,000 (0.050%)"),
        ("  realised mask rate", "15.000% predicted: 80.0% [MASK], 10.0% random, 10.0% kept"),
        ("  pair labels", "0: 2,000, 1: 1,000"),
        ("  1 to 1 tokens", "  0 "),
        ("  2 to 2 tokens", "  7 ."),
        ("  3 to 3 tokens", f"993 {'#' * 40}"),
    ]
    dynamic = Figures(1000, 1000, 96_000, 90_000, 45, 128, (0, 500, 500), (), 13_500, None, None)
    names = [name.strip() for name, _ in stats.figure_rows("train", dynamic)]
    assert names == ["train: rows", "tokens", "[UNK]", "realised mask rate", "1 to 1 tokens", "2 to 2 tokens"]
    assert stats.mask_text(dynamic) == "15.000% predicted in epoch 0; the loader draws masks"


@pytest.mark.parametrize("masking", ["static", "dynamic"])
def test_packed_rows_hold_the_examples_of_rows_that_are_not_packed(masking: str, tmp_path: Path) -> None:
    config = ExamplesConfig(masking=masking, max_seq_length=32)
    plain = measure(open_shards(write_build(tmp_path / "plain", config)))
    packed = measure(open_shards(write_build(tmp_path / "packed", replace(config, pack=True, pack_length=96))))
    assert packed.rows < packed.examples == plain.examples == plain.rows
    for name in ("tokens", "ordinary_tokens", "unknown_tokens", "labels", "predictions", "masked", "kept"):
        assert getattr(packed, name) == getattr(plain, name)
    assert (plain.max_seq_length, packed.max_seq_length) == (32, 96)
    assert sum(length * number for length, number in enumerate(packed.lengths)) == packed.tokens
    assert len(packed.lengths) == 97


def test_the_command_prints_the_table_of_the_build_and_the_figures(
    build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["stats", str(build)]) == 0
    shown = capsys.readouterr().out
    assert "books: books in" in shown
    assert "validation: rows" in shown
    assert " tokens" in shown
    assert "####" in shown


def test_json_holds_the_manifest_and_the_figures(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["stats", str(build), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["manifest"] == json.loads((build / "manifest.json").read_text())
    assert set(values["measured"]) == {"train", "validation"}
    train = values["measured"]["train"]
    assert train["fill"] == pytest.approx(train["tokens"] / train["rows"] / train["max_seq_length"])
    assert sum(train["lengths"]) == train["rows"]


def test_a_vocabulary_is_measured_as_a_count_word_by_word_gives_it(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(texts(40)), "utf-8")
    pieces = tokenizer()
    figures = measure_vocabulary(pieces, [str(path)])
    words = [pieces.tokenize(word) for word in path.read_text("utf-8").replace(".", " . ").replace(",", " , ").split()]
    split = [part for word in words for part in (word if word[0] in "<&>" else [word])]
    tokens = [token for word in words for token in word]
    assert figures.tokens == len(tokens)
    assert figures.words == len(split)
    assert figures.unknown_words == tokens.count("[UNK]") > 0
    assert figures.single_token_words == sum(len(word) == 1 and word != ["[UNK]"] for word in split)
    assert figures.bytes == path.stat().st_size
    assert figures.tokens_per_word > 1
    assert figures.bytes_per_token == pytest.approx(figures.bytes / len(tokens))


def test_the_table_of_a_vocabulary_says_what_was_measured() -> None:
    pieces = tokenizer()
    figures = VocabularyFigures(12_345, 2_000, 2_500, 1_500, 20)
    assert stats.vocabulary_rows(pieces, figures) == [
        ("vocabulary", f"{pieces.vocab_size:,} tokens"),
        ("text", "12,345 bytes"),
        ("words", "2,000, punctuation marks among them"),
        ("tokens", "2,500"),
        ("tokens per word", "1.250"),
        ("words of one token", "75.00%"),
        ("words that are [UNK]", "1.0000% (20)"),
        ("bytes per token", "4.938"),
    ]
    nothing = VocabularyFigures(0, 0, 0, 0, 0)
    assert (nothing.tokens_per_word, nothing.single_token_share, nothing.unknown_share) == (0, 0, 0)
    assert nothing.bytes_per_token == 0


def test_rows_of_one_label_alone_are_counted_under_it(build: Path) -> None:
    shards = open_shards(build)
    if not shards.info.label:
        assert measure(shards).labels == ()
        return
    whole = shards.table
    for label in (0, 1):
        shards.table = whole.filter(pc.equal(whole[shards.info.label], label)).combine_chunks()
        expected = (len(shards), 0) if label == 0 else (0, len(shards))
        assert measure(shards).labels == expected


def test_figures_do_not_depend_on_how_a_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(texts(5)) + " é塩 " + "keeper" * 20, "utf-8")
    whole = measure_vocabulary(tokenizer(), [str(path)])
    for size in (1, 7, 64):
        monkeypatch.setattr(stats, "_CHUNK", size)
        assert measure_vocabulary(tokenizer(), [str(path)]) == whole


def test_text_that_is_not_utf8_is_named_with_the_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"salt water " * 10 + b"\xff stone")
    monkeypatch.setattr(stats, "_CHUNK", 16)
    with pytest.raises(InputError, match=r"text\.txt, byte 110: is not UTF-8 \(byte 0xff\)"):
        measure_vocabulary(tokenizer(), [str(path)])


def test_the_command_measures_a_vocabulary_on_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer().save_pretrained(tmp_path / "vocab")
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Salt water, xylophone.", "utf-8")
    files = [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    assert dispatch(["stats", "--vocab", str(tmp_path / "vocab"), *files]) == 0
    assert "words that are [UNK]  20.0000% (2)" in capsys.readouterr().out
    assert dispatch(["stats", "--json", "--vocab", str(tmp_path / "vocab"), *files]) == 0
    assert json.loads(capsys.readouterr().out)["unknown_share"] == pytest.approx(0.2)


def test_several_folders_are_refused(build: Path) -> None:
    with pytest.raises(ConfigError, match="one build, or --vocab"):
        dispatch(["stats", str(build), str(build)])
