"""Sentence parameters on disk: round trips, NLTK's folders, and what a wrong name or file says."""

from __future__ import annotations

import dataclasses
import os
import shutil
import zipfile
from collections import defaultdict
from pathlib import Path

import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.sentences import (
    PunktParameters,
    SentenceSegmenter,
    load_parameters,
    nltk_names,
    save_parameters,
    shipped_names,
)
from bertdata.sentences.parameters import FILES, SHIPPED

SMALL = PunktParameters(
    abbrev_types=frozenset({"mr", "u.s", ". . "}),
    collocations=frozenset({("##number##", "mai"), ("j", "bach")}),
    sent_starters=frozenset({"the"}),
    ortho_context={"the": 46, "\u00e9t\u00e9": 32, "a\ud800": 4},
    card={"corpus": "three sentences"},
)


def test_saved_parameters_come_back_the_same_and_with_the_same_bytes(tmp_path: Path) -> None:
    save_parameters(SMALL, str(tmp_path / "a"))
    again = load_parameters(str(tmp_path / "a"))
    assert again == SMALL
    assert again.fingerprint == SMALL.fingerprint
    save_parameters(again, str(tmp_path / "b"))
    for name in os.listdir(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_empty_parameters_come_back_empty(tmp_path: Path) -> None:
    save_parameters(PunktParameters(), str(tmp_path))
    assert load_parameters(str(tmp_path)) == PunktParameters()


def test_the_fingerprint_follows_what_decides_and_not_the_card() -> None:
    assert PunktParameters(card={"a": 1}).fingerprint == PunktParameters().fingerprint
    assert PunktParameters(abbrev_types=frozenset({"a"})).fingerprint != PunktParameters().fingerprint
    assert (
        PunktParameters(abbrev_types=frozenset({"a"})).fingerprint
        != PunktParameters(sent_starters=frozenset({"a"})).fingerprint
    )


def test_sets_of_ones_own_are_frozen_so_that_parameters_can_be_keys() -> None:
    own: set[str] = {"mr"}
    parameters = PunktParameters(abbrev_types=own)  # type: ignore[arg-type]
    segmenter = SentenceSegmenter(parameters)
    own.clear()
    assert parameters in {PunktParameters(abbrev_types=frozenset({"mr"}))}
    texts = ["Mr. Reed left. It rained."]
    assert segmenter.segment_batch(texts).to_pylist() == [["Mr. Reed left.", "It rained."]]


def test_nltk_reads_what_we_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data
    from nltk.tokenize.punkt import PunktTokenizer

    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    parameters = load_parameters("english")
    save_parameters(parameters, str(folder))
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    theirs = PunktTokenizer("english")._params
    assert theirs.abbrev_types == parameters.abbrev_types
    assert theirs.collocations == parameters.collocations
    assert theirs.sent_starters == parameters.sent_starters
    assert theirs.ortho_context == parameters.ortho_context


def test_parameters_of_nltk_are_found_in_its_zip_file_as_nltk_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nltk.data
    from nltk.tokenize import PunktTokenizer

    save_parameters(load_parameters("german"), str(tmp_path / "made" / "punkt_tab" / "german"))
    (tmp_path / "tokenizers").mkdir()
    shutil.make_archive(str(tmp_path / "tokenizers" / "punkt_tab"), "zip", tmp_path / "made", "punkt_tab")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    assert nltk_names() == ["german"]
    parameters = load_parameters("nltk:german")
    assert parameters.fingerprint == load_parameters("german").fingerprint
    assert parameters.abbrev_types == PunktTokenizer("german")._params.abbrev_types
    with pytest.raises(ConfigError, match="there are no sentence parameters 'nltk:french'"):
        load_parameters("nltk:french")


def test_a_zip_file_whose_checksum_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data

    save_parameters(SMALL, str(tmp_path / "made" / "punkt_tab" / "german"))
    (tmp_path / "tokenizers").mkdir()
    archive = tmp_path / "tokenizers" / "punkt_tab.zip"
    with zipfile.ZipFile(archive, "w") as out:  # stored: a byte of its text that changes is found by its checksum alone
        for name in FILES:
            out.write(tmp_path / "made" / "punkt_tab" / "german" / name, f"punkt_tab/german/{name}")
    archive.write_bytes(archive.read_bytes().replace(b"u.s", b"u.x", 1))
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with pytest.raises(InputError, match=r"punkt_tab\.zip: cannot be read at german \(Bad CRC-32.*; get it again"):
        load_parameters("nltk:german")


def test_nltk_data_folders_are_found_by_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nltk.data

    save_parameters(SMALL, str(tmp_path / "tokenizers" / "punkt_tab" / "german"))
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path / "absent"), str(tmp_path)])
    assert nltk_names() == ["german"]
    parameters = load_parameters("nltk:german")
    assert parameters == dataclasses.replace(SMALL, card={**SMALL.card, "language": "german"})
    for name in ("nltk:french", "nltk:", "nltk:../punkt_tab/german"):
        with pytest.raises(ConfigError, match=f"there are: {', '.join(shipped_names())}, nltk:german"):
            load_parameters(name)


@pytest.mark.parametrize("name", ["klingon", "", "/nowhere/at/all"])
def test_an_unknown_name_fails_with_the_list_of_what_is_there(name: str) -> None:
    with pytest.raises(ConfigError, match=r"no sentence parameters .*there are: dutch, english"):
        load_parameters(name)


def test_the_nearest_name_is_told() -> None:
    with pytest.raises(ConfigError, match=r"no sentence parameters 'germn', did you mean 'german'\?"):
        load_parameters("germn")


@pytest.mark.parametrize("missing", FILES)
def test_a_missing_file_is_named(missing: str, tmp_path: Path) -> None:
    save_parameters(SMALL, str(tmp_path))
    (tmp_path / missing).unlink()
    with pytest.raises(InputError, match=missing):
        load_parameters(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("ortho_context.tab", b"the\t46\nof\tmany\n", "line 2"),
        ("ortho_context.tab", b"the 46\n", "line 1"),
        ("collocations.tab", b"j bach\n", "line 1"),
        ("abbrev_types.txt", b"mr\n\xff\n", "byte 3"),
    ],
)
def test_a_damaged_file_is_named_with_the_place(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    save_parameters(SMALL, str(tmp_path))
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=f"{name}.*{message}"):
        load_parameters(str(tmp_path))


def test_the_shipped_card_says_where_the_parameters_come_from() -> None:
    parameters = load_parameters("english")
    assert parameters.card["made_by"] == "pipelines/train_sentences.py"
    assert set(parameters.card["settings"]["abbreviations"]) <= parameters.abbrev_types
    assert not isinstance(parameters.ortho_context, defaultdict)


def test_all_that_ships_says_its_settings_and_is_in_the_notice() -> None:
    notice = (Path(SHIPPED) / "NOTICE").read_text(encoding="utf-8")
    for name in shipped_names():
        assert name in notice
        assert load_parameters(name).card["counts"]["documents"] > 1000


def test_equal_parameters_have_one_hash() -> None:
    parameters = PunktParameters(frozenset({"dr"}), ortho_context={"the": 4}, card={"made_by": "x"})
    same = PunktParameters(frozenset({"dr"}), ortho_context={"the": 4}, card={"made_by": "x"})
    assert {parameters, PunktParameters()} == {same, PunktParameters()}
    assert hash(parameters) == hash(same)
