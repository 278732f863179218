"""Folders with vocab.json and merges.txt are read as transformers reads them, or refused with a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata import load_tokenizer
from bertdata.errors import InputError
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.data import data_path
from tests.tokenizers.small import byte_pair_model

TEXTS = ["the lower hello", " can't", "", "café 2024\n\nthe", "\u4e2d the"]
NAMES = {
    "RobertaTokenizer": ("<pad>", "<unk>", "<s>", "</s>", "<mask>"),
    "BartTokenizer": ("<pad>", "<unk>", "<s>", "</s>", "<mask>"),
    "LongformerTokenizer": ("<pad>", "<unk>", "<s>", "</s>", "<mask>"),
    "DebertaTokenizer": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    "GPT2Tokenizer": ("<|endoftext|>", "a1", "a2", "a3", "a4"),
}


def folder_of(folder: Path, name: str, settings: dict[str, Any], **others: Any) -> Path:
    """Write the two files of a small vocabulary with the special tokens of a class."""
    model = byte_pair_model()
    names = dict(zip(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), NAMES[name], strict=True))
    vocabulary = {names.get(token, token): token_id for token, token_id in model["vocab"].items()}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(model["merges"]) + "\n")
    for file, value in {"tokenizer_config": settings, **others}.items():
        (folder / f"{file}.json").write_text(json.dumps(value))
    return folder


@pytest.mark.parametrize("space", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_ids_and_rows_are_those_of_the_class_of_transformers(name: str, space: bool, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    folder = folder_of(tmp_path, name, {"tokenizer_class": name, "add_prefix_space": space})
    ours, theirs = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    expected = [theirs(text, add_special_tokens=False)["input_ids"] for text in TEXTS]
    assert ours.encode_batch(TEXTS).to_pylist() == [ours.encode(text) for text in TEXTS] == expected
    assert ours.slow_because is None
    assert len(ours) == len(theirs)
    if name != "DebertaTokenizer":  # transformers 5 gives its pairs RoBERTa's rows; those of 4 are DeBERTa's
        assert ours(TEXTS, TEXTS)["input_ids"] == theirs(TEXTS, TEXTS)["input_ids"]
    ours.save_pretrained(tmp_path / "saved")
    assert type(load_tokenizer(tmp_path / "saved")) is JsonTokenizer
    assert load_tokenizer(tmp_path / "saved") == ours


def test_the_type_of_the_model_beside_it_tells_the_class(tmp_path: Path) -> None:
    config = {"do_lower_case": False, "vocab_type": "gpt2"}
    ours = load_tokenizer(folder_of(tmp_path, "DebertaTokenizer", config, config={"model_type": "deberta"}))
    row = ours.encode_pair("the", "low")
    assert row["token_type_ids"] == [0, 0, 0, *[1] * (len(ours.encode("low")) + 1)]


@pytest.mark.costly
def test_the_published_vocabulary_in_two_files_is_the_published_tokenizer(tmp_path: Path) -> None:
    path = data_path("tokenizers", "roberta")
    model = json.loads((path / "tokenizer.json").read_text())["model"]
    (tmp_path / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    (tmp_path / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RobertaTokenizerFast"}))
    ours, published = load_tokenizer(tmp_path), load_tokenizer(path)
    assert ours.encode_batch(TEXTS) == published.encode_batch(TEXTS)
    assert ours.row_template == published.row_template
    assert ours.special_tokens == published.special_tokens


def test_what_does_not_say_enough_is_refused_with_what_to_do(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "RobertaTokenizer", {})
    with pytest.raises(InputError, match="do not say what stands around texts, and the settings beside them name None"):
        load_tokenizer(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CLIPTokenizer"}))
    with pytest.raises(InputError, match="name CLIPTokenizer; expected one of RobertaTokenizer"):
        load_tokenizer(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "DebertaTokenizer"}))
    with pytest.raises(InputError, match=r"has no \[PAD\], a special token of its class"):
        load_tokenizer(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RobertaTokenizer"}))
    (folder / "merges.txt").write_text("#version: 0.2\nt h e\n")
    with pytest.raises(InputError, match="line 2 is 't h e'"):
        load_tokenizer(folder)
    (folder / "merges.txt").unlink()
    with pytest.raises(InputError, match=r"vocab.json alone has no merges: put merges.txt beside it"):
        load_tokenizer(folder)


@pytest.mark.parametrize(
    ("name", "advice"),
    [("a.tiktoken", "TikTokenConverter"), ("bpe.codes", "a fast tokenizer")],
)
def test_other_formats_are_refused_with_what_to_do(name: str, advice: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(InputError, match=advice):
        load_tokenizer(tmp_path)
