"""The search for n-grams of test data: none that is there is missed, whatever changes the words do not show."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata import InputError
from bertdata.curation.decontamination.ngram_table import NgramTable, read_table
from bertdata.curation.decontamination.ngram_words import folding, normalised, words_of
from bertdata.curation.decontamination.search import find_hits, find_plainly
from bertdata.curation.decontamination.stage import notes_on
from bertdata.io.console import byte_size
from tests.address_space import run_limited
from tests.generated import examples

LETTERS = "abcXYZ 019_-.,'’“”—\n\tßÀÞ×÷éÉΩςΣжЖ日本語ひ々、。ｘ｡ก่ກ་བྲကိ။ខ្\u2c00\u9fff\U0001f600\U00020000İ"
TEXT = st.text(st.sampled_from(LETTERS), max_size=120)
WORDS = st.lists(st.text(st.sampled_from("abcdeöжσ0"), min_size=1, max_size=4), min_size=4, max_size=9)
BETWEEN = st.sampled_from([" ", "\n", "  ", ", ", " — ", "... ", "\t", " “", "-", "\u00a0", "; (", "\r\n\r\n"])


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=4), st.lists(TEXT, max_size=4), st.integers(1, 4))
def test_the_kernel_finds_what_the_readable_search_finds(tests: list[str], texts: list[str], n: int) -> None:
    half = len(tests) // 2
    table = NgramTable.of({"a": tests[:half], "b": tests[half:]}, n)
    texts += [tests[0], "x " + tests[-1].upper()]
    assert find_hits(pa.array(texts, pa.string()), table) == find_plainly(texts, table)


@settings(max_examples=examples(150), deadline=None)
@given(WORDS, st.data())
def test_a_planted_ngram_is_found_through_other_case_punctuation_and_white_space(
    words: list[str], data: st.DataObject
) -> None:
    table = NgramTable.of({"test": [" ".join(words)]}, len(words))
    changed = [data.draw(st.sampled_from([word, word.upper(), word.capitalize()])) for word in words]
    passage = changed[0] + "".join(data.draw(BETWEEN) + word for word in changed[1:])
    before, after = (data.draw(st.sampled_from(["", "Öre. ", "本「", "q" * 50 + " "])) for _ in range(2))
    text = before + passage + "」 " + after
    [hit] = [hit for hit in find_hits(pa.array(["none", text]), table) if hit.text == 1][:1]
    assert hit.ngram == " ".join(words).lower().replace("ς", "σ")
    assert normalised(text.encode()[hit.begin : hit.end].decode()) == hit.ngram


def test_of_a_thousand_planted_ngrams_each_is_found_and_nothing_else() -> None:
    draw = random.Random(5)
    words = [f"word{number}" for number in range(4000)]
    tests = [" ".join(draw.choices(words, k=20)) for _ in range(300)]
    table = NgramTable.of({"test": tests}, 13)
    texts = []
    for number in range(1000):
        run = tests[number % 300].split()[(begin := draw.randrange(8)) : begin + 13]
        broken = [*run[:6], "other", *run[7:]]
        texts.append(
            " ".join([*draw.choices(words, k=50), *(run if number % 2 else broken), *draw.choices(words, k=9)])
        )
    assert [hit.text for hit in find_hits(pa.array(texts), table)] == list(range(1, 1000, 2))


def test_a_passage_of_a_script_without_spaces_is_found_by_its_characters() -> None:
    passage = "วันนี้ฝนตกหนักมากตั้งแต่เช้าเราจึงไม่ได้ออกไปไหนเลย"
    table = NgramTable.of({"quiz": [passage]}, 13)
    assert table.files[0].too_short == 0
    texts = ["เขาเล่าเรื่องสนุกมากมายและไปตลาดกับแม่", f"เขาเล่าเรื่องสนุก {passage} และเขาไปตลาด"]
    assert {hit.text for hit in find_hits(pa.array(texts), table)} == {1}


def test_ngrams_do_not_cross_the_borders_of_test_texts_or_documents() -> None:
    table = NgramTable.of({"test": ["one two three", "four five six"]}, 4)
    assert len(table.hashes) == 0
    table = NgramTable.of({"test": ["one two three four"]}, 4)
    assert find_hits(pa.array(["one two", "three four"]), table) == []


def test_an_ngram_of_two_files_is_a_hit_of_each() -> None:
    table = NgramTable.of({"a": ["one two three"], "b": ["zero one two three"]}, 3)
    assert [(hit.file, hit.ngram) for hit in find_hits(pa.array(["One, two, three!"]), table)] == [
        (0, "one two three"),
        (1, "one two three"),
    ]


def test_repeated_texts_and_ngrams_count_once_as_ngrams() -> None:
    table = NgramTable.of({"test": ["a b c d", "a b c d", "x a b c", "a b"]}, 3)
    [file] = table.files
    assert (file.texts, file.too_short, file.ngrams) == (4, 1, 3)


def test_a_slice_of_an_array_is_searched_for_itself() -> None:
    table = NgramTable.of({"test": ["one two three"]}, 3)
    texts = pa.array(["one two three", "é one two three", "four"])
    [hit] = find_hits(texts.slice(1, 2), table)
    assert (hit.text, hit.begin, hit.end) == (0, 3, 16)


def test_a_passage_of_the_same_hash_but_other_words_is_no_hit() -> None:
    table = NgramTable.of({"test": ["one two three"]}, 3)
    other = NgramTable.of({"test": ["six two three"]}, 3)
    confused = NgramTable(3, table.files, table.texts, other.hashes, table.begins, table.ends, table.numbers)
    assert find_hits(pa.array(["six two three"]), confused) == []


def test_words_are_folded_and_have_their_places() -> None:
    assert list(words_of("ΟΔΌΣ,x")) == [("οδόσ", 0, 4), ("x", 5, 6)]
    assert normalised("οδός") == normalised("ΟΔΌΣ")
    assert folding()[ord("ß")] == ord("ß")


def test_a_build_says_what_a_large_table_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    words = " ".join(map(str, range(2000)))
    table = NgramTable.of({"quiz.txt": [words, words.replace(" 7", " a")]}, 13)
    arrays = (table.hashes, table.begins, table.ends, table.numbers, table.lookup)
    assert table.memory == len(table.texts) + sum(array.nbytes for array in arrays)
    assert notes_on(table) == []
    monkeypatch.setattr("bertdata.curation.decontamination.stage.MUCH_MEMORY", table.memory - 1)
    assert notes_on(table) == [
        f"--decontaminate: each worker holds {len(table.hashes):,} n-grams and their texts in about "
        f"{byte_size(table.memory)}"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 500_000])
def test_100_megabytes_of_test_data_take_the_memory_that_is_told(lines: int) -> None:
    code = (
        "from bertdata.curation.decontamination.ngram_table import NgramTable\n"
        "lines, count = int(sys.argv[2]), int(sys.argv[3])\n"
        "step = max(1, count // lines)\n"
        "texts = (' '.join(map(str, range(10**8 + at, 10**8 + at + step))) for at in range(0, count, step))\n"
        "table = NgramTable.of({'quiz.txt': texts}, 13)\n"
        "table.lookup\n"
        "print(len(table.hashes), table.memory)\n"
    )
    done = run_limited(code, 4 << 30, str(lines), "10000000")
    assert done.returncode == 0, done.stderr
    ngrams, memory = map(int, done.stdout.split())
    assert ngrams == 10_000_000 - 12 * lines
    assert memory < 100_000_000 + 60 * ngrams


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = NgramTable.of({"a": ["one two three four"], "b": ["short"]}, 3)
    table.write(file := io.BytesIO())
    path = tmp_path / "ngrams.arrow"
    path.write_bytes(file.getvalue())
    read_back = read_table(str(path), "x")
    assert (read_back.n, read_back.files, read_back.texts) == (3, table.files, table.texts)
    assert find_hits(pa.array(["two three four"]), read_back) == find_hits(pa.array(["two three four"]), table) != []
    path.write_bytes(file.getvalue()[:-200])
    with pytest.raises(InputError, match=r"damaged.*delete this file"):
        read_table(str(path), "y")


def test_an_ngram_that_a_text_repeats_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = NgramTable.of({"quiz.txt": ["no no no", "it rained all day"]}, 3)
    text = "no " * 500 + "it rained all"
    compared: list[str] = []

    def counted(passage: str) -> str:
        compared.append(passage)
        return normalised(passage)

    monkeypatch.setattr("bertdata.curation.decontamination.search.normalised", counted)
    hits = find_hits(pa.array([text]), table)
    assert (len(hits), compared) == (499, ["no no no", "it rained all"])
    assert hits == find_plainly([text], table)
