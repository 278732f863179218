from __future__ import annotations

from typing import Any

import pytest

from bertdata.corpus.manifest import source_entry
from bertdata.corpus.summary import build_rows, source_rows, vocabulary_text
from bertdata.engine.parts import Counters
from bertdata.io.console import table


def source(counts: dict[str, int], drops: dict[str, int] | None = None, broken: Any = ()) -> dict[str, Any]:
    return {"inputs": [], "counts": counts, "drops": drops or {}, "broken": list(broken)}


def manifest(counts: dict[str, int] | None = None, **changes: Any) -> dict[str, Any]:
    split = {
        "documents": 90,
        "examples": 200,
        "labels_1": 90,
        "tokens": 25_000,
        "tokens_in_examples": 20_000,
        "predictions": 3010,
        "predictions_capped_rows": 12,
    }
    settings = {"objective": "nsp", "masking": "dynamic", "max_predictions_per_seq": 0} | changes
    return {
        "info": {
            "examples": {"objective": settings["objective"], "masking": settings["masking"]},
            "masking": {"max_predictions_per_seq": settings["max_predictions_per_seq"]},
        },
        "sources": {"wikipedia": source({"pages": 1234, "documents": 90, "text_bytes": 5_500_000}, {"redirect": 1144})},
        "vocabulary": {"pieces": 7547, "asked": 30_000},
        "tokens": {
            "counts": {"documents": 90, "sentences": 4321, "tokens": 100_000, "unknown_tokens": 250},
            "drops": {"no tokens": 3},
        },
        "splits": {"train": {"counts": split | (counts or {}), "shards": [{"bytes": 1500}, {"bytes": 2500}]}},
    }


def test_a_source_shows_what_came_in_what_was_dropped_and_what_is_left() -> None:
    rows = source_rows({"books": source({"books": 4, "documents": 3, "text_bytes": 88_100}, {"empty": 1})})
    assert rows == [("books: books in", "4"), ("  dropped, empty", "1"), ("  documents", "3 (88.1 kB of text)")]


@pytest.mark.parametrize(
    ("counts", "units"), [({"rows": 7}, "rows"), ({"pages": 5, "books": 2}, "pages and books"), ({"pages": 7}, "pages")]
)
def test_documents_that_stages_wrote_show_what_they_were_made_from(counts: dict[str, int], units: str) -> None:
    assert source_rows({"documents": source(counts)})[0] == (f"documents: {units} in", "7")


def test_several_sources_show_their_tokens_and_epochs_weighted_or_not() -> None:
    mix = {"en": {"tokens": 1200, "epochs": 1.0}, "de": {"tokens": 800, "epochs": 2.5, "weight": 3.0, "planned": 2.5}}
    rows = dict(build_rows(manifest() | {"mix": mix}))
    assert rows["  from en"] == "1,200 tokens, 1 epoch"
    assert rows["  from de"] == "800 tokens, 2.5 epochs (weight 3)"
    assert "  from en" not in dict(build_rows(manifest() | {"mix": {"en": mix["en"]}}))


def test_of_many_sources_the_largest_are_shown_and_the_others_added_up() -> None:
    sources = {f"s{n}": source({"rows": 9, "documents": n, "text_bytes": 10}, {"empty": 9 - n % 2}) for n in range(40)}
    rows = source_rows(sources)
    assert [name for name, _ in rows if name.endswith("rows in")][:2] == ["s10: rows in", "s11: rows in"]
    assert rows[-3:] == [
        ("10 smaller sources: rows in", "90"),
        ("  dropped, empty", "85"),
        ("  documents", "45 (100 B of text)"),
    ]
    mix = {f"s{n}": {"tokens": n, "epochs": 1 + n / 4} for n in range(40)}
    shown = [row for row in build_rows(manifest() | {"mix": mix}) if row[0].startswith("  from")]
    assert len(shown) == 31
    assert shown[0] == ("  from s10", "10 tokens, 3.5 epochs")
    assert shown[-1] == ("  from 10 smaller sources", "45 tokens, 1 to 3.25 epochs; manifest.json has each")


def test_a_source_without_anything_is_shown_as_zero() -> None:
    assert source_rows({"wikipedia": source({})}) == [("wikipedia: pages in", "0"), ("  documents", "0 (0 B of text)")]


