"""No text becomes a special token, whatever it spells; where `tokenizers` gives none either, the ids are its."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference

from bertdata import WordPieceTokenizer
from bertdata.errors import InputError
from bertdata.tokenizers import Tokenizer
from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from bertdata.tokenizers.literal_special import NAME_LENGTH, Row, split_row
from tests.generated import examples
from tests.tokenizers.small import (
    METASPACES,
    SMALL,
    SPECIAL,
    SPLIT_METASPACES,
    byte_level,
    byte_pair_model,
    json_tokenizer,
    sequence,
    unigram_model,
)

MARKS = sequence(
    {"type": "Prepend", "prepend": METASPACE},
    {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE},
)
WORDS = {token: token_id for token_id, token in enumerate([*SPECIAL, "low", "the", "[MASK", "]", "M"])}
PIECES = {token: token_id for token_id, token in enumerate([*SPECIAL, *"alowthe[]MASK", "##]", "##MASK", "##a", "low"])}


def hidden_names() -> list[str]:
    """Return the names that stand in for special tokens, those of one and two lengths."""
    names = [f"a{METASPACE}{token_id}" for token_id in range(5)]
    return [
        *names,
        *(f"{name}{METASPACE}".ljust(n, "a") for name in names[2:5] for n in (NAME_LENGTH, 2 * NAME_LENGTH)),
    ]


def merges_that_make(token: str) -> dict[str, Any]:
    """Return a byte-level BPE whose merges make a token letter by letter, and one more after it."""
    model = byte_pair_model()
    pairs = [f"{token[:at]} {token[at]}" for at in range(1, len(token))]
    vocabulary = dict(model["vocab"])
    for pair in [*pairs, f"{token} e"]:
        vocabulary.setdefault(pair.replace(" ", ""), len(vocabulary))
    return model | {"vocab": vocabulary, "merges": [*model["merges"], *pairs, f"{token} e"]}


def whole_words() -> dict[str, Any]:
    """Return a BPE of characters in which a word that is a token is that token, whatever the merges."""
    letters = [*"alowthe[]MASK0123456789 ", METASPACE]
    vocabulary = {token: token_id for token_id, token in enumerate([*SPECIAL, *letters])}
    return {"type": "BPE", "vocab": vocabulary, "merges": [], "unk_token": "[UNK]", "ignore_merges": True}


MASK_OF_MERGES = merges_that_make("[MASK]")
WORD_PIECES = {"type": "WordPiece", "vocab": PIECES, "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
FILES: dict[str, JsonTokenizer] = {
    "unigram, not cut": json_tokenizer(unigram_model(), None, MARKS),
    "unigram, cut nowhere": json_tokenizer(unigram_model(), METASPACES | {"split": False}, {"type": "NFKC"}),
    "unigram, kernel": json_tokenizer(unigram_model(), SPLIT_METASPACES, sequence({"type": "NFKC"})),
    "unigram, added": json_tokenizer(unigram_model(), None, MARKS, {"salt": 82, "MASK": 83}),
    "words": json_tokenizer({"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"}, {"type": "WhitespaceSplit"}),
    "words of a whole text": json_tokenizer({"type": "WordLevel", "vocab": WORDS, "unk_token": "[UNK]"}, None),
    "pieces of words": json_tokenizer(WORD_PIECES | {"max_input_chars_per_word": 100}, {"type": "WhitespaceSplit"}),
    "pieces of long words": json_tokenizer(
        WORD_PIECES | {"max_input_chars_per_word": 1 << 40}, {"type": "WhitespaceSplit"},
    ),
    "whole words of BPE": json_tokenizer(whole_words(), None),
    "merges make one": json_tokenizer(MASK_OF_MERGES, byte_level(use_regex=False)),
    "merges make one, whole words": json_tokenizer(
        MASK_OF_MERGES | {"ignore_merges": True}, byte_level(use_regex=False),
    ),
    "kernel of BPE": SMALL["nfc"],
}  # fmt: skip
ALPHABET = [
    *SPECIAL,
    *hidden_names(),
    *"aMl[]",
    "[M",
    "SK]",
    "e",
    "low",
    "the",
    "salt",
    " ",
    "  ",
    METASPACE,
    "\n",
    "4",
]
TEXTS = st.lists(st.sampled_from(ALPHABET), max_size=7).map("".join)


def reference_of(data: Mapping[str, Any]) -> Reference:
    """Return what `tokenizers` makes of the whole file, with special tokens taken for text."""
    reference = Reference.from_str(json.dumps(data))
    reference.encode_special_tokens = True
    return reference


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=examples(40))
@given(text=TEXTS)
def test_no_text_becomes_a_special_token(name: str, text: str) -> None:
    tokenizer = FILES[name]
    ids = tokenizer.encode(text)
    assert {0, 2, 3, 4}.isdisjoint(ids)
    assert tokenizer.encode_batch([text, "low"]).to_pylist()[0] == ids
    assert tokenizer.encode_batch_with_words([text])["input_ids"].to_pylist() == [ids]
    assert tokenizer.encode_batch_with_offsets([text])["input_ids"].to_pylist() == [ids]
    expected = reference_of(tokenizer._data).encode(text, add_special_tokens=False).ids
    if {0, 2, 3, 4}.isdisjoint(expected) and "[UNK]" not in text:
        assert ids == expected


def test_marks_of_spaces_in_a_text_are_not_names_of_special_tokens() -> None:
    for name, tokenizer in FILES.items():
        for text in (*hidden_names(), *(f"low {name} low" for name in hidden_names())):
            assert {0, 2, 3, 4}.isdisjoint(tokenizer.encode(text)), name


def test_a_special_token_that_merges_make_is_split_into_what_it_was_merged_from() -> None:
    tokenizer = FILES["merges make one"]
    assert tokenizer.tokenize("low[MASK]e [MASK]") == ["low", "[MASK]e", "Ġ", "[MASK", "]"]
    assert tokenizer.slow_because == "its merges make '[MASK]' of a text, which is special"
    batch = tokenizer.encode_batch_with_offsets(["a[MASK]"]).to_pydict()
    assert batch["offset_mapping"] == [[[0, 1], [1, 6], [6, 7]]]
    assert tokenizer.encode_batch_with_words(["a[MASK]"])["word_starts"].to_pylist() == [[True, False, False]]


def test_parts_of_a_token_without_known_places_have_all_of_it() -> None:
    row = Row([9], [(0, 2)], [0])
    assert split_row(row, {9: (2, 3)}, [1] * 8 + [3, 3]) == Row([2, 3], [(0, 1), (1, 2)], [0, 0])
    assert split_row(row, {9: (2, 8)}, [1] * 8 + [3, 3]) == Row([2, 8], [(0, 2), (0, 2)], [0, 0])


def test_an_ordinary_token_with_a_usual_name_has_no_role_where_merges_make_it() -> None:
    model = merges_that_make("</s>")
    assert json_tokenizer(model, byte_level()).sep_token == "[SEP]"
    data = {"version": "1.0", "added_tokens": [], "model": model | {"merges": [*model["merges"]]}}
    others = {"normalizer": None, "pre_tokenizer": byte_level(use_regex=False), "post_processor": None, "decoder": None}
    bare = {token: i for i, token in enumerate(token for token in model["vocab"] if token not in SPECIAL)}
    plain = JsonTokenizer(data | others | {"model": model | {"vocab": bare}}, {})
    assert (plain.sep_token, plain.special_tokens) == (None, ())
    assert plain.tokenize("a</s>") == ["a", "</s>"]
    named = JsonTokenizer(data | others | {"model": model | {"vocab": bare}}, {"eos_token": "</s>"})
    assert named.special_tokens == ("</s>",)
    assert named.tokenize("a</s>") == ["a", "</s", ">"]


def test_special_tokens_of_bert_that_are_words_are_text_in_a_text() -> None:
    tokens = [*SPECIAL, "ent", "e", "##n", "##t", "|", "##ed", "low"]
    tokenizer: Tokenizer = WordPieceTokenizer.from_tokens(tokens, special_tokens=["ent", "|", "##ed"])
    assert tokenizer.tokenize("ent low | ented [MASK]") == [
        *("e", "##n", "##t", "low", "[UNK]", "[UNK]", "[UNK]", "[UNK]", "[UNK]")
    ]
    offsets = tokenizer.encode_batch_with_offsets(["low ent"]).to_pydict()
    assert offsets["offset_mapping"] == [[[0, 3], [4, 5], [5, 6], [6, 7]]]


def test_merges_that_are_not_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="tokenizers cannot read it"):
        json_tokenizer(byte_pair_model() | {"merges": ["a b c"]}, byte_level())
