"""What a benchmark needs of the package is still there; the peers are not installed here."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_the_benchmark_of_examples_makes_the_shards_that_it_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    examples = importlib.import_module("examples")
    examples.prepare(str(tmp_path), 20_000)
    assert {path.parent.name for path in tmp_path.rglob("manifest.json")} == {"dynamic"}
    assert (tmp_path / "work.pickle").is_file()


@pytest.mark.slow
def test_what_a_step_costs_is_measured_for_each_way() -> None:
    pytest.importorskip("torch")
    command = [sys.executable, ROOT / "benchmarks" / "costs.py", "--steps", "12", "--rounds", "1", "--only"]
    names = ["BERT, padded", "ModernBERT, packed", "BERT, minilm", "DeBERTa-v2, replaced-token-detection"]
    done = subprocess.run([*command, *names], check=True, stdout=subprocess.PIPE, text=True)
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()[4:]]
    cells = {row[1]: row[2:6] for row in rows}
    assert list(cells) == names
    assert cells["BERT, padded"][2] == "1.00"
    assert all(float(row[0].removesuffix(" M")) > 5 and int(row[1].replace(",", "")) > 0 for row in cells.values())


def test_a_structured_export_is_gold_for_the_prose_of_a_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    wikitext = importlib.import_module("wikitext")
    text = "'''Salt''' is old, and so is the sea. It was {{unknown|carried|date=May}} over the mountains by 90 men."
    page = f"<page><title>Salt</title><id>1</id><revision><text>{text}</text></revision></page>"
    (tmp_path / "a.xml").write_text(f"<mediawiki>{page}</mediawiki>")
    prose = "Salt is old, and so is the sea. It was carried over the mountains by 90 men."
    parts = [{"type": "paragraph", "value": prose}]
    sections = json.dumps([{"type": "section", "name": "Abstract", "has_parts": parts}])
    rows = [{"name": name, "identifier": 1, "sections": sections} for name in ("Salt", "Not in the dump")]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed = wikitext.structured_table(tmp_path / "a.jsonl", tmp_path / "a.xml")
    assert [cell.strip() for cell in printed.splitlines()[-1].split("|")][1:4] == ["1", "0.5", "0.0"]


def test_the_language_of_a_dump_is_that_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    wikitext = importlib.import_module("wikitext")
    names = ["dewiki.xml.bz2", "wp_jawiki-x.xml", "enwiki-dev-pages.xml.bz2", "wiki.xml", "dump_ruwiki_small.xml"]
    assert [wikitext.language_of(Path(name)) for name in names] == ["de", "ja", "en", "", "ru"]
