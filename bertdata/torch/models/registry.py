"""Which model learns from which shards: a shape and an objective to a model, and what does not go together.

BERT learns pairs where the shards have a label and masks alone where not (RoBERTa); ALBERT learns sentence order;
ELECTRA learns from rows without a label. What this module does not do: training.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.shards.schema import ShardInfo
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.torch.models.albert import AlbertForPreTraining
from bertdata.torch.models.bert_pretraining import BertForMaskedLM, BertForPreTraining
from bertdata.torch.models.config import PRESETS, BertConfig, ElectraConfig, load_config
from bertdata.torch.models.electra import ElectraForReplacedTokenDetection

PretrainingModel = BertForPreTraining | BertForMaskedLM | AlbertForPreTraining | ElectraForReplacedTokenDetection
PAIR_LABEL = "pair_label"
"""The key of config.json that says what a pair head has learned."""


def shape_of(config: str | BertConfig, info: ShardInfo) -> BertConfig:
    """Return the shape that a preset's name, a directory or a config means, for some shards.

    Raises ConfigError where there is none of that name, and where it does not fit the shards.
    """
    length = info.examples.max_seq_length
    if isinstance(config, BertConfig):
        shape = config
    elif config in PRESETS:
        shape = PRESETS[config](vocab_size=info.vocab_size, pad_token_id=info.pad_token_id)
        shape = replace(shape, max_position_embeddings=max(shape.max_position_embeddings, -(-length // 8) * 8))
    else:
        if not files.exists(files.join(config, "config.json")):
            raise ConfigError(
                f"--config is {config!r}; expected {', '.join(PRESETS)}, or a directory with a saved model"
            )
        shape = load_config(config)
    if shape.vocab_size != info.vocab_size or shape.pad_token_id != info.pad_token_id:
        raise ConfigError(
            f"the model is for {shape.vocab_size} tokens with [PAD] at {shape.pad_token_id}, the shards have "
            f"{info.vocab_size} with [PAD] at {info.pad_token_id}; use shards and a model of one vocabulary"
        )
    if -(-length // 8) * 8 > shape.max_position_embeddings:
        raise ConfigError(
            f"the rows have up to {length} tokens, padded to a multiple of 8, and the model "
            f"{shape.max_position_embeddings} positions; build shorter rows, or raise max_position_embeddings"
        )
    return shape


def kind_of(shape: BertConfig, info: ShardInfo) -> type[PretrainingModel]:
    """Return the class that learns from shards; raises ConfigError where none of the shape's family does."""
    objective = info.examples.objective
    if shape.model_type == "albert":
        if info.label != "sentence_order_label":
            raise ConfigError(
                f"ALBERT learns the order of sentences, and these shards are for {objective}; build with "
                "--objective sop, or take a BERT config"
            )
        return AlbertForPreTraining
    if shape.model_type == "electra":
        if info.label is not None:
            raise ConfigError(
                f"ELECTRA has no head for pairs, and these shards, for {objective}, have a {info.label}; build with "
                "--objective single-segment, or take a BERT config"
            )
        kind: type[PretrainingModel] = ElectraForReplacedTokenDetection
    else:
        kind = BertForMaskedLM if info.label is None else BertForPreTraining
    if shape.type_vocab_size < 2 and (info.label or objective == "single-segment"):
        raise ConfigError(
            f"the model knows {shape.type_vocab_size} token type, and rows of {objective} have two; build with "
            "--objective full-sentences, or take a config with type_vocab_size 2"
        )
    return kind


def fresh(shape: BertConfig, info: ShardInfo) -> PretrainingModel:
    """Return a model with drawn weights; raises ConfigError as `kind_of` does."""
    kind = kind_of(shape, info)
    if kind is ElectraForReplacedTokenDetection:
        assert isinstance(shape, ElectraConfig)
        return ElectraForReplacedTokenDetection(shape)
    return kind(shape)  # type: ignore[arg-type]


def opened(directory: str, info: ShardInfo, tokenizer: WordPieceTokenizer) -> PretrainingModel:
    """Load the model of a directory to train it on shards.

    Raises ConfigError where its pair head has learned other pairs, or the tokenizer beside it is not the shards' own,
    and InputError where a head that the shards need has no weights.
    """
    learned = files.read_json(files.join(directory, "config.json")).get(PAIR_LABEL)
    if learned and info.label and learned != info.label:
        raise ConfigError(
            f"the pair head of this model has learned {learned}, and these shards have {info.label}; take shards of "
            "that objective, or begin with a fresh model",
            path=directory,
        )
    check_tokenizer(directory, info.tokenizer, tokenizer.vocab_size)
    return kind_of(load_config(directory), info).from_pretrained(directory)


def check_tokenizer(directory: str | os.PathLike[str], fingerprint: str, size: int) -> None:
    """Raise ConfigError where the tokenizer in a model's directory is not the one that shards were made with."""
    place = os.fspath(directory)
    if not any(files.exists(files.join(place, name)) for name in ("tokenizer.json", "vocab.txt")):
        return
    found = WordPieceTokenizer.load(place)
    if found.fingerprint != fingerprint:
        raise ConfigError(
            f"the model's tokenizer is not the one the shards were made with ({found.fingerprint[:12]} with "
            f"{found.vocab_size} pieces here, {fingerprint[:12]} with {size} there); make the shards with this "
            "tokenizer (--vocab), or take a model that was trained with theirs",
            path=place,
        )


def about(info: ShardInfo) -> dict[str, Any]:
    """Return what `config.json` says of the shards a model has learned from."""
    return {PAIR_LABEL: info.label} if info.label else {}
