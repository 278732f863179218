"""A vocabulary extended by `add_tokens` of transformers is read, in whichever files it was saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import InputError
from bertdata.tokenizers import load_tokenizer
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

WORDS = ["the", "of", "a", "co", "-", "pilot", "trop", "##on", "##in", "##s", ",", "!", "[", "]", "sep"]
TEXTS = ["The troponin of a co-pilot, troponins! Troponin", "[SEP] of the co pilot", "", "a  troponin"]
N = len(SPECIAL_TOKENS) + len(WORDS)


def plain(folder: Path) -> Path:
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *WORDS]).save_pretrained(folder)
    return folder


def entry(token: str, *, special: bool = False) -> dict[str, Any]:
    others = dict.fromkeys(("lstrip", "rstrip", "single_word"), False)
    return {"content": token, "special": special, "normalized": not special} | others


CHANGED: dict[str, dict[str, dict[str, Any]]] = {
    "a word in added_tokens.json": {"added_tokens": {"troponin": N}},
    "a special token in added_tokens.json": {
        "added_tokens": {"[ENT]": N}, "special_tokens_map": {"additional_special_tokens": ["[ENT]"]}
    },
    "a word in the settings": {"tokenizer_config": {"added_tokens_decoder": {str(N): entry("troponin")}}},
    "a special token in the settings": {
        "tokenizer_config": {"added_tokens_decoder": {str(N): entry("[ENT]", special=True)}}
    },
    "one in the map": {"special_tokens_map": {"additional_special_tokens": ["[ENT]"]}},
    "one named in the settings": {"tokenizer_config": {"extra_special_tokens": ["[ENT]"]}},
    "the end of a text": {"special_tokens_map": {"eos_token": {"content": "</s>"}}},
}  # fmt: skip
"""What files beside a tokenizer.json of BERT's add to it: one token each."""


def with_decoder(folder: Path, **added: dict[str, Any]) -> Path:
    (plain(folder) / "tokenizer.json").unlink()
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"added_tokens_decoder": added}))
    return folder


def test_what_transformers_extended_and_saved_has_its_ids(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    extended = transformers.AutoTokenizer.from_pretrained(plain(tmp_path / "plain"))
    extended.add_tokens(["troponin", "co-pilot"])
    extended.save_pretrained(tmp_path / "extended")
    tokenizer = load_tokenizer(tmp_path / "extended")
    assert tokenizer.vocab_size == len(extended) == N + 2
    assert tokenizer.slow_because is None
    expected = extended([text.replace("[SEP]", "") for text in TEXTS], add_special_tokens=False)["input_ids"]
    assert tokenizer.encode_batch([text.replace("[SEP]", "") for text in TEXTS]).to_pylist() == expected


def test_added_words_beside_a_vocab_txt_are_read(tmp_path: Path) -> None:
    added = {str(N): entry("troponin"), str(N + 1): entry("[ENT]", special=True), str(N + 2): entry("co-pilot")}
    tokenizer = load_tokenizer(with_decoder(tmp_path / "new", **added))
    assert tokenizer.tokenize(TEXTS[0])[:6] == ["the", "troponin", "of", "a", "co-pilot", ","]
    assert tokenizer.special_tokens == (*SPECIAL_TOKENS, "[ENT]")
    assert tokenizer.tokenize("[SEP]") == ["[", "sep", "]"]
    tokenizer.save_pretrained(tmp_path / "saved")
    saved = load_tokenizer(tmp_path / "saved")
    assert type(saved) is JsonTokenizer
    assert saved == tokenizer
    assert saved.encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)


def test_the_older_file_of_added_tokens_is_read_alike(tmp_path: Path) -> None:
    newer = with_decoder(tmp_path / "newer", **{str(N): entry("troponin")})
    older = with_decoder(tmp_path / "older")
    (older / "added_tokens.json").write_text(json.dumps({"troponin": N}))
    assert load_tokenizer(older) == load_tokenizer(newer)


def test_special_tokens_alone_leave_a_vocabulary_to_wordpiece(tmp_path: Path) -> None:
    folder = with_decoder(tmp_path / "new", **{str(N): entry("[ENT]", special=True)})
    assert isinstance(load_tokenizer(folder), WordPieceTokenizer)


def test_settings_without_a_vocabulary_are_no_tokenizer(tmp_path: Path) -> None:
    folder = with_decoder(tmp_path / "new", **{str(N): entry("troponin")})
    (folder / "vocab.txt").unlink()
    with pytest.raises(InputError, match="expected a tokenizer or a finished build"):
        load_tokenizer(folder)


def test_ids_that_do_not_follow_are_refused(tmp_path: Path) -> None:
    folder = with_decoder(tmp_path / "new", **{str(N + 5): entry("troponin")})
    with pytest.raises(InputError, match=rf"'troponin' has the id {N + 5}, expected {N}, the next"):
        load_tokenizer(folder)


@pytest.mark.parametrize("case", CHANGED)
def test_files_beside_a_tokenizer_json_of_bert_change_it_as_in_transformers(case: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    folder = plain(tmp_path / "beside")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    for name, changed in CHANGED[case].items():
        before = config if name == "tokenizer_config" else {}
        (folder / f"{name}.json").write_text(json.dumps(before | changed))
    (folder / "vocab.txt").unlink()
    tokenizer, theirs = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    assert len(tokenizer) == len(theirs) == N + 1
    assert tokenizer.tokens[-1] in ("troponin", "[ENT]", "</s>")
    expected = theirs(TEXTS, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    if case == "a special token in added_tokens.json":  # which transformers 5 takes for a word, transformers 4 not
        assert tokenizer.all_special_ids[-1] == N
    else:
        assert tokenizer.encode_batch(TEXTS).to_pylist() == expected
    tokenizer.save_pretrained(tmp_path / "saved")
    assert load_tokenizer(tmp_path / "saved") == tokenizer
    assert len(transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")) == N + 1


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("special_tokens_map", {"additional_special_tokens": ["[ENT]"]}, "has no '\\[ENT\\]', which the settings"),
        ("tokenizer_config", {"bos_token": "<s>"}, "has no '<s>', which the settings beside it name as special"),
        ("special_tokens_map", {"sep_token": {"content": "the"}}, "name 'the' as sep_token, and a vocabulary alone"),
    ],
)
def test_special_tokens_that_a_vocab_txt_lacks_are_refused(
    name: str, changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (plain(tmp_path) / "tokenizer.json").unlink()
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | changed))
    with pytest.raises(InputError, match=message):
        load_tokenizer(tmp_path)


def test_another_separator_beside_a_tokenizer_json_has_its_role(tmp_path: Path) -> None:
    (plain(tmp_path) / "special_tokens_map.json").write_text(json.dumps({"sep_token": "the"}))
    tokenizer = load_tokenizer(tmp_path)
    assert (type(tokenizer), tokenizer.sep_token) == (JsonTokenizer, "the")


def test_a_vocabulary_with_added_words_has_the_token_types_of_bert(tmp_path: Path) -> None:
    folder = with_decoder(tmp_path, **{str(N): entry("troponin")})
    (folder / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {str(N): entry("troponin")}}))
    assert load_tokenizer(folder)("the troponin", "of")["token_type_ids"] == [0, 0, 0, 0, 1, 1]
