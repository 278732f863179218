"""Sentences by parameters that the language of each document chooses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.sentences import PunktParameters, SentenceSegmenter, save_parameters
from bertdata.sentences.by_language import SentencesByLanguage, default_of, load_saved, not_served, segmenter_of
from bertdata.sentences.settings import SentencesConfig

ENGLISH = SentenceSegmenter.from_pretrained()
GERMAN = SentenceSegmenter(PunktParameters(abbrev_types=frozenset({"bzw"}), card={"language": "german"}))
JAPANESE = SentenceSegmenter(ENGLISH.parameters, sentence_marks=True)
BOTH = SentencesByLanguage(ENGLISH, {"de": GERMAN, "ja": JAPANESE, "en": ENGLISH})
TEXTS = ["Dr. Brown came. He left.", "Er kam bzw. Sie ging. Dr. Abt kam.", "雨。雪。", "", "One bzw. Two.\n\nThree"]


def test_each_text_is_cut_by_the_parameters_of_its_language() -> None:
    languages = ["en", "de-AT", "ja", None, ""]
    expected = [
        segmenter.segment(text)
        for segmenter, text in zip([ENGLISH, GERMAN, JAPANESE, ENGLISH, ENGLISH], TEXTS, strict=True)
    ]
    assert GERMAN.segment(TEXTS[1]) != ENGLISH.segment(TEXTS[1])
    assert BOTH.segment_batch(TEXTS, languages).to_pylist() == expected
    assert BOTH.segment_batch(TEXTS, languages, compiled=False).to_pylist() == expected


@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(["de", "ja", "en", "sv", None])), max_size=9))
def test_what_is_beside_a_text_does_not_change_its_sentences(rows: list[tuple[str, str | None]]) -> None:
    texts, languages = [text for text, _ in rows], [language for _, language in rows]
    alone = [BOTH.segment_batch([text], [language], keep_whitespace=True).to_pylist()[0] for text, language in rows]
    assert BOTH.segment_batch(texts, languages, keep_whitespace=True).to_pylist() == alone


def test_the_fingerprint_is_that_of_the_languages_that_are_there() -> None:
    assert BOTH.for_codes(["en", "sv"]).fingerprint == ENGLISH.fingerprint
    german, all_of_them = BOTH.for_codes(["deu_Latn", "en"]).fingerprint, BOTH.for_codes(["de", "ja"]).fingerprint
    assert len({ENGLISH.fingerprint, german, all_of_them}) == 3
    assert all_of_them == BOTH.fingerprint
    other = SentencesByLanguage(ENGLISH, {"de": SentenceSegmenter(PunktParameters())})
    assert other.for_codes(["de"]).fingerprint != german
    swapped = SentencesByLanguage(ENGLISH, {"fr": GERMAN})
    assert swapped.fingerprint != german


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    BOTH.save_pretrained(str(tmp_path))
    again = load_saved(str(tmp_path), False, False, BOTH.saved)
    assert isinstance(again, SentencesByLanguage)
    assert again.fingerprint == BOTH.fingerprint
    assert load_saved(str(tmp_path), False, False, ()).fingerprint == ENGLISH.fingerprint


def test_languages_without_parameters_are_told() -> None:
    languages = not_served(BOTH, {"en": 5, "simple": 1, "de-AT": 2, "sv": 3, "unknown": 4})
    assert list(languages.items()) == [("unknown", 4), ("sv", 3)]
    assert not_served(ENGLISH, {"sv": 3}) == {}


def test_the_default_parameters_serve_their_own_language() -> None:
    assert not_served(SentencesByLanguage(GERMAN, {"en": ENGLISH}), {"de": 5, "en": 1, "fr": 2}) == {"fr": 2}


def test_settings_name_the_parameters_of_languages(tmp_path: Path) -> None:
    save_parameters(GERMAN.parameters, str(tmp_path))
    segmenter = segmenter_of(SentencesConfig(sentences_of=(f"deu_Latn={tmp_path}",), attach_citations=True))
    assert isinstance(segmenter, SentencesByLanguage)
    assert segmenter.by_code["de"].parameters == GERMAN.parameters
    assert segmenter.by_code["de"].attach_citations
    assert not segmenter.by_code["de"].sentence_marks
    assert segmenter.by_code["hi"].sentence_marks
    assert not default_of(segmenter).sentence_marks


def test_auto_is_what_ships_for_the_language_of_each_document() -> None:
    segmenter = segmenter_of(SentencesConfig("auto"))
    assert isinstance(segmenter, SentencesByLanguage)
    texts = ["Er kam bzw. Prof. Abt kam. Das war am 3. Mai. Gut.", "Il dott. Rossi e la sig.ra Po. Bene."]
    assert segmenter.segment_batch(texts, ["deu_Latn", "it"]).to_pylist() == [
        ["Er kam bzw. Prof. Abt kam.", "Das war am 3. Mai.", "Gut."],
        ["Il dott. Rossi e la sig.ra Po.", "Bene."],
    ]
    others = ["Dhr. J. de Wit kwam o.a. uit Gent. Mooi.", "W 1905 r. prof. Lis i in. milczeli. Dobrze."]
    others += ["В XIX в. здесь жил проф. Н. А. Белов и др. учёные. Хорошо."]
    assert segmenter.segment_batch(others, ["nld_Latn", "pl", "ru"]).to_pylist() == [
        ["Dhr. J. de Wit kwam o.a. uit Gent.", "Mooi."],
        ["W 1905 r. prof. Lis i in. milczeli.", "Dobrze."],
        ["В XIX в. здесь жил проф. Н. А. Белов и др. учёные.", "Хорошо."],
    ]
    assert segmenter.segment_batch(texts, ["en", "sv"]).to_pylist() == [ENGLISH.segment(text) for text in texts]
    assert not_served(segmenter, {"de": 1, "fr": 1, "it": 1, "es": 1, "en": 1, "ja": 1, "sv": 2}) == {"sv": 2}


def test_auto_is_the_marks_of_other_scripts() -> None:
    segmenter = segmenter_of(SentencesConfig("auto"))
    assert isinstance(segmenter, SentencesByLanguage)
    assert default_of(segmenter) == ENGLISH
    assert segmenter.segment_batch(["雨。雪。", "雨。雪。"], ["zh", "en"]).to_pylist() == [
        ["雨。", "雪。"],
        ["雨。雪。"],
    ]


def test_one_set_of_parameters_is_the_segmenter_that_it_was() -> None:
    assert segmenter_of(SentencesConfig()).fingerprint == ENGLISH.fingerprint
    assert segmenter_of(SentencesConfig(sentence_marks=True)).fingerprint == JAPANESE.fingerprint


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("german",), "expected LANGUAGE=PARAMETERS"),
        (("=german",), "expected LANGUAGE=PARAMETERS"),
        (("de=",), "expected LANGUAGE=PARAMETERS"),
        (("de=auto",), "expected LANGUAGE=PARAMETERS"),
        (("de=a", "de-AT=b"), "names de twice"),
    ],
)
def test_what_names_no_parameters_is_refused(values: tuple[str, ...], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        SentencesConfig(sentences_of=values)
