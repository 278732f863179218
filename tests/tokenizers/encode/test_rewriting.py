"""Characters that nothing beside them changes are written by the kernel; only the others go through `tokenizers`."""

from __future__ import annotations

import pyarrow as pa
import pytest

from bertdata.tokenizers.encode.rewriting import CharacterStage


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