def test_the_first_broken_pieces_are_named_by_title_place_and_byte_and_the_others_counted() -> None:
    broken = [
        {"path": "w.bz2", "title": "Salt", "offset": 0, "reason": "no text"},
        {"path": "x.jsonl", "place": 0, "reason": "not a JSON object"},
        {"path": "b.zip", "title": "", "reason": "not text"},
        {"path": "b.zip", "title": "Never shown", "reason": "not text"},
        {"path": "b.zip", "title": "Never shown", "reason": "not text"},
    ]
    rows = source_rows({"documents": source({"rows": 9}, {}, broken)})
    assert rows[1:5] == [
        ("  broken, no text", "Salt (w.bz2, byte 0)"),
        ("  broken, not a JSON object", "x.jsonl:0"),
        ("  broken, not text", "b.zip"),
        ("  broken, others", "2; the manifest or the records name them"),
    ]


def test_records_make_a_source_entry_that_can_be_shown() -> None:
    assert Counters().counts == {}
    assert len(source_rows({"wikipedia": source_entry([], [])})) == 2


def test_a_build_shows_its_figures() -> None:
    rows = dict(build_rows(manifest()))
    assert rows["vocabulary"] == "7,547 tokens: the corpus is too small for the 30,000 asked for"
    assert rows["dropped, no tokens"] == "3"
    assert rows["tokens"] == "100,000 (0.250% [UNK])"
    assert rows["train: examples"] == "200 from 90 documents"
    assert rows["  label balance"] == "55.00% IsNext, 45.00% NotNext (43.1% to 56.9% by chance)"
    assert rows["  realised mask rate"] == "15.050% predicted in epoch 0; the loader draws masks"
    assert rows["  bytes"] == "4.0 kB in 2 shards"
    assert not [row for row in rows if "limit" in row or "borrowed" in row]


def test_the_rows_of_a_build_stand_in_the_order_of_its_stages() -> None:
    counts = {"documents_sharing_id": 1204, "tokens_borrowed": 1050, "predictions_capped_rows": 1012}
    mix = {"en": {"tokens": 1200, "epochs": 1.0}, "de": {"tokens": 800, "epochs": 2.5, "weight": 3.0}}
    values = manifest(counts, max_predictions_per_seq=20) | {"mix": mix}
    values["splits"]["validation"] = values["splits"]["train"] | {"shards": [{"bytes": 999}]}
    split = [
        (
            "  documents with the id of another",
            "1,204: documents given twice (--dedup exact), or ids that several have (--id-column)",
        ),
        ("  label balance", "55.00% IsNext, 45.00% NotNext (43.1% to 56.9% by chance)"),
        ("  realised mask rate", "15.050% predicted in epoch 0; the loader draws masks"),
        ("  rows at the limit", "1,012 of 20"),
        ("  tokens used twice, a B was borrowed", "1,050"),
    ]
    assert build_rows(values) == [
        ("wikipedia: pages in", "1,234"),
        ("  dropped, redirect", "1,144"),
        ("  documents", "90 (5.5 MB of text)"),
        ("vocabulary", "7,547 tokens: the corpus is too small for the 30,000 asked for"),
        ("dropped, no tokens", "3"),
        ("documents", "90"),
        ("sentences", "4,321"),
        ("tokens", "100,000 (0.250% [UNK])"),
        ("train: examples", "200 from 90 documents"),
        *split[:2],
        ("  from en", "1,200 tokens, 1 epoch"),
        ("  from de", "800 tokens, 2.5 epochs (weight 3)"),
        *split[2:],
        ("  bytes", "4.0 kB in 2 shards"),
        ("validation: examples", "200 from 90 documents"),
        *split,
        ("  bytes", "999 B in 1 shard"),
    ]


def test_of_phases_what_they_share_stands_once_and_each_has_its_splits() -> None:
    short, long = manifest(), manifest({"examples": 50, "labels_1": 10})
    shared = [row for row in build_rows(short) if row not in build_rows(short)[-4:]]
    assert build_rows({"phases": {"128": short, "512": long}}) == [
        *shared,
        ("phase 128", ""),
        *build_rows(short)[len(shared) :],
        ("phase 512", ""),
        *build_rows(long)[len(shared) :],
    ]


