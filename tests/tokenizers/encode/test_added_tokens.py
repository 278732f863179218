"""Added tokens are found as `tokenizers` finds them, whatever their flags, their number and the text."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference

from bertdata.errors import InputError
from bertdata.tokenizers.encode.added_tokens import Cuts, TokenSet
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.generated import examples
from tests.growth import assert_linear
from tests.oracles.byte_pairs import CL100K, cut_at_added
from tests.tokenizers.small import (
    LINES,
    METASPACES,
    SPACES,
    SPECIAL,
    SPLIT_METASPACES,
    STRIP,
    byte_level,
    byte_pair_model,
    json_tokenizer,
    sequence,
    split_by,
    unigram_model,
)

FLAGS = ("single_word", "lstrip", "rstrip")
LETTERS = [
    "[MASK",
    "]",
    "a",
    "b",
    "ab",
    "the",
    " ",
    "  ",
    "\n",
    "-",
    "_",
    "é",
    "e\u0301",
    "\u0301",
    "中",
    "\xa0",
    "low",
    "1",
    "😀",
]
KINDS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "gpt2": (byte_pair_model(), byte_level(), None),
    "prefix space": (byte_pair_model(), byte_level(add_prefix_space=True), None),
    "whole words": (byte_pair_model(ignore_merges=True), byte_level(), None),
    "cl100k": (byte_pair_model(), split_by(CL100K), None),
    "nfc": (byte_pair_model(), byte_level(), {"type": "NFC"}),
    "xlm": (unigram_model(), SPLIT_METASPACES, sequence({"type": "NFKC"})),
    "deberta": (unigram_model(), METASPACES, sequence(STRIP, *LINES, {"type": "NFKC"}, SPACES)),
    "lowercase": (byte_pair_model(), byte_level(), {"type": "Lowercase"}),
    "prepend": (byte_pair_model(), byte_level(), {"type": "Prepend", "prepend": "a"}),
}
"""Tokenizers, without added tokens; the last two are put together of stages."""


def entries(contents: Sequence[str], flags: Sequence[dict[str, bool]], first: int) -> list[dict[str, Any]]:
    """Return added tokens as a tokenizer.json has them, with the ids from `first` on."""
    plain = dict.fromkeys((*FLAGS, "special"), False) | {"normalized": True}
    return [
        {"id": first + number, "content": content} | plain | some
        for number, (content, some) in enumerate(zip(contents, flags, strict=True))
    ]


def with_added(kind: str, contents: Sequence[str], flags: Sequence[dict[str, bool]]) -> tuple[JsonTokenizer, Any]:
    """Return a tokenizer with added tokens, and `tokenizers`' of the same file, for which special tokens are text."""
    data = dict(json_tokenizer(*KINDS[kind])._data)
    first = len(data["model"]["vocab"])
    data = {**data, "added_tokens": [*data["added_tokens"], *entries(contents, flags, first)]}
    reference = Reference.from_str(json.dumps(data))
    reference.encode_special_tokens = True
    return JsonTokenizer(data, {}), reference


TEXTS = st.lists(st.sampled_from(LETTERS), max_size=12).map("".join)


@st.composite
def added(draw: Any) -> tuple[list[str], list[dict[str, bool]]]:
    """Return different contents of added tokens, made from a few letters, and the flags of each."""
    model_tokens = set(byte_pair_model()["vocab"]) | {piece for piece, _ in unigram_model()["vocab"]}
    content = st.lists(st.sampled_from(LETTERS), min_size=1, max_size=4).map("".join)
    contents = draw(
        st.lists(content.filter(lambda text: text not in model_tokens), min_size=1, max_size=6, unique=True)
    )
    flag = st.fixed_dictionaries({name: st.booleans() for name in (*FLAGS, "normalized", "special")})
    return contents, [draw(flag) for _ in contents]


