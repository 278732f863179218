from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.kernels import simd
from bertdata.tokenizers.encode import tables
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.tokenizers.wordpiece.encode import characters, encoder
from bertdata.tokenizers.wordpiece.encode.characters import ask
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from tests.oracles.wordpiece_encoding import encode_slowly
from tests.tokenizers.wordpiece.reference import SMALL, hostile_text, reference, reference_ids

TOKENIZERS = [WordPieceTokenizer.from_tokens(SMALL), WordPieceTokenizer.from_tokens(SMALL, do_lower_case=False)]
WORDS = [a + b + c for a, b, c in product("abcdeé", "xyz'", ["", "the", "q" * 20])]
EDGES = ["a" * n + gap + "b" for n in (7, 8, 9, 15, 16, 17, 62, 63, 64, 65, 66) for gap in (" ", "\n", "\x0b", "é ")]
HARD = [
    "\u1b44",  # a mark that is not dropped and that reordering moves
    "a\u1b44b " * 40,
    "a" * 70 + "\u1b44",
    "x " + "中" * 500,
    "!" * 300,
    "a\x00b \x00 a\x00 a",
    "\U0001f9d1\U0001fae8 \u0378",
]


@settings(deadline=None)
@given(st.lists(hostile_text(), max_size=4), st.sampled_from(TOKENIZERS))
def test_ids_are_those_of_the_slow_twin(texts: list[str], tokenizer: WordPieceTokenizer) -> None:
    assert tokenizer.encode_batch(texts).to_pylist() == [encode_slowly(tokenizer._parts, text) for text in texts]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_chunks_of_every_length_and_of_hard_characters_are_those_of_the_slow_twin(
    tokenizer: WordPieceTokenizer,
) -> None:
    texts = [*EDGES, *HARD, " ".join(EDGES), " ".join(HARD), "", " ", *("a" * n for n in range(140))]
    expected = [encode_slowly(tokenizer._parts, text) for text in texts]
    for _ in range(2):
        assert tokenizer.encode_batch(texts).to_pylist() == expected
    padding = ["b" * n for n in range(70)]
    for n, text in zip(range(70), padding, strict=True):
        assert tokenizer.encode_batch([text, *texts]).to_pylist()[1:] == expected, n


def test_a_cache_that_is_full_and_begins_anew_never_changes_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [encode_slowly(TOKENIZERS[0]._parts, word) for word in WORDS]
    for bound in (1, 40, 5000):
        monkeypatch.setattr(tables, "ENTRIES", bound)
        tokenizer = WordPieceTokenizer.from_tokens(SMALL)
        for _ in range(3):
            assert tokenizer.encode_batch(WORDS).to_pylist() == expected
            assert tokenizer.encode_batch([" ".join(WORDS)]).flatten().to_pylist() == list(
                chain.from_iterable(expected)
            )
            [cache] = tokenizer._encoder._idle
            assert 1 < cache.arrays.table.counters[0] <= bound + 1


def test_a_cache_that_begins_anew_keeps_what_came_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "ENTRIES", 320)
    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    first = [["the" + "q" * 20, "don't", "café"], ["x"], ["(" + "y" * 30 + ")"]]
    texts = [" ".join(words) for words in first]
    expected = tokenizer.encode_batch(texts)
    tokenizer.encode_batch([f"w{i}" for i in range(400)])
    [cache] = tokenizer._encoder._idle
    assert cache.arrays.table.counters[0] == 321
    assert tokenizer.encode_batch(texts) == expected
    kept = int(cache.arrays.table.counters[0])
    assert 20 <= kept < 40
    assert tokenizer.encode_batch(texts) == expected
    assert cache.arrays.table.counters[0] == kept


@pytest.mark.parametrize("lower", [True, False])
def test_a_cache_begins_with_the_words_of_the_vocabulary(lower: bool) -> None:
    words = [token for token in SMALL if token.isalnum() and token.isascii()]
    tokenizer = WordPieceTokenizer.from_tokens(SMALL, do_lower_case=lower)
    tokenizer.encode_batch([])
    [cache] = tokenizer._encoder._idle
    used = int(cache.arrays.table.counters[0])
    tokenizer.encode_batch([" ".join(words), *([" ".join(map(str.capitalize, words))] if lower else [])])
    assert cache.arrays.table.counters[0] == used > len(words) > 0
    tokenizer.encode_batch(["unheard"])
    assert cache.arrays.table.counters[0] == used + 1


