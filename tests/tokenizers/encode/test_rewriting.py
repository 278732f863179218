"""Characters that nothing beside them changes are written by the kernel; only the others go through `tokenizers`."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest

from bertdata.tokenizers.encode.rewriting import CharacterStage, begin_with, rewritten, stages_of


@pytest.mark.parametrize(
    ("parts", "text", "expected"),
    [
        (["NFC"], "The Élan of Zoë, 12.", "The Élan of Zoë, 12."),
        (["NFKC", "Lowercase"], "The \ufb01rst ②, STRASSE", "the first 2, strasse"),
        (["NFD", "StripAccents", "Lowercase"], "The Élan of Zoë, 12.", "the elan of zoe, 12."),
    ],
)
def test_ordinary_text_has_no_fragment_for_tokenizers(parts: list[str], text: str, expected: str) -> None:
    stage = CharacterStage([{"type": kind} for kind in parts])
    rows = pa.array([text], pa.large_string())
    assert stage(rows).to_pylist() == [expected]
    assert stage._fragments == {}


def test_a_letter_with_a_mark_after_it_is_a_fragment() -> None:
    stage = CharacterStage([{"type": "NFC"}])
    assert stage(pa.array(["a Zoe\u0308 b"], pa.large_string())).to_pylist() == ["a Zoë b"]
    assert stage._fragments


def long_texts(count: int) -> list[str]:
    """Return texts of over a block of 64 bytes, most of them of small letters, and some around it."""
    draw = random.Random(4)
    letters = "abcdefghijklmnopqrstuvwxyz" * 4 + "   ABZ\t\n\x00\x1f\x7f'`\xe9\u4e2d\xa0\u2581"
    return ["".join(draw.choices(letters, k=draw.choice([0, 1, 62, 63, 64, 65, 127, 128, 200]))) for _ in range(count)]


@pytest.mark.parametrize(
    "parts",
    [
        [{"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}],
        [{"type": "Replace", "pattern": {"String": "`"}, "content": "a longer text than a word"}],
        [{"type": "Lowercase"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}],
        [{"type": "Nmt"}, {"type": "NFKC"}],
        [{"type": "Nmt"}, {"type": "Replace", "pattern": {"String": "e"}, "content": ""}],
        [{"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True}],
    ],
)
def test_blocks_of_which_little_changes_are_as_tokenizers_makes_them(parts: list[dict[str, Any]]) -> None:
    from tokenizers import Tokenizer

    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    whole = {"type": "Sequence", "normalizers": [{"strip_accents": None, **part} for part in parts]}
    normalizer = Tokenizer.from_str(json.dumps({"version": "1.0", "normalizer": whole, "model": model})).normalizer
    texts = long_texts(200)
    made = pa.concat_arrays(list(rewritten([pa.array(texts[:50]), pa.array(texts[50:])], stages_of(parts))))
    assert made.to_pylist() == [normalizer.normalize_str(text) for text in texts]


@pytest.mark.parametrize("prefix", [" ", "\u2581"])
def test_a_prefix_is_put_before_texts_that_lack_it(prefix: str) -> None:
    texts = ["", "a", prefix, prefix + "a", prefix * 2, prefix[:1] + "b" * 70, "\u2580", "b" * 130, ""]
    begun = [text if not text or text.startswith(prefix) else prefix + text for text in texts]
    rows = pa.array(["left out", *texts])[1:]
    assert begin_with(prefix)(rows).to_pylist() == begun
    [twice] = stages_of([{"type": "Prepend", "prepend": prefix}])
    assert twice(rows).to_pylist() == [prefix + text if text else text for text in texts]
