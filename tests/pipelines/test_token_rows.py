"""The sample built into rows cut by tokens: from the settings to verify, the inspection and the loader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bertdata.inspect.examples import read_examples
from bertdata.inspect.report import report_html
from bertdata.inspect.stats import measure
from bertdata.loader import numpy_batches
from bertdata.shards import open_shards
from bertdata.verify.build import verify
from tests.pipelines.builds import build, with_examples


@pytest.mark.costly
@pytest.mark.parametrize(
    ("masking", "packed"),
    [
        pytest.param("dynamic", False, marks=pytest.mark.slow),
        ("static", False),
        ("dynamic", True),
        pytest.param("static", True, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(("objective", "shortest"), [("doc-chunks", 0), ("joined-chunks", 0), ("joined-chunks", 12)])
def test_the_sample_is_built_verified_shown_and_loaded(
    objective: str, shortest: int, masking: str, packed: bool, tmp_path: Path
) -> None:
    settings = with_examples(
        objective=objective, masking=masking, max_seq_length=96, pack=packed, min_seq_length=shortest
    )
    counts = build(tmp_path, settings)["splits"]["train"]["counts"]
    assert counts["tokens_in_examples"] == counts["tokens"] > 0
    verify(str(tmp_path))
    shards = open_shards(tmp_path)
    figures = measure(shards)
    assert (figures.examples, figures.tokens) == (counts["examples"], counts["row_tokens"])
    assert ("min_seq_length" in shards.info.values()["examples"]) == bool(shortest)
    if packed or (objective, shortest) == ("joined-chunks", 0):
        assert figures.fill > 0.94
    assert objective.upper() in report_html(str(tmp_path))
    assert next(iter(read_examples(shards, [0]))).segments
    batch = next(iter(numpy_batches(tmp_path / "train", 4)))
    assert batch["input_ids"].shape[1] <= 96
    assert 0 < np.count_nonzero(batch["labels"] != -100) < batch["attention_mask"].sum()