def test_more_ids_than_bytes_over_three_and_chunks_that_only_the_reference_can_tell_change_nothing() -> None:
    texts = [
        "a" * 90 + " b\u1b44" * 40,
        "",
        "\u1b44 " * 5,
        "! " * 30_000,
        "x\u1b44",
        "," * 60_000 + "\u1b44",
        "中" * 9000,
    ]
    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    expected = reference_ids(reference(SMALL), texts)
    for _ in range(2):
        assert tokenizer.encode_batch(texts).to_pylist() == expected


@pytest.mark.costly
@settings(deadline=None)
@given(st.binary(min_size=160, max_size=160), st.integers(0, 80), st.integers(0, 2**64 - 1))
def test_intrinsics_do_what_their_plain_twins_do(data: bytes, i: int, word: int) -> None:
    array, at, number = np.frombuffer(data, np.uint8).copy(), np.uint64(i), np.uint64(word)
    array[::5] = 32
    assert LOADS(array, at, number) == PLAIN_LOADS(array, at, number)
    assert LEAST(array.view(np.uint32), at // np.uint64(4)) == simd.plain_least_of_8(array.view(np.uint32), i // 4)
    for dtype in (np.uint16, np.uint32):
        one, other = np.zeros(100, dtype), np.zeros(100, dtype)
        STORE(one, at, number)
        simd.plain_store64(other, at, number)
        assert one.tolist() == other.tolist()


def loads(module: Any, prefix: str) -> Any:
    load64, whitespace_bits = getattr(module, prefix + "load64"), getattr(module, prefix + "whitespace_bits")
    punctuation_bits = getattr(module, prefix + "punctuation_bits")
    count, lowest = getattr(module, prefix + "count_bits"), getattr(module, prefix + "lowest_bit")

    @numba.njit  # type: ignore[untyped-decorator]
    def all_of_them(array: Any, at: Any, number: Any) -> Any:
        loaded = load64(array, at), whitespace_bits(array, at), punctuation_bits(array, at), count(number)
        return loaded, lowest(number), lowest(np.uint64(0))

    return all_of_them


LOADS, PLAIN_LOADS = loads(simd, "_"), loads(simd, "plain_")


@numba.njit  # type: ignore[untyped-decorator]
def LEAST(array: Any, at: Any) -> Any:  # noqa: N802
    return simd._least_of_8(array, at)


@numba.njit  # type: ignore[untyped-decorator]
def STORE(array: Any, at: Any, number: Any) -> None:  # noqa: N802
    simd._store64(array, at, number)


def test_keys_of_one_hash_are_told_apart() -> None:
    """All keys are put into a table so full that each shares its way with others."""
    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    numbers = [f"{a}{b}" for a in range(60) for b in range(60)]
    expected = [encode_slowly(tokenizer._parts, text) for text in numbers[:200]]
    tokenizer.encode_batch([" ".join(numbers)])
    assert tokenizer.encode_batch(numbers[:200]).to_pylist() == expected


def test_offsets_that_leave_their_buffer_are_refused() -> None:
    for offsets in ([0, 9, 3], [2, 1, 3], [0, -1, 3]):
        array = pa.Array.from_buffers(
            pa.string(), 2, [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abc")]
        )
        with pytest.raises(InputError, match="do not fit its data"):
            TOKENIZERS[0].encode_batch(array)


@pytest.mark.parametrize(
    "wrong", [b"ab\xff", b"\xc3", b"a \xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe4\xb8"]
)
def test_bytes_that_are_not_utf8_are_named_by_their_row(wrong: bytes) -> None:
    data = b"fine " + wrong
    offsets = np.array([0, 5, len(data)], np.int32)
    array = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    for allow_special in (False, True):
        with pytest.raises(InputError, match="row 1 is not UTF-8"):
            TOKENIZERS[0].encode_batch(array, allow_special=allow_special)


def test_bytes_that_are_not_utf8_are_found_beside_what_only_the_reference_can_tell() -> None:
    data = "é中 ".encode() + b"\xff " + "\u1b44 ".encode()
    array = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, len(data)], np.int32)), pa.py_buffer(data)]
    )
    with pytest.raises(InputError, match=r"row 0 is not UTF-8 \(byte 0xff at byte 6"):
        WordPieceTokenizer.from_tokens(SMALL).encode_batch(array)


