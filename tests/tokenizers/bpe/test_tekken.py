"""Mistral's `tekken.json` gives the ids that transformers gives for it; damaged ones are refused."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from bertdata import load_tokenizer
from bertdata.errors import InputError
from bertdata.tokenizers.bpe.tekken import _OLD_SPECIAL

PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
WORDS = [b"th", b"he", b"the", b" t", b" the", b"lo", b"low", b"aa", b"aaa", b"aaaa", b"\xc3\xa9", b"caf\xc3\xa9"]
TEXTS = [
    "the lower the",
    "aaaaa aaaaaaa",
    "caf\u00e9 cafe\u0301",
    "<s>the</s>",
    "  the\n\n the 2024 \U0001f600",
    "",
    " ",
]


def tekken(**changes: Any) -> dict[str, Any]:
    """Return a small tekken.json: bytes, some words, one too many, and four special tokens of five."""
    tokens = [*(bytes([byte]) for byte in range(256)), *WORDS, b"left out"]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    special = ["<unk>", "<s>", "</s>", "<pad>"]
    return {
        "config": {
            "pattern": PATTERN, "num_vocab_tokens": len(vocab), "default_vocab_size": len(vocab) - 1 + 5,
            "default_num_special_tokens": 5, "version": "v11",
        },
        "vocab": vocab,
        "special_tokens": [{"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(special)],
    } | changes  # fmt: skip


def test_ids_are_those_of_transformers(tmp_path: Path) -> None:
    mistral = pytest.importorskip("transformers.integrations.mistral")
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(tekken()))
    theirs = mistral.convert_tekken_tokenizer(str(path))
    for place in (path, tmp_path):
        ours = load_tokenizer(place)
        assert ours.slow_because is None
        assert ours.get_vocab() == theirs.get_vocab()
        assert (ours.pad_token, ours.tokens[3:5]) == ("<pad>", ("<pad>", "<SPECIAL_4>"))
        expected = [theirs(text, split_special_tokens=True)["input_ids"] for text in TEXTS]
        assert ours(TEXTS)["input_ids"] == ours.encode_batch(TEXTS).to_pylist() == expected
        assert ours.batch_decode(expected) == theirs.batch_decode(expected)
    ours.save_pretrained(tmp_path / "saved")
    assert load_tokenizer(tmp_path / "saved") == ours


def test_files_without_special_tokens_have_those_of_mistral(tmp_path: Path) -> None:
    old = tekken()
    del old["special_tokens"]
    old["config"] |= {"default_num_special_tokens": 22, "default_vocab_size": 22 + 256}
    (tmp_path / "tekken.json").write_text(json.dumps(old))
    ours = load_tokenizer(tmp_path)
    assert ours.tokens[:4] + ours.tokens[19:23] == (
        "<unk>", "<s>", "</s>", "[INST]", "[TOOL_CONTENT]", "<SPECIAL_20>", "<SPECIAL_21>", "\u0100",
    )  # fmt: skip
    assert (ours.pad_token, len(ours)) == ("<pad>", 278)


def test_the_special_tokens_of_old_files_are_those_of_mistral_common() -> None:
    module = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    entries = module.Tekkenizer.DEPRECATED_SPECIAL_TOKENS
    assert [entry["rank"] for entry in entries] == [*range(len(entries))]
    assert tuple(str(getattr(entry["token_str"], "value", entry["token_str"])) for entry in entries) == _OLD_SPECIAL


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab": tekken()["vocab"][:200]}, "leaves 268 tokens beside 5 special ones, and vocab has 200"),
        ({"special_tokens": [{"rank": 1, "token_str": "<s>"}]}, "the ranks of its special_tokens are not 0, 1, 2"),
        ({"special_tokens": [{"rank": 0, "token_str": "the"}]}, "'the' is a token of text too"),
        ({"vocab": [{"rank": 0, "token_bytes": "?"}] * 300}, "token 0 is '\\?', which is not base64"),
        ({"vocab": [{"rank": 0, "token_bytes": "YQ=="}] * 300}, "token 1 has the rank 0"),
        ({"vocab": [{"rank": i, "token_bytes": "YQ=="} for i in range(300)]}, "has a token twice, or lacks one of"),
        ({"config": {}}, "is not a whole tekken.json"),
        ({"config": "v3"}, "is not a whole tekken.json"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    (tmp_path / "tekken.json").write_text(json.dumps(tekken(**changes)))
    with pytest.raises(InputError, match=message):
        load_tokenizer(tmp_path)
