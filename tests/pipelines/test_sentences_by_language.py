"""A build whose documents are cut by the sentence parameters of their languages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli.main import run_verb
from bertdata.sentences import PunktParameters, SentenceSegmenter, load_parameters, save_parameters
from bertdata.sentences.settings import SentencesConfig
from bertdata.sources.inputs import Sources
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build, digests

TEXTS = {
    "de": "Er kam bzw. Sie ging. Das Salz lag dort. ",
    "en": "Dr. Brown came. The salt was there. ",
    "ja": "雨が降った。道はぬれた。",
    "sv": "Saltet var vitt. Det kom fram. ",
}
GERMAN = PunktParameters(abbrev_types=frozenset({"bzw"}))


def rows(path: Path, languages: str) -> str:
    values = [
        {"id": f"{code}{n}", "text": f"{n} {TEXTS[code] * 4}", "language": code}
        for code in languages.split()
        for n in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in values))
    return str(path)


@pytest.fixture
def german(tmp_path: Path) -> str:
    save_parameters(GERMAN, str(tmp_path / "german"))
    return str(tmp_path / "german")


def built(output: Path, sentences: SentencesConfig, *documents: str) -> dict[str, Any]:
    return build(output, replace(SETTINGS, sentences=sentences), Sources(documents=documents))


def expected_sentences(languages: str) -> int:
    english = load_parameters("english")
    by_code = {"de": SentenceSegmenter(GERMAN), "ja": SentenceSegmenter(english, sentence_marks=True)}
    texts = [(code, f"{n} {TEXTS[code] * 4}") for code in languages.split() for n in range(40)]
    return sum(len(by_code.get(code, SentenceSegmenter(english)).segment(text)) for code, text in texts)


def test_each_document_is_cut_by_the_parameters_of_its_language(tmp_path: Path, german: str) -> None:
    documents = rows(tmp_path / "rows.jsonl", "de en ja sv")
    manifest = built(tmp_path / "out", SentencesConfig(sentences_of=(f"de={german}",)), documents)
    verify(tmp_path / "out")
    english = load_parameters("english").fingerprint
    assert manifest["tokens"]["counts"]["sentences"] == expected_sentences("de en ja sv")
    assert manifest["sentences"]["by_language"] == {
        "de": {"parameters": GERMAN.fingerprint, "documents": 40},
        "default": {"parameters": english, "documents": 80},
        "ja": {"parameters": english, "sentence_marks": True, "documents": 40},
    }
    assert manifest["sentences"]["not_served"] == {"sv": 40}
    [warning] = [warning for warning in manifest["warnings"] if warning["about"] == "sentence parameters"]
    assert (warning["figure"], warning["remedy"]) == (0.25, "give --sentences-of sv=nltk:swedish")
    assert "language" not in [warning["about"] for warning in manifest["warnings"]]
    assert load_parameters(str(tmp_path / "out" / "sentences" / "de")).fingerprint == GERMAN.fingerprint
    assert "sentences/de/abbrev_types.txt" in manifest["files"]


def fingerprints(output: Path) -> set[str]:
    paths = (output / "stages" / "tokens").rglob("*.json")
    return {json.loads(path.read_text())["fingerprint"] for path in paths}


def test_documents_in_other_languages_are_stored_as_without(tmp_path: Path, german: str) -> None:
    swedish = rows(tmp_path / "a.jsonl", "sv")
    manifest = built(tmp_path / "out", SentencesConfig(sentences_of=(f"de={german}",)), swedish)
    assert set(manifest["sentences"]["by_language"]) == {"default"}
    with_languages = replace(SETTINGS, cleaning=replace(SETTINGS.cleaning, language_model="source"))
    alone = build(tmp_path / "alone", with_languages, Sources(documents=(swedish,)))
    assert digests(tmp_path / "out") == digests(tmp_path / "alone")
    assert fingerprints(tmp_path / "out") == fingerprints(tmp_path / "alone") != set()
    assert "by_language" not in alone["sentences"]


def test_other_parameters_leave_the_token_files_of_other_languages(tmp_path: Path, german: str) -> None:
    documents = (rows(tmp_path / "a.jsonl", "sv"), rows(tmp_path / "b.jsonl", "de"))
    config = SentencesConfig(sentences_of=(f"de={german}",))
    built(tmp_path / "out", config, *documents)
    before = fingerprints(tmp_path / "out")
    save_parameters(PunktParameters(), german)
    built(tmp_path / "out", config, *documents)
    assert [len(before), len(before & fingerprints(tmp_path / "out"))] == [2, 1]


def test_parameters_that_are_no_longer_used_are_removed(tmp_path: Path, german: str) -> None:
    documents = rows(tmp_path / "rows.jsonl", "de en")
    built(tmp_path / "out", SentencesConfig(sentences_of=(f"de={german}",)), documents)
    assert (tmp_path / "out" / "sentences" / "de").is_dir()
    manifest = built(tmp_path / "out", SentencesConfig(), documents)
    assert not (tmp_path / "out" / "sentences" / "de").exists()
    assert not [name for name in manifest["files"] if name.startswith("sentences/de")]


def test_other_parameters_of_one_language_cut_its_documents_again(tmp_path: Path, german: str) -> None:
    documents = rows(tmp_path / "rows.jsonl", "de en")
    config = SentencesConfig(sentences_of=(f"de={german}",))
    before = built(tmp_path / "out", config, documents)["tokens"]["counts"]["sentences"]
    save_parameters(PunktParameters(), german)
    assert built(tmp_path / "out", config, documents)["tokens"]["counts"]["sentences"] > before


def test_build_shards_goes_by_language_too(tmp_path: Path, german: str, capsys: pytest.CaptureFixture[str]) -> None:
    documents = rows(tmp_path / "rows.jsonl", "de sv")
    flags = ["--documents", documents, "--vocab", "bertdata-30k-uncased", "--workers", "1"]
    output = tmp_path / "out"
    assert run_verb("build-shards", [*flags, "--output", str(output), "--sentences-of", f"de={german}"]) == 0
    manifest = json.loads((output / "manifest.json").read_text())
    assert {code: parameters["documents"] for code, parameters in manifest["sentences"]["by_language"].items()} == {
        "de": 40,
        "default": 40,
    }
    assert "40 documents in languages without sentence parameters (sv 40)" in " ".join(capsys.readouterr().err.split())
