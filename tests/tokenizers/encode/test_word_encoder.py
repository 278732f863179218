"""Ids and places of words are those of `tokenizers`, whatever the text, the batch and the room in the cache."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.tokenizers.encode import tables, words
from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.generated import examples
from tests.tokenizers.small import (
    EDGES,
    HARD,
    SMALL,
    SPLIT_METASPACES,
    TEXTS,
    json_tokenizer,
    sequence,
    unigram_model,
)


def expected(tokenizer: JsonTokenizer, texts: list[str]) -> list[tuple[list[int], list[bool]]]:
    """Return what `tokenizers` gives: ids, and whether the word of each is another than that of the one before."""
    encoded = tokenizer.reference.encode_batch(texts, add_special_tokens=False)
    return [(encoding.ids, [a != b for a, b in pairwise([None, *encoding.word_ids])]) for encoding in encoded]


def encoded(tokenizer: JsonTokenizer, texts: Any) -> list[tuple[list[int], list[bool]]]:
    """Return what ours gives by kernels; the ids alone are the same."""
    assert tokenizer._encoder is not None
    batch = tokenizer.encode_batch_with_words(texts)
    assert tokenizer.encode_batch(texts).to_pylist() == batch["input_ids"].to_pylist()
    return list(zip(batch["input_ids"].to_pylist(), batch["word_starts"].to_pylist(), strict=True))


@pytest.mark.costly
@pytest.mark.parametrize("name", SMALL)
@settings(max_examples=examples(60))
@given(texts=st.lists(TEXTS, max_size=8))
def test_ids_and_words_of_hostile_texts_are_those_of_tokenizers(name: str, texts: list[str]) -> None:
    assert encoded(SMALL[name], texts) == expected(SMALL[name], texts)


@pytest.mark.costly
@pytest.mark.parametrize("name", SMALL)
def test_every_pair_of_hard_pieces_is_cut_as_by_tokenizers(name: str) -> None:
    texts = [f"{a}{b}" for a in HARD for b in HARD] + EDGES
    assert encoded(SMALL[name], texts) == expected(SMALL[name], texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_every_code_point_is_encoded_as_by_tokenizers_wherever_it_is(name: str) -> None:
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    for first in range(0, len(points), 1 << 14):
        some = points[first : first + (1 << 14)]
        texts = [
            text
            for text_of_word in some
            for text in (
                f"a{text_of_word}b 1{text_of_word}1 .{text_of_word}.{text_of_word}\n {text_of_word} c",
                f" {text_of_word}",
                text_of_word,
            )
        ]
        assert encoded(SMALL[name], texts) == expected(SMALL[name], texts)


@pytest.mark.costly
@pytest.mark.parametrize("name", SMALL)
def test_a_long_text_of_many_words_fills_the_cache_and_changes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ENTRIES", 1 << 13)
    monkeypatch.setattr(tables, "FIRST_SLOTS", 16)
    monkeypatch.setattr(words, "UNIT_BYTES", 1 << 12)
    tokenizer = pickle.loads(pickle.dumps(SMALL[name]))
    texts = [" ".join(f"{word}{first:x}{n:x}" for n in range(500)) for first, word in enumerate(HARD)]
    assert encoded(tokenizer, texts) == expected(tokenizer, texts)
    [cache] = tokenizer._encoder._idle
    assert cache.used < 1 << 13


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "nfc", "deberta"])
def test_hundreds_of_characters_may_be_new_at_once(name: str) -> None:
    tokenizer = pickle.loads(pickle.dumps(SMALL[name]))
    texts = ["".join(map(chr, range(first, first + 700))) + " low" for first in (0x100, 0x4E00, 0x1F300)]
    assert encoded(tokenizer, texts) == expected(tokenizer, texts)


def test_ids_of_words_that_were_asked_for_stay_when_the_cache_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FIRST_SLOTS", 1 << 10)
    tokenizer = pickle.loads(pickle.dumps(SMALL["albert"]))
    texts = []
    for first in range(0, 3000, 150):
        asked = [f"{'xyz' * 4}{mark}\u0301{first:x}{'zyx' * n}" for n, mark in enumerate("aeiouaeiou")]
        texts.append(" ".join([*asked, *(f"{'qwv' * 6}{first + n:x}" for n in range(150))]))
    for text in [*texts, *texts]:
        assert encoded(tokenizer, [text]) == expected(tokenizer, [text])


def test_a_word_of_many_bytes_is_not_taken_for_a_short_one_with_the_same_beginning() -> None:
    for tokenizer in SMALL.values():
        texts = ["ab" * 10, "ab" * ((1 << 13) + 10), "ab" * 10]
        assert encoded(tokenizer, texts) == expected(tokenizer, texts)


@pytest.mark.parametrize("name", SMALL)
def test_words_too_long_for_the_cache_are_encoded_too(name: str) -> None:
    texts = ["ab" * n + end for n in (31, 32, 33, 600) for end in ("", " ab", "é", "'s\u0301")]
    texts += ["low" * 40 + "\xa0" + "low" * 40, "\u3000" + "é" * 90 + "\u3000", "``" * 50, "\u0301" * 99]
    assert encoded(SMALL[name], texts) == expected(SMALL[name], texts)


@pytest.mark.parametrize("name", SMALL)
def test_texts_may_come_as_any_arrow_strings_sliced_or_chunked(name: str) -> None:
    texts = ["the café", "", "can't\n\nhello", *EDGES, " low"]
    wanted = expected(SMALL[name], texts)
    for kind in (pa.string(), pa.large_string()):
        array = pa.array(["not this", *texts, "nor this"], kind)[1:-1]
        assert encoded(SMALL[name], array) == wanted
        assert encoded(SMALL[name], pa.chunked_array([array[:2], array[2:5], array[5:5], array[5:]])) == wanted
    assert encoded(SMALL[name], []) == []


@pytest.mark.costly
@pytest.mark.parametrize("name", ["gpt2", "nfc", "albert"])
def test_threads_share_a_tokenizer(name: str) -> None:
    tokenizer = pickle.loads(pickle.dumps(SMALL[name]))
    texts = ["".join(HARD[first:]) for first in range(len(HARD))]
    wanted = expected(tokenizer, texts)
    with ThreadPoolExecutor(8) as threads:
        assert all(ids == wanted for ids in threads.map(lambda _: encoded(tokenizer, texts), range(16)))


@pytest.mark.parametrize("name", SMALL)
def test_bytes_that_are_not_utf8_are_named_by_their_row(name: str) -> None:
    data = b"fine a\xff"
    offsets = pa.py_buffer(np.array([0, 5, len(data)], np.int32))
    array = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(data)])
    with pytest.raises(InputError, match="row 1 is not UTF-8"):
        SMALL[name].encode_batch(array)


@pytest.mark.parametrize("name", SMALL)
def test_one_text_is_encoded_as_many_are_short_or_long(name: str) -> None:
    for text in ("can't low", "the café. " * 60):
        assert SMALL[name].encode(text) == SMALL[name].encode_batch([text])[0].as_py()
    with pytest.raises(InputError, match="surrogate"):
        SMALL[name].encode("a\ud800")


def test_scores_are_those_that_tokenizers_reads_to_the_last_bit() -> None:
    scores = {"1": -7.683706760406494, "11": -9.596034049987793, f"{METASPACE}103": -11.993636131286621, "–": 0.0}
    model = unigram_model()
    pieces = [[piece, score] for piece, score in model["vocab"] if piece not in scores]
    tokenizer = json_tokenizer(
        model | {"vocab": [*pieces, *map(list, scores.items())]}, SPLIT_METASPACES, sequence({"type": "NFKC"})
    )
    numbers = [f"103–{'1' * ones}{end}" for ones in range(2, 40) for end in ("", ".")]
    assert encoded(tokenizer, numbers) == expected(tokenizer, numbers)


@pytest.mark.parametrize("name", ["albert", "xlm", "deberta"])
def test_a_character_that_becomes_two_words_is_cut_as_by_tokenizers(name: str) -> None:
    texts = ["a\ufdfbb low", "\ufdfb", "the \ufdfa."]
    assert encoded(SMALL[name], texts) == expected(SMALL[name], texts)


def test_tokens_that_merging_does_not_give_are_found_as_whole_words() -> None:
    lowest = SMALL["whole words"].tokens.index("lowest")
    assert SMALL["whole words"].encode("lowest lowest") == [lowest, *SMALL["gpt2"].encode(" lowest")]
    assert lowest not in SMALL["gpt2"].encode("lowest")


def test_literal_special_tokens_in_a_text_are_text() -> None:
    for tokenizer in SMALL.values():
        ids = tokenizer.encode("a [MASK] [SEP][CLS]")
        assert not {2, 3, 4} & set(ids)


SCRIPT = """
import json, sys
import numpy as np
np.seterr(over="ignore")
from bertdata.tokenizers.encode import tables, words
tables.ENTRIES, tables._POOL_IDS, words.UNIT_BYTES = 1 << 11, int(sys.argv[1]), 1 << 9
from tests.tokenizers.small import SMALL
texts = json.load(sys.stdin)
for name in sys.argv[2:]:
    batch = SMALL[name].encode_batch_with_words(texts)
    print(json.dumps(list(zip(batch["input_ids"].to_pylist(), batch["word_starts"].to_pylist()))))
"""


def assert_script_gives_the_same(
    environment: dict[str, str], names: list[str], texts: list[str], pool: int = 2
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(pool), *names],
        input=json.dumps(texts), capture_output=True, text=True, check=False, env=os.environ | environment,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stderr == ""
    for name, line in zip(names, done.stdout.splitlines(), strict=True):
        assert [tuple(row) for row in json.loads(line)] == expected(SMALL[name], texts)


@pytest.mark.costly
@pytest.mark.parametrize("pool", [2, 0], ids=["room for ids", "no room for ids in the cache"])
def test_the_kernels_uncompiled_give_the_same(pool: int) -> None:
    texts = ["the café can't", "a" * 70, "He said: ``low''\r\n\n 2024 times!", "", "xqzkvjwx xqzkvjwx the xqzkvjwx"]
    assert_script_gives_the_same({"NUMBA_DISABLE_JIT": "1"}, ["gpt2", "cl100k", "nfc", "deberta"], texts, pool)


@pytest.mark.slow
def test_the_kernels_stay_inside_their_arrays(tmp_path: Path) -> None:
    texts = [*EDGES, *HARD, "".join(HARD), " ".join(HARD), "lowest " * 200]
    assert_script_gives_the_same({"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}, list(SMALL), texts)
