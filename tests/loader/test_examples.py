"""An example is a mapping, which only the default collators of transformers may not take."""

from __future__ import annotations

import pytest

from bertdata.errors import ConfigError
from bertdata.loader.examples import Example


def test_a_row_that_is_asked_for_labels_as_the_default_collators_of_transformers_do_says_which_collator_to_pass() -> (
    None
):
    row = Example(input_ids=1)
    assert dict(row.items()) == {"input_ids": 1}
    assert "label" not in row
    with pytest.raises(ConfigError, match="give the Trainer data_collator=PretrainingCollator"):
        "label_ids" in row  # noqa: B015
