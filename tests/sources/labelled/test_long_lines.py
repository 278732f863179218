"""Lines with very many labels or spans take as long as they are, and no longer."""

from __future__ import annotations

import json
from pathlib import Path

from bertdata.sources.labelled.label_lists import read_label_lists
from bertdata.sources.labelled.spans import tagged_words
from tests.growth import assert_linear


def test_a_text_with_many_labels(tmp_path: Path) -> None:
    def written(length: int) -> str:
        path = tmp_path / f"{length}.jsonl"
        row = {"text": "The sea.", "labels": [f"label {number}" for number in range(length // 16)]}
        path.write_text(json.dumps(row) + "\n")
        return str(path)

    assert_linear(lambda path: list(read_label_lists(path)), written)


def test_a_text_with_many_spans() -> None:
    def row(length: int) -> dict[str, object]:
        numbers = range(length // 4)
        return {"text": "sea " * len(numbers), "label": [[4 * number, 4 * number + 3, "X"] for number in numbers]}

    assert_linear(lambda values: tagged_words(values, "text", "label", "line 1", "a.jsonl"), row)
