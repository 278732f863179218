from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer

from bertdata import load_tokenizer
from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.tokenizers.wordpiece.reference import SMALL, reference

TEXTS = ["The Café, don't!", "中国 [MASK] é", "unbelievable ABC", ""]
SETTINGS = [
    {},
    {"do_lower_case": False},
    {"do_lower_case": False, "strip_accents": True},
    {"strip_accents": False, "tokenize_chinese_chars": False},
]
ENTRY = {"content": "[ENT]", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ["", "vocab.txt", "tokenizer.json"])
def test_a_saved_tokenizer_comes_back_the_same_from_each_file(
    tmp_path: Path, settings: dict[str, Any], name: str
) -> None:
    tokenizer = WordPieceTokenizer.from_tokens(SMALL, **settings)
    tokenizer.save_pretrained(tmp_path / "made" / "here")
    loaded = WordPieceTokenizer.from_pretrained(tmp_path / "made" / "here" / name)
    assert loaded == tokenizer
    assert loaded.encode_batch(TEXTS) == tokenizer.encode_batch(TEXTS)
    assert (loaded.do_lower_case, loaded.strip_accents) == (tokenizer.do_lower_case, tokenizer.strip_accents)


@pytest.mark.parametrize("name", ["", "vocab.txt", "tokenizer.json"])
def test_further_special_tokens_come_back_from_each_file(tmp_path: Path, name: str) -> None:
    tokenizer = WordPieceTokenizer.from_tokens([*SMALL, "[ENT]"], special_tokens=["[ENT]", "[unused0]"])
    tokenizer.save_pretrained(tmp_path)
    loaded = WordPieceTokenizer.from_pretrained(tmp_path / name)
    assert loaded == tokenizer
    assert set(loaded.special_tokens) == set(tokenizer.special_tokens)


@pytest.mark.parametrize(
    "named",
    [
        {"additional_special_tokens": ["[unused0]"]},
        {"additional_special_tokens": [{"__type": "AddedToken", "content": "[unused0]"}]},
        {"extra_special_tokens": ["[unused0]"]},
        {"extra_special_tokens": {"entity_token": "[unused0]"}, "additional_special_tokens": None},
    ],
)
def test_further_special_tokens_are_read_as_each_transformers_writes_them(
    tmp_path: Path, named: dict[str, Any]
) -> None:
    (tmp_path / "vocab.txt").write_text("".join(f"{token}\n" for token in SMALL), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(named))
    tokenizer = WordPieceTokenizer.from_pretrained(tmp_path)
    assert tokenizer.special_tokens == (*SMALL[:5], "[unused0]")
    assert tokenizer.encode("[unused0]", allow_special=True) == [SMALL.index("[unused0]")]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"additional_special_tokens": ["[ENT]"]}, "vocab.txt: has no '[ENT]', which the settings beside it name"),
        ({"additional_special_tokens": [7]}, "additional_special_tokens holds 7; expected tokens"),
        ({"added_tokens_decoder": {"999": ENTRY | {"special": True}}}, "the ids are not 0 to"),
        ({"added_tokens_decoder": {"0": ENTRY | {"special": False}}}, "'[ENT]' is not special"),
        ({"added_tokens_decoder": {"0": ENTRY}}, "the tokens it adds are damaged (KeyError: 'special')"),
        ({"added_tokens_decoder": ["[ENT]"]}, "the tokens it adds are damaged"),
    ],
)
def test_special_tokens_that_are_not_there_are_refused(tmp_path: Path, named: dict[str, Any], message: str) -> None:
    (tmp_path / "vocab.txt").write_text("".join(f"{token}\n" for token in SMALL), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(named))
    with pytest.raises(InputError) as caught:
        WordPieceTokenizer.from_pretrained(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("config", "added"),
    [
        ({"added_tokens_decoder": {str(len(SMALL)): ENTRY | {"special": True}}}, None),
        ({"additional_special_tokens": ["[ENT]"]}, {"[ENT]": len(SMALL)}),
        ({"added_tokens_decoder": {str(len(SMALL)): ENTRY | {"special": True}}}, {"[ENT]": len(SMALL)}),
    ],
)
def test_special_tokens_behind_a_vocab_txt_are_read_from_the_files_beside_it(
    tmp_path: Path, config: dict[str, Any], added: dict[str, int] | None
) -> None:
    (tmp_path / "vocab.txt").write_text("".join(f"{token}\n" for token in SMALL), encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    if added:
        (tmp_path / "added_tokens.json").write_text(json.dumps(added))
    tokenizer = WordPieceTokenizer.from_pretrained(tmp_path)
    assert tokenizer == WordPieceTokenizer.from_tokens([*SMALL, "[ENT]"], special_tokens=["[ENT]"])


def test_a_tokenizer_is_saved_to_a_url_and_loaded_from_it() -> None:
    tokenizer = WordPieceTokenizer.from_tokens(SMALL, do_lower_case=False)
    tokenizer.save_pretrained("memory://vocabularies/small")
    for name in ("", "/vocab.txt", "/tokenizer.json"):
        assert WordPieceTokenizer.from_pretrained(f"memory://vocabularies/small{name}") == tokenizer


def test_saving_twice_writes_the_same_bytes(tmp_path: Path) -> None:
    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    tokenizer.save_pretrained(tmp_path / "a")
    WordPieceTokenizer.from_pretrained(tmp_path / "a").save_pretrained(tmp_path / "b")
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["tokenizer.json", "tokenizer_config.json", "vocab.txt"]
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in names)


