"""A `tokenizer.json` of any model is read, used, saved, or refused with what to do."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tokenizers import Tokenizer as Reference

from bertdata import load_tokenizer
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers import RowTemplate
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.tokenizers.small import METASPACES, SMALL, byte_level, byte_pair_model, json_tokenizer, unigram_model

BYTES = SMALL["gpt2"]


def saved(tokenizer: JsonTokenizer, folder: Path, config: dict[str, Any] | None = None, **changed: Any) -> Path:
    """Save a tokenizer with parts of its file, or settings beside it, changed."""
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("name", SMALL)
def test_what_is_saved_is_loaded_and_pickled_as_it_was(name: str, tmp_path: Path) -> None:
    SMALL[name].save_pretrained(tmp_path)
    for other in (
        load_tokenizer(tmp_path),
        load_tokenizer(tmp_path / "tokenizer.json"),
        pickle.loads(pickle.dumps(SMALL[name])),
    ):
        assert other == SMALL[name]
        assert other.encode("the café, can't") == SMALL[name].encode("the café, can't")
        assert (other.mask_token_id, other.pad_token_id, other.unk_token_id) == (4, 0, 1)


def test_the_fingerprint_is_that_of_what_decides_ids_and_rows(tmp_path: Path) -> None:
    data = json.loads(json.dumps(BYTES._data))
    for changed in ({"truncation": None}, {"padding": None}, {"decoder": byte_level()}):
        assert JsonTokenizer(data | changed, {}) == BYTES
    for changed in ({"normalizer": {"type": "NFC"}}, {"post_processor": None}):
        assert JsonTokenizer(data | changed, {}) != BYTES
    assert JsonTokenizer(data, {"mask_token": "[UNK]"}) != BYTES


def test_truncation_and_padding_of_the_file_are_not_taken_over() -> None:
    padding: dict[str, Any] = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    truncation = {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
    other = JsonTokenizer(dict(BYTES._data) | {"padding": padding, "truncation": truncation}, {})
    assert other.encode("the lower the") == BYTES.encode("the lower the")
    assert len(other.encode_batch_with_offsets(["a"])["input_ids"][0]) == 1


@pytest.mark.costly
def test_ids_have_the_narrowest_type_that_holds_them() -> None:
    model = byte_pair_model()
    assert BYTES.encode_batch(["a"]).type == pa.list_(pa.uint16())
    wide = json_tokenizer(model | {"vocab": model["vocab"] | {f"free {n}": n for n in range(282, 70000)}}, byte_level())
    assert wide.slow_because is None
    assert wide.encode_batch(["the lower"]).type == pa.list_(pa.uint32())
    assert wide.encode("the lower") == BYTES.encode("the lower")
    assert wide.vocab_size == 70000


def test_offsets_and_words_are_those_of_tokenizers() -> None:
    for tokenizer in SMALL.values():
        text = "the café, can't\nlow"
        batch = tokenizer.encode_batch_with_offsets([text, ""]).to_pydict()
        encoding = tokenizer.reference.encode(text, add_special_tokens=False)
        assert batch["input_ids"][0] == tokenizer.encode(text) == encoding.ids
        assert list(map(tuple, batch["offset_mapping"][0])) == encoding.offsets
        assert batch["word_ids"][0] == encoding.word_ids
        assert batch["input_ids"][1] == batch["word_ids"][1] == []


def test_tokens_are_shown_as_the_text_they_stand_for() -> None:
    ids = BYTES.encode("then the é")
    assert "".join(BYTES.token_texts[token_id] for token_id in ids).replace(" ", "") == "thentheé"
    assert BYTES.token_texts[4] == "[MASK]"
    assert not any("Ġ" in text for text in BYTES.token_texts)
    assert not any("▁" in text for text in SMALL["albert"].token_texts[5:])
    assert r"\xc3" in BYTES.token_texts


def test_ids_outside_the_vocabulary_are_refused() -> None:
    with pytest.raises(InputError, match="the id 282 is outside the vocabulary of 282 tokens"):
        BYTES.decode([282])


def test_rows_are_those_of_the_post_processor() -> None:
    sep, cls = ["[SEP]", 3], ["[CLS]", 2]
    roberta = {"type": "RobertaProcessing", "sep": sep, "cls": cls, "trim_offsets": True, "add_prefix_space": False}
    template = JsonTokenizer(dict(BYTES._data) | {"post_processor": roberta}, {}).row_template
    assert template == RowTemplate((2,), (3, 3), (3,), second_type=0)
    inside = {"type": "Sequence", "processors": [byte_level(), roberta]}
    assert JsonTokenizer(dict(BYTES._data) | {"post_processor": inside}, {}).row_template == template
    assert JsonTokenizer(dict(BYTES._data) | {"post_processor": None}, {}).row_template == BYTES.row_template


def test_roles_come_from_the_settings_beside_the_file(tmp_path: Path) -> None:
    config = {"mask_token": {"content": "[UNK]"}, "pad_token": "[SEP]"}
    loaded = load_tokenizer(saved(BYTES, tmp_path, config))
    assert (loaded.mask_token, loaded.pad_token, loaded.cls_token) == ("[UNK]", "[SEP]", "[CLS]")
    loaded = load_tokenizer(saved(BYTES, tmp_path, {"mask_token": "<m>"}))  # added, as transformers does
    assert (loaded.mask_token, loaded.mask_token_id) == ("<m>", len(BYTES))


def test_a_missing_role_is_none_and_its_id_an_error_with_a_remedy() -> None:
    data = dict(BYTES._data)
    vocab = {token: i for i, token in enumerate(token for token in data["model"]["vocab"] if token != "[MASK]")}
    kept = [entry | {"id": vocab[entry["content"]]} for entry in data["added_tokens"] if entry["content"] != "[MASK]"]
    other = JsonTokenizer(data | {"model": data["model"] | {"vocab": vocab}, "added_tokens": kept}, {})
    assert other.mask_token is None
    with pytest.raises(ConfigError, match=r"no mask token.*add_special_tokens"):
        other.mask_token_id  # noqa: B018


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"normalizer": {"type": "Newer"}}, "tokenizers cannot read it .* if it was written by a newer version"),
        ({"pre_tokenizer": {"type": "Newer"}}, "tokenizers cannot read it .* if it was written by a newer version"),
        ({"added_tokens": [{"content": "x"}]}, r"is not a whole tokenizer.json \(KeyError: 'id'\)"),
        ({"added_tokens": [1]}, "is not a whole tokenizer.json"),
        (
            {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}, "added_tokens": []},
            "tokenizers cannot read it",
        ),
        ({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}, "added_tokens": []}, "both have the id 0"),
        ({"model": {"type": "Unigram", "vocab": 3}}, "is not a whole tokenizer.json"),
    ],
)
def test_damaged_files_and_those_of_newer_versions_are_refused(
    changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        JsonTokenizer.from_pretrained(saved(BYTES, tmp_path, {}, **changed))
    assert "tokenizer.json" in str(raised.value)


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = saved(BYTES, tmp_path) / "tokenizer.json"
    path.write_text(path.read_text()[:500])
    with pytest.raises(InputError, match=r"tokenizer\.json"):
        load_tokenizer(tmp_path)


def test_added_tokens_with_ids_that_tokenizers_does_not_give_are_refused() -> None:
    with pytest.raises(InputError, match=r"the added token 'salt' has the id 700, .* tokenizers gives it 282"):
        json_tokenizer(byte_pair_model(), byte_level(), None, {"salt": 700})


def test_added_words_are_found_before_the_pre_tokenizer() -> None:
    tokenizer = SMALL["nfc"]
    assert tokenizer.tokenize("a|||MAIL|||b") == ["a", "|||MAIL|||", "b"]
    assert tokenizer.encode_batch_with_words(["a|||MAIL|||b"])["word_starts"].to_pylist() == [[True] * 3]


def test_pieces_with_the_usual_names_of_special_tokens_that_no_file_adds_have_their_roles() -> None:
    model = unigram_model()
    pieces = [*model["vocab"], ["<mask>", -1.5], ["<cls>", -1.5]]
    data = dict(json_tokenizer(model, METASPACES)._data) | {"model": {**model, "vocab": pieces}}
    data |= {"added_tokens": [], "post_processor": None}
    tokenizer = JsonTokenizer(data, {"mask_token": "<mask>"})
    assert (tokenizer.mask_token, tokenizer.cls_token) == ("<mask>", "[CLS]")
    reference = Reference.from_str(json.dumps(data))
    assert tokenizer.encode("the lower world") == reference.encode("the lower world").ids


@pytest.mark.parametrize("name", ["single_word", "lstrip", "rstrip", "normalized"])
def test_an_added_token_without_a_flag_is_refused_as_tokenizers_refuses_it(name: str) -> None:
    data = json.loads(json.dumps(BYTES._data))
    del data["added_tokens"][0][name]
    with pytest.raises(Exception, match=f"missing field `{name}`"):
        Reference.from_str(json.dumps(data))
    with pytest.raises(InputError, match=rf"{name} of the added token '\[PAD\]' is not true or false, but None"):
        JsonTokenizer(data, {})
