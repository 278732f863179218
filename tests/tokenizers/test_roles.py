"""Missing special tokens are reported before any work starts, all in one message with the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import transformers

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.formats.importing import import_shards
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.roles import require_rows
from bertdata.verify.build import verify
from tests.small_build import write_build
from tests.tokenizers.of_models import tokenizer_of

REMEDY = r"open it with transformers, call add_special_tokens\(\{'pad_token': '\[PAD\]', 'cls_token'"


def without(model: str, *names: str, post_processor: Any = ...) -> JsonTokenizer:
    """Return a tokenizer like that of a model, in which some special tokens are called as no role has them."""
    data = json.loads(tokenizer_of(model)._whole.to_str())
    text = json.dumps(data)
    for name in names:
        text = text.replace(json.dumps(name), json.dumps(f"<other {name[1:-1]}>"))
    data = json.loads(text)
    return JsonTokenizer(data if post_processor is ... else data | {"post_processor": post_processor}, {})


def of_generation() -> JsonTokenizer:
    """Return a tokenizer as of a model for text generation: no roles, nothing around texts."""
    return without("RoBERTa", "<pad>", "<s>", "</s>", "<mask>", post_processor=None)


def test_all_that_is_missing_is_named_with_the_file_and_the_remedy() -> None:
    with pytest.raises(ConfigError, match=rf"^x/y: this tokenizer has no pad, cls, sep or mask token, .* {REMEDY}"):
        require_rows(of_generation(), "x/y", masked=True)
    with pytest.raises(ConfigError, match=r"this tokenizer has no mask token"):
        require_rows(without("RoBERTa", "<mask>"), masked=True)


def test_what_masks_nothing_needs_no_mask_token(tmp_path: Path) -> None:
    tokenizer = without("RoBERTa", "<mask>")
    require_rows(tokenizer, masked=False)
    tokenizer.save_pretrained(tmp_path / "vocab")
    (tmp_path / "texts.csv").write_text("text,label\nthe salt,yes\nthe stone,no\n")
    encode_task(tmp_path / "out", str(tmp_path / "vocab"), {"train": str(tmp_path / "texts.csv")})
    verify(tmp_path / "out")
    assert open_shards(tmp_path / "out").info.mask_token_id == -1
    assert open_shards(tmp_path / "out").table.column_names == ["input_ids", "example_id", "label"]


def test_around_texts_are_tokens_that_are_never_masked() -> None:
    data = json.loads(tokenizer_of("ModernBERT")._whole.to_str())
    changed = JsonTokenizer(data, {"cls_token": "[MASK]"})
    with pytest.raises(ConfigError, match=r"puts \[CLS\] around texts, which is neither its cls nor its sep token"):
        require_rows(changed, masked=True)
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    begin = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    alone: dict[str, Any] = {
        "type": "TemplateProcessing",
        "single": [begin, a],
        "pair": [begin, a, b],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}},
    }
    with pytest.raises(ConfigError, match="puts nothing between two texts of a row"):
        require_rows(without("ModernBERT", post_processor=alone), masked=True)


def test_rows_have_room_for_two_texts() -> None:
    data = json.loads(tokenizer_of("ModernBERT")._whole.to_str())
    pieces = data["post_processor"]["pair"]
    sep = pieces[-1]
    data["post_processor"] |= {"pair": [*pieces[:2], *[sep] * 5, *pieces[3:]]}
    with pytest.raises(ConfigError, match=r"`max_seq_length` is 8; expected at least 9, .* 7 special tokens"):
        require_rows(JsonTokenizer(data, {}), masked=True, max_seq_length=8)
    require_rows(JsonTokenizer(data, {}), masked=True, max_seq_length=9)


@pytest.mark.parametrize("flags", [["--dry-run"], []])
def test_a_build_is_refused_before_its_sources_are_read(tmp_path: Path, flags: list[str]) -> None:
    of_generation().save_pretrained(tmp_path / "vocab")
    (tmp_path / "texts.jsonl").write_text("no JSON at all")
    command = ["build", "--documents", str(tmp_path / "texts.jsonl"), "--vocab", str(tmp_path / "vocab")]
    with pytest.raises(ConfigError, match="vocab: this tokenizer has no pad, cls, sep or mask token"):
        dispatch([*command, "--output", str(tmp_path / "out"), *flags])
    assert not (tmp_path / "out").exists()


def test_fine_tuning_and_imports_are_refused_before_files_are_read(tmp_path: Path) -> None:
    of_generation().save_pretrained(tmp_path / "vocab")
    (tmp_path / "broken").write_text("")
    sources = {"train": str(tmp_path / "broken")}
    with pytest.raises(ConfigError, match="vocab: this tokenizer has no pad, cls or sep token"):
        encode_task(tmp_path / "out", str(tmp_path / "vocab"), sources, TaskConfig(task="classification"))
    with pytest.raises(ConfigError, match="vocab: this tokenizer has no pad, cls, sep or mask token"):
        import_shards({"train": [str(tmp_path / "broken")]}, str(tmp_path / "vocab"), str(tmp_path / "out"))


def test_the_remedy_makes_a_tokenizer_that_builds(tmp_path: Path) -> None:
    of_generation().save_pretrained(tmp_path / "vocab")
    opened = transformers.AutoTokenizer.from_pretrained(tmp_path / "vocab")
    opened.add_special_tokens(
        {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    )
    opened.save_pretrained(tmp_path / "whole")
    whole = load_tokenizer(tmp_path / "whole")
    build = write_build(tmp_path / "build", ExamplesConfig("nsp", "static", 32), documents=20, pieces=whole)
    verify(build)
    row = open_shards(build).table["input_ids"].to_pylist()[0]
    assert [whole.tokens[row[0]], whole.tokens[row[-1]]] == ["[CLS]", "[SEP]"]
