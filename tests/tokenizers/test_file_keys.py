"""The table of keys is that of the installed libraries, and what it lacks is refused by name."""

from __future__ import annotations

import ast
import inspect
import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from bertdata import load_tokenizer
from bertdata.errors import InputError
from bertdata.tokenizers.file_keys import (
    CONFIG_KEYS,
    FILE_KEYS,
    PART_KEYS,
    SPM_FIELDS,
    Use,
    check_bare,
    check_config,
    check_file,
)
from tests.tokenizers.small import SMALL

MADE: dict[str, list[Any]] = {
    "normalizer": [
        normalizers.BertNormalizer(), normalizers.ByteLevel(), normalizers.Lowercase(), normalizers.NFC(),
        normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Nmt(), normalizers.Prepend("x"),
        normalizers.Replace("a", "b"), normalizers.Sequence([]), normalizers.Strip(), normalizers.StripAccents(),
    ],
    "pre_tokenizer": [
        pre_tokenizers.BertPreTokenizer(), pre_tokenizers.ByteLevel(), pre_tokenizers.CharDelimiterSplit("a"),
        pre_tokenizers.Digits(), pre_tokenizers.FixedLength(3), pre_tokenizers.Metaspace(),
        pre_tokenizers.Punctuation(), pre_tokenizers.Sequence([]), pre_tokenizers.Split("a", "isolated"),
        pre_tokenizers.UnicodeScripts(), pre_tokenizers.Whitespace(), pre_tokenizers.WhitespaceSplit(),
    ],
    "post_processor": [
        processors.BertProcessing(("a", 0), ("a", 0)), processors.ByteLevel(), processors.Sequence([]),
        processors.RobertaProcessing(("a", 0), ("a", 0)),
        processors.TemplateProcessing(single="$A", pair="$A $B", special_tokens=[]),
    ],
    "model": [
        models.BPE(), models.Unigram(), models.WordLevel({"a": 0}, "a"), models.WordPiece({"a": 0}, unk_token="a"),
    ],
}  # fmt: skip
BASES = {"normalizer": normalizers, "pre_tokenizer": pre_tokenizers, "post_processor": processors, "model": models}
NO_PARTS = {"Normalizer", "PreTokenizer", "PostProcessor", "Model", "NORMALIZERS"}


def file_with(name: str, part: Any) -> dict[str, Any]:
    """Return a tokenizer.json with one part as `tokenizers` writes it."""
    tokenizer = Tokenizer(part if name == "model" else models.WordLevel({"a": 0}, "a"))
    if name != "model":
        setattr(tokenizer, name, part)
    tokenizer.add_tokens(["word"])
    data: dict[str, Any] = json.loads(tokenizer.to_str())
    return data


@pytest.mark.parametrize("name", MADE)
def test_the_parts_of_a_file_are_those_that_tokenizers_writes(name: str) -> None:
    assert {type(part).__name__ for part in MADE[name]} | ({"Precompiled"} if name == "normalizer" else set()) == {
        *PART_KEYS[name]
    }
    classes = {name_of_class for name_of_class in dir(BASES[name]) if name_of_class[0].isupper()} - NO_PARTS
    assert classes == {*PART_KEYS[name]}
    for part in MADE[name]:
        data = file_with(name, part)
        check_file(data)
        assert {*data} == {*FILE_KEYS}
        written = {*data[name]} - {"type"}
        old = {"add_prefix_space", "str_rep"} if type(part).__name__ == "Metaspace" else set()
        assert written == {*PART_KEYS[name][type(part).__name__].split()} - old


@pytest.mark.parametrize("name", ["normalizer", "pre_tokenizer", "post_processor", "model"])
def test_a_key_of_a_part_that_tokenizers_passes_over_is_refused_by_name(name: str) -> None:
    for part in MADE[name]:
        data = file_with(name, part)
        data[name]["joins"] = True
        Tokenizer.from_str(json.dumps(data))
        with pytest.raises(InputError, match=rf"the key 'joins' of its {name}.* is not known, and may decide ids"):
            check_file(data)