@pytest.mark.parametrize("settings", SETTINGS)
def test_transformers_opens_what_is_saved(tmp_path: Path, settings: dict[str, Any]) -> None:
    from transformers import AutoTokenizer

    tokenizer = WordPieceTokenizer.from_tokens([*SMALL, "[ENT]"], special_tokens=["[ENT]"], **settings)
    tokenizer.save_pretrained(tmp_path)
    theirs = AutoTokenizer.from_pretrained(str(tmp_path))
    texts = [*TEXTS, "a [ENT] b"]
    assert theirs(texts, add_special_tokens=False)["input_ids"] == [
        tokenizer.encode(text, allow_special=True) for text in texts
    ]
    pair = theirs("the mask", "a b")
    assert {name: pair[name] for name in pair} == tokenizer.encode_pair("the mask", "a b")
    assert (theirs.mask_token_id, theirs.pad_token_id) == (tokenizer.mask_token_id, tokenizer.pad_token_id)
    theirs.save_pretrained(str(tmp_path / "again"))
    assert WordPieceTokenizer.from_pretrained(tmp_path / "again") == tokenizer


OPEN_THERE = """
import json, sys
import transformers
from transformers import AutoTokenizer
folder, texts = json.load(sys.stdin)
theirs = AutoTokenizer.from_pretrained(folder)
pair = theirs("the mask", "a b")
print(json.dumps([transformers.__version__, theirs(texts, add_special_tokens=False)["input_ids"], dict(pair)]))
theirs.save_pretrained(folder + "/again")
"""


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_transformers_4_opens_what_is_saved(tmp_path: Path, settings: dict[str, Any]) -> None:
    """`BERTDATA_TRANSFORMERS_4` names the Python of an environment with "transformers<5"."""
    python = os.environ.get("BERTDATA_TRANSFORMERS_4")
    if not python:
        pytest.skip("BERTDATA_TRANSFORMERS_4 names no Python")
    tokenizer = WordPieceTokenizer.from_tokens([*SMALL, "[ENT]"], special_tokens=["[ENT]"], **settings)
    tokenizer.save_pretrained(tmp_path)
    texts = [*TEXTS, "a [ENT] b"]
    done = subprocess.run(
        [python, "-c", OPEN_THERE],
        input=json.dumps([str(tmp_path), texts]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": ""},
    )
    version, ids, pair = json.loads(done.stdout)
    assert version.startswith("4.")
    assert ids == [tokenizer.encode(text, allow_special=True) for text in texts]
    assert pair == tokenizer.encode_pair("the mask", "a b")
    assert WordPieceTokenizer.from_pretrained(tmp_path / "again") == tokenizer


def test_a_tokenizers_tokenizer_comes_and_goes() -> None:
    tokenizer = WordPieceTokenizer.from_tokens(SMALL, do_lower_case=False, strip_accents=True)
    theirs = tokenizer.to_tokenizers()
    assert [theirs.encode(text, add_special_tokens=False).ids for text in TEXTS] == [
        tokenizer.encode(text, allow_special=True) for text in TEXTS
    ]
    assert WordPieceTokenizer.from_tokenizers(theirs) == tokenizer
    assert WordPieceTokenizer.from_tokenizers(reference(SMALL)) == WordPieceTokenizer.from_tokens(SMALL)


def test_special_tokens_added_behind_the_vocabulary_are_kept() -> None:
    theirs = reference(SMALL)
    theirs.add_special_tokens(["[ENT]"])
    tokenizer = WordPieceTokenizer.from_tokenizers(theirs)
    assert tokenizer.tokens == (*SMALL, "[ENT]")
    assert len(SMALL) in tokenizer.special_ids


def test_a_bare_vocabulary_is_lower_cased_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "my-vocabulary.txt"
    path.write_text("".join(f"{token}\n" for token in SMALL), encoding="utf-8")
    assert WordPieceTokenizer.from_pretrained(path).do_lower_case is True
    assert WordPieceTokenizer.from_pretrained(path, do_lower_case=False).do_lower_case is False
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false, "strip_accents": null}')
    assert WordPieceTokenizer.from_pretrained(path).do_lower_case is False
    assert WordPieceTokenizer.from_pretrained(path, do_lower_case=True).do_lower_case is True


