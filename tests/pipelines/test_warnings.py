"""A build of a bad corpus says so at its end, in the manifest and in the report; that of a good one does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.cli.main import run_verb
from bertdata.inspect.report import report_html
from bertdata.verify.build import verify

CHINESE = "河流很长。它流经许多城市。盐在那里开采，房子很旧，花园很大。"


@pytest.mark.costly
def test_chinese_with_an_english_vocabulary_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": f"{n}{CHINESE * 3}"}) + "\n" for n in range(30)))
    flags = ["--documents", str(rows), "--vocab", "bertdata-30k-uncased", "--workers", "1"]
    for verb, output in (("build", tmp_path / "one"), ("build-shards", tmp_path / "two")):
        assert run_verb(verb, [*flags, "--output", str(output)]) == 0
        printed = capsys.readouterr().out
        assert "\n3 warnings (thresholds: docs/warnings.md)\n  [UNK]: " in printed
        assert "give --sentences of the language: dutch, french, german" in printed
        warned = json.loads((output / "manifest.json").read_text())["warnings"]
        assert [warning["about"] for warning in warned] == ["[UNK]", "language", "length of sentences"]
        assert warned[0]["threshold"] == 0.01
        assert warned[0]["figure"] > 0.3
        page = report_html(str(output))
        assert page.index("<h2>Warnings</h2>") < page.index("of the tokens are [UNK]") < page.index("adds up")
        verify(output)


def test_a_wiki_of_another_language_than_the_sentence_parameters_is_told_before_and_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Das Salz ist ein Mineral. Es liegt im Meer und in der Erde. Man trug es über die Berge."
    pages = [
        f"<page><title>{n}</title><ns>0</ns><id>{n}</id><revision><text>{n}. {text}</text></revision></page>"
        for n in range(1, 30)
    ]
    head = '<mediawiki xml:lang="de"><siteinfo><dbname>dewiki</dbname></siteinfo>'
    (tmp_path / "wiki.xml").write_text(f"{head}{''.join(pages)}</mediawiki>", encoding="utf-8")
    flags = ["--wikipedia", str(tmp_path / "wiki.xml"), "--vocab", "bertdata-30k-uncased", "--workers", "1"]
    assert run_verb("build", [*flags, "--output", str(tmp_path / "out"), "--dry-run"]) == 0
    message = "100.0% of the documents are of another language (de) than the sentence parameters (en)"
    assert f"{message}: give --sentences german" in " ".join(capsys.readouterr().out.split())
    assert run_verb("build", [*flags, "--output", str(tmp_path / "out")]) == 0
    assert f"language of documents: {message}" in capsys.readouterr().out
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["sources"]["wikipedia"]["languages"] == {"de": 29}
    assert manifest["sentences"]["language"] == "en"


def test_the_sample_corpus_is_not_warned_of(sample_build: Path) -> None:
    assert json.loads((sample_build / "manifest.json").read_text())["warnings"] == []
    assert "<h2>Warnings</h2>" not in report_html(str(sample_build))
