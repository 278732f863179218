"""Texts and text pairs: the rows of `transformers`' tokenizer, and what does not fit is counted."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.finetune import encode_classification
from bertdata.finetune.classification import longest_first
from bertdata.finetune.layout import Segments, join_segments
from bertdata.tokenizers import pairs
from bertdata.tokenizers.pairs import RowTemplate
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.finetune import reference
from tests.sentences.story import STORY
from tests.tokenizers.of_models import MODELS, PostProcessor, tokenizer_of
from tests.tokenizers.wordpiece.reference import SMALL

TOKENIZER = WordPieceTokenizer.from_tokens(SMALL)
TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("ab the unß ##[SEP]\t\n中한é"), max_size=40)


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("transformers")
    return reference.fast_tokenizer(TOKENIZER, tmp_path_factory.mktemp("tokenizer"))


def rows(encoded: Any) -> list[Any]:
    return list(zip(*(encoded.columns[name].to_pylist() for name in ("input_ids", "token_type_ids")), strict=True))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5), st.integers(3, 24), st.booleans())
def test_rows_are_those_of_transformers(fast: Any, texts: list[tuple[str, str]], length: int, paired: bool) -> None:
    first, second = ([text[place] for text in texts] for place in range(2))
    others = second if paired else None
    expected = reference.classification(fast, first, others, length)
    assert rows(encode_classification(TOKENIZER, first, others, max_seq_length=length)) == expected


def test_rows_of_a_story_are_those_of_transformers_under_a_pretrained_vocabulary(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = WordPieceTokenizer.from_pretrained("bertdata-30k-cased")
    texts = [line for line in STORY.splitlines() if line.strip()]
    others = texts[1:] + texts[:1]
    fast = reference.fast_tokenizer(tokenizer, tmp_path)
    for length, second in itertools.product((16, 64), (None, others)):
        encoded = encode_classification(tokenizer, texts, second, max_seq_length=length)
        assert rows(encoded) == reference.classification(fast, texts, second, length)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 40))
def test_truncation_of_arrays_is_that_of_one_row(first: int, second: int, room: int) -> None:
    cut = longest_first(np.array([first]), np.array([second]), np.array([room]))
    assert (int(cut[0][0]), int(cut[1][0])) == pairs.longest_first(first, second, room)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.lists(st.integers(5, 9)), st.none() | st.lists(st.integers(5, 9))), max_size=6),
    st.sampled_from(
        [RowTemplate((2,), (3,), (3,)), RowTemplate((0,), (2, 2), (2,), 0), RowTemplate((), (3,), (3, 1), 1, 2)]
    ),
)
def test_rows_are_laid_out_as_one_by_one(
    segments: list[tuple[list[int], list[int] | None]], template: RowTemplate
) -> None:
    def flat(lists: list[list[int]]) -> Segments:
        lengths = np.array([len(values) for values in lists], np.int64)
        return Segments(np.array(list(itertools.chain(*lists)), np.uint16), np.cumsum(lengths) - lengths, lengths)

    has = np.array([second is not None for _, second in segments], np.bool_)
    joined_rows = join_segments(
        flat([first for first, _ in segments]),
        flat([second or [] for _, second in segments]),
        has,
        template=template,
    )
    columns = {name: column.to_pylist() for name, column in joined_rows.columns().items()}
    expected = [pairs.row_of(a, b, template=template, pad_token_id=0) for a, b in segments]
    assert list(columns) == ["input_ids", *(["token_type_ids"] if template.has_types else [])]
    for name, lists in columns.items():
        assert lists == [row[name] for row in expected]


def test_a_row_without_a_second_text_has_one_segment() -> None:
    encoded = encode_classification(TOKENIZER, ["the", "the"], ["un", None], [0, None])
    assert [len(ids) for ids, _ in rows(encoded)] == [5, 3]
    assert encoded.columns["label"].to_pylist() == [0, -100]
    assert (encoded.counts["pairs"], encoded.counts["unlabelled_examples"]) == (1, 1)


def test_what_is_cut_off_is_counted() -> None:
    encoded = encode_classification(TOKENIZER, ["the " * 9, "the", "the " * 6], ["un " * 4, "un", ""], max_seq_length=9)
    assert [len(ids) for ids, _ in rows(encoded)] == [9, 5, 9]
    assert (encoded.counts["truncated_examples"], encoded.counts["truncated_tokens"]) == (1, 7)


def test_special_tokens_written_in_a_text_are_text() -> None:
    [(ids, _)] = rows(encode_classification(TOKENIZER, ["[SEP] [MASK]"]))
    assert ids[0] == TOKENIZER.cls_token_id
    assert not {TOKENIZER.sep_token_id, TOKENIZER.mask_token_id} & set(ids[1:-1])


def test_no_texts_give_no_rows() -> None:
    encoded = encode_classification(TOKENIZER, [], [])
    assert len(encoded) == 0
    assert encoded.counts["examples"] == 0


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ConfigError, match="2 texts, but 1 labels"):
        encode_classification(TOKENIZER, ["a", "b"], labels=[1])
    with pytest.raises(ConfigError, match="max_seq_length is 2"):
        encode_classification(TOKENIZER, ["a"], max_seq_length=2)
    with pytest.raises(InputError, match="row 1 holds a lone surrogate"):
        encode_classification(TOKENIZER, ["a", "\ud800"])


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_any_tokenizer_are_those_of_its_post_processor(model: str) -> None:
    tokenizer, texts, pairs_ = tokenizer_of(model), ["the salt", "a clock and a lamp", "the"], ["the garden", None, "a"]
    encoded, post_processor = encode_classification(tokenizer, texts, pairs_, [0, 1, 0]), PostProcessor(tokenizer)
    columns = {name: column.to_pylist() for name, column in encoded.columns.items()}
    assert ("token_type_ids" in columns) == (model == "XLNet")
    for number, (first, second) in enumerate(zip(texts, pairs_, strict=True)):
        ids, types = post_processor.row(tokenizer.encode(first), None if second is None else tokenizer.encode(second))
        assert columns["input_ids"][number] == ids
        assert columns.get("token_type_ids", {number: types})[number] == types
        row = tokenizer.encode_pair(first, second)
        assert row["input_ids"] == ids
        assert row.get("token_type_ids", types) == types
        assert ("token_type_ids" in row) == (model == "XLNet")
