"""Each of the family learns from shards, and beats chance by a margin that is stated here."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertdata.corpus.writer import write_shard
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS
from bertdata.torch.models.albert import AlbertConfig
from bertdata.torch.models.bert import BertConfig
from bertdata.torch.models.config import Counts, EncoderConfig
from bertdata.torch.models.configs import load_config
from bertdata.torch.models.electra import ElectraConfig, ElectraForReplacedTokenDetection
from bertdata.torch.models.heads import BertForSequenceClassification
from bertdata.torch.models.modernbert import ModernBertConfig
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import tokenizer_of, write_build
from tests.torch.training.small_runs import SETTINGS as TWELVE_STEPS
from tests.torch.training.small_runs import log, losses, stop_at

SIZES: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 128,
    "max_position_embeddings": 32,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
MODERNBERT = ModernBertConfig(
    **{name: value for name, value in SIZES.items() if not name.endswith("_prob")},
    pad_token_id=0,
    cls_token_id=2,
    sep_token_id=3,
    local_attention=8,
)
SETTINGS = replace(TWELVE_STEPS, max_steps=300, batch_size=32, warmup_ratio=0.1, save_steps=1000, logging_steps=50)


def counting_build(directory: Path, objective: str) -> Path:
    """Write documents that count: each word is the one after the last (of 95), each sentence goes on where one ended.

    A masked word follows from its neighbours, and whether two segments are in order from their words.
    """
    tokenizer, generator = tokenizer_of(), np.random.default_rng(4)
    examples = ExamplesConfig(objective=objective, max_seq_length=32)
    info = PretrainingInfo.of(tokenizer, examples=examples, masking=MaskingConfig())
    documents, sentences = 150, 12
    lengths = generator.integers(3, 6, documents * sentences)
    sizes = lengths.reshape(documents, sentences).sum(1)
    starts = np.repeat(generator.integers(0, 40, documents), sizes)
    counted = np.concatenate([np.arange(size) for size in sizes])
    tokens = (starts + counted) % 95 + len(SPECIAL_TOKENS)
    ends = np.cumsum(lengths, dtype=np.int64)
    block = TokenBlock(
        tokens=tokens.astype(np.uint16),
        word_start=np.ones(len(tokens), np.bool_),
        sentence_ends=ends,
        document_ends=ends[sentences - 1 :: sentences].copy(),
        document_keys=generator.integers(0, 2**63, documents).astype(np.uint64),
    )
    path = str(directory / "train/data-00000-of-00001.arrow")
    with files.atomic_write(path) as file:
        write_shard(block, info, info.masker(tokenizer), file)
    tokenizer.save_pretrained(directory / "tokenizer")
    entry = {"file": "train/data-00000-of-00001.arrow", "bytes": files.size(path)}
    manifest = {"splits": {"train": {"shards": [entry]}}, "info": info.values()}
    files.write_json(str(directory / "manifest.json"), manifest)
    return directory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "objective", "rate", "margins"),
    [
        (BertConfig(**SIZES), "nsp", 2e-3, {"mlm_accuracy": 0.15}),
        (BertConfig(**SIZES, type_vocab_size=1), "full-sentences", 2e-3, {"mlm_accuracy": 0.15}),
        (AlbertConfig(**SIZES, embedding_size=32), "sop", 4e-3, {"mlm_accuracy": 0.08, "pair_accuracy": 0.7}),
        (MODERNBERT, "full-sentences", 2e-3, {"mlm_accuracy": 0.15}),
    ],
    ids=["bert", "roberta", "albert", "modernbert"],
)
def test_the_loss_falls_and_the_metric_beats_chance(
    tmp_path: Path, config: EncoderConfig, objective: str, rate: float, margins: dict[str, float]
) -> None:
    """Chance is 1/95 for masked words, under 0.03 with always the likeliest, and 0.5 for pairs."""
    build = counting_build(tmp_path / "build", objective)
    pretrain(build, config, tmp_path / "out", replace(SETTINGS, learning_rate=rate))
    records = log(tmp_path / "out")
    assert records[-1]["mlm_loss"] < records[0]["mlm_loss"] - 0.7
    for name, least in margins.items():
        assert records[-1][name] > least, (name, records[-1])


@pytest.mark.slow
def test_a_discriminator_tells_replaced_words_better_than_by_their_share(tmp_path: Path) -> None:
    """Chance is 0.5 for replaced words, and a loss of the entropy of their share; margins 0.25 and 0.15."""
    wide = SIZES | {"hidden_size": 128, "intermediate_size": 256, "num_attention_heads": 4}
    build = counting_build(tmp_path / "build", "single-segment")
    pretrain(build, ElectraConfig(**wide, embedding_size=64), tmp_path / "out", replace(SETTINGS, max_steps=500))
    records = log(tmp_path / "out")
    share = records[-1]["replaced_share"]
    entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
    assert records[-1]["mlm_loss"] < records[0]["mlm_loss"] - 0.7
    assert records[-1]["replaced_loss"] < entropy - 0.15
    assert records[-1]["replaced_accuracy"] > 0.75


@pytest.mark.costly
@pytest.mark.parametrize(
    ("config", "objective"),
    [
        pytest.param(AlbertConfig(**SIZES, embedding_size=16), "sop", marks=pytest.mark.slow),
        (ElectraConfig(**SIZES, embedding_size=16), "single-segment"),
        (replace(MODERNBERT, attention_dropout=0.1, mlp_dropout=0.1, global_attn_every_n_layers=2), "full-sentences"),
    ],
    ids=["albert", "electra", "modernbert"],
)
def test_the_kin_resume_exactly_and_open_in_transformers(tmp_path: Path, config: EncoderConfig, objective: str) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective=objective, max_seq_length=32))
    settings = replace(SETTINGS, max_steps=6, batch_size=4, save_steps=2, logging_steps=1)
    pretrain(build, config, tmp_path / "whole", settings)
    with pytest.raises(KeyboardInterrupt):
        pretrain(build, config, tmp_path / "cut", settings, report=stop_at(5))
    pretrain(build, config, tmp_path / "cut", settings)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert load_config(tmp_path / "cut") == config
    opened, notes = transformers.AutoModel.from_pretrained(tmp_path / "cut", output_loading_info=True)
    assert opened.config.model_type == config.model_type
    assert not notes["missing_keys"]
    BertForSequenceClassification.from_pretrained(tmp_path / "cut", ["no", "yes"])
    if config.model_type == "electra":
        generator = transformers.ElectraForMaskedLM.from_pretrained(tmp_path / "cut" / "generator")
        assert generator.config.hidden_size == 16


def test_electras_models_share_their_embeddings_after_loading_too(tmp_path: Path) -> None:
    ElectraForReplacedTokenDetection(ElectraConfig(**SIZES, embedding_size=16)).save_pretrained(tmp_path)
    model = ElectraForReplacedTokenDetection.from_pretrained(tmp_path)
    shared = model.discriminator.electra.embeddings.word_embeddings.weight
    assert model.generator.electra.embeddings.word_embeddings.weight is shared
    assert model.generator.generator_lm_head.weight is shared


def test_electra_asks_of_all_tokens_and_takes_right_guesses_for_originals() -> None:
    model = ElectraForReplacedTokenDetection(ElectraConfig(**SIZES, embedding_size=16))
    ids = torch.tensor([[2, 7, 4, 9, 3, 0, 0, 0], [2, 4, 8, 8, 9, 9, 9, 3]])
    labels = torch.full_like(ids, -100)
    labels[0, 2], labels[1, 1] = 8, 7
    with torch.no_grad():
        model.generator.generator_lm_head.bias[8] = 100.0
    result = model(ids, labels, attention_mask=(ids != 0).long())
    assert result.replaced_logits.shape == (13,)
    assert result.replaced.nonzero()[:, 0].tolist() == [6]
    assert result.loss.item() == pytest.approx(
        result.generator.loss.item() + 50 * result.replaced_loss.item(), rel=1e-5
    )
    assert math.isfinite(result.loss.item())


def test_the_generator_has_a_quarter_of_the_width_and_learns_by_its_own_arithmetic() -> None:
    config = ElectraConfig.small()
    assert (config.generator().hidden_size, config.generator().num_attention_heads) == (64, 1)
    work = Counts(tokens=128, squares=128**2)
    both = config.training_flops(work._replace(labelled=19))
    alone = BertConfig(hidden_size=256, num_attention_heads=4, intermediate_size=1024).training_flops(work)
    assert both > alone


def test_a_config_of_another_family_is_named(tmp_path: Path) -> None:
    files.write_json(str(tmp_path / "config.json"), {"model_type": "gpt2"})
    with pytest.raises(ConfigError, match="model_type is 'gpt2'"):
        load_config(tmp_path)
    with pytest.raises(ConfigError, match="model_type is 'gpt2'"):
        AlbertConfig.load(tmp_path)