def test_only_so_many_caches_are_kept() -> None:
    assert TOKENIZERS[0]._encoder._idle.maxlen == encoder.MAX_IDLE


SCRIPT = """
import json, sys
import numpy as np
np.seterr(over="ignore")
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.tokenizers.encode import tables
tables.ENTRIES = 300
texts, tokens = json.load(sys.stdin)
for lower in (True, False):
    tokenizer = WordPieceTokenizer.from_tokens(tokens, do_lower_case=lower)
    for ids in (tokenizer.encode_batch(texts), tokenizer.encode_batch_with_offsets(texts)["input_ids"]):
        print(json.dumps(ids.to_pylist()))
"""


def assert_script_gives_the_ids(environment: dict[str, str], texts: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        input=json.dumps([texts, SMALL]),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    assert done.stderr == ""
    expected = [
        json.dumps([encode_slowly(tokenizer._parts, text) for text in texts]) for tokenizer in TOKENIZERS for _ in "12"
    ]
    assert done.stdout.splitlines() == expected


@pytest.mark.costly
def test_the_kernel_uncompiled_gives_the_same_ids() -> None:
    assert_script_gives_the_ids({"NUMBA_DISABLE_JIT": "1"}, [*EDGES[:8], *HARD[:3], "the café, don't! " * 3, ""])


@pytest.mark.slow
def test_the_kernel_stays_inside_its_arrays(tmp_path: Path) -> None:
    texts = [*EDGES, *HARD, *WORDS, " ".join(WORDS), "a" * 1000, " " * 200, "é" * 300]
    assert_script_gives_the_ids({"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}, texts)


@pytest.mark.slow
def test_it_works_and_says_nothing_where_no_cache_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    assert_script_gives_the_ids(
        {"NUMBA_CACHE_DIR": str(tmp_path / "taken" / "no"), "HOME": str(tmp_path / "taken")}, EDGES
    )


@pytest.mark.parametrize("lowers", [True, False])
@pytest.mark.parametrize("strips", [None, True, False])
def test_characters_asked_for_together_are_those_asked_for_one_by_one(lowers: bool, strips: bool | None) -> None:
    normalizer = Normalizer(do_lower_case=lowers, strip_accents=strips)
    of = [
        *"aAbB \t\n.,\0\x07\x7f\u0301\u0345\u200d\ufeff\ufffd\u03a3\u0130\u1e9e\u3000\u4e2d\uac00\U0001f600",
        *map(chr, range(160, 0x3000, 11)),
    ]
    assert characters.ask_all(normalizer, of) == [ask(normalizer, character) for character in of]
    assert characters.ask_all(normalizer, of[::-1]) == characters.ask_all(normalizer, of)[::-1]


def test_common_characters_are_asked_for_once_and_before_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("tokenizers was asked")

    asked: list[str] = []

    def ask_and_note(normalizer: Normalizer, of: Sequence[str]) -> list[characters.Becomes]:
        asked.extend(of)
        return ask_all(normalizer, of)

    ask_all = characters.ask_all
    monkeypatch.setattr(characters, "ask_all", ask_and_note)
    for name in ("_known", "_first"):
        monkeypatch.setattr(characters, name, functools.cache(getattr(characters, name).__wrapped__))  # a new process's
    monkeypatch.setattr(encoder.Encoder, "reference_ids", fail)
    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    tokenizer.encode_batch(["a"])
    assert len(asked) == len(set(asked)) == len(characters.FIRST)
    for _ in range(2):
        tokenizer.encode_batch(["The café, “naïve” – Москва; 中国 한국 x\x00\x0b", "é中"])
    assert sorted(asked[len(characters.FIRST) :]) == sorted("中国한국")
