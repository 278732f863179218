from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers import load_tokenizer
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.data import data_path
from tests.tokenizers.wordpiece.reference import LETTERS, SMALL, SPECIAL, hostile_text, reference, reference_ids

SETTINGS = [
    {"do_lower_case": lower, "strip_accents": strip, "tokenize_chinese_chars": chinese}
    for lower, strip, chinese in product((True, False), (None, True, False), (True, False))
]
PAIRS = [(WordPieceTokenizer.from_tokens(SMALL, **settings), reference(SMALL, **settings)) for settings in SETTINGS]  # type: ignore[arg-type]
SMALL_TOKENIZER = PAIRS[0][0]


@settings(deadline=None)
@given(st.lists(hostile_text(), max_size=4), st.sampled_from(PAIRS))
@example(["a\u0301 \u0327b", "a \u0301\u0327", "\x0b a\x0bb \x85", "a\u2028b"], PAIRS[0])
def test_ids_equal_the_reference_on_hostile_text(texts: list[str], pair: tuple[WordPieceTokenizer, object]) -> None:
    tokenizer, expected = pair[0], reference_ids(pair[1], texts)
    assert [tokenizer.encode(text) for text in texts] == expected
    assert tokenizer.encode_batch(texts).to_pylist() == expected


def code_point_texts(points: range) -> list[str]:
    characters = [chr(point) for point in points if not 0xD800 <= point <= 0xDFFF]
    shapes = ("{0}", "a{0}b", "a {0} b{0} {0}c", "e\u0301{0}\u0327 e\u0327{0} \u0301")
    return [shape.format(character) for character in characters for shape in shapes]


def assert_same(batch: pa.RecordBatch, encodings: list[Any]) -> None:
    """Assert that a batch with offsets is what `tokenizers` gives, text by text."""
    assert batch["input_ids"].to_pylist() == [encoding.ids for encoding in encodings]
    for name in ("offset_mapping", "word_ids"):
        assert batch[name].offsets == batch["input_ids"].offsets
    pairs = [pair for encoding in encodings for pair in encoding.offsets]
    assert np.array_equal(batch["offset_mapping"].values.flatten().to_numpy(), np.array(pairs, np.int32).ravel())
    assert batch["word_ids"].values.to_pylist() == [number for encoding in encodings for number in encoding.word_ids]


def assert_equal_on(points: range) -> None:
    texts = code_point_texts(points)
    for tokenizer, expected in (PAIRS[0], PAIRS[6]):
        batch = tokenizer.encode_batch_with_offsets(texts)
        assert batch["input_ids"] == tokenizer.encode_batch(texts)
        assert_same(batch, expected.encode_batch(texts, add_special_tokens=False))


@pytest.mark.parametrize("points", [range(0x0, 0x500), range(0x2000, 0x2070), range(0x500, 0x110000, 997)])
def test_ids_and_offsets_equal_the_reference_around_many_code_points(points: range) -> None:
    assert_equal_on(points)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 0x110000, 0x10000))
def test_ids_and_offsets_equal_the_reference_around_every_code_point(start: int) -> None:
    assert_equal_on(range(start, start + 0x10000))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "lower"),
    [("bert-base-uncased", True), ("bert-base-cased", False), ("bert-base-multilingual-cased", False)],
)
def test_ids_equal_the_reference_with_a_pretrained_vocabulary(name: str, lower: bool) -> None:
    tokenizer = WordPieceTokenizer.from_pretrained(data_path("vocab", f"{name}.txt"), do_lower_case=lower)
    expected = reference(tokenizer.tokens, do_lower_case=lower)
    texts: list[str] = []
    for folder in ("books", "books-french"):
        for path in sorted(data_path(folder).iterdir())[:2]:
            texts += path.read_text(encoding="utf-8", errors="replace")[:150_000].split("\n\n")
    assert tokenizer.encode_batch(texts).to_pylist() == reference_ids(expected, texts)


def test_a_word_of_100_characters_is_cut_and_one_of_101_is_unknown() -> None:
    assert SMALL_TOKENIZER.tokenize("a" * 100) == ["a"] + ["##a"] * 99
    assert SMALL_TOKENIZER.tokenize("a" * 101) == ["[UNK]"]
    assert SMALL_TOKENIZER.tokenize("é" * 100 + " " + "é" * 101) == ["e"] + ["##e"] * 99 + ["[UNK]"]


