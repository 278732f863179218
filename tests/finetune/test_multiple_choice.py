"""Questions with choices: the rows of transformers' run_swag, its batches, and its loss on the same model."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.finetune import encode_multiple_choice
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.loader import numpy_batches
from bertdata.shards.choices import choices_apart
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.verify.claims import BrokenRules
from bertdata.verify.unbuilt import _check_rows
from tests.finetune import reference
from tests.tokenizers.of_models import MODELS, PostProcessor, tokenizer_of
from tests.tokenizers.wordpiece.reference import SMALL

TOKENIZER = WordPieceTokenizer.from_tokens(SMALL)
TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("ab the unß ##\t中é"), max_size=30)
QUESTION = st.tuples(TEXT, TEXT, st.lists(TEXT, min_size=2, max_size=5))


def run_swag(tokenizer: Any, questions: list[tuple[str, str, list[str]]], length: int) -> list[list[list[int]]]:
    """Tokenize as run_swag does: each context as often as it has choices, each choice behind its header."""
    first = list(chain(*([context] * len(endings) for context, _, endings in questions)))
    second = list(chain(*([f"{header} {ending}" for ending in endings] for _, header, endings in questions)))
    encoded = tokenizer(first, second, truncation=True, max_length=length)
    return list(map(list, zip(*(encoded[name] for name in encoded if name != "attention_mask"), strict=True)))


def ours(tokenizer: Any, questions: list[tuple[str, str, list[str]]], length: int) -> list[list[list[int]]]:
    texts = [context for context, _, _ in questions]
    choices = [[f"{header} {ending}" for ending in endings] for _, header, endings in questions]
    encoded = encode_multiple_choice(tokenizer, texts, choices, max_seq_length=length)
    columns = {name: encoded.columns[name] for name in encoded.columns if name != "label"}
    apart, rows = choices_apart(pa.record_batch(columns))
    assert rows.tolist() == list(chain(*([number] * len(answers_of) for number, answers_of in enumerate(choices))))
    return [list(row.values()) for row in apart.to_pylist()]


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("transformers")
    return reference.fast_tokenizer(TOKENIZER, tmp_path_factory.mktemp("tokenizer"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(QUESTION, min_size=1, max_size=4), st.integers(3, 24))
def test_rows_are_those_of_run_swag(fast: Any, questions: list[tuple[str, str, list[str]]], length: int) -> None:
    assert ours(TOKENIZER, questions, length) == run_swag(fast, questions, length)


@pytest.mark.parametrize("model", MODELS)
def test_rows_of_any_tokenizer_are_those_of_its_post_processor(model: str) -> None:
    tokenizer = tokenizer_of(model)
    encoded = encode_multiple_choice(tokenizer, ["the salt", "a clock"], [["the garden", "a"], ["", "salt", "a lamp"]])
    apart, _ = choices_apart(pa.record_batch({n: encoded.columns[n] for n in encoded.columns if n != "label"}))
    pairs = [("the salt", "the garden"), ("the salt", "a"), *(("a clock", text) for text in ("", "salt", "a lamp"))]
    expected = [
        PostProcessor(tokenizer).row(tokenizer.encode(first), tokenizer.encode(second)) for first, second in pairs
    ]
    assert apart["input_ids"].to_pylist() == [ids for ids, _ in expected]
    assert ("token_type_ids" in apart.schema.names) == (model == "XLNet")
    if model == "XLNet":
        assert apart["token_type_ids"].to_pylist() == [types for _, types in expected]


def swag(number: int, choices: int = 3) -> str:
    rows = [
        {
            "context": "the sea " * (1 + at % 3),
            "endings": ["a b", "the un", "b a the", "un"][: choices + at % 2],
            "label": at % 2,
        }
        for at in range(number)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("task")
    TOKENIZER.save_pretrained(folder / "vocab")
    (folder / "a.jsonl").write_text(swag(6))
    columns = Columns(("context",), choice_columns=("endings",))
    files = {"train": str(folder / "a.jsonl")}
    encode_task(folder / "out", str(folder / "vocab"), files, TaskConfig("multiple-choice"), columns)
    return folder / "out"


def test_batches_have_a_row_for_each_choice_and_rows_without_tokens_where_there_are_fewer(task: Path) -> None:
    [batch] = numpy_batches(task, 6)
    assert {name: values.shape for name, values in batch.items()} == {
        "input_ids": (6, 4, 24),
        "token_type_ids": (6, 4, 24),
        "attention_mask": (6, 4, 24),
        "labels": (6,),
    }
    present = batch["attention_mask"].any(-1).sum(-1)
    assert sorted(present.tolist()) == [3, 3, 3, 4, 4, 4]
    assert not batch["input_ids"][batch["attention_mask"] == 0].any()
    with pytest.raises(ConfigError, match="these have several choices; leave packing out"):
        list(numpy_batches(task, 6, packing=True))


def test_a_batch_and_its_loss_are_those_of_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from bertdata.torch import PretrainingCollator, ShardDataset
    from bertdata.torch.models.heads import BertForMultipleChoice

    TOKENIZER.save_pretrained(tmp_path)
    rows = [{"sent1": "the sea", "sent2": "a", **{f"ending{at}": "b " * (at + row) for at in range(4)}, "label": row}
            for row in range(4)]  # fmt: skip
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    encode_task(tmp_path / "out", str(tmp_path), {"train": str(tmp_path / "a.jsonl")}, TaskConfig("multiple-choice"))
    dataset = ShardDataset(tmp_path / "out", "train")
    batch = PretrainingCollator(dataset)([dataset[number] for number in range(4)])

    fast = transformers.AutoTokenizer.from_pretrained(tmp_path)
    features = []
    for row in rows:
        second = [f"{row['sent2']} {row[f'ending{at}']}" for at in range(4)]
        features.append({**fast([row["sent1"]] * 4, second, truncation=True, max_length=128), "label": row["label"]})
    collator = transformers.DataCollatorForMultipleChoice(fast, pad_to_multiple_of=8)
    theirs = collator(features)
    assert {*batch} == {*theirs}
    assert all(torch.equal(batch[name], theirs[name]) for name in batch)

    config = transformers.BertConfig(
        vocab_size=len(SMALL), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    peer = transformers.BertForMultipleChoice(config).eval()
    peer.save_pretrained(tmp_path / "model")
    model = BertForMultipleChoice.from_pretrained(tmp_path / "model").eval()
    with torch.no_grad():
        expected, output = peer(**theirs), model(**batch)
    torch.testing.assert_close(output.logits, expected.logits)
    torch.testing.assert_close(output.loss, expected.loss)


def test_rows_that_no_model_could_read_are_found() -> None:
    encoded = encode_multiple_choice(TOKENIZER, ["the", "the"], [["a", "b"], ["a", "b", "un"]], [1, 2])
    from bertdata.finetune.task_info import TaskInfo
    from bertdata.shards.valid_rows import problem_of

    info = TaskInfo.of(TOKENIZER, task="multiple-choice", labels=("0", "1", "2"))
    table = encoded.table(pa.schema(info.columns()), 0)
    lengths = table["choice_lengths"].to_pylist()
    damages: dict[str, tuple[str, Any, str]] = {
        "whole": ("label", [1, 2], ""),
        "label": ("label", [2, 2], "the label is not one of the choices of its row"),
        "sum": ("choice_lengths", [lengths[0], [*lengths[1][:2], 99]], "the lengths of the choices do not add up"),
        "one": ("choice_lengths", [[sum(lengths[0])], lengths[1]], "a row has fewer than two choices"),
        "ids": ("choice_lengths", [[2, sum(lengths[0]) - 2], lengths[1]], ""),
    }
    for name, values, problem in damages.values():
        at = table.schema.get_field_index(name)
        damaged = table.set_column(at, table.schema.field(at), pa.array(values, table.schema.field(at).type))
        assert problem in problem_of(damaged, info)
        assert bool(problem) == bool(problem_of(damaged, info))
        [batch] = damaged.combine_chunks().to_batches()
        broken = BrokenRules()
        _check_rows(batch, info, broken)
        broken.begin = batch.num_rows
        said = " ".join(broken.lines())
        assert problem in said
        if values[0] == [2, sum(lengths[0]) - 2]:
            assert "a row does not begin with the special ids 2 in 1 of 2 rows, first in row 0" in said


@pytest.mark.parametrize(
    ("choices", "labels", "problem"),
    [([["a", "b"]], None, "2 texts, but 1 choices"), ([["a", "b"], ["a"]], None, "fewer than two choices")],
)
def test_examples_that_are_not_whole_are_refused(choices: list[list[str]], labels: None, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        encode_multiple_choice(TOKENIZER, ["the", "un"], choices, labels)
