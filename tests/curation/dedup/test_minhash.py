"""MinHash signatures: what they see in a text, what they tell of two, and that the kernel does what is written."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.curation.dedup import estimate, minhash_kernel, signature, signatures
from bertdata.curation.dedup.minhash import BINS, EMPTY, SEPARATOR, SINGLE, bucket_hashes, kind_of
from bertdata.curation.dedup.minhash_kernel import minhash
from tests.generated import examples

LETTERS = "abcXYZ 019_-.,'’“”—\n\tßÀÞ×÷éÉΩжЖ日本語ひ々、。ｘ｡"
BORDERS = "\u2c00\u2e7f\u9fff\ua000\ufaff\ufe10\ufe70\U0001f600\U00020000"
SCRIPTS = {"Thai": (0x0E01, 0x0E2F), "Lao": (0x0E94, 0x0EA3), "Tibetan": (0x0F40, 0x0F6D), "Myanmar": (0x1000, 0x1040),
           "Khmer": (0x1780, 0x17B4), "Chinese": (0x4E00, 0x4F00)}  # fmt: skip
"""Scripts without spaces between words, each with some of its letters: the first, and the one after the last."""
WITHOUT_SPACES = "ก่๏ກໜ་།བྲ༔ကိ၊၌ខ្ញ។៛"
TEXT = st.text(st.sampled_from(LETTERS + BORDERS + WITHOUT_SPACES), max_size=200)


def words(*numbers: int) -> str:
    return " ".join(f"w{number}" for number in numbers)


@pytest.mark.costly
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(TEXT | st.text(max_size=40), max_size=4))
def test_the_kernel_makes_the_signatures_of_the_readable_twin(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    by_kernel = signatures(pa.array(texts, pa.string()))
    assert by_kernel.shape == (len(texts), BINS)
    assert [row.tolist() for row in by_kernel] == [signature(text).tolist() for text in texts]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(TEXT | st.text(max_size=40), max_size=3),
    st.sampled_from([(14, 8), (1, 1), (3, 5), (16, 1), (1, 20)]),
)
def test_the_kernel_makes_the_numbers_for_keys_of_the_readable_twin(texts: list[str], keys: tuple[int, int]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    by_kernel = signatures(pa.array(texts, pa.string()), keys)
    assert by_kernel.shape == (len(texts), keys[0] * keys[1])
    assert [row.tolist() for row in by_kernel] == [bucket_hashes(text, *keys).tolist() for text in texts]


@pytest.mark.parametrize("keys", [(14, 8), (256, 1), (1, 256)])
@pytest.mark.parametrize("count", [1, 5, 9, 300])
def test_every_text_with_words_has_all_numbers_for_keys(keys: tuple[int, int], count: int) -> None:
    [numbers] = signatures(pa.array([words(*range(count))]), keys)
    assert (numbers != EMPTY).all()
    assert len(np.unique(numbers)) > 0.9 * min(len(numbers), keys[1] * (count - 4) if count > 4 else keys[1])


def pairs_of(similarity: float, length: int, number: int) -> tuple[list[str], list[str], float]:
    """Return so many texts of random words, others that share this share of their runs with them, and the share."""
    draw = np.random.default_rng(length)
    runs = length - 4
    shared = round(similarity * runs)
    drawn = draw.integers(0, 10**9, (number, length)).tolist()
    return [words(*numbers) for numbers in drawn], [words(*row[: shared + 4]) for row in drawn], shared / runs


@pytest.mark.parametrize("length", [20, 100, 400])
@pytest.mark.parametrize("similarity", [0.6, 0.8])
def test_pairs_share_a_key_as_often_as_the_formula_says(length: int, similarity: float) -> None:
    # 2,000 pairs: the standard error of the share is at most 0.011; texts of 20 words have but 16 runs, of which no two
    # keys take the same by one hash, so that they share one more often, by up to 0.03.
    one, other, share = pairs_of(similarity, length, 2000)
    keys = [signatures(pa.array(texts), (14, 8)).reshape(-1, 14, 8) for texts in (one, other)]
    equal = (keys[0] == keys[1]).all(axis=2)
    expected = 1 - (1 - share**8) ** 14
    assert abs(float(equal.any(axis=1).mean()) - expected) < (0.06 if length == 20 else 0.04)
    assert abs(float(equal.mean()) - share**8) < 0.01
    assert abs(float((keys[0] == keys[1]).mean()) - share) < 0.01


@pytest.mark.parametrize("script", SCRIPTS)
def test_copies_in_scripts_without_spaces_are_found_as_often_as_the_formula_says(script: str) -> None:
    # 400 pairs of 300 letters, of which the second has the first 0.8 of the runs: an error of 0.016 at most.
    draw = np.random.default_rng(0)
    letters = [chr(code) for code in range(*SCRIPTS[script]) if unicodedata.category(chr(code)) != "Cn"]
    texts = ["".join(draw.choice(letters, 300)) for _ in range(400)]
    keys = [signatures(pa.array(some), (14, 8)).reshape(-1, 14, 8) for some in (texts, [text[:241] for text in texts])]
    equal = (keys[0] == keys[1]).all(axis=2)
    share = (241 - 4) / (300 - 4)
    assert abs(float(equal.any(axis=1).mean()) - (1 - (1 - share**8) ** 14)) < 0.06
    assert abs(float((keys[0] == keys[1]).mean()) - share) < 0.02


def test_a_thai_text_with_another_word_is_a_near_duplicate() -> None:
    text = "วันนี้ฝนตกหนักมากตั้งแต่เช้า เราจึงไม่ได้ออกไปไหนเลย นั่งอยู่ในบ้านอ่านหนังสือจนถึงเย็น แล้วจึงไปซื้อผักและปลา"
    one, other = signatures(pa.array([text, text.replace("ปลา", "หมู")]))
    assert estimate(one, other) > 0.8
    assert kind_of(ord("ก")) == kind_of(ord("ྲ")) == kind_of(ord("្")) == SINGLE
    assert {kind_of(ord(sign)) for sign in "๏་།༔၊។៛"} == {SEPARATOR}


def test_a_slice_of_an_array_has_the_signatures_of_its_own_texts() -> None:
    texts = pa.array(["not me", words(1, 2, 3), words(4, 5, 6), "nor me"])
    assert np.array_equal(signatures(texts.slice(1, 2)), signatures(texts)[1:3])


def test_the_kernel_is_given_the_borders_of_a_slice_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[list[int], int]] = []
    monkeypatch.setattr(
        minhash_kernel, "minhash", lambda data, offsets, out: given.append((offsets.tolist(), len(out)))
    )
    signatures(pa.array(["ab", "c", "defg", "h", "i"]).slice(1, 2))
    assert given == [([2, 3, 7], 2)]


@pytest.mark.parametrize(
    "other",
    [
        "it was - a DARK and stormy NIGHT: the rain fell",
        "“It was a dark and stormy night; the rain fell.”",
        "It  was\n\na dark,and_stormy night—the rain fell",
    ],
)
def test_case_spaces_and_punctuation_do_not_count(other: str) -> None:
    one = "It was a dark and stormy night; the rain fell"
    assert np.array_equal(signature(one), signature(other))


def test_the_order_of_the_words_counts() -> None:
    assert estimate(signature(words(*range(40))), signature(words(*reversed(range(40))))) < 0.1


def test_a_text_without_words_is_like_no_other() -> None:
    made = signatures(pa.array(["", "...", "?!"]))
    assert (made == EMPTY).all()
    assert estimate(made, made).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("count", [1, 4, 5, 6])
def test_texts_shorter_than_a_run_are_alike_only_where_they_are_equal(count: int) -> None:
    one, other = words(*range(count)), words(*range(count - 1), 99)
    assert estimate(signature(one), signature(one)) == 1
    assert estimate(signature(one), signature(other)) < 0.8


@pytest.mark.parametrize("length", [60, 4000])
def test_the_estimate_has_the_error_that_256_bins_have(length: int) -> None:
    # 64 pairs that share half of their runs: the mean of the estimates has a standard error of 0.5 / sqrt(256 * 64),
    # 0.0039; of texts of 60 words, most of whose bins are borrowed, about 0.5 / sqrt(70 * 64), 0.0075. Chance fails it
    # once in 10,000 seeds, a bias of 0.06 always.
    texts, expected = [], []
    for pair in range(64):
        shared, own = 2 * length // 3, length // 3
        base = pair * 1_000_000
        both = [*range(base, base + shared)]
        texts += [words(*both, *range(base + 10**5, base + 10**5 + own))]
        texts += [words(*both, *range(base + 2 * 10**5, base + 2 * 10**5 + own))]
        expected.append((shared - 4) / (shared - 4 + 2 * own))
    estimated_from = signatures(pa.array(texts))
    assert abs(float(np.mean(estimate(estimated_from[::2], estimated_from[1::2]) - expected))) < 0.03


def test_signatures_are_the_same_on_every_machine() -> None:
    known_signature = signature("It was a dark and stormy night; the rain fell.")
    assert known_signature[[0, 1, 100, 255]].tolist() == [4056962376, 4056962376, 4176184548, 908790757]


_WILD = """
import numpy as np
from bertdata.curation.dedup.minhash_kernel import bucket_minhash, minhash
from bertdata.curation.dedup.minhash import BINS, EMPTY, bucket_hashes
draw = np.random.default_rng(5)
for length in range(0, 60, 4):
    data = draw.choice(np.array([32, 65, 97, 128, 191, 192, 224, 239, 240, 255], np.uint8), length)
    cuts = np.sort(draw.integers(0, length + 1, 3))
    offsets = np.array([0, *cuts, length], np.int64)
    found = np.full((4, BINS), EMPTY, np.uint32)
    minhash(data, offsets, found)
    whole = np.full((4, BINS), EMPTY, np.uint32)
    for text in range(4):
        part = data[offsets[text] : offsets[text + 1]].copy()
        minhash(part, np.array([0, len(part)], np.int64), whole[text : text + 1])
    assert (found == whole).all()
    keyed = np.full((4, 15), EMPTY, np.uint32)
    bucket_minhash(data, offsets, 5, 3, keyed)
"""


@pytest.mark.costly
@pytest.mark.parametrize("flag", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.slow)])
def test_no_bytes_make_the_kernel_read_beyond_a_text(flag: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WILD], env={**os.environ, flag: "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_what_stands_beside_a_text_is_not_seen() -> None:
    data = np.frombuffer("one two three\xe9".encode("latin-1") + "é four".encode(), np.uint8)
    out = np.full((2, BINS), EMPTY, np.uint32)
    minhash(data, np.array([0, 13, 13], np.int64), out)
    assert np.array_equal(out[0], signature("one two three"))
    assert (out[1] == EMPTY).all()
