"""Settings beside a file count as the class that they name takes them, in both versions of transformers."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from bertdata import load_tokenizer
from bertdata.errors import ConfigError
from bertdata.tokenizers.class_checks import LIKE_BERT, OF_BERT
from bertdata.tokenizers.class_defaults import CASE_AND_ACCENTS
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.tokenizers.small import SPECIAL, byte_level, byte_pair_model, json_tokenizer
from tests.tokenizers.test_class_defaults import AS_ROBERTA, ROBERTA, folder_with, transformers

__all__ = ["transformers"]


@pytest.mark.parametrize(
    "name", ["PreTrainedTokenizerFast", "RobertaTokenizer", "DebertaTokenizer", "GPT2Tokenizer", "Qwen2Tokenizer"]
)
@pytest.mark.parametrize("flags", [{"add_bos_token": False}, {"add_bos_token": False, "add_eos_token": False}])
def test_settings_for_tokens_around_texts_that_a_class_does_not_follow_change_nothing(
    name: str, flags: dict[str, bool], transformers: Any, tmp_path: Path
) -> None:
    roles = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>"}
    folder = folder_with(
        tmp_path, ROBERTA, AS_ROBERTA, ROBERTA, tokenizer_class=name, add_prefix_space=False, **roles, **flags
    )
    ours, theirs = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    assert ours("the lower")["input_ids"] == theirs("the lower")["input_ids"]
    assert ours.tokenize("the") != ours.convert_ids_to_tokens(ours("the")["input_ids"])


def test_two_texts_whose_token_types_alone_differ_by_version_are_refused_only_with_types(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ROBERTA, AS_ROBERTA, ROBERTA, tokenizer_class="MPNetTokenizer")
    file = Tokenizer.from_file(str(folder / "tokenizer.json"))
    file.post_processor = processors.TemplateProcessing(  # as transformers 4 saves it
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B:1 </s>:1",
        special_tokens=[(token, file.token_to_id(token)) for token in ("<s>", "</s>")],
    )
    file.save(str(folder / "tokenizer.json"))
    tokenizer = load_tokenizer(folder)
    assert tokenizer("the", "lower")["input_ids"] == file.encode("the", "lower").ids
    assert tokenizer.num_special_tokens_to_add(pair=True) == 4
    assert set(tokenizer("the", return_token_type_ids=True)["token_type_ids"]) == {0}
    with pytest.raises(ConfigError, match=r"in transformers 5, and its .* has others; leave out return_token_type_ids"):
        tokenizer("the", "lower", return_token_type_ids=True)


def test_a_word_of_the_file_that_transformers_5_lists_among_special_tokens_is_text(tmp_path: Path) -> None:
    model = byte_pair_model()
    data = json_tokenizer(model, byte_level(), added={"lower": len(model["vocab"])})._data
    tokenizer = JsonTokenizer(data, {"extra_special_tokens": ["lower", "[MASK]"]})
    tokenizer.save_pretrained(tmp_path)
    for each in (tokenizer, load_tokenizer(tmp_path)):
        assert "lower" not in each.special_tokens
        assert each.tokenize("alower") == ["a", "lower"]
        assert "[MASK]" not in each.tokenize("[MASK]")
    of_4 = JsonTokenizer(data, {"additional_special_tokens": ["lower"]})  # which makes it special
    assert "lower" in of_4.special_tokens


def test_tokens_that_the_class_names_are_left_out_of_decoded_text_also_where_the_vocabulary_alone_has_them(
    transformers: Any, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path, [*ROBERTA, "<ent>", "<ent2>", "[MASK2]"], AS_ROBERTA, ROBERTA)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "RobertaTokenizer", "additional_special_tokens": ["<ent>"]})
    )
    ours, theirs = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    ids = [ours.tokens.index(token) for token in (ours.tokenize("the")[0], "<ent>", "<ent2>")]
    for tokenizer in (ours, theirs):
        assert "<ent>" not in tokenizer.decode(ids, skip_special_tokens=True)
        assert "<ent2>" in tokenizer.decode(ids, skip_special_tokens=True)
        assert "<ent>" in tokenizer.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("name", ["BertTokenizer", "DistilBertTokenizer", "PreTrainedTokenizerFast"])
@pytest.mark.parametrize(
    ("of_file", "beside", "said"),
    [
        ({"lowercase": False}, {}, "do_lower_case = false, strip_accents = false"),
        ({"lowercase": False}, {"do_lower_case": False}, ""),
        ({"lowercase": False}, {"do_lower_case": False, "strip_accents": None}, ""),
        ({"strip_accents": False}, {"do_lower_case": True}, "strip_accents = false"),
        ({"strip_accents": True}, {}, ""),
        ({"handle_chinese_chars": False}, {"do_lower_case": True}, "tokenize_chinese_chars = false"),
        ({}, {}, ""),
    ],
)
def test_what_a_cased_file_does_and_the_settings_do_not_repeat_is_said(
    name: str,
    of_file: dict[str, bool],
    beside: dict[str, Any],
    said: str,
    caplog: pytest.LogCaptureFixture,
    transformers: Any,
    tmp_path: Path,
) -> None:
    words = ["The", "the", "caf", "café", "cafe", "中", "文", "中文", *"Ttheécaf", *(f"##{c}" for c in "Thecafé文")]
    vocab = {token: token_id for token_id, token in enumerate(dict.fromkeys([*SPECIAL, *words]))}
    file = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    file.normalizer = normalizers.BertNormalizer(**{"lowercase": True, **of_file})
    file.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    file.add_special_tokens([*SPECIAL])
    file.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, **beside}))
    with caplog.at_level("WARNING", "bertdata"):
        ours = load_tokenizer(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    texts = ["The café", "中文"]
    differs = [theirs.tokenize(text) for text in texts] != [ours.tokenize(text) for text in texts]
    assert differs == bool(caplog.messages) == bool(said and name != "PreTrainedTokenizerFast")
    if differs:
        assert caplog.messages[0].startswith(f"tokenizer.json has {said}, which tokenizer_config.json does not repeat")


def test_what_berts_normalizer_does_by_default_is_what_the_classes_do(transformers: Any) -> None:
    for name in LIKE_BERT:
        arguments = inspect.signature(getattr(transformers, name).__init__).parameters
        assert {key: arguments[key].default for key in OF_BERT if key in arguments}.items() <= OF_BERT.items(), name


def test_case_and_accents_are_those_of_the_classes(transformers: Any) -> None:
    for name, usual in CASE_AND_ACCENTS.items():
        arguments = inspect.signature(getattr(transformers, name).__init__).parameters
        assert {key: arguments[key].default for key in usual} == usual, name