def test_the_case_given_overrides_every_file(tmp_path: Path) -> None:
    WordPieceTokenizer.from_tokens(SMALL).save_pretrained(tmp_path)
    assert WordPieceTokenizer.from_pretrained(tmp_path, do_lower_case=False).tokenize("A") == ["A"]


def test_files_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    WordPieceTokenizer.from_tokens(SMALL).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config | {"do_lower_case": False}))
    with pytest.raises(InputError, match=r"do_lower_case = True, but tokenizer_config.json beside it says False"):
        WordPieceTokenizer.from_pretrained(tmp_path)
    assert WordPieceTokenizer.from_pretrained(tmp_path, do_lower_case=False).do_lower_case is False
    (tmp_path / "tokenizer_config.json").unlink()
    (tmp_path / "vocab.txt").write_text("".join(f"{token}\n" for token in reversed(SMALL)), encoding="utf-8")
    with pytest.raises(InputError, match=r"vocab.txt: its tokens differ from tokenizer.json"):
        WordPieceTokenizer.from_pretrained(tmp_path)


def test_accents_stripped_by_default_or_by_name_are_no_contradiction(tmp_path: Path) -> None:
    WordPieceTokenizer.from_tokens(SMALL).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config | {"strip_accents": True}))
    assert WordPieceTokenizer.from_pretrained(tmp_path) == WordPieceTokenizer.from_tokens(SMALL)
    with pytest.raises(InputError, match=r"says strip_accents = None, but tokenizer_config.json beside it says True"):
        WordPieceTokenizer.from_pretrained(tmp_path, do_lower_case=False)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config | {"strip_accents": False}))
    with pytest.raises(InputError, match=r"says strip_accents = None, but tokenizer_config.json beside it says False"):
        WordPieceTokenizer.from_pretrained(tmp_path)


def test_truncation_padding_and_decoder_of_a_tokenizer_json_are_left_behind(tmp_path: Path) -> None:
    theirs = WordPieceTokenizer.from_tokens(SMALL).to_tokenizers()
    theirs.enable_truncation(4)
    theirs.enable_padding(length=64)
    theirs.decoder = None
    theirs.save(str(tmp_path / "tokenizer.json"))
    for tokenizer in (WordPieceTokenizer.from_pretrained(tmp_path), WordPieceTokenizer.from_tokenizers(theirs)):
        assert tokenizer == WordPieceTokenizer.from_tokens(SMALL)
        assert tokenizer.to_tokenizers().to_str() == WordPieceTokenizer.from_tokens(SMALL).to_tokenizers().to_str()


def test_rows_are_those_of_the_post_processor_and_saved_with_it(tmp_path: Path) -> None:
    from tokenizers import processors

    theirs = WordPieceTokenizer.from_tokens(SMALL).to_tokenizers()
    theirs.post_processor = processors.RobertaProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = WordPieceTokenizer.from_tokenizers(theirs)
    assert tokenizer.fingerprint != WordPieceTokenizer.from_tokens(SMALL).fingerprint
    tokenizer.save_pretrained(tmp_path)
    a, b = SMALL[5], SMALL[6]
    for opened in (tokenizer, WordPieceTokenizer.from_pretrained(tmp_path)):
        row = opened.encode_pair(a, b)
        assert (row["input_ids"], "token_type_ids" in row) == (theirs.encode(a, b).ids, False)
        assert opened(a, b)["input_ids"] == theirs.encode(a, b).ids
        assert opened == tokenizer
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["tokenizer_class"] == "PreTrainedTokenizerFast"


