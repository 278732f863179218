"""An example is a mapping, which only the default collators of transformers may not take."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.loader.examples import Example


def test_a_row_that_is_asked_for_labels_as_the_default_collators_of_transformers_do_says_which_collator_to_pass() -> (
    None
):
    row = Example(input_ids=1)
    assert dict(row.items()) == {"input_ids": 1}
    assert "label" not in row
    with pytest.raises(ConfigError, match="give the Trainer data_collator=PretrainingCollator"):
        "label_ids" in row  # noqa: B015


def test_a_single_row_in_place_of_a_batch_says_who_gives_it(dynamic_build: Path) -> None:
    examples = ShardExamples(dynamic_build)
    with pytest.raises(ConfigError, match=r"batch_size=None.* Ray Train's prepare_data_loader"):
        BatchCollator(examples).arrays(examples[0])  # type: ignore[arg-type]
