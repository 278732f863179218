"""A folder is read as transformers reads it: old forms, added tokens and the space before a text; or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata import load_tokenizer
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.files_beside import new_form
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.tokenizers.small import SMALL, byte_level, byte_pair_model, json_tokenizer

TEXTS = ["low the troponin, lowtroponin", " the café", "", "troponin's\n 20"]
FLAGS = {"lstrip": False, "rstrip": False, "single_word": False}
WORD = {"content": "troponin", "special": False, "normalized": True, **FLAGS}
ENTITY = {"content": "<ent>", "special": True, "normalized": False, **FLAGS}


def folder_of(tokenizer: JsonTokenizer, folder: Path, config: dict[str, Any], **files: Any) -> Path:
    """Write a tokenizer.json and the files beside it; returns the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer._data))
    for name, value in {"tokenizer_config": config, **files}.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


def assert_as_transformers(folder: Path, tmp_path: Path) -> Any:
    """Compare ids and sizes with those of `AutoTokenizer` for the folder, and for what is saved of it."""
    transformers = pytest.importorskip("transformers")
    ours, theirs = load_tokenizer(folder), transformers.AutoTokenizer.from_pretrained(folder)
    expected = [theirs(text, add_special_tokens=False)["input_ids"] for text in TEXTS]
    assert ours.encode_batch(TEXTS).to_pylist() == expected
    assert len(ours) == len(theirs)
    ours.save_pretrained(tmp_path / "saved")
    again = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert [again(text, add_special_tokens=False)["input_ids"] for text in TEXTS] == expected
    assert load_tokenizer(tmp_path / "saved") == ours
    return ours


@pytest.mark.parametrize("space", [True, False])
@pytest.mark.parametrize("said", [True, False, None])
def test_a_space_is_put_before_texts_as_the_settings_say(said: bool | None, space: bool, tmp_path: Path) -> None:
    tokenizer = json_tokenizer(byte_pair_model(), byte_level(add_prefix_space=space))
    names = {
        "cls": "[CLS]",
        "bos": "[CLS]",
        "sep": "[SEP]",
        "eos": "[SEP]",
        "pad": "[PAD]",
        "unk": "[UNK]",
        "mask": "[MASK]",
    }
    config: dict[str, Any] = {f"{role}_token": name for role, name in names.items()}
    config |= {"tokenizer_class": "RobertaTokenizer"} | ({} if said is None else {"add_prefix_space": said})
    folder = folder_of(tokenizer, tmp_path / "f", config)
    ours = load_tokenizer(folder)
    assert ours.tokenize("the")[0] == ("Ġthe" if said else "the")
    assert_as_transformers(folder, tmp_path)


def test_versions_of_transformers_that_differ_on_the_space_are_refused(tmp_path: Path) -> None:
    tokenizer = json_tokenizer(byte_pair_model(), byte_level())
    for name in ("PreTrainedTokenizerFast", "TokenizersBackend", None):
        config = {"add_prefix_space": True} | ({"tokenizer_class": name} if name else {})
        with pytest.raises(
            InputError, match=r"does not put a space before a text, but .* says add_prefix_space = true"
        ):
            load_tokenizer(folder_of(tokenizer, tmp_path / "f", config))
    with pytest.raises(InputError, match=r"its Metaspace puts a space before a text, but .* add_prefix_space = false"):
        load_tokenizer(folder_of(SMALL["albert"], tmp_path / "f", {"add_prefix_space": False}))


@pytest.mark.parametrize("name", ["gpt2", "nfc", "albert"])
@pytest.mark.parametrize("way", ["decoder", "decoder, one known", "added_tokens.json", "added_tokens.json, special"])
def test_tokens_are_added_as_the_files_beside_say(way: str, name: str, tmp_path: Path) -> None:
    tokenizer = SMALL[name]
    size = len(tokenizer)
    config: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast"}
    more: dict[str, Any] = {}
    if way.startswith("decoder"):
        config["added_tokens_decoder"] = {str(size): WORD, str(size + 1): ENTITY}
        config["added_tokens_decoder"] |= {"4": dict(ENTITY, content="[MASK]")} if "known" in way else {}
    else:
        more["added_tokens"] = {"<ent>": size + 1, "troponin": size}
        more |= {"special_tokens_map": {"additional_special_tokens": ["<ent>"]}} if "special" in way else {}
    ours = assert_as_transformers(folder_of(tokenizer, tmp_path / "f", config, **more), tmp_path)
    assert ours.tokens[size : size + 2] == ("troponin", "<ent>")
    assert size in ours.encode("troponin")
    assert ("<ent>" in ours.special_tokens) == (way != "added_tokens.json")


