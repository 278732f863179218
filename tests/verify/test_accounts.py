"""The numbers of a manifest are counted again and add up: not one of them can be another unseen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bertdata.corpus.manifest import mixture
from bertdata.io import files
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.verify.accounts import Build, check_shards, check_sums
from bertdata.verify.build import verify
from tests.shards.damage import Change, disagreements, edit, put

TRAIN = "train/data-00000-of-00002.arrow"
COUNTED = [
    "documents",
    "documents_sharing_id",
    "examples",
    "sentences",
    "tokens",
    "unknown_tokens",
    "tokens_in_copies",
    *(f"{what}_of_{name}" for what in ("tokens", "tokens_in_copies", "examples") for name in ("wikipedia", "books")),
    "tokens_in_examples",
    "row_tokens",
    "labels_1",
    "predictions",
    "predictions_mask",
    "predictions_kept",
    "predictions_capped_rows",
    "tokens_borrowed",
    "tokens_dropped_single_word",
    "tokens_dropped_no_partner",
]


def test_the_counts_of_a_shard_are_all_tested_here(static_build: Path) -> None:
    counts = files.read_json(str(static_build / "manifest.json"))["splits"]["train"]["counts"]
    assert set(counts) == set(COUNTED)


@pytest.mark.costly
@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("number", [1, -1])
def test_a_count_of_a_split_that_is_not_that_of_its_shards_is_found(
    own_static_build: Path, name: str, number: int
) -> None:
    edit(own_static_build / "manifest.json", put("splits", "train", "counts", name, value=number))
    lines = disagreements(own_static_build)
    assert any(line.startswith(f"manifest.json: {name} of split train, over its shards: ") for line in lines)


@pytest.mark.parametrize("name", [name for name in COUNTED if not name.startswith("documents")])
def test_a_count_of_a_shard_that_is_not_in_its_bytes_is_found(own_static_build: Path, name: str) -> None:
    def change(manifest: Any) -> None:
        split = manifest["splits"]["train"]
        for counts in (split["counts"], split["shards"][0]["counts"]):
            counts[name] += 1
        if name in ("sentences", "tokens", "unknown_tokens"):
            manifest["tokens"]["counts"][name] += 1
        info = PretrainingInfo.from_values(manifest["info"], "")
        manifest["mix"] = mixture(info, split["counts"], {})

    edit(own_static_build / "manifest.json", change)
    if name in ("sentences", "unknown_tokens"):  # three stages agree: only the texts could tell
        verify(own_static_build)
        return
    lines = disagreements(own_static_build)
    assert all(line.startswith(f"{TRAIN}: ") for line in lines)
    assert any(name in line or "of all sources" in line or "those in copies" in line for line in lines)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("sources", "books", "counts", "books", value=1), "of source books, 26 came in, but documents and drops"),
        (put("sources", "wikipedia", "drops", value={"redirect": 3}), "documents and drops add up to 28"),
        (put("tokens", "counts", "documents", value=-1), "documents of all splits: 50 counted, 49 in manifest.json"),
        (put("tokens", "counts", "tokens", value=5), "tokens of all splits: "),
        (put("tokens", "drops", value={"no tokens": 2}), "documents tokenized or dropped: 52 counted, 50 in"),
        (put("tokens", "counts", "sentences", value=1), "sentences of all splits: "),
        (put("tokens", "counts", "unknown_tokens", value=-1), "unknown_tokens of all splits: "),
        (put("tokens", "counts", "text_bytes", value=1), "bytes of text tokenized or dropped: "),
        (put("sources", "books", "counts", "text_bytes", value=-3), "bytes of text tokenized or dropped: "),
        (put("sources", "wikipedia", "counts", "documents", value=1), "of source wikipedia, 25 came in"),
        (put("mix", "books", "epochs", value=0.5), "mix: the tokens and epochs of the sources"),
        (put("mix", "books", "tokens", value=1), "mix: the tokens and epochs of the sources"),
        (put("vocabulary", "pieces", value=1), "tokens of the vocabulary: "),
        (put("splits", "train", "shards", 0, "file", value="train/data-00001-of-00002.arrow"), "has the shards "),
    ],
)
def test_numbers_that_do_not_add_up_are_found(own_static_build: Path, change: Change, words: str) -> None:
    edit(own_static_build / "manifest.json", change)
    assert any(line.startswith("manifest.json: ") and words in line for line in disagreements(own_static_build))


def test_books_cut_into_chapters_add_up(own_static_build: Path) -> None:
    def cut(manifest: Any) -> None:
        counts = manifest["sources"]["books"]["counts"]
        counts.update(books=7, books_in_chapters=7, chapters=counts["books"])

    edit(own_static_build / "manifest.json", cut)
    verify(own_static_build)
    edit(own_static_build / "manifest.json", put("sources", "books", "counts", "chapters", value=1))
    assert any("of source books, 26 came in" in line for line in disagreements(own_static_build))


def counts_in(value: Any, *keys: str | int) -> Iterator[tuple[str | int, ...]]:
    """Yield where the whole numbers of a JSON value stand."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if type(inner) is int:
            yield (*keys, key)
        yield from counts_in(inner, *keys, key)


@pytest.mark.costly
@pytest.mark.parametrize("number", [1, -1])
def test_any_one_number_of_the_manifest_that_is_another_is_found(own_static_build: Path, number: int) -> None:
    path = own_static_build / "manifest.json"
    whole = files.read_json(str(path))
    places = [place for place in counts_in(whole) if place[0] not in ("format", "info")]
    assert len(places) > 100
    assert {place[0] for place in places} == {"sources", "tokens", "vocabulary", "mix", "splits"}
    for place in places:
        edit(path, put(*place, value=number))
        build = Build.read(str(own_static_build), files.read_json(str(own_static_build / "manifest.json")))
        check_sums(build)
        check_shards(build)
        if not build.problems:
            assert disagreements(own_static_build), f"{place} may be anything"
        files.write_json(str(path), whole)
