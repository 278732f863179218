from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.wordpiece.counting import SCHEMA, count_words, merge_counts
from tests.wordpiece.reference import SMALL, hostile_text, reference


def expected(texts: list[str], do_lower_case: bool) -> dict[str, int]:
    tokenizer = reference(SMALL, do_lower_case=do_lower_case)
    words: Counter[str] = Counter()
    for text in texts:
        normalized = tokenizer.normalizer.normalize_str(text)
        words.update(word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normalized))
    return {word: words[word] for word in sorted(words)}


@settings(deadline=None)
@given(st.lists(hostile_text(), max_size=4), st.booleans())
def test_words_are_counted_as_the_reference_cuts_them(texts: list[str], do_lower_case: bool) -> None:
    table = count_words(texts, do_lower_case=do_lower_case)
    assert table.schema == SCHEMA
    assert dict(zip(*table.to_pydict().values(), strict=True)) == expected(texts, do_lower_case)
    assert table["word"].to_pylist() == sorted(table["word"].to_pylist())


def test_merged_counts_are_the_counts_of_everything_in_any_order() -> None:
    texts = ["To be, or not", "to be é\u0301", "", "中国 be"]
    parts = [count_words([text]) for text in texts]
    assert merge_counts(parts) == merge_counts(reversed(parts)) == count_words(texts)
    assert merge_counts(parts).schema == SCHEMA


def test_merging_nothing_is_an_empty_table() -> None:
    assert merge_counts([]) == count_words([]) == SCHEMA.empty_table()


def test_counts_are_64_bit() -> None:
    table = pa.table({"word": ["a"], "count": [3_000_000_000]})
    assert merge_counts([table, table]).to_pydict() == {"word": ["a"], "count": [6_000_000_000]}


def test_a_table_with_other_columns_is_refused() -> None:
    with pytest.raises(ConfigError, match="word and count"):
        merge_counts([pa.table({"w": ["a"], "count": [1]})])


def test_a_null_text_is_named_by_its_row() -> None:
    with pytest.raises(InputError, match="row 1 is null"):
        count_words(pa.array(["a", None]))