def test_an_unknown_key_anywhere_is_refused_by_name(tmp_path: Path) -> None:
    SMALL["gpt2"].save_pretrained(tmp_path)
    for name, key in (
        ("tokenizer.json", "subwords"),
        ("tokenizer_config.json", "lower"),
        ("special_tokens_map.json", "x"),
    ):
        path = tmp_path / name
        before = path.read_text() if path.exists() else "{}"
        path.write_text(json.dumps(json.loads(before) | {key: True}))
        with pytest.raises(InputError, match=key):
            load_tokenizer(tmp_path)
        path.write_text(before)
    check_config({"boi_token": "<boi>", "boi_token_id": 7}, "tokenizer_config.json")
    assert load_tokenizer(tmp_path) == SMALL["gpt2"]


def test_the_settings_are_arguments_of_the_classes_of_transformers() -> None:
    spec = find_spec("transformers")
    if spec is None or spec.origin is None:
        pytest.skip("transformers is not installed")
    missing = {name: where for name, where in _arguments(Path(spec.origin).parent) if name not in CONFIG_KEYS}
    assert {name: where for name, where in missing.items() if not name.endswith(("_token", "_token_id"))} == {}


def test_arguments_of_a_call_that_were_left_in_the_settings_have_no_effect(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    SMALL["gpt2"].save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    parameters = inspect.signature(transformers.PreTrainedTokenizerBase.__call__).parameters
    names = [name for name in parameters if name not in ("self", "kwargs", "tokenizer_kwargs", "padding_side")]
    names.remove("add_special_tokens")  # which it refuses, and so do we
    left = {name: True for name in names if "text" not in name} | {"max_length": 3, "return_tensors": "pt", "stride": 1}
    path.write_text(json.dumps({**settings, **left, "mirror": "tuna"}))
    theirs, ours = transformers.AutoTokenizer.from_pretrained(tmp_path), load_tokenizer(tmp_path)
    for texts in (["the lower hello low", "ab"], ["the", "low"]):
        assert dict(ours(texts)) == dict(theirs(texts))
    assert ours == SMALL["gpt2"]


def _arguments(root: Path) -> list[tuple[str, str]]:
    """Return the arguments of the tokenizer classes below a folder, and the keys that they take from others."""
    names: list[tuple[str, str]] = []
    for path in [*root.glob("tokenization_*.py"), *root.glob("models/*/tokenization_*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            is_class = isinstance(node, ast.ClassDef) and ("Tokenizer" in node.name or "Backend" in node.name)
            for function in node.body if isinstance(node, ast.ClassDef) and is_class else ():
                if isinstance(function, ast.FunctionDef) and function.name == "__init__":
                    arguments = [parameter.arg for parameter in (*function.args.args[1:], *function.args.kwonlyargs)]
                    names += [(name, path.name) for name in (*arguments, *_taken(function))]
    assert len(names) > 100
    return names


def _taken(function: ast.FunctionDef) -> list[str]:
    """Return the keys that a function takes from its `kwargs`."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and node.args]
    names = [
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("get", "pop", "setdefault")
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "kwargs"
        and isinstance(call.args[0], ast.Constant)
    ]
    return [name for name in names if isinstance(name, str)]


def test_the_fields_of_a_model_are_those_of_sentencepiece() -> None:
    spec = find_spec("sentencepiece")
    if spec is None or spec.origin is None:
        pytest.skip("sentencepiece is not installed")
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    text = (Path(spec.origin).parent / "sentencepiece_model_pb2.py").read_text()
    (literal,) = re.findall(r"AddSerializedFile\((b'.*?')\)\n", text, re.DOTALL)
    file = descriptor_pb2.FileDescriptorProto.FromString(ast.literal_eval(literal))
    fields = {message.name: {field.number: field.name for field in message.field} for message in file.message_type}
    for message, numbers in SPM_FIELDS.items():
        known = {number: name for number, (name, _) in numbers.items() if number not in _NOT_IN_PROTO.get(message, ())}
        assert known == fields[message]


_NOT_IN_PROTO = {"NormalizerSpec": (7,), "ModelProto": (4,)}


def test_settings_that_build_a_tokenizer_are_refused_beside_a_bare_vocabulary() -> None:
    check_bare({"do_basic_tokenize": True, "never_split": None, "legacy": False, "unk_id": 3}, "tokenizer_config.json")
    for key, value in {"word_tokenizer_type": "mecab", "never_split": ["a"], "extra_ids": 100}.items():
        assert CONFIG_KEYS[key] is Use.BUILDS
        with pytest.raises(InputError, match=rf"says {key} = .* not done here with a bare vocabulary"):
            check_bare({key: value}, "tokenizer_config.json")
