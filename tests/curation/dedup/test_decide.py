"""Which documents are duplicates and which one stays, whatever the order and the files they come in."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata import InputError
from bertdata.curation.dedup import signature_store
from bertdata.curation.dedup.candidates import Block, SignedFile, write_candidates
from bertdata.curation.dedup.components import PIECES
from bertdata.curation.dedup.decide import EXACT, NEAR, NEIGHBOURS, _pairs, find_dropped
from bertdata.curation.dedup.signature_store import band_rows, rows_of_a_key, write_signatures
from bertdata.engine.byte_ranges import Stream, read_stream, write_stream
from bertdata.io.files import atomic_write

Document = tuple[str, str]
Decisions = dict[str, tuple[str, str]]

WORDS = [f"word{number}" for number in range(600)]
BOOK = " ".join(WORDS)


def edited(changes: int, start: int = 0) -> str:
    """Return the book with single words changed, far from each other."""
    words = list(WORDS)
    for change in range(changes):
        words[(start + change * 20) % len(words)] = f"other{start}x{change}"
    return " ".join(words)


def store(
    folder: Path,
    files: Sequence[Sequence[Document]],
    threshold: float | None,
    buckets: tuple[int, int] | None = None,
) -> list[Stream]:
    """Write the signature store of files of documents and bring all of these together, as of one piece."""
    signed: list[SignedFile] = []
    for number, documents in enumerate(files):
        path = str(folder / f"signatures-{number:05d}.arrow")
        ids, texts = ([document[part] for document in documents] for part in (0, 1))
        table = pa.table({"id": pa.array(ids, pa.string()), "text": pa.array(texts, pa.string())})
        with atomic_write(path) as file:
            counters = write_signatures([table] if documents else [], threshold, file, buckets)
        first = signed[-1].first + signed[-1].count if signed else 0
        where = Stream(path, "s", *counters.details["streams"][0])
        signed.append(SignedFile(number, where, len(documents), first))
    count = sum(signatures.count for signatures in signed)
    every = pa.table([pa.array(np.arange(count, dtype=np.uint32)), pa.array(np.zeros(count, np.uint32))], schema=PIECES)
    with atomic_write(path := str(folder / "components.arrow")) as file:
        pieces = Stream(path, "s", *write_stream(file, every))
    with atomic_write(path := str(folder / "candidates.arrow")) as file:
        counts = write_candidates(Block(tuple(signed), pieces), file)
    return [Stream(path, "s", *place) for _, *place in counts]


def decide(folder: Path, files: Sequence[Sequence[Document]], threshold: float | None = 0.8) -> Decisions:
    """Return what is dropped of files of documents: the reason and what stays, by id."""
    table = find_dropped(store(folder, files, threshold), threshold, rows_of_a_key(threshold, None))
    for row in table.to_pylist():
        assert files[row["file"]][row["row"]][0] == row["id"]
        assert len(files[row["file"]][row["row"]][1].encode()) == row["bytes"]
        assert 0 <= row["similarity"] <= 1
    return {row["id"]: (row["reason"], row["kept"]) for row in table.to_pylist()}


def test_of_equal_texts_the_one_with_the_lowest_id_stays(tmp_path: Path) -> None:
    files = [[("b", BOOK), ("c", "Something else."), ("a", BOOK)], [("d", BOOK)]]
    for threshold in (None, 0.8):
        assert decide(tmp_path, files, threshold) == {"b": (EXACT, "a"), "d": (EXACT, "a")}


def test_of_two_editions_the_longer_one_stays(tmp_path: Path) -> None:
    longer = "A preface of the later edition. " + edited(3)
    assert decide(tmp_path, [[("a", BOOK), ("b", longer)]]) == {"a": (NEAR, "b")}
    assert decide(tmp_path, [[("a", BOOK), ("b", longer)]], None) == {}


def test_equal_texts_in_a_group_of_alike_ones_are_told_as_exact(tmp_path: Path) -> None:
    longer = "A preface of the later edition. " + edited(3)
    decisions = decide(tmp_path, [[("a", BOOK), ("b", longer), ("c", BOOK)]])
    assert decisions == {"a": (NEAR, "b"), "c": (EXACT, "b")}


def test_texts_that_share_a_passage_both_stay(tmp_path: Path) -> None:
    files = [[("a", BOOK), ("b", BOOK + " " + " ".join(f"new{number}" for number in range(600)))]]
    assert decide(tmp_path, files) == {}


def test_texts_without_words_are_duplicates_only_where_they_are_equal(tmp_path: Path) -> None:
    assert decide(tmp_path, [[("a", "..."), ("b", "!!!"), ("c", "...")]]) == {"c": (EXACT, "a")}


def test_texts_of_which_half_the_digest_is_the_same_are_not_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def digest_of(text: bytes, digest_size: int) -> SimpleNamespace:
        whole = hashlib.blake2b(text, digest_size=digest_size).digest()
        return SimpleNamespace(digest=lambda: hashlib.blake2b(text[:4], digest_size=8).digest() + whole[8:])

    monkeypatch.setattr(signature_store, "hashlib", SimpleNamespace(blake2b=digest_of))
    files = [[("a", "Rain fell."), ("b", "Rain stopped."), ("c", "Rain fell.")]]
    assert decide(tmp_path, files, None) == {"c": (EXACT, "a")}


def test_one_id_may_stand_for_two_texts(tmp_path: Path) -> None:
    assert decide(tmp_path, [[("wiki:1", BOOK)], [("wiki:1", edited(2) + " newer")]]) == {"wiki:1": (NEAR, "wiki:1")}


@pytest.mark.parametrize("count", [3, 40, 300])
def test_a_large_group_is_found_whole(count: int, tmp_path: Path) -> None:
    files = [[(f"{number:03d}", edited(2, number)) for number in range(count)]]
    assert len(decide(tmp_path, files)) == count - 1


def test_a_document_is_compared_with_the_first_of_each_bucket_and_with_the_sixteen_next() -> None:
    # A bucket of 40 and one of 3, whose members come in no order.
    members = [(7, 2 * number) for number in range(40)] + [(3, 80), (3, 4), (3, 6)]
    random.Random(0).shuffle(members)
    bucket, ranks = np.array(members).T
    compared = [pair for low, high in _pairs(bucket, ranks) for pair in zip(low.tolist(), high.tolist(), strict=True)]
    expected = {(0, 2 * number) for number in range(1, 40)}
    expected |= {
        (2 * number, 2 * other) for number in range(40) for other in range(number + 1, 40) if other - number <= 16
    }
    expected |= {(4, 6), (4, 80), (6, 80)}
    assert NEIGHBOURS == 16
    assert sorted(set(compared)) == sorted(expected)
    assert compared.index((0, 78)) < compared.index((2, 4)), "those with the first of a key come first"


def test_a_chain_of_editions_is_one_group(tmp_path: Path) -> None:
    chain = [(str(number), " ".join(WORDS[10 * number : 10 * number + 400])) for number in range(8)]
    assert len(decide(tmp_path, [chain])) == 7


DOCUMENTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), min_size=2, max_size=12)


@pytest.mark.costly
@settings(max_examples=25, deadline=None)
@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_neither_order_nor_files_change_what_stays(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[int, int]], turn: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("store")
    documents = [(f"d{number}", edited(changes, start)) for number, (changes, start) in enumerate(drawn)]
    expected = decide(folder, [documents])
    turn.shuffle(documents)
    cut = turn.randint(0, len(documents))
    assert decide(folder, [documents[:cut], [], documents[cut:]]) == expected


def test_with_buckets_as_settings_documents_that_share_one_are_alike(tmp_path: Path) -> None:
    # Texts of 0.7 of their runs in common: about as many pairs as the formula says share one of 14 buckets of 8 hashes.
    names = [f"{number:03d}{side}" for number in range(100) for side in "ab"]
    drawn = {name: random.Random(name[:3]).sample(WORDS, 400) for name in names}
    pairs = [(name, " ".join(words[:280] if name.endswith("a") else words)) for name, words in drawn.items()]
    dropped = find_dropped(store(tmp_path, [pairs], 0.0, (14, 8)), 0.0, 8).to_pylist()
    assert {(row["id"][:3], row["kept"][:3]) for row in dropped} == {(row["id"][:3],) * 2 for row in dropped}
    similarity = 276 / 396
    assert 0.4 < 1 - (1 - similarity**8) ** 14 < 0.6
    assert abs(len(dropped) / 100 - (1 - (1 - similarity**8) ** 14)) < 0.15


def test_nothing_is_dropped_of_nothing(tmp_path: Path) -> None:
    assert decide(tmp_path, []) == {}
    assert decide(tmp_path, [[]]) == {}
    assert decide(tmp_path, [[("a", BOOK)]]) == {}


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9, 1.0])
def test_keys_find_nearly_all_pairs_at_the_threshold(threshold: float) -> None:
    rows = band_rows(threshold)
    assert 256 % rows == 0
    assert rows == 1 or 1 - (1 - threshold**rows) ** (256 // rows) >= 0.98


def test_a_damaged_store_is_named(tmp_path: Path) -> None:
    [stream] = store(tmp_path, [[("a", BOOK)]], 0.8)
    data = bytearray(Path(stream.path).read_bytes())
    data[:8] = b"\xff" * 8
    Path(stream.path).write_bytes(data)
    with pytest.raises(InputError, match=r"candidates\.arrow.*damaged.*delete this file"):
        read_stream(stream)