@pytest.mark.parametrize("special", SPECIAL)
def test_a_literal_special_token_in_a_text_is_text(special: str) -> None:
    for text in (special, f"a {special} b", f"a{special}b"):
        ids = SMALL_TOKENIZER.encode(text)
        assert not set(ids) & set(SMALL_TOKENIZER.special_ids.tolist()) - {SMALL_TOKENIZER.unk_token_id}
        assert SMALL_TOKENIZER.encode_batch([text]).to_pylist() == [ids]


def test_allow_special_gives_the_ids_that_the_reference_gives_by_default() -> None:
    texts = ["a [MASK]", "b", "[SEP][sep]c", "", "x [UNK]", "[CLS] a\n[PAD]b", "end"]
    expected = reference(SMALL)
    expected.encode_special_tokens = False
    ids = reference_ids(expected, texts)
    assert SMALL_TOKENIZER.encode_batch(texts, allow_special=True).to_pylist() == ids
    assert [SMALL_TOKENIZER.encode(text, allow_special=True) for text in texts] == ids
    assert SMALL_TOKENIZER.mask_token_id in ids[0]


@pytest.mark.parametrize("allow_special", [False, True])
def test_every_form_of_a_batch_gives_the_same_ids(allow_special: bool) -> None:
    texts = ["the café [MASK]", "", "don't", "国 unbelievable", "a\tb"] * 3
    expected = [SMALL_TOKENIZER.encode(text, allow_special=allow_special) for text in texts]
    padded = ["before", *texts, "after"]
    forms = [
        texts,
        tuple(texts),
        pa.array(texts),
        pa.array(texts, pa.large_string()),
        pa.array(padded).slice(1, len(texts)),
        pa.array(padded, pa.large_string()).slice(1, len(texts)),
        pa.chunked_array([pa.array(texts[:4]), pa.array([], pa.string()), pa.array(["x", *texts[4:]]).slice(1)]),
        pa.chunked_array([pa.array(texts, pa.string_view())]),
        pa.array(texts).dictionary_encode(),
    ]
    for form in forms:
        batch = SMALL_TOKENIZER.encode_batch(form, allow_special=allow_special)
        assert batch.to_pylist() == expected
        assert batch.type == pa.list_(pa.uint16())
        batch.validate(full=True)


@pytest.mark.parametrize("texts", [[], pa.array([], pa.string()), pa.chunked_array([], pa.string())])
@pytest.mark.parametrize("allow_special", [False, True])
def test_an_empty_batch_is_an_empty_list_array(texts: list[str], allow_special: bool) -> None:
    batch = SMALL_TOKENIZER.encode_batch(texts, allow_special=allow_special)
    assert len(batch) == 0
    assert batch.type == pa.list_(pa.uint16())


def test_bad_rows_are_named() -> None:
    with pytest.raises(InputError, match="row 1 is null"):
        SMALL_TOKENIZER.encode_batch(pa.array(["a", None]))
    with pytest.raises(InputError, match="row 1 holds a lone surrogate"):
        SMALL_TOKENIZER.encode_batch(["a", "b\udc80"])
    with pytest.raises(InputError, match="lone surrogate"):
        SMALL_TOKENIZER.encode("é\udc80")
    with pytest.raises(ConfigError, match="expected one string"):
        SMALL_TOKENIZER.encode(["a"])  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@settings(deadline=None)
@given(n_first=st.integers(0, 9), n_second=st.integers(0, 9), max_length=st.integers(3, 14))
def test_each_truncation_cuts_as_the_reference_does(
    strategy: str, n_first: int, n_second: int, max_length: int
) -> None:
    first, second = " ".join(LETTERS[:n_first]), " ".join(LETTERS[::-1][:n_second])
    whole = SMALL_TOKENIZER.to_tokenizers()
    whole.enable_truncation(max_length, strategy=strategy)
    try:
        expected = whole.encode(first, second)
    except Exception:  # tokenizers has no class of its own for it
        with pytest.raises(InputError, match="have to go"):
            SMALL_TOKENIZER.encode_pair(first, second, max_length, truncation=strategy)  # type: ignore[arg-type]
        return
    row = SMALL_TOKENIZER.encode_pair(first, second, max_length, truncation=strategy)  # type: ignore[arg-type]
    assert (row["input_ids"], row["token_type_ids"]) == (expected.ids, expected.type_ids)


