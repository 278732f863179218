"""The work of each stage is that of the samples, scaled up: seconds too, which no build is compared with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bertdata.corpus.estimate import rates
from bertdata.corpus.estimate.estimate import estimate
from bertdata.corpus.estimate.figures import Asked, Work
from bertdata.corpus.estimate.sample import FINISHED, BeginningsOf, Made, Sample
from bertdata.engine.parts import PartMetadata, Task
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import ShardsConfig

DOCUMENTS, TEXT, GROUPS = 1_000, 8_000_000, 10
"""Of each of two finished parts: its documents, their bytes of text, and its row groups, which are alike."""
TOKENS, ROW_TOKENS, EXAMPLES, STORED = 500_000, 600_000, 4_000, 1_300_000
"""What the samples gave, which are a row group of each part."""


def part(name: str, counts: dict[str, int], details: dict[str, Any] | None = None) -> PartMetadata:
    return PartMetadata(name, "", 0, "", 0.0, counts, {}, details or {})


def sampled() -> Sample:
    """Return the samples of two finished parts of documents, a tenth of each."""
    tasks = [Task("documents", f"part-{number}", ".parquet", "", 3_000_000, None) for number in range(2)]
    counts = {"documents": DOCUMENTS, "text_bytes": TEXT}
    details = {"row_groups": [[DOCUMENTS // GROUPS, TEXT // GROUPS]] * GROUPS}
    sampler = BeginningsOf("samples", samples=4)
    taken = sampler.finished([(task, part(task.name, counts, details)) for task in tasks])
    assert len(taken) == 2
    made = [Made("documents", task, record, 0, 0.0) for task, record in taken]
    for task, _ in taken:
        encoded = Task("tokens", task.name, ".arrow", "", 0, SimpleNamespace(documents=task))
        made.append(Made("tokenize", encoded, part(task.name, {"tokens": TOKENS // 2}), 1_000_000, 0.0))
    shard = Task("train", "data", ".arrow", "", 0, SimpleNamespace(phase=0))
    made.append(
        Made("write shards", shard, part("data", {"examples": EXAMPLES, "row_tokens": ROW_TOKENS}), STORED, 0.0)
    )
    return Sample(sampler.groups, made, {task.path: FINISHED for task, _ in taken})


def asked(examples: ExamplesConfig) -> Asked:
    return Asked(
        phases=(PhaseConfig(examples=examples),),
        sharding=ShardsConfig(),
        tokenizer="wordpiece",
        trained=False,
        max_words=1_000_000,
        vocab_size=30_000,
        dedup="none",
        dedup_spans="none",
        template_pages=False,
        source_of={},
        jobs=("write shards",),
    )


def work(examples: ExamplesConfig, title: str) -> Work:
    [stage_work] = [stage for stage in estimate(sampled(), asked(examples)).stages if stage.title == title]
    return stage_work


def test_documents_that_are_finished_are_scaled_up_by_their_text() -> None:
    estimate_of_all = estimate(sampled(), asked(ExamplesConfig()))
    assert (estimate_of_all.documents, estimate_of_all.text_bytes, estimate_of_all.tokens) == (
        2 * DOCUMENTS,
        2 * TEXT,
        GROUPS * TOKENS,
    )


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("masking", ["dynamic", "static"])
def test_shards_take_the_time_of_their_tokens(copies: int, masking: str) -> None:
    config = ExamplesConfig(masking=masking, dupe_factor=copies)
    write_work = work(config, "write shards")
    assert write_work.seconds == pytest.approx(rates.ROWS[masking] * ROW_TOKENS * GROUPS * copies / 1e6)
    assert write_work.stored == STORED * GROUPS * copies
    assert estimate(sampled(), asked(config)).examples == EXAMPLES * GROUPS * copies


def test_tokens_take_the_time_of_the_text_and_of_the_parts() -> None:
    token_work = work(ExamplesConfig(), "tokenize")
    assert token_work.seconds == pytest.approx(
        rates.TOKENIZE["wordpiece"] * 2 * TEXT / 1e6 + token_work.parts * rates.PART_SECONDS
    )
    assert token_work.heaviest == pytest.approx(token_work.seconds / token_work.parts)