def test_of_a_phase_with_the_figures_of_another_that_one_is_named() -> None:
    first, second = manifest(), manifest({"examples": 50, "labels_1": 10})
    rows = build_rows({"phases": {"a": first, "b": second, "c": first}})
    assert rows == [*build_rows({"phases": {"a": first, "b": second}}), ("phase c", "as a, figure for figure")]


def test_what_is_broken_is_named_with_its_place_and_each_reason_comes_before_a_second_of_one() -> None:
    source = manifest()["sources"]["wikipedia"]
    rows = [{"path": "t.jsonl", "place": place, "reason": "no text"} for place in (10, 20, 30)]
    source["broken"] = [
        *rows,
        {"path": "m.txt", "place": "m.txt", "reason": "not UTF-8"},
        {"path": "n.xml", "title": "Salt", "offset": 7, "reason": "cut off"},
    ]
    assert [row for row in source_rows({"a": source}) if "broken" in row[0]] == [
        ("  broken, no text", "t.jsonl:10"),
        ("  broken, not UTF-8", "m.txt"),
        ("  broken, cut off", "Salt (n.xml, byte 7)"),
        ("  broken, others", "2; the manifest or the records name them"),
    ]


@pytest.mark.parametrize(("length", "shown"), [(0, "20.00%"), (160, "36.00%")])
def test_packed_rows_show_their_padding(length: int, shown: str) -> None:
    values = manifest({"rows": 1000, "row_tokens": 102_400})
    values["info"]["examples"] |= {"pack_length": length, "max_seq_length": 128}
    assert dict(build_rows(values))["  packed into"] == f"1,000 rows, {shown} of them padding"


def test_a_static_build_shows_what_became_of_the_predicted_tokens() -> None:
    counts = {"predictions_mask": 2408, "predictions_kept": 301}
    rows = dict(build_rows(manifest(counts, masking="static")))
    assert rows["  realised mask rate"] == "15.050% predicted: 80.0% [MASK], 10.0% random, 10.0% kept"


def test_sop_names_its_labels_and_rows_without_pairs_have_none() -> None:
    assert (
        dict(build_rows(manifest(objective="sop")))["  label balance"]
        == "55.00% in order, 45.00% swapped (43.1% to 56.9% by chance)"
    )
    assert "  label balance" not in dict(build_rows(manifest(objective="full-sentences")))


def test_every_token_that_was_dropped_or_used_twice_is_shown() -> None:
    counts = {"tokens_dropped_single_word": 3, "tokens_dropped_no_partner": 40, "tokens_borrowed": 50}
    rows = build_rows(manifest(counts))
    assert [right for left, right in rows if left.startswith("  tokens ")] == ["3", "40", "50"]


def test_rows_at_the_limit_of_predictions_are_shown_where_there_is_one() -> None:
    assert dict(build_rows(manifest(max_predictions_per_seq=20)))["  rows at the limit"] == "12 of 20"


def test_a_split_without_examples_is_shown_and_divides_by_nothing() -> None:
    empty = {"documents": 2, "examples": 0, "labels_1": 0, "tokens_in_examples": 0}
    rows = dict(build_rows(manifest(empty)))
    assert rows["train: examples"] == "0 from 2 documents"
    assert "  label balance" not in rows
    assert "  realised mask rate" not in rows


def test_a_vocabulary_that_was_given_says_so() -> None:
    assert vocabulary_text({"pieces": 30_522}) == "30,522 tokens, given"
    assert vocabulary_text({"pieces": 30_000, "asked": 30_000}) == "30,000 tokens"
    enough = {"pieces": 30_000, "asked": 30_000, "rare_words_left_out": 1200}
    assert vocabulary_text(enough) == "30,000 tokens, without the 1,200 rarest words (--max-words)"
    assert vocabulary_text({"pieces": 9, "asked": 9, "long_words_left_out": 2}) == (
        "9 tokens, without 2 words too long for the model"
    )


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1_234_000, "1.2 MB"),
        (22 * 10**9, "22.0 GB"),
        (3 * 10**12, "3.0 TB"),
    ],
)
def test_sizes_are_in_decimal_units(size: int, shown: str) -> None:
    assert f"({shown} of text)" in source_rows({"books": source({"text_bytes": size})})[-1][1]


def test_columns_are_aligned_and_no_rows_are_no_text() -> None:
    assert table([("a", "1"), ("long name", "2")]) == "a          1\nlong name  2"
    assert table([]) == ""
