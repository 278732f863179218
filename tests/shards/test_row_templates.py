"""Builds with tokenizers of several models: their rows are those of `tokenizers`' post-processors, and can be read."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bertdata.inspect.examples import read_examples
from bertdata.inspect.report import report_html
from bertdata.inspect.stats import measure
from bertdata.loader.collator import BatchCollator
from bertdata.loader.examples import ShardExamples
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.objectives.objective import find_objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import Shards, open_shards
from bertdata.shards.schema import ShardInfo
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.verify.build import verify
from tests.data import data_path
from tests.small_build import write_build
from tests.tokenizers.of_models import LARGE, MODELS, PostProcessor, tokenizer_of

CONFIGS = [
    ExamplesConfig("nsp", "dynamic", 32),
    ExamplesConfig("sop", "static", 32, pack=True, pack_length=64),
    ExamplesConfig("single-segment", "dynamic", 32, single_segment_prob=0.5),
    ExamplesConfig("full-sentences", "dynamic", 512, pack=True, short_seq_prob=0.5),
    ExamplesConfig("doc-sentences", "static", 32),
    ExamplesConfig("doc-chunks", "dynamic", 32, min_seq_length=12),
    ExamplesConfig("joined-chunks", "static", 512, pack=True, min_seq_length=12),
]
TYPED = ("XLNet",)


def assert_rows_of_post_processor(shards: Shards, tokenizer: JsonTokenizer) -> int:
    """Compare every example with what the post-processor makes of its texts; returns the most texts of a row."""
    special, post_processor = set(tokenizer.special_ids.tolist()) - {tokenizer.unk_token_id}, PostProcessor(tokenizer)
    pairs, most = shards.expect_pretraining().objective.token_types == 2, 0
    for number in range(len(shards)):
        for row in shards.examples(number):
            labels = row.get("labels", np.full(len(row["input_ids"]), IGNORE_INDEX))
            ids = np.where(labels == IGNORE_INDEX, row["input_ids"].astype(np.int64), labels).tolist()
            texts: list[list[int]] = [[]]
            for token in ids:
                if token not in special:
                    texts[-1].append(token)
                elif texts[-1]:
                    texts.append([])
            texts = [text for text in texts if text]
            most = max(most, len(texts))
            if pairs:
                assert len(texts) <= 2
                expected = post_processor.row(*texts)
            else:
                joined = texts[0]
                for text in texts[1:]:
                    joined = [*joined, tokenizer.sep_token_id, *text]
                expected = post_processor.row(joined)
            assert (ids, row["token_type_ids"].tolist() if "token_type_ids" in row else [0] * len(ids)) == expected
            assert 0 < len(ids) <= shards.info.max_seq_length
    return most


@pytest.mark.costly
@pytest.mark.parametrize(
    ("model", "config"),
    [
        *product(MODELS, CONFIGS),
        (LARGE, CONFIGS[0]),
        *(pytest.param(LARGE, config, marks=pytest.mark.slow) for config in CONFIGS[-2:]),
    ],
    ids=lambda one: getattr(one, "objective", one),
)
def test_rows_are_those_of_the_post_processor(model: str, config: ExamplesConfig, tmp_path: Path) -> None:
    tokenizer = tokenizer_of(model)
    build = write_build(tmp_path, config, pieces=tokenizer)
    verify(build)
    shards = open_shards(build)
    most = assert_rows_of_post_processor(shards, tokenizer)
    fewest, limit = find_objective(config.objective).segments
    assert most >= (3 if limit is None else limit) >= fewest
    assert ("token_type_ids" in shards.table.column_names) == (model in TYPED)
    assert ShardInfo.from_values(shards.info.values(), "") == shards.info
    assert shards.info.row_template == tokenizer.row_template


@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_batches_have_token_types_where_the_rows_have_them(model: str, packing: bool, tmp_path: Path) -> None:
    examples = ShardExamples(open_shards(write_build(tmp_path, pieces=tokenizer_of(model))))
    batch = BatchCollator(examples, packing=packing)(examples.__getitems__([(0, 1), (0, 2)]))
    names = {"position_ids", "cu_seqlens"} if packing else {"attention_mask"}
    types = {"token_type_ids"} if model in TYPED else set()
    assert set(batch) == {"input_ids", "labels", "next_sentence_label"} | names | types
    masked = batch["labels"] != IGNORE_INDEX
    assert masked.any()
    assert not np.isin(batch["labels"][masked], tokenizer_of(model).special_ids).any()


@pytest.mark.parametrize("model", MODELS)
def test_examples_are_shown_in_two_parts_and_reported(model: str, tmp_path: Path) -> None:
    build = write_build(tmp_path, pieces=tokenizer_of(model))
    shards, template = open_shards(build), tokenizer_of(model).row_template
    for example in read_examples(shards, range(5)):
        a, b = example.segments
        special = [[token.kind == "special" for token in segment] for segment in (a, b)]
        assert [sum(flags) for flags in special] == [
            len(template.prefix) + len(template.between),
            len(template.suffix),
        ]
        assert special[0][-1]
        assert not special[1][0]
    figures = measure(shards)
    assert figures.tokens - figures.ordinary_tokens == figures.examples * template.special(pair=True)
    assert figures.unknown_tokens == 0
    assert "0.00" in report_html(str(build))


@pytest.mark.slow
@pytest.mark.parametrize("config", [CONFIGS[0], CONFIGS[3]], ids=lambda config: config.objective)
@pytest.mark.parametrize("name", ["roberta", "modernbert", "albert_v2", "xlm_roberta", "xlnet_cased", "deberta_v3"])
def test_rows_of_real_tokenizers_are_those_of_their_post_processors(
    name: str, config: ExamplesConfig, tmp_path: Path
) -> None:
    tokenizer = JsonTokenizer.from_pretrained(data_path("tokenizers", name))
    build = write_build(tmp_path, config, pieces=tokenizer)
    verify(build)
    assert_rows_of_post_processor(open_shards(build), tokenizer)
