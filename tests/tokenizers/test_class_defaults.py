"""Special tokens and rows of a class of transformers, where files do not say them, are those of the class."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from bertdata import load_tokenizer
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.class_defaults import (
    ADDED_BY_CLASS,
    AROUND,
    CLASS_EXTRA,
    CLASS_TOKENS,
    NAMED_ROLES,
    SOURCE_LANGUAGE,
)
from tests.tokenizers.small import byte_level, byte_pair_model

TEXT = "the lower café"
WITHOUT_PACKAGE = {"RoFormerTokenizer"}
"""Classes that cannot be made without a package that is not installed."""
ONE_NAME_ALONE = {"AlbertTokenizer", "FNetTokenizer", "T5Tokenizer", "UdopTokenizer"}
"""Classes that put tokens of their usual names around a text, whatever theirs are."""
NEEDS_A_VOCABULARY = {"MarkupLMTokenizer", "RemBertTokenizer"}
"""Classes that, made without a vocabulary, are not as they are with one."""


@pytest.fixture(scope="module")
def transformers() -> Any:
    module = pytest.importorskip("transformers")
    if not module.__version__.startswith("5.24."):
        pytest.skip("the tables are of transformers 5.24")
    return module


def defaults_of(a_class: Any) -> dict[str, str]:
    """Return the special tokens that the arguments of a class have by default."""
    for each in a_class.__mro__:
        if "__init__" in vars(each):
            arguments = inspect.signature(each.__init__).parameters
            found = {name: argument.default for name, argument in arguments.items() if name.endswith("_token")}
            if found:
                names = {f"{role}_token" for role in NAMED_ROLES}
                return {name: str(token) for name, token in found.items() if name in names and token is not None}
    return {}


def test_the_special_tokens_are_those_of_the_classes(transformers: Any) -> None:
    for name, tokens in CLASS_TOKENS.items():
        assert tokens == defaults_of(getattr(transformers, name)), name


def test_further_tokens_and_those_around_a_text_are_those_of_the_classes(transformers: Any) -> None:
    for name in CLASS_TOKENS.keys() - WITHOUT_PACKAGE - NEEDS_A_VOCABULARY:
        tokenizer = getattr(transformers, name)()
        extra = [str(token) for token in tokenizer._extra_special_tokens]
        if name in ADDED_BY_CLASS:
            assert ADDED_BY_CLASS[name] in tokenizer.get_vocab(), name
        elif name != "SplinterTokenizer":  # whose token for questions is an argument of its own
            assert tuple(extra) == CLASS_EXTRA.get(name, ()), name
        around = tokenizer.backend_tokenizer.encode("").tokens
        roles = AROUND.get(name, [])
        if name not in ONE_NAME_ALONE:  # told apart by other names
            other = getattr(transformers, name)(**{role: f"<{role}>" for role in CLASS_TOKENS[name]})
            tokens = other.backend_tokenizer.encode("").tokens
            assert [token for token in tokens if token[0] == "<"] == [
                f"<{role}_token>" for role in roles if role != "src_lang"
            ], name
        expected = [
            SOURCE_LANGUAGE[name] if role == "src_lang" else getattr(tokenizer, f"{role}_token") for role in roles
        ]
        assert around == expected, name


def folder_with(tmp_path: Path, tokens: list[str], around: Any, added: list[str], **config: Any) -> Path:
    """Write a tokenizer.json of byte-level BPE whose vocabulary ends with some tokens, and settings beside it."""
    model = byte_pair_model()
    vocab = {token: token_id for token, token_id in model["vocab"].items() if not token.startswith("[")}
    vocab = {token: token_id for token_id, token in enumerate([*vocab, *tokens])}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    data = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": vocab[token], "content": token, "special": True} | flags for token in added],
        "normalizer": None,
        "pre_tokenizer": byte_level(),
        "post_processor": around
        and {part: [token, vocab[token]] for part, token in around.items() if part != "type"}
        | {"type": around["type"], "trim_offsets": True, "add_prefix_space": False},
        "decoder": None,
        "model": model | {"vocab": vocab},
    }
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    return tmp_path


ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
AS_ROBERTA = {"type": "RobertaProcessing", "cls": "<s>", "sep": "</s>"}
ROLES = [f"{role}_token" for role in ("pad", "unk", "cls", "sep", "mask")]


def assert_as_transformers(folder: Path, transformers: Any, saved: Path) -> Any:
    """Compare roles, special tokens, size and rows with those of `AutoTokenizer`, also for what is saved."""
    ours = load_tokenizer(folder)
    ours.save_pretrained(saved)
    for theirs in map(transformers.AutoTokenizer.from_pretrained, (folder, saved)):
        assert [getattr(ours, role) for role in ROLES] == [getattr(theirs, role) for role in ROLES]
        assert len(ours) == len(theirs)
        assert ours.get_vocab() == theirs.get_vocab()
        assert {*ours.all_special_ids} == {*theirs.all_special_ids}
        assert dict(ours(TEXT, "the")) == dict(theirs(TEXT, "the"))
        rows = ours([TEXT, "the"], padding=True)["input_ids"]
        assert rows == theirs([TEXT, "the"], padding=True)["input_ids"]
    assert load_tokenizer(saved) == ours
    return ours


@pytest.mark.parametrize("in_vocabulary", [ROBERTA, ROBERTA[:4], ROBERTA[:3]])
def test_tokens_that_no_file_names_are_those_of_the_class_and_are_added_where_the_vocabulary_lacks_them(
    in_vocabulary: list[str], transformers: Any, tmp_path: Path
) -> None:
    folder = folder_with(
        tmp_path / "f",
        [*in_vocabulary, "[PAD]", "[MASK]"],
        AS_ROBERTA,
        ["<s>", "</s>"],
        tokenizer_class="RobertaTokenizer",
    )
    ours = assert_as_transformers(folder, transformers, tmp_path / "saved")
    assert (ours.pad_token, ours.mask_token) == ("<pad>", "<mask>")
    assert ours.tokens[-1] == ("[MASK]" if in_vocabulary == ROBERTA else "<mask>")


@pytest.mark.parametrize("class_name", ["RobertaTokenizer", "PreTrainedTokenizerFast"])
def test_tokens_that_settings_name_are_added_in_the_order_of_transformers(
    class_name: str, transformers: Any, tmp_path: Path
) -> None:
    roles = {"bos_token": "<b>", "mask_token": "<m>", "pad_token": "<p>", "sep_token": "</s>", "cls_token": "<s>"}
    folder = folder_with(tmp_path / "f", ["<s>", "</s>"], AS_ROBERTA, [], tokenizer_class=class_name, **roles)
    ours = assert_as_transformers(folder, transformers, tmp_path / "saved")
    assert ours.tokens[-1] == "<m>"


def test_further_tokens_of_a_class_are_special_unless_settings_name_others(tmp_path: Path) -> None:
    config: dict[str, Any] = {"tokenizer_class": "LukeTokenizer"}
    tokens = [*ROBERTA, "<ent>", "<ent2>", "[MASK2]", "<other>"]
    ours = load_tokenizer(folder_with(tmp_path / "f", tokens, AS_ROBERTA, [], **config))
    assert {"<ent>", "<ent2>"} < {*ours.special_tokens}
    config |= {"additional_special_tokens": ["<other>"]}
    ours = load_tokenizer(folder_with(tmp_path / "g", tokens, AS_ROBERTA, [], **config))
    assert "<ent>" not in ours.special_tokens


@pytest.mark.parametrize("class_name", sorted(ADDED_BY_CLASS))
def test_a_class_that_adds_tokens_without_a_role_is_refused(class_name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"which {class_name}, the class .* adds to a vocabulary"):
        load_tokenizer(folder_with(tmp_path, ROBERTA, AS_ROBERTA, [], tokenizer_class=class_name))
    if class_name == "T5Tokenizer":
        load_tokenizer(folder_with(tmp_path, ROBERTA, AS_ROBERTA, [], tokenizer_class=class_name, extra_ids=0))


@pytest.mark.parametrize(
    ("class_name", "tokens", "puts"),
    [
        ("FunnelTokenizer", ["<cls>", "<sep>"], "<cls> and <sep>"),
        ("XLNetTokenizer", ["<cls>", "<sep>"], "<sep> and <cls>"),
        ("MBartTokenizer", ["ar_AR", "en_XX"], "</s> and en_XX"),
        ("NllbTokenizer", ["ace_Arab", "eng_Latn"], "eng_Latn and </s>"),
        ("CLIPTokenizer", ["<|startoftext|>", "<|endoftext|>"], r"<\|startoftext\|> and <\|endoftext\|>"),
    ],
)
def test_rows_of_a_file_that_are_not_those_of_its_class_are_refused(
    class_name: str, tokens: list[str], puts: str, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path, [*ROBERTA, *tokens], None, [], tokenizer_class=class_name)
    tokenizer = load_tokenizer(folder)
    assert tokenizer.encode(TEXT)
    with pytest.raises(ConfigError, match=f"name {class_name}, which in transformers 5 puts {puts} around a text"):
        tokenizer(TEXT)