@pytest.mark.parametrize("name", ["gpt2", "albert"])
@pytest.mark.parametrize(
    "named",
    [
        {"additional_special_tokens": ["[Z]", "<ent>"]},
        {"extra_special_tokens": {"ent": "<ent>"}},
        {"extra_special_tokens": ["[Z]", "[MASK]"], "eos_token": "<ent>"},
        {"additional_special_tokens": ["<ent>"], "added_tokens_decoder": {}},
    ],
)
def test_special_tokens_that_the_vocabulary_lacks_are_added_after_it(
    named: dict[str, Any], name: str, tmp_path: Path
) -> None:
    size = len(SMALL[name])
    config = {"tokenizer_class": "PreTrainedTokenizerFast", **named}
    folder = folder_of(SMALL[name], tmp_path / "f", config)
    ours = assert_as_transformers(folder, tmp_path)
    theirs = pytest.importorskip("transformers").AutoTokenizer.from_pretrained(folder)
    assert ours.tokens[size:] == tuple(theirs.convert_ids_to_tokens([*range(size, len(theirs))]))
    assert "<ent>" in ours.special_tokens


def test_settings_of_a_class_must_be_those_of_the_file(tmp_path: Path) -> None:
    normalizer = SMALL["albert"]._data["normalizer"]
    types = [part["type"] for part in normalizer.get("normalizers", [normalizer])]
    said = [("AlbertTokenizer", "do_lower_case", "Lowercase" in types, "Lowercase")]
    said += [("AlbertTokenizer", "keep_accents", "StripAccents" not in types, "StripAccents")]
    said += [("DebertaV2TokenizerFast", "split_by_punct", False, "Punctuation")]
    for tokenizer_class, setting, right, part in said:
        config = {"tokenizer_class": tokenizer_class}
        load_tokenizer(folder_of(SMALL["albert"], tmp_path / "f", config | {setting: right}))
        with pytest.raises(InputError, match=rf"has (a|no) {part}, but .* says {setting} = {json.dumps(not right)}"):
            load_tokenizer(folder_of(SMALL["albert"], tmp_path / "f", config | {setting: not right}))


def test_added_tokens_with_another_id_than_transformers_gives_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'troponin' the id 700, but transformers gives it 282"):
        load_tokenizer(folder_of(SMALL["gpt2"], tmp_path / "f", {}, added_tokens={"troponin": 700}))
    config = {"added_tokens_decoder": {"700": WORD}}
    with pytest.raises(InputError, match="'troponin' the id 700"):
        load_tokenizer(folder_of(SMALL["gpt2"], tmp_path / "f", config))


def test_the_map_of_special_tokens_goes_first_unless_the_settings_add_tokens(tmp_path: Path) -> None:
    config, other = {"pad_token": "[UNK]"}, {"pad_token": "[SEP]"}
    folder = folder_of(SMALL["gpt2"], tmp_path / "f", config, special_tokens_map=other)
    assert load_tokenizer(folder).pad_token == "[SEP]"
    config |= {"added_tokens_decoder": {}}  # type: ignore[dict-item]
    other |= {"eos_token": "<new>"}
    tokenizer = load_tokenizer(folder_of(SMALL["gpt2"], folder, config, special_tokens_map=other))
    assert (tokenizer.pad_token, len(tokenizer)) == ("[UNK]", len(SMALL["gpt2"]))


def test_files_that_name_other_further_special_tokens_are_refused(tmp_path: Path) -> None:
    for key in ("additional_special_tokens", "extra_special_tokens"):
        config, other = {key: ["<ent>"]}, {"additional_special_tokens": ["<other>"]}
        with pytest.raises(
            InputError, match=r"names <ent> further special tokens and special_tokens_map\.json <other>"
        ):
            load_tokenizer(folder_of(SMALL["gpt2"], tmp_path / "f", config, special_tokens_map=other))
        same = {"additional_special_tokens": [ENTITY]}
        assert (
            "<ent>" in load_tokenizer(folder_of(SMALL["gpt2"], tmp_path / "f", config, special_tokens_map=same)).tokens
        )