def assert_as_tokenizers(tokenizer: JsonTokenizer, reference: Any, texts: list[str]) -> None:
    """Assert that ids, places of words and offsets are those of `tokenizers`."""
    encoded = reference.encode_batch(texts, add_special_tokens=False)
    ids = [encoding.ids for encoding in encoded]
    assert tokenizer.encode_batch(texts).to_pylist() == ids
    assert [tokenizer.encode(text) for text in texts] == ids
    batch = tokenizer.encode_batch_with_words(texts)
    assert batch["input_ids"].to_pylist() == ids
    starts = [[before != word for before, word in pairwise([None, *encoding.word_ids])] for encoding in encoded]
    assert batch["word_starts"].to_pylist() == starts
    offsets = tokenizer.encode_batch_with_offsets(texts)["offset_mapping"].to_pylist()
    assert offsets == [[list(pair) for pair in encoding.offsets] for encoding in encoded]


def is_found_everywhere(reference: Any, contents: Sequence[str], flags: Sequence[dict[str, bool]]) -> bool:
    """Tell whether a token is nothing once it is normalized; if it is special, `tokenizers` may not come to an end."""
    normalizer = reference.normalizer
    return normalizer is not None and any(
        some["normalized"] and not normalizer.normalize_str(content)
        for content, some in zip(contents, flags, strict=True)
    )


def encoded_by(reference: Any, texts: list[str]) -> list[str]:
    """Return those of some texts in which `tokenizers` does not panic, as it does where a token ends before another."""
    some = []
    for text in texts:
        try:
            reference.encode(text)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
        else:
            some.append(text)
    return some


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(100))
@given(tokens=added(), texts=st.lists(TEXTS, max_size=6))
def test_ids_words_and_offsets_are_those_of_tokenizers_with_any_flags(
    kind: str, tokens: tuple[list[str], list[dict[str, bool]]], texts: list[str]
) -> None:
    contents, flags = tokens
    try:
        tokenizer, reference = with_added(kind, contents, flags)
    except InputError as error:
        assert re.search("once (they are|it is) normalized", str(error))  # noqa: PT017
        return
    if is_found_everywhere(reference, contents, flags):
        reject()
    by_kernels = kind != "xlm" or not any(some["normalized"] and not some["special"] for some in flags)
    assert (tokenizer.slow_because is None) == by_kernels
    texts = [*texts, *("".join(contents) + text for text in texts)]
    if isinstance(KINDS[kind][0]["vocab"], list):  # special tokens are pieces of Unigram
        texts = [text for text in texts if not any(token in text for token in SPECIAL)]
    some = encoded_by(reference, texts)
    assert_as_tokenizers(tokenizer, reference, some)
    for text in {*texts} - {*some}:
        for encode in (tokenizer.encode, lambda text: tokenizer.encode_batch([text])):
            with pytest.raises(InputError, match="tokenizers cannot encode a text"):
                encode(text)


@settings(max_examples=examples(300))
@given(tokens=added(), texts=st.lists(TEXTS, max_size=6))
def test_rows_are_cut_as_by_the_readable_version(
    tokens: tuple[list[str], list[dict[str, bool]]], texts: list[str]
) -> None:
    contents, flags = tokens
    texts = [*texts, *("".join(contents) + text for text in texts)]
    given_flags = {
        content: [name for name in (*FLAGS, "special") if some[name]]
        for content, some in zip(contents, flags, strict=True)
    }
    try:
        expected = [cut_at_added(text, given_flags) for text in texts]
    except ValueError:
        reject()
    token_set = TokenSet(dict(enumerate(contents)), dict(enumerate(flags)))
    if not len(token_set):
        reject()
    cuts = Cuts()
    pieces = [piece for array in token_set.cut([pa.array(texts, pa.string())], cuts) for piece in array.to_pylist()]
    [counts], [ids] = (cuts._counts[1:], cuts._ids[1:])
    for parts, count in zip(expected, counts.tolist(), strict=True):
        cut = [pieces.pop(0)]
        for token_id in ids[:count].tolist():
            cut += [contents[token_id], pieces.pop(0)]
        ids = ids[count:]
        assert cut == parts
    assert pieces == []


def test_the_readable_version_finds_the_longest_of_the_leftmost() -> None:
    tokens: dict[str, list[str]] = {"ab": [], "abc": [], "bcd": [], "cd": ["single_word"], " ": ["rstrip"]}
    assert cut_at_added("abcd  abd cd", tokens) == [
        *("", "abc", "d", " ", "", " ", "", "ab", "d", " ", "", "cd", ""),
    ]


