"""`.tiktoken` files of OpenAI give the ids of tiktoken; others are refused with what to do."""

from __future__ import annotations

import base64
import hashlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex

from bertdata import load_tokenizer
from bertdata.errors import InputError
from bertdata.tokenizers.bpe import tiktoken
from tests.tokenizers.encode.test_composed import hostile
from tests.tokenizers.small import EDGES

WORDS = [b"th", b"he", b"the", b" t", b" the", b"lo", b"low", b"aa", b"aaa", b"'s", b"\n\n", b"  ", b"\xc3\xa9", b"12"]
TOKENS = [*(bytes([byte]) for byte in range(256)), *WORDS]
TEXTS = [
    *hostile(200, seed=3),
    *EDGES,
    "a \n  ",
    " \n  ",
    "the  lower\r\n\t",
    "x'\u017f y'S'D'lL",
    "12345678",
    "\n\n a",
]


def written(path: Path, tokens: list[bytes]) -> Path:
    """Write a file of ranks."""
    path.write_bytes(b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)))
    return path


@pytest.fixture(params=["cl100k_base", "o200k_base", "r50k_base"])
def encoding(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return an encoding with its file, of a few tokens, in the place of OpenAI's."""
    path = written(tmp_path / f"{request.param}.tiktoken", TOKENS)
    whole = tiktoken.encodings()[request.param]
    special = {name: 300 + place for place, name in enumerate(whole["special_tokens"])}
    changed = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "pattern": whole["pattern"]}
    changed["special_tokens"] = special
    monkeypatch.setattr(tiktoken, "encodings", lambda: {request.param: changed})
    return {**changed, "path": path}


def joined(word: bytes) -> list[int]:
    """Return the ranks of a word by the plain loop of tiktoken: the neighbours of the lowest rank are joined first."""
    ranks = {token: rank for rank, token in enumerate(TOKENS)}
    parts = [word[at : at + 1] for at in range(len(word))] if word not in ranks else [word]
    while True:
        pairs = enumerate(map(b"".join, pairwise(parts)))
        made = [(ranks[pair], at) for at, pair in pairs if pair in ranks]
        if not made:
            return [ranks[part] for part in parts]
        at = min(made)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


@pytest.mark.costly
def test_ids_are_those_of_the_plain_loop_over_the_words_of_the_pattern(encoding: dict[str, Any]) -> None:
    pattern = regex.compile(encoding["pattern"].replace("$", r"\Z"))
    for place in (encoding["path"], encoding["path"].parent):
        tokenizer = load_tokenizer(place)
        assert tokenizer.slow_because is None
        expected = [[i for word in pattern.findall(text) for i in joined(word.encode())] for text in TEXTS]
        assert tokenizer.encode_batch(TEXTS).to_pylist() == expected
    assert tokenizer.get_vocab()["<|endoftext|>"] == 300
    assert tokenizer.encode("<|endoftext|>") != [300]


def test_ids_are_those_of_tiktoken(encoding: dict[str, Any]) -> None:
    package = pytest.importorskip("tiktoken")
    ranks = {token: rank for rank, token in enumerate(TOKENS)}
    special = encoding["special_tokens"]
    theirs = package.Encoding("test", pat_str=encoding["pattern"], mergeable_ranks=ranks, special_tokens=special)
    ours = load_tokenizer(encoding["path"]).encode_batch(TEXTS).to_pylist()
    assert ours == [theirs.encode_ordinary(text) for text in TEXTS]


def test_the_table_is_that_of_tiktoken() -> None:
    source = pytest.importorskip("tiktoken_ext.openai_public")
    patterns = {}
    for name in tiktoken.encodings():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(source, "load_tiktoken_bpe", lambda *_, **__: {})
            patterns[name] = source.ENCODING_CONSTRUCTORS[name]()["pat_str"]
    assert {name: encoding["pattern"] for name, encoding in tiktoken.encodings().items()} == patterns


def test_a_file_of_others_is_refused_with_what_to_do(tmp_path: Path) -> None:
    for name in ("qwen.tiktoken", "cl100k_base.tiktoken"):
        with pytest.raises(InputError, match=r"is none of OpenAI's .*TikTokenConverter"):
            load_tokenizer(written(tmp_path / name, TOKENS))


def test_what_to_do_about_a_file_of_others_gives_its_ids(tmp_path: Path) -> None:
    package = pytest.importorskip("tiktoken")
    converters = pytest.importorskip("transformers.convert_slow_tokenizer")
    from transformers import PreTrainedTokenizerFast

    path, pattern = str(written(tmp_path / "of_others.tiktoken", TOKENS)), r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+"
    converter = converters.TikTokenConverter(path, pattern, extra_special_tokens=["<|end|>"])
    PreTrainedTokenizerFast(tokenizer_object=converter.converted()).save_pretrained(tmp_path / "new")
    ranks = {token: rank for rank, token in enumerate(TOKENS)}
    theirs = package.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": len(TOKENS)})
    ours = load_tokenizer(tmp_path / "new").encode_batch(TEXTS).to_pylist()
    assert ours == [theirs.encode_ordinary(text) for text in TEXTS]


@pytest.mark.parametrize("lines", [b"dGg= 1\n", b"dGg\n", b"!! 0\n", b"dGg= 0\n", b"\xff 0\n"])
def test_a_damaged_file_is_refused(lines: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "o200k_base.tiktoken"
    path.write_bytes(lines)
    whole = tiktoken.encodings()["o200k_base"]
    monkeypatch.setattr(tiktoken, "encodings", lambda: {"o": whole | {"sha256": hashlib.sha256(lines).hexdigest()}})
    with pytest.raises(InputError, match=r"o200k_base\.tiktoken"):
        load_tokenizer(path)