@pytest.mark.parametrize(("side", "kept"), [("left", "c d"), ("right", "a b")])
def test_the_side_that_is_cut_is_that_of_the_saved_settings(side: str, kept: str, tmp_path: Path) -> None:
    WordPieceTokenizer.from_tokens([*SPECIAL, *"abcd"]).save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"truncation_side": side}))
    tokenizer = load_tokenizer(tmp_path)
    cut = tokenizer("a b c d", truncation=True, max_length=4)["input_ids"]
    assert tokenizer.decode(cut, skip_special_tokens=True) == kept


def test_a_pair_is_padded_to_a_multiple_as_the_reference_pads_it() -> None:
    whole = SMALL_TOKENIZER.to_tokenizers()
    whole.enable_padding(pad_to_multiple_of=8, pad_id=SMALL_TOKENIZER.pad_token_id, pad_token="[PAD]")
    for second in (None, "a b c d"):
        expected = whole.encode("the mask", second)
        row = SMALL_TOKENIZER.encode_pair("the mask", second, pad_to_multiple_of=8)
        assert row["input_ids"] == expected.ids
        assert row["token_type_ids"] == expected.type_ids
        assert row["attention_mask"] == expected.attention_mask


def test_nothing_is_cut_where_truncation_is_off() -> None:
    row = SMALL_TOKENIZER.encode_pair("a b c", "a b c", 2, truncation="do_not_truncate")
    assert len(row["input_ids"]) == 9
    with pytest.raises(ConfigError, match="truncation is 'right'"):
        SMALL_TOKENIZER.encode_pair("a", "b", truncation="right")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="pad_to_multiple_of is 0"):
        SMALL_TOKENIZER.encode_pair("a", "b", pad_to_multiple_of=0)


@settings(deadline=None)
@given(hostile_text(), st.sampled_from(PAIRS))
def test_offsets_and_word_ids_are_those_of_the_reference(text: str, pair: tuple[WordPieceTokenizer, Any]) -> None:
    row, expected = pair[0].encode_with_offsets(text), pair[1].encode(text, add_special_tokens=False)
    assert row["input_ids"] == pair[0].encode(text) == expected.ids
    assert row["offset_mapping"] == expected.offsets
    assert row["word_ids"] == expected.word_ids


@settings(deadline=None)
@given(st.lists(hostile_text(), max_size=5), st.sampled_from(PAIRS), st.sampled_from([pa.string(), pa.large_string()]))
def test_offsets_and_word_ids_of_batches_are_those_of_the_reference(
    texts: list[str], pair: tuple[WordPieceTokenizer, Any], kind: pa.DataType
) -> None:
    expected = [pair[1].encode(text, add_special_tokens=False) for text in texts]
    inside = pa.array(["before", *texts, "after"], kind).slice(1, len(texts))
    for given_texts in (texts, inside, pa.chunked_array([inside.slice(0, 1), inside.slice(1)])):
        assert_same(pair[0].encode_batch_with_offsets(given_texts), expected)


def test_words_of_over_100_characters_and_unknown_ones_are_located() -> None:
    texts = ["a" * 101 + "中é", "ab ж!" + "ж" * 3 + "-ж", "x" * 100 + " " + "e\u0301" * 101, "", " \x00", "жжж"]
    batch = SMALL_TOKENIZER.encode_batch_with_offsets(texts)
    assert_same(batch, PAIRS[0][1].encode_batch(texts, add_special_tokens=False))


def test_offsets_of_special_tokens_in_texts_are_those_of_the_reference() -> None:
    texts = ["the [SEP] un[MASK]able [UNK]", "no [sep]", "[CLS]", ""]
    expected = SMALL_TOKENIZER.to_tokenizers().encode_batch(texts, add_special_tokens=False)
    assert_same(SMALL_TOKENIZER.encode_batch_with_offsets(texts, allow_special=True), expected)
    for text, encoding in zip(texts, expected, strict=True):
        assert SMALL_TOKENIZER.encode_with_offsets(text, allow_special=True)["offset_mapping"] == encoding.offsets


