"""Ids out of files: what is not an id, or makes a list far longer than the vocabulary, is refused everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bertdata import load_tokenizer
from bertdata.errors import InputError
from bertdata.kernels.byte_table import MAX_ENTRIES
from bertdata.tokenizers import ids
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.wordpiece import WordPieceTokenizer, vocabulary
from tests.tokenizers.small import SMALL, byte_level, byte_pair_model, json_tokenizer

NOT_IDS = [1.5, 7.0, -1, True, "7", None, [7], 1 << 31, 10**30, float("nan")]
BYTES: dict[str, Any] = json.loads(json.dumps(SMALL["gpt2"]._data))
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##s"]


def byte_pair_file(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return the file of a byte-level BPE after a change to it."""
    data: dict[str, Any] = json.loads(json.dumps(BYTES))
    change(data)
    return data


def in_vocabulary(data: dict[str, Any], **ids: int) -> None:
    """Put tokens into the vocabulary of a file."""
    data["model"]["vocab"].update(ids)


def template(token_id: Any, type_id: Any = 0) -> dict[str, Any]:
    """Return a post-processor that puts a token before and after a text."""
    special = {"SpecialToken": {"id": "[SEP]", "type_id": type_id}}
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    around = {"[SEP]": {"id": "[SEP]", "ids": [token_id], "tokens": ["[SEP]"]}}
    pair = [special, a, special, b, special]
    return {"type": "TemplateProcessing", "single": [special, a, special], "pair": pair, "special_tokens": around}


@pytest.mark.parametrize("value", NOT_IDS)
def test_what_is_not_an_id_is_refused_wherever_a_tokenizer_json_has_ids(value: Any) -> None:
    roberta = {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": False}
    changes: list[Callable[[dict[str, Any]], object]] = [
        lambda data: data["model"]["vocab"].update(zzz=value),
        lambda data: data["added_tokens"][0].update(id=value),
        lambda data: data.update(post_processor=template(value)),
        lambda data: data.update(post_processor=roberta | {"sep": ["[SEP]", 3], "cls": ["[CLS]", value]}),
    ]
    for change in changes:
        with pytest.raises(InputError, match="expected a whole number from 0"):
            JsonTokenizer(byte_pair_file(change), {})


@pytest.mark.parametrize("value", [*NOT_IDS[:6], 10**30])
def test_what_is_not_an_id_is_refused_in_files_of_wordpiece(value: Any, tmp_path: Path) -> None:
    SMALL["gpt2"].save_pretrained(tmp_path / "other")
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    (tmp_path / "added_tokens.json").write_text(json.dumps({"[NEW]": value}))
    with pytest.raises(InputError, match=r"added_tokens\.json: the id of the token '\[NEW\]' is"):
        load_tokenizer(tmp_path)
    (tmp_path / "added_tokens.json").unlink()
    entry = {"content": "[NEW]", "special": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {json.dumps(value): entry}}))
    if value != "7":
        with pytest.raises(InputError, match=r"tokenizer_config\.json: the id of the added token '\[NEW\]' is"):
            load_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    load_tokenizer(tmp_path).save_pretrained(tmp_path / "whole")
    path = tmp_path / "whole" / "tokenizer.json"
    data = json.loads(path.read_text())
    for changed in (
        data | {"model": data["model"] | {"vocab": data["model"]["vocab"] | {"the": value}}},
        data | {"added_tokens": [data["added_tokens"][0] | {"id": value}, *data["added_tokens"][1:]]},
    ):
        path.write_text(json.dumps(changed))
        with pytest.raises(InputError, match="expected a whole number from 0"):
            load_tokenizer(path)


def test_an_id_far_beyond_the_tokens_is_refused_before_a_list_is_made_for_it() -> None:
    for high in (400_000_000, (1 << 31) - 1):
        with pytest.raises(InputError, match=r"the highest id is .* only 283 tokens"):
            JsonTokenizer(byte_pair_file(partial(in_vocabulary, zzz=high)), {})


def test_ids_with_gaps_such_as_published_tokenizers_may_have_are_read() -> None:
    model = byte_pair_model()
    tokenizer = json_tokenizer(model | {"vocab": model["vocab"] | {"zzz": 50_000}}, byte_level())
    assert tokenizer.vocab_size == 50_001
    assert tokenizer.tokens[49_999] == "<no token 49999>"
    assert tokenizer.is_reserved(tokenizer.tokens[49_999])
    assert tokenizer.encode("the lower") == SMALL["gpt2"].encode("the lower")
    half = range(0, 200_000, 2)
    assert ids.vocabulary_size(half) == 199_999
    with pytest.raises(InputError, match="the highest id is 299,997, but there are only 100,000 tokens"):
        ids.vocabulary_size(range(0, 300_000, 3))


