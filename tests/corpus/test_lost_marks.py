"""A vocabulary that strips accents is warned of where it makes other letters of a script's, and not in English."""

from __future__ import annotations

import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.corpus.lost_marks import PROBES, count_lost_marks
from bertdata.corpus.warnings import warnings_of
from bertdata.engine.parts import Counters
from bertdata.tokenizers import Tokenizer
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.corpus.test_warnings import GERMAN, GOOD, recorded

TEXTS = {
    "Japanese": "吾輩は猫である。名前はまだ無い。",
    "Hindi": "हिन्दी भारत की एक भाषा है।",
    "Thai": "วันนี้ฉันไปที่ตลาด",
}


def tokenizer_of(texts: list[str], *, lower: bool) -> Tokenizer:
    letters = sorted({*"".join(texts).replace(" ", ""), *"かกक"})
    pieces = [f"{prefix}{letter}" for prefix in ("", "##") for letter in letters]
    return WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *pieces], do_lower_case=lower)


def lost(texts: list[str], *, lower: bool, **settings: Any) -> list[str]:
    warnings = warnings_of(
        {}, settings, [recorded(texts, tokenizer_of(texts, lower=lower))], sentences={"language": "en"}
    )
    return [str(entry["remedy"]) for entry in warnings if entry["about"] == "lost marks"]


@pytest.mark.parametrize("language", TEXTS)
def test_letters_that_lose_what_tells_them_apart_are_warned_of(language: str) -> None:
    texts = [f"{TEXTS[language]} {number}" for number in range(30)]
    assert lost(texts, lower=True, asked=400, pieces=400) == ["keep them with --no-do-lower-case"]
    assert lost(texts, lower=True) == ["give a --vocab that keeps accents, as cased ones do"]
    assert lost(texts, lower=False) == []


def test_marks_are_counted_by_source_so_that_a_large_source_of_another_script_hides_none() -> None:
    english, notes = [" ".join(GOOD)] * 400, [TEXTS["Japanese"]] * 3
    tokenizer = tokenizer_of([*GOOD, *notes], lower=True)
    records = [recorded(texts, tokenizer) for texts in (english[:200], english[200:], notes)]

    def found(*sources: str) -> list[str]:
        warnings = warnings_of({}, {}, records, sources_of_tokens=sources)
        return [str(entry["found"]) for entry in warnings if entry["about"] == "lost marks"]

    assert found() == []
    [warning] = found("wiki", "wiki", "notes")
    assert "of the characters of the source notes become other letters" in warning
    assert found("wiki", "wiki", "wiki") == []


def test_a_probe_is_a_letter_and_what_a_tokenizer_that_strips_accents_makes_of_it() -> None:
    for marked, plain in PROBES:
        decomposed = unicodedata.normalize("NFD", marked)
        assert "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn") == plain != marked


def test_accents_of_latin_letters_and_a_name_in_a_text_are_no_matter() -> None:
    assert lost([f"{GERMAN} Müßig für Ärzte, {number}." for number in range(30)], lower=True) == []
    assert lost([*(" ".join(GOOD[n:] + GOOD[:n]) for n in range(20)), "が"], lower=True) == []


def test_the_counts_of_parts_add_up_and_slices_count_alone() -> None:
    texts = ["がんか" * 300, "salt", "か", "が"]
    tokenizer = tokenizer_of(texts, lower=True)

    def signs_of(*parts: list[str]) -> dict[str, int]:
        counters = Counters()
        for part in parts:
            count_lost_marks(pa.chunked_array([pa.array(part, pa.string())]), tokenizer, counters)
        return dict(counters.details.get("signs", {}))

    assert signs_of(texts) == signs_of(texts[:1], [], texts[1:]) == {"characters_at_beginnings": 518, "lost_marks": 172}
    assert signs_of([]) == {}


STRIPPING = tokenizer_of([], lower=True)


@given(st.text(st.sampled_from("aé\u0345がか\u3099ガ戦きू\u093fकি\u0e34\u17b7\u1050\u1056\ua000\u2026\ufdf0😀")))
def test_marks_are_counted_as_unicode_says_what_they_are(text: str) -> None:
    counters = Counters()
    count_lost_marks(pa.chunked_array([pa.array([text])]), STRIPPING, counters)
    scripts = [letter for letter in text if "\u0900" <= letter < "\u10a0" or "\u1780" <= letter < "\u3100"]
    marked = [
        letter
        for letter in scripts
        if unicodedata.category(letter) == "Mn" or {"\u3099", "\u309a"} & {*unicodedata.normalize("NFD", letter)}
    ]
    signs = {"characters_at_beginnings": len(text), "lost_marks": len(marked)}
    assert counters.details.get("signs", {}) == signs