def test_most_texts_are_located_without_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    monkeypatch.setattr(tokenizer._encoder, "reference", None)
    batch = tokenizer.encode_batch_with_offsets(["The café – “naïve” don't\n中国 한 x\u0301y ж", "un\xadable"])
    assert batch["offset_mapping"].to_pylist()[1] == [[0, 2], [3, 7]]


def test_ids_past_65535_do_not_wrap() -> None:
    def tokenizer(size: int) -> WordPieceTokenizer:
        return WordPieceTokenizer.from_tokens([*SPECIAL, *(f"w{i}" for i in range(5, size))])

    small, large = tokenizer(65_536), tokenizer(65_537)
    assert small.encode_batch(["w65535"]).type == pa.list_(pa.uint16())
    assert small.encode_batch(["w65535"]).to_pylist() == [[65_535]]
    assert large.id_type == pa.uint32()
    assert large.encode_batch(["w65536 w5"]).type == pa.list_(pa.uint32())
    assert large.encode_batch(["w65536 w5"]).to_pylist() == [[65_536, 5]]


@settings(deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(4, 20))
def test_a_pair_is_cut_as_the_reference_cuts_it(n_first: int, n_second: int, max_length: int) -> None:
    first, second = " ".join(LETTERS[:n_first]), " ".join(LETTERS[::-1][:n_second])
    whole = SMALL_TOKENIZER.to_tokenizers()
    whole.enable_truncation(max_length, strategy="longest_first")
    expected = whole.encode(first, second)
    row = SMALL_TOKENIZER.encode_pair(first, second, max_length)
    assert row["input_ids"] == expected.ids
    assert row["token_type_ids"] == expected.type_ids
    assert row["attention_mask"] == expected.attention_mask
    single = whole.encode(first)
    assert SMALL_TOKENIZER.encode_pair(first, None, max_length)["input_ids"] == single.ids


def test_a_pair_may_have_no_room_but_for_its_special_tokens() -> None:
    assert SMALL_TOKENIZER.encode_pair("a b", "c", 3)["input_ids"] == [2, 3, 3]
    with pytest.raises(ConfigError, match="3 ids are taken by special tokens"):
        SMALL_TOKENIZER.encode_pair("a", "b", 2)


@settings(deadline=None)
@given(st.lists(st.integers(0, len(SMALL) - 1), max_size=12), st.booleans())
def test_ids_are_joined_to_text_as_the_reference_joins_them(ids: list[int], skip: bool) -> None:
    whole = SMALL_TOKENIZER.to_tokenizers()
    expected = whole.decode(ids, skip_special_tokens=skip)
    for form in (ids, np.array(ids, np.uint16), pa.array(ids, pa.uint16())):
        assert SMALL_TOKENIZER.decode(form, skip_special_tokens=skip) == expected


def test_an_id_outside_the_vocabulary_is_refused() -> None:
    for wrong in (-1, len(SMALL)):
        with pytest.raises(InputError, match="outside the vocabulary"):
            SMALL_TOKENIZER.decode([wrong])


@pytest.mark.parametrize("ids", [[[5, 6]], np.array([[5, 6]]), [1.5], "56", ["a"], [None], pa.array([[5]])])
def test_what_is_no_list_of_ids_is_not_decoded(ids: Any) -> None:
    with pytest.raises(ConfigError, match="expected the ids of one text, whole numbers"):
        SMALL_TOKENIZER.decode(ids)


@pytest.mark.parametrize(
    "settings", [{"max_length": None}, {"max_length": 7.0}, {"pad_to_multiple_of": 2.5}, {"pad_to_multiple_of": 0}]
)
def test_a_length_that_is_no_whole_number_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="expected a whole number"):
        SMALL_TOKENIZER.encode_pair("a", "b", **settings)
    unpadded = SMALL_TOKENIZER.encode_pair("a", "b")
    assert SMALL_TOKENIZER.encode_pair("a", "b", pad_to_multiple_of=1) == unpadded
    assert len(SMALL_TOKENIZER.encode_pair("a b c d", max_length=np.int64(5))["input_ids"]) == 5  # type: ignore[arg-type]