@pytest.mark.parametrize("flag", ["single_word", "normalized", "lstrip", "rstrip"])
def test_special_tokens_are_looked_for_as_they_are_written(flag: str) -> None:
    theirs = reference(SMALL)
    theirs.add_special_tokens([AddedToken("[unused0]", **{"normalized": False, flag: True})])
    tokenizer = WordPieceTokenizer.from_tokenizers(theirs)
    row = tokenizer.encode_with_offsets("a[unused0] [UNUSED0]", allow_special=True)
    assert row["input_ids"][:2] == [SMALL.index("a"), SMALL.index("[unused0]")]
    assert row["offset_mapping"][1:3] == [(1, 10), (11, 12)]
    assert SMALL.index("[unused0]") not in row["input_ids"][2:]


def _set(*keys: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("model", "type", value="BPE"), "is 'BPE'; expected 'WordPiece'"),
        (_set("model", "unk_token", value="<unk>"), "model.unk_token"),
        (_set("model", "continuing_subword_prefix", value="@@"), "model.continuing_subword_prefix"),
        (_set("model", "max_input_chars_per_word", value=50), "model.max_input_chars_per_word"),
        (_set("normalizer", value=None), "the normalizer"),
        (_set("normalizer", "clean_text", value=False), "normalizer.clean_text"),
        (_set("pre_tokenizer", value={"type": "Whitespace"}), "the pre_tokenizer"),
        (_set("model", "vocab", "the", value=999), "the ids are not 0 to"),
        (_set("model", "vocab", value=["a"]), "is not a whole tokenizer.json"),
        (_set("model", value=None), "has no model, so it is not of the package tokenizers"),
        (_set("added_tokens", value=[{"content": "x", "id": 0, "special": False}]), "'x' is not special"),
        (_set("added_tokens", value=[{"content": "[SEP]", "id": 0, "special": True}]), "has the ids 3 and 0"),
    ],
)
def test_a_tokenizer_json_that_is_not_berts_is_refused_and_says_why(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    WordPieceTokenizer.from_tokens(SMALL).save_pretrained(tmp_path)
    path = tmp_path / "tokenizer.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(InputError) as caught:
        WordPieceTokenizer.from_pretrained(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("data", [{"class_name": "Tokenizer", "config": {}}, ["the"], {"model": []}])
def test_a_file_of_that_name_without_a_model_is_refused(data: Any, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match="has no model, so it is not of the package tokenizers"):
        load_tokenizer(tmp_path)


def test_a_tokenizer_of_another_kind_is_refused() -> None:
    from tokenizers import models

    with pytest.raises(InputError, match="expected 'WordPiece'"):
        WordPieceTokenizer.from_tokenizers(Tokenizer(models.Unigram()))


def test_what_is_no_tokenizer_of_tokenizers_is_refused(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = WordPieceTokenizer.from_tokens(SMALL)
    tokenizer.save_pretrained(tmp_path)
    theirs = AutoTokenizer.from_pretrained(str(tmp_path))
    with pytest.raises(ConfigError, match=r"found BertTokenizer\w*; of a fast tokenizer of transformers give its back"):
        WordPieceTokenizer.from_tokenizers(theirs)
    assert WordPieceTokenizer.from_tokenizers(theirs.backend_tokenizer) == tokenizer
    with pytest.raises(ConfigError, match="found NoneType"):
        WordPieceTokenizer.from_tokenizers(None)


def test_a_name_that_is_not_published_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"bert-base-uncased: there is no such tokenizer.*bertdata-30k-uncased"):
        WordPieceTokenizer.from_pretrained("bert-base-uncased")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such tokenizer"):
        WordPieceTokenizer.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"has no tokenizer.json or vocab.txt"):
        WordPieceTokenizer.from_pretrained(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        WordPieceTokenizer.from_pretrained(tmp_path / "vocab.txt")
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        WordPieceTokenizer.from_pretrained(tmp_path)


def test_a_setting_that_is_no_truth_value_is_refused(tmp_path: Path) -> None:
    WordPieceTokenizer.from_tokens(SMALL).save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": "no"}')
    with pytest.raises(InputError, match="do_lower_case is 'no'"):
        WordPieceTokenizer.from_pretrained(tmp_path / "vocab.txt")


def test_saving_where_a_file_stands_says_so(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        WordPieceTokenizer.from_tokens(SMALL).save_pretrained(tmp_path / "taken")


def test_the_folder_of_a_build_gives_its_tokenizer(tmp_path: Path) -> None:
    saved = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "salt"])
    saved.save_pretrained(tmp_path / "corpus" / "tokenizer")
    assert WordPieceTokenizer.from_pretrained(tmp_path / "corpus").tokens == saved.tokens
    with pytest.raises(InputError, match="nor a folder tokenizer with one"):
        WordPieceTokenizer.from_pretrained(tmp_path)
