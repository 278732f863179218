"""Fine-tuning on text classification (BERT section 4.1): texts or text pairs with a label, accuracy at the end.

Input is JSON lines or Parquet with the columns `text`, `label` and, for pairs, `text_pair`. The model directory also
holds the tokenizer, as `pretrain` leaves it. What this module does not do: tagging, questions, other metrics.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from bertdata import config as flags
from bertdata import files
from bertdata.documents import open_parquet
from bertdata.draws import bits, happens, key
from bertdata.errors import ConfigError, InputError
from bertdata.output import claimed
from bertdata.torch.config import BertConfig
from bertdata.torch.heads import BertForSequenceClassification, TaskOutput
from bertdata.torch.optimization import adamw, choose_device, learning_rate, own_randomness, seed_step, update
from bertdata.torch.sampler import ResumableSampler
from bertdata.wordpiece import WordPieceTokenizer

LogRecord = dict[str, float]


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text, "choices": None})


@dataclass(frozen=True)
class FinetuneSettings:
    """How a classifier is fine-tuned (BERT appendix A.3: batch 16 or 32, rate 2e-5 to 5e-5, 2 to 4 epochs)."""

    epochs: int = _option(3, "times each example is seen")
    batch_size: int = _option(32, "examples in a batch")
    learning_rate: float = _option(3e-5, "peak of the learning rate")
    warmup: float = _option(0.1, "share of the steps over which the rate rises; then it falls to 0 in a line")
    weight_decay: float = _option(0.01, "AdamW's decay, not on biases and LayerNorm")
    clip: float = _option(1.0, "largest norm of the gradient; 0: no limit")
    max_seq_length: int = _option(128, "tokens in a row, special tokens included; longer texts are cut")
    validation_fraction: float = _option(0.1, "share of the examples held out where no validation file is given")
    seed: int = _option(0, "the classifier's weights, order, dropout and hold-out are functions of it")
    device: str = _option("auto", "auto, cpu or cuda")

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("batch_size", 1), ("max_seq_length", 8), ("weight_decay", 0), ("clip", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"--{name.replace('_', '-')} is {getattr(self, name)}; expected at least {least}")
        if not self.learning_rate > 0:
            raise ConfigError(f"--learning-rate is {self.learning_rate}; expected more than 0, as 3e-5")
        for name in ("warmup", "validation_fraction"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(
                    f"--{name.replace('_', '-')} is {getattr(self, name)}; expected 0 or more, and less than 1"
                )


@dataclass(frozen=True)
class LabelledText:
    """One example: a text, perhaps a second one, and the name of its class."""

    text: str
    text_pair: str | None
    label: str


def read_examples(path: str) -> list[LabelledText]:
    """Read labelled texts from JSON lines (compressed or not) or Parquet; numbers are taken as names of classes.

    Raises InputError, naming the row, where a column is missing or holds something else.
    """
    examples = []
    for number, row in enumerate(_rows(path), 1):
        text, pair, label = row.get("text"), row.get("text_pair"), row.get("label")
        if not isinstance(text, str) or not isinstance(pair, str | None):
            raise InputError(f"row {number} has no string in `text`, or none in `text_pair`; expected texts", path=path)
        if not isinstance(label, str | int):
            raise InputError(f"row {number} has the label {label!r}; expected a string or a whole number", path=path)
        examples.append(LabelledText(text, pair, str(int(label) if isinstance(label, bool) else label)))
    if not examples:
        raise InputError("holds no rows; expected labelled texts", path=path)
    return examples


def _rows(path: str) -> Iterator[dict[str, Any]]:
    if path.endswith(".parquet"):
        with files.open_raw(path) as raw:
            parquet = open_parquet(raw, path)
            names = [name for name in ("text", "text_pair", "label") if name in parquet.schema_arrow.names]
            try:
                for batch in parquet.iter_batches(1024, columns=names):
                    yield from batch.to_pylist()
            except pa.ArrowException as error:
                raise InputError(f"is damaged ({error}); get the file again", path=path) from error
        return
    with files.open_decompressed(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise InputError(f"line {number} is not JSON ({error}); expected JSON lines", path=path) from error
                if not isinstance(row, dict):
                    raise InputError(f"line {number} is not a JSON object; expected JSON lines", path=path)
                yield row


class _Encoded(Dataset[tuple[list[int], list[int], int]]):
    """Examples as ids, token types and class numbers, addressed as `ResumableSampler` does."""

    def __init__(
        self, examples: Sequence[LabelledText], labels: Sequence[str], tokenizer: WordPieceTokenizer, length: int
    ) -> None:
        numbers = {name: number for number, name in enumerate(labels)}
        self._rows = []
        for one in examples:
            if one.label not in numbers:
                raise InputError(f"the label {one.label!r} is not among those trained on: {', '.join(labels)}")
            encoded = tokenizer.encode_pair(one.text, one.text_pair, length)
            self._rows.append((encoded["input_ids"], encoded["token_type_ids"], numbers[one.label]))
        self._pad = tokenizer.pad_token_id

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: tuple[int, int]) -> tuple[list[int], list[int], int]:
        return self._rows[index[1]]

    def collate(self, rows: Sequence[tuple[list[int], list[int], int]]) -> dict[str, Tensor]:
        width = -(-max(len(ids) for ids, _, _ in rows) // 8) * 8
        return {
            "input_ids": torch.tensor([ids + [self._pad] * (width - len(ids)) for ids, _, _ in rows]),
            "token_type_ids": torch.tensor([types + [0] * (width - len(types)) for _, types, _ in rows]),
            "attention_mask": torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids, _, _ in rows]),
            "labels": torch.tensor([label for _, _, label in rows]),
        }


def finetune(
    model: str | os.PathLike[str],
    train: str,
    output: str | os.PathLike[str],
    settings: FinetuneSettings | None = None,
    *,
    validation: str | None = None,
    report: Callable[[LogRecord], None] | None = None,
) -> dict[str, Any]:
    """Train a classifier on the encoder in a directory and return output, examples, steps, loss and accuracy.

    Accuracy is the share of right classes in the validation file, or in the examples held out. The classifier, its
    configuration and tokenizer go to `output`. `report` is called after each step. Raises ConfigError where the model,
    its tokenizer and the settings do not fit together, InputError where the examples are not what they should be.
    """
    settings, directory = settings or FinetuneSettings(), os.fspath(model)
    config, tokenizer = BertConfig.load(directory), WordPieceTokenizer.load(directory)
    if tokenizer.vocab_size != config.vocab_size:
        raise ConfigError(
            f"the tokenizer has {tokenizer.vocab_size} tokens, the model {config.vocab_size}: they do not belong "
            "together; use the tokenizer the model was trained with",
            path=directory,
        )
    if settings.max_seq_length > config.max_position_embeddings // 8 * 8:
        raise ConfigError(
            f"--max-seq-length is {settings.max_seq_length}, the model has {config.max_position_embeddings} positions; "
            f"expected at most {config.max_position_embeddings // 8 * 8}"
        )
    learned = read_examples(train)
    held = read_examples(validation) if validation else []
    if not validation:
        learned, held = hold_out(learned, settings.validation_fraction, settings.seed)
    labels = sorted({one.label for one in learned}, key=lambda name: (len(name), name) if name.isdigit() else (0, name))
    if len(labels) < 2:
        raise InputError(f"all examples to learn from have the label {labels[0]!r}; expected two or more", path=train)
    data = _Encoded(learned, labels, tokenizer, settings.max_seq_length)
    device = choose_device(settings.device)
    with claimed(os.fspath(output), "a fine-tuned model"), own_randomness(device):
        torch.manual_seed(settings.seed)
        classifier = BertForSequenceClassification.from_pretrained(directory, labels).to(device)
        loss = _train(classifier, data, settings, device, report)
        accuracy = _evaluate(classifier, _Encoded(held, labels, tokenizer, settings.max_seq_length), settings, device)
        classifier.save_pretrained(output)
        tokenizer.save(output)
    return {
        "output": os.fspath(output),
        "labels": labels,
        "train_examples": len(learned),
        "validation_examples": len(held),
        "loss": loss,
        "accuracy": accuracy,
    }


def hold_out(
    examples: Sequence[LabelledText], fraction: float, seed: int
) -> tuple[list[LabelledText], list[LabelledText]]:
    """Part examples into those to learn from and those held out, each by a draw of its own on its row number.

    Raises InputError where either part is empty.
    """
    held = [bool(happens(bits(key(seed, "finetune validation"), row), fraction)) for row in range(len(examples))]
    if all(held) or not any(held):
        raise InputError(
            f"holding out {fraction:g} of {len(examples)} examples leaves nothing to learn from or to measure by; "
            "give a validation file"
        )
    pairs = list(zip(examples, held, strict=True))
    return [one for one, out in pairs if not out], [one for one, out in pairs if out]


def _train(
    model: BertForSequenceClassification,
    data: _Encoded,
    settings: FinetuneSettings,
    device: torch.device,
    report: Callable[[LogRecord], None] | None,
) -> float:
    sampler = ResumableSampler(
        data, settings.batch_size, epochs=settings.epochs, seed=settings.seed, rank=0, world_size=1
    )
    loader = DataLoader(data, batch_sampler=sampler, collate_fn=data.collate)
    optimizer, steps, loss = adamw(model, settings.weight_decay), len(sampler), 0.0
    model.train()
    for step, batch in enumerate(loader, 1):
        seed_step(settings.seed, step)
        result: TaskOutput = model(**{name: value.to(device) for name, value in batch.items()})
        assert result.loss is not None
        loss = float(result.loss.detach())
        rate = learning_rate(step - 1, steps, settings.learning_rate, settings.warmup)
        update(model, optimizer, result.loss, rate, settings.clip, step)
        if report is not None:
            report({"step": step, "steps": steps, "loss": loss})
    return loss


def _evaluate(
    model: BertForSequenceClassification, data: _Encoded, settings: FinetuneSettings, device: torch.device
) -> float:
    """Return the share of examples whose class the model gets right."""
    model.eval()
    right = 0
    with torch.no_grad():
        for start in range(0, len(data), settings.batch_size):
            rows = [data[(0, number)] for number in range(start, min(start + settings.batch_size, len(data)))]
            batch = {name: value.to(device) for name, value in data.collate(rows).items()}
            result: TaskOutput = model(**batch)
            right += int((result.logits.argmax(-1) == batch["labels"]).sum())
    return right / len(data)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata finetune` to a parser."""
    parser.add_argument("model", help="directory of a pretrained model and its tokenizer")
    parser.add_argument("train", help="labelled texts, JSON lines or Parquet: text, label, and text_pair for pairs")
    parser.add_argument("--validation", help="labelled texts to measure accuracy on (default: a part held out)")
    parser.add_argument("--output", required=True, help="directory for the classifier")
    flags.add_flags(parser, FinetuneSettings)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fine-tune as parsed arguments say, with a progress bar on a terminal, and return the summary."""
    from tqdm import tqdm

    settings = FinetuneSettings(**{one.name: getattr(arguments, one.name) for one in fields(FinetuneSettings)})
    with tqdm(unit="step", disable=None) as bar:

        def report(record: LogRecord) -> None:
            bar.total = int(record["steps"])
            bar.set_postfix(loss=f"{record['loss']:.3f}", refresh=False)
            bar.update(1)

        return finetune(
            arguments.model,
            arguments.train,
            arguments.output,
            settings,
            validation=arguments.validation,
            report=report,
        )