def test_a_token_named_as_an_id_without_one_is_refused() -> None:
    with pytest.raises(InputError, match="'<no token 300>' has the name of an id that has no token"):
        JsonTokenizer(byte_pair_file(lambda data: data["model"]["vocab"].update({"<no token 300>": 400})), {})


def test_ids_of_a_row_template_are_in_the_vocabulary_and_its_types_in_a_byte() -> None:
    data = byte_pair_file(lambda data: data.update(post_processor=template(999_999)))
    with pytest.raises(
        InputError, match=r"its post_processor puts the id 999999 around texts, and .* the ids 0 to 281"
    ):
        JsonTokenizer(data, {})
    with pytest.raises(InputError, match=r"type_id of .* is 256; expected a whole number from 0 to 255"):
        JsonTokenizer(byte_pair_file(lambda data: data.update(post_processor=template(3, 256))), {})
    assert JsonTokenizer(byte_pair_file(lambda data: data.update(post_processor=template(3))), {}).row_template.prefix


def test_pieces_of_a_unigram_model_have_a_string_and_a_finite_score() -> None:
    data = json.loads(json.dumps(SMALL["xlm"]._data))
    for piece in (["a", float("nan")], ["a", "1"], ["a", True], [7, -1.0], ["a"]):
        changed = data | {"model": data["model"] | {"vocab": [*data["model"]["vocab"][:-1], piece]}}
        with pytest.raises(InputError, match=r"expected a string and a finite score|not enough values"):
            JsonTokenizer(changed, {})


def test_nested_parts_end_in_a_message() -> None:
    part: dict[str, Any] = {"type": "NFC"}
    for _ in range(400):
        part = {"type": "Sequence", "normalizers": [part]}
    with pytest.raises(InputError):
        JsonTokenizer(byte_pair_file(lambda data: data.update(normalizer=part)), {})


def test_a_vocab_txt_of_too_many_lines_is_refused_at_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vocabulary.MOST_TOKENS == MAX_ENTRIES - 1
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"a\n" * 3_000_000)
    read = []
    monkeypatch.setattr(vocabulary, "_parse", lambda path, data: read.append(data))
    with pytest.raises(InputError, match=r"vocab\.txt: has over 2,097,151 lines"):
        vocabulary.read_vocabulary(str(path))
    monkeypatch.setattr(vocabulary, "MOST_BYTES", 2 << 20)
    path.write_bytes(b"a" * (5 << 20))
    with pytest.raises(InputError, match="has over 2 MiB"):
        vocabulary.read_vocabulary(str(path))
    assert not read


def test_a_piece_of_a_unigram_model_is_there_once() -> None:
    data = json.loads(json.dumps(SMALL["xlm"]._data))
    data["model"]["vocab"].append(data["model"]["vocab"][-1])
    with pytest.raises(InputError, match=r"the piece .* is there twice, as ids \d+ and \d+"):
        JsonTokenizer(data, {})


@pytest.mark.parametrize("part", ["normalizer", "pre_tokenizer", "post_processor"])
@pytest.mark.parametrize("value", [[], {"type": ["NFC"]}, {"type": None}, {"type": "Sequence"}, 7])
def test_parts_have_types(part: str, value: Any) -> None:
    with pytest.raises(InputError):
        JsonTokenizer(byte_pair_file(lambda data: data.update({part: value})), {})


def test_half_a_character_in_an_added_token_is_refused() -> None:
    data = byte_pair_file(lambda data: data["added_tokens"].append(data["added_tokens"][-1].copy()))
    data["added_tokens"][-1] |= {"id": len(data["model"]["vocab"]), "content": "\ud800", "special": False}
    with pytest.raises(InputError, match="surrogates not allowed"):
        JsonTokenizer(data, {})


def test_a_post_processor_that_tokenizers_cannot_read_is_a_message(tmp_path: Path) -> None:
    WordPieceTokenizer.from_tokens(WORDS).save_pretrained(tmp_path)
    data = json.loads((tmp_path / "tokenizer.json").read_text())
    data["post_processor"]["special_tokens"]["[CLS]"]["ids"] = ""
    (tmp_path / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match="tokenizers cannot read its post_processor"):
        load_tokenizer(str(tmp_path)).save_pretrained(tmp_path)


def test_what_tokenizers_cannot_encode_is_a_message() -> None:
    model = {"type": "BPE", "vocab": {"[PAD]": 0, "a": 1}, "merges": [], "unk_token": "nowhere"}
    tokenizer = JsonTokenizer({"version": "1.0", "model": model, "added_tokens": []}, {"pad_token": "[PAD]"})
    assert tokenizer.encode("aa") == [1, 1]
    cannot = "tokenizers cannot encode a text with this tokenizer"
    with pytest.raises(InputError, match=cannot):
        tokenizer.encode("zz")
    for encode in (tokenizer.encode_batch, tokenizer.encode_batch_with_offsets):
        with pytest.raises(InputError, match=cannot):
            encode(["zz"])
