from __future__ import annotations

import argparse
import errno
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertdata.cli import finetune as command
from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.io import files
from bertdata.io.os_errors import output_error
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from bertdata.torch import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    ModernBertConfig,
    ModernBertForMaskedLM,
    ShardDataset,
)
from bertdata.torch.models.heads import BertForQuestionAnswering, BertForSequenceClassification
from bertdata.torch.training import finetune, metrics_log
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.optimization import DivergenceError
from bertdata.torch.training.tasks import evaluate
from tests.torch.build import tokenizer_of, write_build

SETTINGS = FinetuneSettings(epochs=6, batch_size=16, learning_rate=3e-3, device="cpu")
CONFIG = BertConfig(
    vocab_size=100,
    hidden_size=32,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=40,
)
TAGS = ["O", "B-LOW", "B-HIGH"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small encoder with its tokenizer."""
    directory = tmp_path_factory.mktemp("model")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForPreTraining(CONFIG).save_pretrained(directory)
    tokenizer_of().save_pretrained(directory)
    return directory


def words(generator: np.random.Generator) -> list[str]:
    return [f"w{word}" for word in generator.integers(10, 90, 6)]


def texts(number: int, seed: int, *, pairs: bool = False, labels: bool = True) -> str:
    """Texts of 6 words; the label says whether w7 is among them (in the second text, for pairs)."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(number):
        text, positive = words(generator), bool(generator.integers(2))
        if positive:
            text[int(generator.integers(6))] = "w7"
        row = {"text": "w1 w2", "text_pair": " ".join(text)} if pairs else {"text": " ".join(text)}
        rows.append(row | {"label": "with" if (positive if labels else generator.integers(2)) else "without"})
    return "".join(json.dumps(row) + "\n" for row in rows)


def tagged(number: int, seed: int) -> str:
    """Sentences of 6 words; words below w30 are LOW entities, those of w60 and more HIGH ones."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(number):
        sentence = words(generator)
        tags = [TAGS[1] if int(word[1:]) < 30 else TAGS[2] if int(word[1:]) >= 60 else "O" for word in sentence]
        rows.append({"tokens": sentence, "tags": tags})
    return "".join(json.dumps(row) + "\n" for row in rows)


def questions(number: int, seed: int) -> str:
    """Contexts of 6 words; the answer is the word behind w7; in one of five there is none."""
    generator = np.random.default_rng(seed)
    asked = []
    for name in range(number):
        context, answers = words(generator), []
        if generator.integers(5):
            place = int(generator.integers(5))
            context[place] = "w7"
            before = " ".join(context[: place + 1]) + " "
            answers = [{"text": context[place + 1], "answer_start": len(before)}]
        question = {"id": f"q{name}", "question": "w1", "answers": answers, "is_impossible": not answers}
        asked.append({"context": " ".join(context), "qas": [question]})
    return json.dumps({"data": [{"paragraphs": asked}]})


def encoded(folder: Path, task: str, make: Callable[[int, int], str], sizes: tuple[int, int] = (300, 100)) -> Path:
    """Encode two splits of a made task and return the folder of its shards."""
    folder.mkdir(parents=True, exist_ok=True)
    ending = "json" if task == "question-answering" else "jsonl"
    paths = {}
    for seed, (split, size) in enumerate(zip(("train", "validation"), sizes, strict=True)):
        (folder / f"{split}.{ending}").write_text(make(size, seed))
        paths[split] = str(folder / f"{split}.{ending}")
    tokenizer_of().save_pretrained(folder / "vocab")
    length = 32 if task != "question-answering" else 24
    config = TaskConfig(task=task, max_seq_length=length, doc_stride=4)
    encode_task(folder / "shards", str(folder / "vocab"), paths, config)
    return folder / "shards"


@pytest.mark.costly
@pytest.mark.parametrize("pairs", [False, True])
def test_a_classifier_learns_what_can_be_learned(tmp_path: Path, model: Path, pairs: bool) -> None:
    shards = encoded(tmp_path / "task", "classification", lambda number, seed: texts(number, seed, pairs=pairs))
    summary = finetune.finetune(shards, model, tmp_path / "out", SETTINGS)
    assert summary["accuracy"] > 0.9
    assert summary["macro_f1"] > 0.9
    assert (summary["train_examples"], summary["validation_examples"], summary["steps"]) == (300, 100, 113)
    opened = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "out")
    assert opened.config.id2label == {0: "with", 1: "without"}
    again = BertForSequenceClassification.from_pretrained(tmp_path / "out")
    scores = evaluate(again, ShardDataset(shards, "validation"), 7, torch.device("cpu"))
    assert scores == {name: summary[name] for name in scores}
    assert files.read_json(str(tmp_path / "out" / "scores.json")) == scores
    assert WordPieceTokenizer.from_pretrained(tmp_path / "out") == tokenizer_of()


def test_labels_without_a_cause_are_not_learned(tmp_path: Path, model: Path) -> None:
    make = lambda number, seed: texts(number, seed, labels=False)  # noqa: E731
    shards = encoded(tmp_path, "classification", make, (200, 200))
    summary = finetune.finetune(shards, model, tmp_path / "out", replace(SETTINGS, epochs=1))
    assert summary["accuracy"] < 0.6


def test_a_tagger_learns_what_can_be_learned(tmp_path: Path, model: Path) -> None:
    pytest.importorskip("seqeval")
    shards = encoded(tmp_path, "token-classification", tagged)
    summary = finetune.finetune(shards, model, tmp_path / "out", SETTINGS)
    assert summary["f1"] > 0.9
    assert summary["accuracy"] > 0.9
    opened = transformers.AutoModelForTokenClassification.from_pretrained(tmp_path / "out")
    assert sorted(opened.config.id2label.values()) == sorted(TAGS)


@pytest.mark.costly
def test_questions_are_answered_where_they_can_be(tmp_path: Path, model: Path) -> None:
    shards = encoded(tmp_path, "question-answering", questions, (900, 100))
    settings = replace(SETTINGS, epochs=10, batch_size=32)
    summary = finetune.finetune(shards, model, tmp_path / "out", settings)
    assert summary["exact_match"] > 0.8
    assert summary["f1"] >= summary["exact_match"]
    transformers.AutoModelForQuestionAnswering.from_pretrained(tmp_path / "out")


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "make", "epochs", "score"),
    [
        ("classification", lambda number, seed: texts(number, seed, pairs=True), 4, ("accuracy", 0.9)),
        ("token-classification", tagged, 4, ("f1", 0.9)),
        ("question-answering", questions, 1, ("f1", 0.0)),
    ],
)
def test_a_family_with_heads_of_its_own_is_fine_tuned(
    tmp_path: Path, task: str, make: Callable[[int, int], str], epochs: int, score: tuple[str, float]
) -> None:
    """ModernBERT: a dense layer and a norm in front of each last layer, no token types, texts pooled by their mean."""
    pytest.importorskip("seqeval")
    sizes = {"num_hidden_layers": 2, "hidden_size": 32, "intermediate_size": 64, "local_attention": 8}
    config = ModernBertConfig.tiny(vocab_size=100, **sizes)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        ModernBertForMaskedLM(config).save_pretrained(tmp_path / "model")
    tokenizer_of().save_pretrained(tmp_path / "model")
    shards = encoded(tmp_path / "task", task, make)
    summary = finetune.finetune(shards, tmp_path / "model", tmp_path / "out", replace(SETTINGS, epochs=epochs))
    assert summary[score[0]] >= score[1]
    theirs = {"classification": transformers.AutoModelForSequenceClassification}
    theirs |= {"token-classification": transformers.AutoModelForTokenClassification}
    theirs |= {"question-answering": transformers.AutoModelForQuestionAnswering}
    opened, notes = theirs[task].from_pretrained(tmp_path / "out", output_loading_info=True)
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    assert opened.config.classifier_pooling == "mean"


def test_a_model_that_knows_one_token_type_takes_rows_of_two_and_the_run_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    BertForMaskedLM(replace(CONFIG, type_vocab_size=1)).save_pretrained(tmp_path / "model")
    tokenizer_of().save_pretrained(tmp_path / "model")
    shards = encoded(tmp_path / "task", "question-answering", questions, (16, 16))
    settings = replace(SETTINGS, epochs=1, fp16=True)
    summary = finetune.finetune(shards, tmp_path / "model", tmp_path / "out", settings)
    assert summary["validation_examples"] == 16
    assert "warning: the model knows one token type, and rows have two, one for each text" in capsys.readouterr().err
    model = BertForQuestionAnswering.from_pretrained(tmp_path / "out").eval()
    ids, types = torch.arange(6, 12)[None], torch.tensor([[0, 0, 0, 1, 1, 1]])
    assert torch.equal(model(ids, token_type_ids=types).start_logits, model(ids).start_logits)
    assert all("overflows" in record for record in metrics_log.read(tmp_path / "out" / "log.jsonl"))


def test_nothing_is_said_of_token_types_where_rows_have_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    BertForMaskedLM(replace(CONFIG, type_vocab_size=1)).save_pretrained(tmp_path / "model")
    tokenizer_of().save_pretrained(tmp_path / "model")
    shards = encoded(tmp_path / "task", "classification", texts, (16, 8))
    finetune.finetune(shards, tmp_path / "model", tmp_path / "out", replace(SETTINGS, epochs=1))
    assert "token type" not in capsys.readouterr().err


def test_an_encoder_refuses_token_types_that_it_does_not_know(tmp_path: Path) -> None:
    ids, types = torch.arange(6, 12)[None], torch.tensor([[0, 0, 0, 1, 1, 1]])
    model = BertForMaskedLM(replace(CONFIG, type_vocab_size=1)).eval()
    with pytest.raises(ConfigError, match="token_type_ids has type 1, and the model knows 1 token type, from 0 on"):
        model(ids, token_type_ids=types)
    model(ids, token_type_ids=torch.zeros_like(types))
    BertForMaskedLM(CONFIG).eval()(ids, token_type_ids=types)


def test_the_same_run_gives_the_same_model(tmp_path: Path, model: Path) -> None:
    shards = encoded(tmp_path, "classification", texts, (40, 10))
    summaries = [
        finetune.finetune(shards, model, tmp_path / name, replace(SETTINGS, epochs=1)) | {"output": ""}
        for name in ("a", "b")
    ]
    assert summaries[0] == summaries[1]
    assert (tmp_path / "a/model.safetensors").read_bytes() == (tmp_path / "b/model.safetensors").read_bytes()


def test_shards_that_are_not_for_the_model_are_refused(tmp_path: Path, model: Path, dynamic_build: Path) -> None:
    with pytest.raises(
        ConfigError, match="holds shards for pretraining; expected a folder that `bertdata encode-task`"
    ):
        finetune.finetune(dynamic_build, model, tmp_path / "out", SETTINGS)
    shards = encoded(tmp_path / "task", "classification", texts, (20, 10))
    with pytest.raises(InputError, match=r"holds shards, and no model; expected a folder with a config\.json"):
        finetune.finetune(shards, dynamic_build, tmp_path / "out", SETTINGS)
    other = tmp_path / "other"
    other.mkdir()
    for name in ("config.json", "model.safetensors"):
        (other / name).write_bytes((model / name).read_bytes())
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *(f"v{number}" for number in range(95))]).save_pretrained(other)
    with pytest.raises(ConfigError, match="the model's tokenizer is not the one the shards were made with"):
        finetune.finetune(shards, other, tmp_path / "out", SETTINGS)
    short = tmp_path / "short"
    BertForPreTraining(replace(CONFIG, max_position_embeddings=16)).save_pretrained(short)
    with pytest.raises(ConfigError, match=r"up to 32 tokens, the model has 16 positions; .*`max_seq_length` 16"):
        finetune.finetune(shards, short, tmp_path / "out", SETTINGS)
    small = tmp_path / "small"
    BertForPreTraining(replace(CONFIG, vocab_size=90)).save_pretrained(small)
    with pytest.raises(ConfigError, match="the shards have 100 tokens, the model 90"):
        finetune.finetune(shards, small, tmp_path / "out", SETTINGS)
    assert not (tmp_path / "out").exists()


def test_fine_tuning_shards_are_no_pretraining_shards(tmp_path: Path) -> None:
    from bertdata.torch.training.pretrain import pretrain
    from bertdata.torch.training.settings import PretrainSettings

    shards = encoded(tmp_path / "task", "classification", texts, (20, 10))
    with pytest.raises(ConfigError, match="bertdata finetune"):
        pretrain(shards, CONFIG, tmp_path / "out", PretrainSettings(max_steps=1, batch_size=2, device="cpu"))


def test_a_loss_that_is_no_number_and_a_full_disk_are_told(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = encoded(tmp_path / "task", "classification", texts, (20, 10))
    with pytest.raises(DivergenceError, match="lower the learning rate"):
        finetune.finetune(shards, model, tmp_path / "out", replace(SETTINGS, learning_rate=1e30, max_grad_norm=0.0))
    write = files.write_bytes

    def full(path: str, data: bytes) -> None:
        if path.endswith("model.safetensors"):
            raise output_error(OSError(errno.ENOSPC, "full"), path)
        write(path, data)

    monkeypatch.setattr(files, "write_bytes", full)
    with pytest.raises(OutputError, match="no space left"):
        finetune.finetune(shards, model, tmp_path / "out2", replace(SETTINGS, epochs=1))


def test_a_manifest_that_is_not_whole_is_refused(tmp_path: Path, model: Path) -> None:
    shards = encoded(tmp_path / "task", "classification", texts, (20, 10))
    files.write_json(str(shards / "manifest.json"), {})
    with pytest.raises(InputError, match="not a whole manifest"):
        finetune.finetune(shards, model, tmp_path / "out", SETTINGS)


def test_the_command_line_runs(tmp_path: Path, model: Path) -> None:
    shards = encoded(tmp_path / "task", "classification", texts, (40, 10))
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    line = f"{shards} --model {model} --output {tmp_path / 'out'} --epochs 1 --device cpu --no-bf16"
    summary = command.run(parser.parse_args(line.split()))
    assert 0 <= summary["accuracy"] <= 1
    with pytest.raises(ConfigError, match="`warmup_ratio` is 2"):
        command.run(parser.parse_args([*line.split(), "--warmup-ratio", "2"]))


def test_a_model_is_pretrained_and_fine_tuned_from_shards_alone(tmp_path: Path) -> None:
    from bertdata.torch.training.pretrain import pretrain
    from bertdata.torch.training.settings import PretrainSettings

    build = write_build(tmp_path / "build")
    settings: dict[str, Any] = {"max_steps": 2, "batch_size": 4, "num_workers": 0, "device": "cpu"}
    pretrain(build, replace(CONFIG, num_hidden_layers=1), tmp_path / "model", PretrainSettings(**settings))
    shards = encoded(tmp_path / "task", "classification", texts, (20, 10))
    summary = finetune.finetune(shards, tmp_path / "model", tmp_path / "out", replace(SETTINGS, epochs=1))
    assert summary["task"] == "classification"


def test_a_finished_run_has_nothing_to_do_unless_something_is_another_or_it_is_restarted(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shards, settings = encoded(tmp_path / "task", "classification", texts, (32, 10)), replace(SETTINGS, epochs=1)
    place = (shards, model, tmp_path / "out")
    plan = finetune.finetune(*place, settings, dry_run=True)
    assert (plan["rows"], plan["steps"], plan["epochs"], plan["validation_rows"]) == (32, 2, 1, 10)
    assert not (tmp_path / "out").exists()
    first = finetune.finetune(*place, settings)
    plan_line, *steps = (line[9:] for line in capsys.readouterr().err.splitlines())  # after the time of day
    assert "; 32 rows of up to 32 tokens, " in plan_line
    assert plan_line.startswith("BertForSequenceClassification on cpu: ")
    assert [line.partition(":")[0] for line in steps] == ["step 1 of 2", "step 2 of 2"]
    assert finetune.finetune(*place, replace(settings, num_workers=1)) == first
    assert capsys.readouterr().err[9:] == f"nothing to do: {tmp_path / 'out'} is trained, 2 of 2 steps\n"
    for again in ({"settings": replace(settings, seed=1)}, {"settings": settings}, {"restart": True}):
        finetune.finetune(*place, **{"settings": settings, "quiet": False, **again})  # type: ignore[arg-type]
        assert "step 2 of 2" in capsys.readouterr().err
    files.remove(str(tmp_path / "out" / "model.safetensors"))
    finetune.finetune(*place, settings, quiet=True)
    assert (tmp_path / "out" / "model.safetensors").exists()
    assert capsys.readouterr().err == ""