def test_the_arrays_about_ids_say_what_each_id_is() -> None:
    tokenizer = WordPieceTokenizer.from_tokens(
        ["a", "[SEP]", "##b", "[unused0]", "[PAD]", "[UNK]", "[CLS]", "[MASK]", "[ENT]"], special_tokens=["[ENT]"]
    )
    assert tokenizer.special_ids.tolist() == [1, 4, 5, 6, 7, 8]
    assert tokenizer.continuation.tolist() == [i == 2 for i in range(9)]
    assert tokenizer.replacement_ids.tolist() == [0, 2]
    assert (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.cls_token_id) == (4, 5, 6)
    assert (tokenizer.sep_token_id, tokenizer.mask_token_id, tokenizer.vocab_size) == (1, 7, 9)
    with pytest.raises(ValueError, match="read-only"):
        tokenizer.special_ids[0] = 0


def test_a_special_token_outside_the_vocabulary_is_refused() -> None:
    with pytest.raises(ConfigError, match="special_tokens is the string 'ab'"):
        WordPieceTokenizer.from_tokens(SMALL, special_tokens="ab")
    with pytest.raises(ConfigError, match=r"'\[ENT\]' is not in the vocabulary"):
        WordPieceTokenizer.from_tokens(SMALL, special_tokens=["[ENT]"])


def test_the_fingerprint_tells_tokenizers_apart_by_what_they_do() -> None:
    distinct = {
        WordPieceTokenizer.from_tokens(SMALL, **settings).fingerprint  # type: ignore[arg-type]
        for settings in SETTINGS
    }
    assert len(distinct) == 8  # strip_accents None is one of True and False
    other = WordPieceTokenizer.from_tokens([*SMALL[:-2], SMALL[-1], SMALL[-2]])
    assert other.fingerprint != SMALL_TOKENIZER.fingerprint
    assert WordPieceTokenizer.from_tokens(list(SMALL), strip_accents=True) == SMALL_TOKENIZER
    assert (
        WordPieceTokenizer.from_tokens([*SPECIAL, "a"]).fingerprint
        == "4fbb955491767e1f84e1a8a6ec5e8ebd8d0dd237ca81fbf1216d8d1f288bc842"
    )


def test_a_pickled_tokenizer_gives_the_same_ids_and_leaves_the_cache_behind() -> None:
    tokenizer = WordPieceTokenizer.from_tokens(SMALL, do_lower_case=False)
    empty = len(pickle.dumps(tokenizer))
    texts = [f"word{i} é{i}" for i in range(1000)]
    ids = tokenizer.encode_batch(texts)
    assert len(pickle.dumps(tokenizer)) == empty
    copy = pickle.loads(pickle.dumps(tokenizer))
    assert copy == tokenizer
    assert hash(copy) == hash(tokenizer)
    assert copy.encode_batch(texts) == ids


def test_threads_share_a_tokenizer() -> None:
    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    batches = [[f"{letter}{i} café{i} [MASK]" for i in range(300)] for letter in "abcdefgh"]
    expected = [[SMALL_TOKENIZER.encode(text) for text in batch] for batch in batches]
    with ThreadPoolExecutor(8) as pool:
        assert [ids.to_pylist() for ids in pool.map(tokenizer.encode_batch, batches)] == expected


@pytest.mark.costly
def test_a_forked_process_goes_on_without_a_word(tmp_path: Path) -> None:
    script = """
import os, sys, warnings
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
# From 3.12 on fork itself warns where there are threads; those of Arrow and numba are idle here.
warnings.filterwarnings("ignore", "This process .* is multi-threaded, use of fork", DeprecationWarning)
tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a"])
texts = [f"a{i} é{i}" for i in range(2000)]
before = tokenizer.encode_batch(texts)
child = os.fork()
if not child:
    os._exit(0 if tokenizer.encode_batch(texts + ["ü"])[:2000] == before else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_importing_the_package_is_light() -> None:
    script = """
import sys
import bertdata.tokenizers.wordpiece
heavy = {"numba", "tokenizers", "pyarrow", "numpy"} & set(sys.modules)
assert not heavy, heavy
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
assert not {"numba", "tokenizers"} & set(sys.modules)
from bertdata.tokenizers import wordpiece
assert sorted(wordpiece.__all__) == wordpiece.__all__ == dir(wordpiece)
for name in wordpiece.__all__:
    getattr(wordpiece, name)
"""
    subprocess.run([sys.executable, "-c", script], check=True)
