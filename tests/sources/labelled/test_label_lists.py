"""Lists of labels, and lists of 0 and 1 for each label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import InputError
from bertdata.sources.labelled.label_lists import number_of_flags, read_label_lists


@pytest.mark.parametrize(
    ("lists", "flags"),
    [
        ([[0, 1, 1], [1, 0, 0]], 3),
        ([None, [0, 0]], 2),
        ([[0, 1], [1, 0]], 2),  # as labels, each text would have both
        ([[0.0, 1.0]], 2),
        ([[True, False]], 2),
        ([[0.25, 0.75]], 2),
        ([[0, 1], [0]], 0),
        ([[1, 0], [0, 1, 2]], 0),
        ([[0, 2], [1, 0]], 0),
        ([["0", "1"]], 0),
        ([[], [0, 1]], 0),
        ([[0], [1]], 0),
    ],
)
def test_lists_of_0_and_1_are_told_from_lists_of_labels(tmp_path: Path, lists: list[Any], flags: int) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": "a", "labels": labels}) + "\n" for labels in lists))
    assert number_of_flags(str(path), (), None) == flags


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 1, 0], [0, 2, 1], [0, 0.5, 1], ["0", "1", "1"]])
def test_a_list_of_another_form_than_the_first_is_refused_with_its_line(tmp_path: Path, labels: list[Any]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": "a", "labels": row}) + "\n" for row in ([0, 1, 1], labels)))
    with pytest.raises(InputError, match=r"line 2 has .* in 'labels'; expected 3 times 0 or 1"):
        list(read_label_lists(str(path), flags=3))
