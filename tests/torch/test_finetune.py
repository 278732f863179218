from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import transformers

from bertdata.errors import ConfigError, InputError
from bertdata.torch import BertConfig, BertForPreTraining, finetune
from bertdata.torch.finetune import FinetuneSettings, LabelledText, hold_out, read_examples
from bertdata.torch.heads import BertForSequenceClassification
from tests.torch.build import tokenizer_of

SETTINGS = FinetuneSettings(epochs=6, batch_size=16, learning_rate=3e-3, max_seq_length=32, device="cpu")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small encoder with its tokenizer."""
    directory = tmp_path_factory.mktemp("model")
    config = BertConfig(
        vocab_size=100,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=40,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForPreTraining(config).save_pretrained(directory)
    tokenizer_of().save(directory)
    return directory


def rows(number: int, seed: int, *, pairs: bool = False) -> list[dict[str, str]]:
    """Texts of 6 words; the label says whether w7 is among them (in the second text, for pairs)."""
    generator = np.random.default_rng(seed)
    result = []
    for _ in range(number):
        words = [f"w{word}" for word in generator.integers(10, 90, 6)]
        positive = bool(generator.integers(2))
        if positive:
            words[int(generator.integers(6))] = "w7"
        text = " ".join(words)
        row = {"text": "w1 w2", "text_pair": text} if pairs else {"text": text}
        result.append(row | {"label": "with" if positive else "without"})
    return result


def write(path: Path, values: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in values))
    return str(path)


@pytest.mark.parametrize("pairs", [False, True])
def test_a_classifier_learns_what_can_be_learned(tmp_path: Path, model: Path, pairs: bool) -> None:
    train = write(tmp_path / "train.jsonl", rows(300, 0, pairs=pairs))
    validation = write(tmp_path / "validation.jsonl", rows(100, 1, pairs=pairs))
    summary = finetune.finetune(model, train, tmp_path / "out", SETTINGS, validation=validation)
    assert summary["accuracy"] > 0.9
    assert summary["labels"] == ["with", "without"]
    assert (summary["train_examples"], summary["validation_examples"]) == (300, 100)
    opened = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "out")
    assert opened.config.id2label == {0: "with", 1: "without"}
    assert BertForSequenceClassification.from_pretrained(tmp_path / "out").labels == ["with", "without"]


def test_labels_without_a_cause_are_not_learned(tmp_path: Path, model: Path) -> None:
    values = rows(200, 0)
    generator = np.random.default_rng(5)
    for row in values:
        row["label"] = "with" if generator.integers(2) else "without"
    summary = finetune.finetune(
        model,
        write(tmp_path / "x.jsonl", values),
        tmp_path / "out",
        replace(SETTINGS, epochs=1, validation_fraction=0.5),
    )
    assert summary["accuracy"] < 0.7


def test_the_same_run_gives_the_same_model(tmp_path: Path, model: Path) -> None:
    train = write(tmp_path / "train.jsonl", rows(40, 0))
    summaries = [
        finetune.finetune(model, train, tmp_path / name, replace(SETTINGS, epochs=1)) | {"output": ""}
        for name in ("a", "b")
    ]
    assert summaries[0] == summaries[1]
    assert (tmp_path / "a/model.safetensors").read_bytes() == (tmp_path / "b/model.safetensors").read_bytes()


def test_parquet_and_whole_number_labels_are_read(tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    pq.write_table(pa.table({"text": ["a", "b"], "text_pair": [None, "c"], "label": [1, 10], "more": [0, 0]}), path)
    assert read_examples(path) == [LabelledText("a", None, "1"), LabelledText("b", "c", "10")]


def test_the_hold_out_is_a_share_that_the_seed_draws() -> None:
    examples = [LabelledText(str(number), None, "x") for number in range(1000)]
    learned, held = hold_out(examples, 0.1, 0)
    assert sorted(int(one.text) for one in learned + held) == list(range(1000))
    assert 70 < len(held) < 130
    assert hold_out(examples, 0.1, 1)[1] != held
    with pytest.raises(InputError, match="give a validation file"):
        hold_out(examples, 0.0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"text": "a"}', "row 1 has the label None"),
        ('{"label": 1}', "row 1 has no string in `text`"),
        ('{"text": "a", "label": 1.5}', "row 1 has the label 1.5"),
        ("[1]", "line 1 is not a JSON object"),
        ("{", "line 1 is not JSON"),
        ("\n", "holds no rows"),
        ('{"text": "a", "label": 1}\n{"text": "b", "label": 1}', "all examples to learn from have the label '1'"),
    ],
)
def test_examples_that_are_not_what_they_should_be_are_named(
    tmp_path: Path, model: Path, text: str, message: str
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        finetune.finetune(model, str(path), tmp_path / "out", SETTINGS, validation=str(path))


def test_a_label_that_was_not_learned_is_named(tmp_path: Path, model: Path) -> None:
    train = write(tmp_path / "train.jsonl", rows(40, 0))
    other = write(tmp_path / "other.jsonl", [{"text": "w1", "label": "perhaps"}])
    with pytest.raises(InputError, match="the label 'perhaps' is not among"):
        finetune.finetune(model, train, tmp_path / "out", replace(SETTINGS, epochs=1), validation=other)


def test_rows_longer_than_the_model_and_another_tokenizer_are_refused(tmp_path: Path, model: Path) -> None:
    train = write(tmp_path / "train.jsonl", rows(40, 0))
    with pytest.raises(ConfigError, match="the model has 40 positions"):
        finetune.finetune(model, train, tmp_path / "out", replace(SETTINGS, max_seq_length=48))
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((model / name).read_bytes())
    tokenizer_of(90).save(tmp_path)
    with pytest.raises(ConfigError, match="the tokenizer has 95 tokens, the model 100"):
        finetune.finetune(tmp_path, train, tmp_path / "out", SETTINGS)


def test_the_command_line_runs(tmp_path: Path, model: Path) -> None:
    train = write(tmp_path / "train.jsonl", rows(40, 0))
    parser = argparse.ArgumentParser()
    finetune.add_arguments(parser)
    line = f"{model} {train} --output {tmp_path / 'out'} --epochs 1 --max-seq-length 32 --device cpu"
    summary = finetune.run(parser.parse_args(line.split()))
    assert 0 <= summary["accuracy"] <= 1
    with pytest.raises(ConfigError, match="--warmup is 2"):
        finetune.run(parser.parse_args([*line.split(), "--warmup", "2"]))