@pytest.mark.parametrize("config", [{}, {"pad_token": "[UNK]"}, {"pad_token": {"content": "<new>"}}])
def test_the_token_for_padding_is_that_of_the_file_unless_settings_name_one(
    config: dict[str, Any], tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    padding = {"strategy": "BatchLongest", "direction": "Left", "pad_id": 4, "pad_type_id": 0, "pad_token": "[MASK]"}
    folder = folder_of(SMALL["gpt2"], tmp_path / "f", config | {"tokenizer_class": "PreTrainedTokenizerFast"})
    data = SMALL["gpt2"]._data | {"padding": padding | {"pad_to_multiple_of": None}}
    (folder / "tokenizer.json").write_text(json.dumps(data))
    ours = load_tokenizer(folder)
    if "pad_token" not in config or isinstance(config["pad_token"], str):
        theirs = transformers.AutoTokenizer.from_pretrained(folder)
        assert (ours.pad_token, ours.padding_side) == (theirs.pad_token, theirs.padding_side)
        assert ours(TEXTS, padding=True)["input_ids"] == theirs(TEXTS, padding=True)["input_ids"]
    assert ours.pad_token == (ours_named(config) or "[MASK]")


def ours_named(config: dict[str, Any]) -> str | None:
    """Return the token for padding that settings name."""
    named = config.get("pad_token")
    return named["content"] if isinstance(named, dict) else named


def old_form(tokenizer: JsonTokenizer) -> dict[str, Any]:
    """Return the file as `tokenizers` before 0.15 wrote it."""
    data = json.loads(json.dumps(tokenizer._data))
    data["model"].pop("type")
    data["model"].pop("byte_fallback", None)
    parts = data["pre_tokenizer"].get("pretokenizers", [data["pre_tokenizer"]])
    for part in parts:
        if part["type"] == "Metaspace":
            del part["prepend_scheme"], part["split"]
            part |= {"str_rep": "\u2581", "add_prefix_space": True}
    return data  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["albert", "xlm", "deberta"])
def test_old_files_are_the_tokenizers_that_they_are_in_todays_form(name: str) -> None:
    new, old = SMALL[name], JsonTokenizer(old_form(SMALL[name]), {})
    assert (old.fingerprint, old.slow_because) == (new.fingerprint, None)
    assert old.encode_batch(TEXTS) == new.encode_batch(TEXTS)
    assert old._data["model"]["type"] == "Unigram"


def test_files_of_byte_level_bpe_keep_their_form_and_their_fingerprint() -> None:
    data = dict(SMALL["gpt2"]._data)
    data["model"] = {key: value for key, value in data["model"].items() if key != "type"}
    assert new_form(data) == data
    assert JsonTokenizer(data, {}).slow_because is None


def test_dropout_is_off_with_a_note_unless_it_is_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    data = dict(SMALL["gpt2"]._data)
    tokenizer = JsonTokenizer(data | {"model": data["model"] | {"dropout": 0.5}}, {})
    assert "has dropout = 0.5, which gives a text other ids each time; it is off here" in caplog.text
    text = ["hello there, the lower 2024 " * 5] * 20
    assert tokenizer.encode_batch(text) == SMALL["gpt2"].encode_batch(text)
    assert (tokenizer.slow_because, tokenizer.fingerprint) == (
        None,
        JsonTokenizer(data | {"model": data["model"] | {"dropout": None}}, {}).fingerprint,
    )
    drawn = tokenizer.with_dropout()
    assert len({tuple(row) for row in drawn.encode_batch(text).to_pylist()}) > 1
    assert drawn.slow_because == "its model has dropout"
    with pytest.raises(ConfigError, match="dropout is for BPE"):
        SMALL["albert"].with_dropout(0.1)
    with pytest.raises(ConfigError, match=r"dropout is 0\.0"):
        SMALL["gpt2"].with_dropout()


def test_the_token_for_unknown_words_must_be_that_of_the_model(tmp_path: Path) -> None:
    words = {"type": "WordLevel", "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "a": 5}}
    tokenizer = json_tokenizer(words | {"unk_token": "[UNK]"}, {"type": "Whitespace"})
    for config in ({"tokenizer_class": "HerbertTokenizer"}, {"tokenizer_class": "BertTokenizer", "unk_token": "a"}):
        with pytest.raises(InputError, match=r"its model has '\[UNK\]' for unknown words, but .* make the two say"):
            load_tokenizer(folder_of(tokenizer, tmp_path / "f", config))
    load_tokenizer(folder_of(tokenizer, tmp_path / "f", {"tokenizer_class": "BertTokenizer"}))


def test_settings_of_berts_normalizer_must_be_those_of_the_file(tmp_path: Path) -> None:
    words = {"type": "WordLevel", "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "a": 5}}
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None}
    tokenizer = json_tokenizer(words | {"unk_token": "[UNK]"}, {"type": "Whitespace"}, bert | {"lowercase": True})
    assert load_tokenizer(folder_of(tokenizer, tmp_path / "f", {"do_lower_case": True})).encode("A") == [5]
    with pytest.raises(InputError, match=r"says lowercase = true, but .* says do_lower_case = false"):
        load_tokenizer(folder_of(tokenizer, tmp_path / "f", {"do_lower_case": False}))
