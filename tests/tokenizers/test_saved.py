"""What is saved opens with the same ids in transformers, `tokenizers` and here, whatever class its settings named."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer as Reference

from bertdata import WordPieceTokenizer, load_tokenizer
from bertdata.tokenizers import Tokenizer, saved_check
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.data import ROOT, data_path
from tests.tokenizers.small import (
    METASPACES,
    QUOTES,
    SMALL,
    SPACES,
    SPECIAL,
    SPLIT_METASPACES,
    byte_level,
    byte_pair_model,
    json_tokenizer,
    sequence,
    unigram_model,
)

REAL = sorted(path.parent.name for path in ROOT.glob("tokenizers/*/tokenizer.json")) or ["roberta"]
PIECES = [*SPECIAL, *"aehlostS", "salt", "water", "##s", "##e", "2024", "is"]
WORD_PIECE = {
    "type": "WordPiece",
    "vocab": {token: token_id for token_id, token in enumerate(PIECES)},
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 200,
}
BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": False,
    "lowercase": False,
}
CUT = {
    "type": "Sequence",
    "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}],
}
DIGITS = {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level()]}
KINDS: dict[str, tuple[JsonTokenizer, str]] = {
    "GPT-2": (SMALL["gpt2"], "GPT2Tokenizer"),
    "RoBERTa": (SMALL["gpt2"], "RobertaTokenizer"),
    "RoBERTa with a space": (SMALL["prefix space"], "RobertaTokenizerFast"),
    "OLMo 2": (SMALL["cl100k"], "GPT2Tokenizer"),
    "Qwen": (SMALL["qwen"], "Qwen2Tokenizer"),
    "ModernBERT": (SMALL["nfc"], "PreTrainedTokenizerFast"),
    "SmolLM": (json_tokenizer(byte_pair_model(), DIGITS), "GPT2Tokenizer"),
    "DeBERTa": (SMALL["gpt2"], "DebertaTokenizer"),
    "ALBERT": (SMALL["albert"], "AlbertTokenizer"),
    "XLM-R": (SMALL["xlm"], "AlbertTokenizer"),
    "DeBERTa-v3": (SMALL["deberta"], "DebertaV2Tokenizer"),
    "Japanese DeBERTa-v2": (
        json_tokenizer(unigram_model(), METASPACES | {"prepend_scheme": "never"}, {"type": "NFKC"}),
        "DebertaV2Tokenizer",
    ),
    "BGE-M3": (json_tokenizer(unigram_model(), METASPACES, sequence(*QUOTES, SPACES)), "AlbertTokenizer"),
    "GLiNER": (
        json_tokenizer(unigram_model(), SPLIT_METASPACES, {"type": "NFKC"}, {"<<ENT>>": 82}),
        "DebertaV2Tokenizer",
    ),
    "CamemBERTv2": (json_tokenizer(WORD_PIECE, CUT, {"type": "NFKC"}), "RobertaTokenizer"),
    "KcBERT with long words": (json_tokenizer(WORD_PIECE, {"type": "BertPreTokenizer"}, BERT), "BertTokenizer"),
}  # fmt: skip


def named(tokenizer: JsonTokenizer, class_name: str) -> JsonTokenizer:
    """Return a tokenizer whose settings name a class."""
    return JsonTokenizer(
        tokenizer._data, {"tokenizer_class": class_name, "added_tokens_decoder": {}, "name_or_path": "x"}
    )


def assert_same_ids(tokenizer: Tokenizer, folder: Path) -> None:
    """Compare ids with those of what transformers, `tokenizers` and we make of a folder."""
    assert saved_check.differing_text(tokenizer, str(folder)) is None
    reference = Reference.from_file(str(folder / "tokenizer.json"))
    expected = [reference.encode(text, add_special_tokens=False).ids for text in saved_check.TEXTS]
    assert [tokenizer.encode(text) for text in saved_check.TEXTS] == expected
    again = load_tokenizer(folder)
    assert (again.fingerprint, again.special_tokens) == (tokenizer.fingerprint, tokenizer.special_tokens)


@pytest.mark.parametrize("model_type", [None, "roberta"])
@pytest.mark.parametrize("name", KINDS)
def test_what_is_saved_opens_with_the_same_ids(name: str, model_type: str | None, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = named(*KINDS[name])
    if model_type is not None:
        (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
    tokenizer.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert not {"added_tokens_decoder", "name_or_path"} & config.keys()
    assert_same_ids(tokenizer, tmp_path)


@pytest.mark.parametrize("key", ["bos_token", "additional_special_tokens", "extra_special_tokens"])
def test_special_tokens_that_are_named_as_objects_are_saved_so_that_transformers_reads_them(
    key: str, tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    token = {"content": "[MASK]", "lstrip": True, "rstrip": False, "single_word": False, "normalized": False}
    value: Any = {"bos_token": token, "extra_special_tokens": {"mark_token": token}}.get(key, [token])
    tokenizer = JsonTokenizer(SMALL["gpt2"]._data, {key: value, "mask_token": token})
    tokenizer.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["mask_token"] == "[MASK]"
    assert_same_ids(tokenizer, tmp_path)


def test_special_tokens_without_a_role_are_saved_by_the_name_that_transformers_4_reads_as_a_list(
    tmp_path: Path,
) -> None:
    tokenizer = JsonTokenizer(SMALL["gpt2"]._data, {"extra_special_tokens": ["[Q]", {"content": "[D]"}]})
    tokenizer.save_pretrained(tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert settings["additional_special_tokens"] == ["[Q]", "[D]"]
    assert "extra_special_tokens" not in settings  # which has to be an object there
    assert load_tokenizer(tmp_path) == tokenizer


@pytest.mark.parametrize("lower", [True, False])
def test_berts_wordpiece_opens_with_the_same_ids(lower: bool, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = WordPieceTokenizer.from_tokens([*PIECES, "[ENT]"], do_lower_case=lower, special_tokens=["[ENT]"])
    tokenizer.save_pretrained(tmp_path)
    assert_same_ids(tokenizer, tmp_path)


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", [name if name == "roberta" else pytest.param(name, marks=pytest.mark.slow) for name in REAL]
)
def test_what_is_saved_of_published_tokenizers_opens_with_the_same_ids(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = load_tokenizer(data_path("tokenizers", name))
    tokenizer.save_pretrained(tmp_path)
    assert_same_ids(tokenizer, tmp_path)


def test_settings_of_a_former_tokenizer_do_not_stay_beside_what_is_saved(tmp_path: Path) -> None:
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"mask_token": "[UNK]"}))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"salt": 9000}))
    SMALL["gpt2"].save_pretrained(tmp_path)
    assert load_tokenizer(tmp_path).mask_token == "[MASK]"
    (tmp_path / "special_tokens_map.json").write_text(json.dumps({"mask_token": "[UNK]"}))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"salt": len(PIECES)}))
    bert = WordPieceTokenizer.from_tokens(PIECES)
    bert.save_pretrained(tmp_path)
    assert load_tokenizer(tmp_path) == bert


def test_other_ids_are_said_when_it_is_saved(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("transformers")
    monkeypatch.setattr(saved_check, "_COMPARED", set())
    tokenizer = named(SMALL["albert"], "AlbertTokenizer")
    with caplog.at_level(logging.WARNING):
        tokenizer.save_pretrained(tmp_path)
    assert not [record for record in caplog.records if record.name == "bertdata"]
    path = tmp_path / "tokenizer_config.json"
    data: dict[str, Any] = json.loads((tmp_path / "tokenizer.json").read_text())
    (tmp_path / "tokenizer.json").write_text(json.dumps(data | {"normalizer": None}))
    monkeypatch.setattr(saved_check, "_COMPARED", set())
    saved_check.warn_of_other_ids(tokenizer, str(tmp_path))
    assert "opens what was saved with other ids, as of" in caplog.text
    caplog.clear()
    saved_check.warn_of_other_ids(tokenizer, str(tmp_path))
    assert not caplog.text
    path.write_text("{")
    monkeypatch.setattr(saved_check, "_COMPARED", set())
    saved_check.warn_of_other_ids(tokenizer, str(tmp_path))
    assert "transformers does not open what was saved" in caplog.text
