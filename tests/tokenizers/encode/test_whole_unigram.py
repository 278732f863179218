"""Unigram over texts that nothing cuts: the ids of `tokenizers`, also where two ways to cut a part are as good."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.tokenizers.encode import whole_unigram
from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.generated import examples
from tests.tokenizers.encode.pipelines import TO_MARKS
from tests.tokenizers.encode.test_composed import assert_as_tokenizers, hostile
from tests.tokenizers.small import EDGES, METASPACES, SPECIAL, json_tokenizer, sequence

PREPEND = sequence({"type": "Prepend", "prepend": METASPACE}, TO_MARKS)
LETTERS = [*"abcl", "ab", "lo", " ", "  ", METASPACE, "[", "\n", "\u00e9", "a b", " of the "]


def model(*more: str, byte_fallback: bool = False) -> dict[str, Any]:
    """Return a Unigram model in which many texts can be cut in two ways that are as good as each other."""
    scores = {"a": -0.1, "b": -0.2, "c": -0.3, "ab": -0.3, "bc": -0.5, "abc": -0.6, "l": -0.7, "o": -0.9, "lo": -1.6}
    scores |= {METASPACE: -1.1, f"{METASPACE}a": -1.2, METASPACE * 2: -2.2, **dict.fromkeys(more, -2.0)}
    if byte_fallback:
        scores |= {f"<0x{byte:02X}>": -12.0 for byte in range(256)}
    vocab = [*([name, 0.0] for name in SPECIAL), *([piece, score] for piece, score in scores.items())]
    return {"type": "Unigram", "unk_id": 1, "byte_fallback": byte_fallback, "vocab": vocab}


KINDS: dict[str, JsonTokenizer] = {
    "cut at marks": json_tokenizer(model(), None, PREPEND),
    "bytes for unknown characters": json_tokenizer(model(byte_fallback=True), None, PREPEND),
    "by Metaspace": json_tokenizer(model(), METASPACES | {"split": False}),
    "with added words": json_tokenizer(model(), None, TO_MARKS, {"salt": 17, "\n": 18}),
    "pieces over spaces": json_tokenizer(model(f"of{METASPACE}the", f"a{METASPACE}b"), None, PREPEND),
    "a piece over a space after a bracket": json_tokenizer(model(f"[{METASPACE}"), None, PREPEND),
    "spaces as they are": json_tokenizer(model("a b"), None),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(60))
@given(texts=st.lists(st.lists(st.sampled_from(LETTERS), max_size=60).map("".join), max_size=5))
def test_ids_are_those_of_tokenizers(kind: str, texts: list[str]) -> None:
    tokenizer = KINDS[kind]
    assert tokenizer.slow_because is None
    some = [*texts, " ".join(texts)]
    expected = [row.ids for row in tokenizer.reference.encode_batch(some, add_special_tokens=False)]
    assert tokenizer.encode_batch(some).to_pylist() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_hard_and_long_texts_are_those_of_tokenizers(kind: str) -> None:
    tokenizer = KINDS[kind]
    assert_as_tokenizers(tokenizer, [*hostile(150), *EDGES, "abc" * 700, "abc lo " * 900])


def test_a_part_is_certain_where_no_other_path_is_as_good() -> None:
    whole = whole_unigram.WholeUnigram(model(), np.uint16, cut=True)
    for text, certain in (("lc", True), ("abc", False), ("lo", False), ("la", True)):
        data = np.frombuffer(text.encode(), np.uint8)
        assert (whole.encode_long(data, 0, len(data)).depends == "never") == certain, text


def test_rows_in_which_sums_of_scores_are_rounded_much_are_encoded_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = json_tokenizer(model(), None, PREPEND)
    monkeypatch.setattr(tokenizer._encoder.model, "most_bytes", 5)
    asked: list[str] = []
    encode_row = tokenizer._encoder.model.encode_row

    def ask(row: str) -> Any:
        asked.append(row)
        return encode_row(row)

    monkeypatch.setattr(tokenizer._encoder.model, "encode_row", ask)
    tokenizer.encode_batch(["l c", "l"])
    assert asked == [f"{METASPACE}l{METASPACE}c"]
