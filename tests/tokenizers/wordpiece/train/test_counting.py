from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.training.counts import SCHEMA, merge_counts, prune_counts
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.train import counter
from bertdata.tokenizers.wordpiece.train.counting import count_words
from tests.tokenizers.wordpiece.reference import SMALL, hostile_text, reference


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


LONG = ["x" * 65 + " b", "a" * 999, "a" * 1000, "a" * 1001 + " b", "é" * 700 + "," * 70, "中国" * 400]
LONG += ["b\u0301" * 60, "𝔘" * 90]


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_long_chunks_and_long_words_are_counted_as_the_reference_cuts_them(do_lower_case: bool) -> None:
    table = count_words(LONG, do_lower_case=do_lower_case)
    assert dict(zip(*table.to_pydict().values(), strict=True)) == expected(LONG, do_lower_case)


def varied() -> list[str]:
    numbers = np.arange(4000)
    return [" ".join(f"w{n * n % 997} café{n % 13}, x{n % 7}" for n in part) for part in np.split(numbers, 40)]


@pytest.mark.parametrize(("chunks", "words"), [(1, 1), (7, 1 << 10), (1 << 10, 5), (100, 100)])
def test_tables_too_small_for_the_words_make_no_difference(
    chunks: int, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = count_words(varied()[:4] + LONG)
    monkeypatch.setattr(counter, "CHUNKS", chunks)
    monkeypatch.setattr(counter, "WORDS", words)
    assert count_words(varied()[:4] + LONG) == whole


def test_rows_and_chunks_are_cut_alike_wherever_they_stand() -> None:
    texts = ["", " ", "a" * 63, "b" * 64, "ab " * 21, "ab " * 21 + "a", " " * 64 + "a", "a\tb\nc\rd", "a\x0bb\x00c"]
    assert dict(zip(*count_words(texts).to_pydict().values(), strict=True)) == expected(texts, True)
    padded = pa.chunked_array([pa.array(["z", *texts, "z"]).slice(1, len(texts)), pa.array([], pa.string())])
    assert count_words(padded) == count_words(texts)


def test_bytes_that_are_not_utf8_are_named_by_their_row() -> None:
    for wrong in (b"\xff", b"a\xe2\x82", b"\xed\xa0\x80", b"x" * 80 + b"\xc0"):
        offsets = pa.py_buffer(np.array([0, 2, 2 + len(wrong)], np.int32))
        texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab" + wrong)])
        with pytest.raises(InputError, match="row 1 is not UTF-8"):
            count_words(texts)


def test_a_lone_surrogate_is_named_by_its_row() -> None:
    with pytest.raises(InputError, match="row 1 holds a lone surrogate"):
        count_words(["a", "b\ud83d"])


def test_words_are_left_out_by_their_count_in_everything() -> None:
    counts = Counter("aaaaabbbbcccddeeff")
    table = pa.table([sorted(counts), [counts[word] for word in sorted(counts)]], SCHEMA)
    kept = {most: prune_counts(table, most)["word"].to_pylist() for most in (1, 2, 3, 4, 5, 6, 7)}
    assert kept == {1: ["a"], 2: ["a", "b"], 3: [*"abc"], 4: [*"abc"], 5: [*"abc"], 6: [*"abcdef"], 7: [*"abcdef"]}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.integers(0, 40), st.integers(1, 9))
def test_what_is_left_out_does_not_depend_on_how_the_texts_were_cut(words: list[str], cut: int, most: int) -> None:
    parts = [count_words([" ".join(words[:cut])]), count_words([" ".join(words[cut:])])]
    assert prune_counts(merge_counts(parts), most) == prune_counts(count_words([" ".join(words)]), most)
    assert prune_counts(merge_counts(parts), most).num_rows <= most


SCRIPT = """
import sys
from bertdata.tokenizers.wordpiece import count_words
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.train import counter
counter.CHUNKS = counter.WORDS = 40
texts = eval(sys.stdin.read())
for lower in (True, False):
    print(count_words(texts, do_lower_case=lower).to_pydict())
"""


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_the_kernel_stays_inside_its_arrays_and_is_right_uncompiled(setting: str, tmp_path: Path) -> None:
    texts = varied()[:2] + LONG
    environment = {setting: "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=repr(texts), capture_output=True, text=True, check=True, env=environment
    )
    whole = [str(count_words(texts, do_lower_case=lower).to_pydict()) for lower in (True, False)]
    assert done.stdout.splitlines() == whole


@settings(deadline=None)
@given(st.text("aé,-漢字あ“Σ\u0301", max_size=60), st.integers(1, 12), st.booleans())
def test_a_long_text_without_spaces_has_the_words_of_its_pieces(text: str, size: int, chinese: bool) -> None:
    normalizer = Normalizer(tokenize_chinese_chars=chinese)
    pieces = list(counter.pieces_of(text, size, chinese=chinese))
    assert all(len(piece) <= size for piece in pieces)
    if "".join(pieces) == text:
        assert [word for piece in pieces for word in normalizer.words(piece)] == normalizer.words(text)
    else:  # characters of a run without borders were left out
        assert max(map(len, re.split("[,-]" if not chinese else "[,漢字-]", text))) > size


def test_an_endless_word_is_counted_by_its_beginning() -> None:
    text = "ab," + "c" * 3 * counter.PIECE + ",de"
    assert count_words([text]).to_pydict() == {
        "word": [",", "ab", "c" * counter.PIECE, "de"],
        "count": [2, 1, 1, 1],
    }
