"""Each column is said once: schemas, packing, batches, cards and the names that --keep may not take follow from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from bertdata import load_tokenizer
from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.columns import COLUMNS, OF_BATCHES, OF_TOKENS, Into, Of, carried_column, label_column
from bertdata.shards.kept_columns import parse_kept
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import SelectionConfig

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "build.md"


@pytest.fixture(scope="module")
def info() -> PretrainingInfo:
    """Shards of pairs that have every column but the borders of packed rows."""
    return PretrainingInfo.of(
        load_tokenizer("bertdata-30k-uncased"),
        examples=ExamplesConfig(masking="static"),
        masking=MaskingConfig(mask_rate_draw="0.1-0.5"),
        sources=("wikipedia", "books"),
        word_starts=True,
        selection=SelectionConfig(keep=("year=int",)),
    )


def test_rows_have_the_columns_of_the_table_the_label_and_those_of_documents(info: PretrainingInfo) -> None:
    packed = replace(info, examples=ExamplesConfig(objective="full-sentences", masking="static", pack=True))
    names = [field.name for field in info.columns()]
    assert {*names} == {*COLUMNS} - {"cu_seqlens"} | {"next_sentence_label", "year"}
    assert len(names) == len({*names})
    assert {field.name for field in packed.columns()} == {*COLUMNS} | {"year"}
    assert all(pa.types.is_list(field.type) for field in packed.columns())
    lists = {field.name for field in info.columns() if pa.types.is_list(field.type)}
    assert lists == {*OF_TOKENS} == {name for name, column in COLUMNS.items() if column.of is Of.TOKEN}


def test_a_batch_has_the_lists_and_numbers_that_the_table_says(info: PretrainingInfo) -> None:
    assert info.list_columns == tuple(name for name, column in COLUMNS.items() if column.into is Into.LISTS)
    assert info.scalar_columns == {"next_sentence_label": "next_sentence_label"}
    dynamic = replace(info, examples=ExamplesConfig(objective="full-sentences"), masking=MaskingConfig())
    assert dynamic.list_columns == ("input_ids", "token_type_ids")
    assert not dynamic.scalar_columns


def test_documents_cannot_carry_a_column_under_a_name_that_is_taken(info: PretrainingInfo) -> None:
    for name in (*COLUMNS, *OF_BATCHES):
        with pytest.raises(ConfigError, match=f"`keep` names {name!r}, which rows have for something else"):
            parse_kept([f"{name}=int"])
    with pytest.raises(ConfigError, match="`keep` names 'next_sentence_label'"):
        replace(info, selection=SelectionConfig(keep=("next_sentence_label=int",)))


def test_a_label_of_an_objective_of_ones_own_is_not_a_column_of_documents(
    info: PretrainingInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = SelectionConfig(keep=("order=int",))
    assert "order" in [field.name for field in replace(info, selection=kept).columns()]
    monkeypatch.setattr(PretrainingInfo, "label", "order")
    with pytest.raises(ConfigError, match="`keep` names 'order', the label of `objective` nsp"):
        replace(info, selection=kept)


def test_every_column_is_in_the_reference_and_says_what_it_holds() -> None:
    page = PAGE.read_text()
    for column in (*COLUMNS.values(), label_column("next_sentence_label")):
        assert f"`{column.name}`" in page
    assert all(column.meaning for column in (*COLUMNS.values(), label_column("order"), carried_column("year")))
