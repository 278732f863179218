"""Which language sentence parameters are of, and which of them a wiki's language has."""

from __future__ import annotations

from bertdata.sentences.languages import NAMES, base_code, code_of, language_of, parameters_for, shipped_by_code
from bertdata.sentences.parameters import PunktParameters, load_parameters


def test_parameters_know_their_language_by_their_card_or_because_they_are_the_english_ones() -> None:
    assert language_of(load_parameters("english")) == "en"
    assert language_of(PunktParameters(card={"language": "german"})) == "de"
    assert language_of(PunktParameters(card={"language": "klingon"})) == ""
    assert language_of(PunktParameters(abbrev_types=frozenset(["dr"]))) == ""


def test_what_ships_knows_its_language() -> None:
    shipped = {"de": "german", "en": "english", "es": "spanish", "fr": "french", "it": "italian"}
    assert shipped_by_code() == shipped | {"nl": "dutch", "pl": "polish", "ru": "russian"}
    for code, name in shipped_by_code().items():
        assert language_of(load_parameters(name)) == code
        assert parameters_for(code) == name


def test_each_language_has_the_parameters_that_its_name_is_of() -> None:
    for code in NAMES:
        assert code_of(parameters_for(code)) == code
        assert code_of(parameters_for(f"{code}-XX")) == code
    assert parameters_for("zh") == "auto"
    assert parameters_for("mt") == "a folder from train-sentences"
    assert base_code("simple") == "en"


def test_the_codes_of_glotlid_are_those_of_wikis() -> None:
    assert [base_code(name) for name in ("deu_Latn", "zho_Hans", "hin_Deva", "simple", "zh-classical")] == [
        *("de", "zh", "hi", "en", "zh")
    ]


def test_languages_with_marks_of_their_own_are_known_by_their_codes_of_glotlid() -> None:
    labels = [
        "amh_Ethi",
        "arb_Arab",
        "asm_Beng",
        "hye_Armn",
        "jpn_Jpan",
        "khm_Khmr",
        "mya_Mymr",
        "ory_Orya",
        "pan_Guru",
    ]
    labels += ["mar_Deva", "san_Deva", "snd_Arab", "tir_Ethi", "uig_Arab", "urd_Arab", "zho_Hant"]
    assert {parameters_for(label) for label in labels} == {"auto"}
