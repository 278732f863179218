"""What is shown and counted of tokenizers that mark words in other ways than WordPiece: byte-level BPE and Unigram."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bertdata.inspect.examples import Example, read_examples, words
from bertdata.inspect.report import report_html
from bertdata.inspect.show import BYTES, legend, notations
from bertdata.inspect.stats import measure, measure_vocabulary
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import MASKINGS, ExamplesConfig
from bertdata.shards import open_shards
from tests.small_build import texts, tokenizer, write_build
from tests.tokenizers.made import KINDS, made


@pytest.fixture(scope="module", params=[(kind, masking) for kind in KINDS for masking in MASKINGS], ids="-".join)
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    kind, masking = request.param
    config = ExamplesConfig("doc-sentences", masking, max_seq_length=64)
    folder = tmp_path_factory.mktemp("words")
    return write_build(folder, config, masking=MaskingConfig(mask_unit="word"), pieces=made(kind))


def unmasked(example: Example) -> str:
    """Return an example as it is shown, with the tokens to predict in their places."""
    [segment] = example.segments
    shown = []
    for word in words(segment[1:-1]):
        parts = [token.text if token.target is None else token.target for token in word]
        shown.append("".join(parts).removeprefix(" "))
    return " ".join(shown)


def test_tokens_are_joined_to_the_words_of_the_texts_without_marks(build: Path) -> None:
    shards = open_shards(build)
    spaced = [" ".join(text.replace("<&>", " < & > ").split()) for text in texts(60)]
    for example in read_examples(shards, range(30)):
        for word in words(example.segments[0]):
            assert word[0].kind != "text" or not word[0].text.startswith(" ")
        shown = " ".join(unmasked(example).replace("<&>", " < & > ").split())
        assert any(shown in text for text in spaced), shown
        assert not {"Ġ", "▁"} & {letter for token in example.segments[0] for letter in token.text}


def test_what_is_predicted_is_counted_by_whole_words(build: Path) -> None:
    shards = open_shards(build)
    figures = measure(shards)
    shown = sum(example.predictions for example in read_examples(shards, range(len(shards))))
    assert figures.predictions == shown
    assert figures.mask_rate == pytest.approx(0.15, abs=0.02)
    assert figures.unknown_tokens == 0
    page = report_html(str(build))
    assert not {"Ġ", "▁"} & set(page)
    assert f"{figures.predictions / figures.ordinary_tokens:.3%} predicted" in page


def test_tokens_are_shown_also_where_nothing_tells_where_words_begin(tmp_path: Path) -> None:
    config = ExamplesConfig("doc-sentences", "static", max_seq_length=64)
    build = write_build(tmp_path, config, pieces=made("byte-level"))
    shards = open_shards(build)
    number = shards.table.schema.get_field_index("word_starts")
    shards.table = shards.table.remove_column(number)
    for example in read_examples(shards, range(10)):
        assert example.predictions == int((shards[example.number]["labels"] != IGNORE_INDEX).sum())
        assert not {"Ġ"} & {letter for token in example.segments[0] for letter in token.text}


def test_the_legend_explains_bytes_where_a_vocabulary_has_them() -> None:
    assert notations(made("byte-level")) == [BYTES]
    assert notations(made("unigram")) == []
    assert notations(tokenizer()) == [tokenizer().NOTATION]
    assert legend(notations(made("byte-level")), color=False).split("\n")[-1].startswith(r"\xE2: a byte")


@pytest.mark.parametrize("kind", KINDS)
def test_a_vocabulary_is_measured_by_the_words_of_its_pre_tokenizer(kind: str, tmp_path: Path) -> None:
    path, unknown = tmp_path / "text.txt", "塩 keeper塩s river 川塩"
    path.write_text("\n".join([*texts(20), unknown]), "utf-8")
    figures, pieces = measure_vocabulary(made(kind), [str(path)]), made(kind)
    encoded = pieces.reference.encode(path.read_text("utf-8"), add_special_tokens=False)
    words_of = np.array(encoded.word_ids)
    assert (figures.words, figures.tokens) == (len(set(encoded.word_ids)), len(encoded.ids))
    assert figures.unknown_words == len(set(words_of[np.array(encoded.ids) == pieces.unk_token_id].tolist()))
    assert (figures.unknown_words > 0) == (kind != "byte-level")
