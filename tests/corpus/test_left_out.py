"""What selections leave out of each source is counted, told, and warned of where little is left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.corpus.left_out import account_of, count_left_out, left_out_rows, warnings_of_selection, warnings_of_train
from bertdata.curation.where import parse_condition
from bertdata.shards.settings import SelectionConfig
from tests.shards.blocks import info_of

OWNERS = pa.array(["kim", "lee", "kim", None, None, None, "kim"])
SOURCES = np.array([0, 0, 0, 1, 1, 1, 2])
NAMES = ["chats", "notes", "web"]


def account(where: str, **flags: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the account of the documents above."""
    taken = {"where": parse_condition(where).holds({"owner": OWNERS})}
    counts = count_left_out({**taken, **flags}, SOURCES, NAMES, {"owner": OWNERS})
    return account_of({"train": {"counts": counts}})


def test_documents_without_a_value_are_counted_by_source_and_column() -> None:
    assert account("owner != 'lee'") == {
        "where": {
            "chats": {"documents": 1, "of": 3},
            "notes": {"documents": 3, "of": 3, "without": {"owner": 3}},
        }
    }


def test_each_document_is_left_out_by_one_setting_of_those_that_come_to_it() -> None:
    none = np.zeros(7, np.bool_)
    left_out_by = account("owner != 'lee'", sample=none)
    assert left_out_by["where"]["chats"] == {"documents": 1, "of": 3}
    assert left_out_by["sample"] == {"chats": {"documents": 2, "of": 2}, "web": {"documents": 1, "of": 1}}


@pytest.mark.parametrize(
    "where", ["owner != 'lee'", "not owner == 'lee'", "owner not in ('lee',) and owner != 'x'", "owner == 'it''s'"]
)
def test_the_advice_takes_the_documents_without_a_value_and_no_others(where: str) -> None:
    [warning] = [
        warning
        for warning in warnings_of_selection(account(where), SelectionConfig(where=where))
        if "notes" in str(warning["found"])
    ]
    assert "left out 3 documents of the source notes, all that it has: none has a value of 'owner'" in str(
        warning["found"]
    )
    advised = str(warning["remedy"]).split("--where ")[1].strip('"')
    before, after = (parse_condition(text).holds({"owner": OWNERS}) for text in (where, advised))
    assert (after == (before | OWNERS.is_null().to_numpy(zero_copy_only=False))).all()


def test_a_condition_that_asks_for_no_value_or_leaves_half_has_other_advice_or_no_warning() -> None:
    where = "owner is not None"
    [warning] = warnings_of_selection(account(where), SelectionConfig(where=where))
    assert warning["remedy"] == "take a wider condition, or leave the source out"
    counted = account("owner is None or owner != 'lee'")
    assert counted == {"where": {"chats": {"documents": 1, "of": 3}}}
    assert not list(warnings_of_selection(counted, SelectionConfig(where="owner is None or owner != 'lee'")))


def test_a_sample_or_a_move_that_leaves_a_source_empty_is_warned_of() -> None:
    counted = account("owner != 'lee'", sample=np.zeros(7, np.bool_))
    selection = SelectionConfig(sample=("web=0.01",), source_where=("long=tokens > 9", "old=owner == 'x'"))
    warned = [str(warning["found"]) for warning in warnings_of_selection({"sample": counted["sample"]}, selection)]
    assert warned[:2] == [
        "--sample took none of the 2 documents of the source chats",
        "--sample took none of the 1 document of the source web",
    ]
    assert warned[2:] == [f"--source-where moved no document to the source {name}" for name in ("long", "old")]
    moved = {"source_where": {"long": 4, "old": 1}}
    assert not list(warnings_of_selection(moved, selection))


def test_many_sources_are_told_together() -> None:
    counts = {f"documents_left_out_by_where_of_s{number:02}": number for number in range(1, 41)}
    [(_, text)] = left_out_rows(counts)
    assert text.startswith("820 documents: ")
    assert text.endswith("55 of 10 others")


@pytest.mark.parametrize(
    ("train", "validation", "objective", "reason"),
    [
        ({}, {"tokens_of_b": 9}, "nsp", "train has nothing of the source b: all of it is held out for validation"),
        (
            {"tokens_of_b": 9},
            {},
            "nsp",
            "train has nothing of the source b: its share of train is less than a document",
        ),
        (
            {"tokens_of_b": 9, "tokens_in_copies_of_b": 9},
            {},
            "sop",
            "train has nothing of the source b: none of its documents has the two sentences that --objective sop pairs",
        ),
        ({"tokens_of_b": 9, "tokens_in_copies_of_b": 9, "examples_of_b": 1}, {}, "sop", ""),
        ({}, {}, "nsp", ""),
    ],
)
def test_a_source_that_train_has_nothing_of_is_warned_of(
    train: dict[str, int], validation: dict[str, int], objective: str, reason: str
) -> None:
    info = replace(info_of(objective), sources=("a", "b"), epochs=(1.0, 0.001))
    whole = {f"{what}_of_a": 9 for what in ("tokens", "tokens_in_copies", "examples")}
    splits = {"train": {"counts": whole | train}, "validation": {"counts": validation}}
    assert [warning["found"] for warning in warnings_of_train(info, splits)] == ([reason] if reason else [])