def test_two_tokens_that_are_one_in_normal_form_are_refused() -> None:
    with pytest.raises(InputError, match="'SALT' and 'salt' are both 'salt' once they are normalized"):
        with_added("lowercase", ["SALT", "salt"], [{}, {}])
    with_added("lowercase", ["SALT", "salt"], [{"normalized": False}, {}])


def test_a_token_without_a_normal_form_is_refused() -> None:
    with pytest.raises(InputError, match="' ' is nothing once it is normalized"):
        with_added("deberta", [" "], [{}])


@pytest.mark.parametrize(("flags", "message"), [({"lstrip": 1}, "lstrip of the added token 'salt' is not"), ({}, None)])
def test_flags_are_true_or_false(flags: dict[str, Any], message: str | None) -> None:
    if message is None:
        with_added("gpt2", ["salt"], [flags])
        return
    data = with_added("gpt2", ["salt"], [{}])[0]._data
    bad = {**data, "added_tokens": [*data["added_tokens"][:-1], {**data["added_tokens"][-1], **flags}]}
    with pytest.raises(InputError, match=message):
        JsonTokenizer(bad, {})


WORDS = ["".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=9)) for number in range(4000)]


@pytest.mark.parametrize("kind", ["gpt2", "nfc", "xlm"])
@pytest.mark.parametrize("shorter", [0, 3, 7], ids=["of 9 letters", "of 3 to 9", "of 1 to 9"])
def test_many_words_are_found_among_others(kind: str, shorter: int) -> None:
    draw = random.Random(7)
    words = sorted({word[: 9 - draw.randrange(shorter + 2)] for word in WORDS} - set("abcdefghijklmnopqrstuvwxyz"))
    own = set(byte_pair_model()["vocab"]) | {piece for piece, _ in unigram_model()["vocab"]}
    words = [word for word in words if word not in own]
    flags = [{"normalized": False, "single_word": bool(number % 2)} for number in range(len(words))]
    tokenizer, reference = with_added(kind, words, flags)
    assert tokenizer.slow_because is None
    texts = [
        " ".join(draw.choice(words if draw.random() < 0.3 else WORDS)[draw.randrange(2) :] for _ in range(200))
        for _ in range(10)
    ]
    encoded = reference.encode_batch(texts, add_special_tokens=False)
    assert tokenizer.encode_batch(texts).to_pylist() == [encoding.ids for encoding in encoded]


def searched(token_set: TokenSet, texts: pa.Array) -> int:
    """Return how many tokens are found."""
    cuts = Cuts()
    for _ in token_set.cut([texts], cuts):
        pass
    return sum(map(len, cuts._ids))


HARD = {
    "one token again and again": (["a"], "a"),
    "what nearly is a long token": (["b" + "a" * 2000, "a" * 1999 + "c"], "a"),
    "tokens that begin in each other": (["a" * n + "b" for n in range(1, 60)], "a"),
    "white space that tokens take": ([" ", "\n"], " "),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("flag", [None, *FLAGS])
def test_the_time_is_linear_in_the_text(name: str, flag: str | None) -> None:
    contents, unit = HARD[name]
    entry = {other: other == flag for other in FLAGS}
    token_set = TokenSet(dict(enumerate(contents)), dict.fromkeys(range(len(contents)), entry))
    assert_linear(lambda texts: searched(token_set, texts), lambda n: pa.array([unit * n], pa.large_string()))


def test_the_automaton_grows_with_the_bytes_of_tokens_and_so_does_the_time_to_make_it() -> None:
    def automaton(contents: list[str]) -> Any:
        return TokenSet(
            dict(enumerate(contents)), dict.fromkeys(range(len(contents)), dict.fromkeys(FLAGS, False))
        )._kernel

    assert_linear(automaton, lambda n: ["a" * n, "a" * (n - n // 2) + "b"])
    assert_linear(automaton, lambda n: [f"{number:09}" for number in range(n // 9 + 1)])
    cells = [len(automaton(["ab" * (n // 2) + "c"])[0].cells) for n in (1000, 8000, 64000)]
    assert cells[1] < 9 * cells[0] + 1024
    assert cells[2] < 9 * cells[1]
