"""What a benchmark needs of the package is still there; the peers are not installed here."""

from __future__ import annotations

import bz2
import doctest
import importlib
import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata.sample import SAMPLE_DUMP
from bertdata.sources.wikipedia.dump.ranges import plan_ranges
from bertdata.sources.wikipedia.dump.reader import Page, read_pages
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo

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
    command = [sys.executable, str(ROOT / "benchmarks" / "costs.py"), "--steps", "12", "--rounds", "1", "--only"]
    names = ["BERT, padded", "ModernBERT, packed", "BERT, minilm", "DeBERTa-v2, replaced-token-detection"]
    done = subprocess.run([*command, *names], check=True, stdout=subprocess.PIPE, text=True)
    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()[4:]]
    cells = {row[1]: row[2:6] for row in rows}
    assert list(cells) == names
    assert cells["BERT, padded"][2] == "1.00"
    assert all(float(row[0].removesuffix(" M")) > 5 and int(row[1].replace(",", "")) > 0 for row in cells.values())


def test_scores_of_seeds_are_compared_by_their_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    scores = importlib.import_module("finetuned_scores")
    assert doctest.testmod(scores).failed == 0
    prediction = scores.np.array([[[2.0, 0.0], [0.0, 1.0], [0.0, 1.0]]])
    evaluated = type("Prediction", (), {"predictions": prediction, "label_ids": scores.np.array([[0, 1, -100]])})
    assert scores.f1_of(["O", "B-CAP"])(evaluated) == {"score": 1.0}


SCRIPT = """
import json, pathlib, sys
flags = dict(zip(sys.argv[3::2], sys.argv[4::2]))
print("reading", pathlib.Path.cwd().name)
path = pathlib.Path(flags["--output_dir"], "eval_results.json")
path.write_text(json.dumps({"eval_accuracy": len(flags["--learning_rate"]) / 8, "flags": flags}))
sys.exit(pathlib.Path(flags["--train_file"]).read_text() or 0)
"""


@pytest.mark.costly
def test_an_example_script_is_run_as_it_is_and_its_score_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    for name in ("HF_HOME", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"):
        monkeypatch.setenv(name, "")
    scripts = importlib.import_module("_example_scripts")
    script = tmp_path / "transformers" / "examples" / "pytorch" / "text-classification" / "run_classification.py"
    (tmp_path / "evaluate" / "metrics").mkdir(parents=True)
    script.parent.mkdir(parents=True)
    script.write_text(SCRIPT)
    files = {split: tmp_path / f"{split}.json" for split in ("train", "validation")}
    files["train"].write_text("")
    places = (tmp_path / "transformers", tmp_path / "evaluate", files, tmp_path / "model")
    with pytest.raises(SystemExit, match=r"run_ner\.py: there is no such file; give --scripts the folder of"):
        scripts.check_checkout(*places[:2])
    score = scripts.score_of_script("classification", *places, tmp_path / "out" / "0", {"learning_rate": 2e-05})
    assert score == len("2e-05") / 8
    given = json.loads((tmp_path / "out" / "0" / "eval_results.json").read_text())["flags"]
    assert (given["--model_name_or_path"], given["--validation_file"]) == (str(places[3]), str(files["validation"]))
    assert (tmp_path / "out" / "0" / "printed.txt").read_text() == "reading metrics\n"
    files["train"].write_text("no such column")
    with pytest.raises(SystemExit, match=r"run_classification\.py failed: reading metrics\nno such column"):
        scripts.score_of_script("classification", *places, tmp_path / "out" / "1", {"learning_rate": 2e-05})


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


def test_pages_of_languages_are_right_or_leak_or_have_holes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    languages = importlib.import_module("wikitext_languages")
    assert doctest.testmod(languages).failed == 0
    pages = [["Roma", "'''Roma''' è bella. [[File:A.jpg|thumb|x]] [[Categoria:B]]", "it"], ["A", "{{lc:AB}} c.", "en"]]
    (tmp_path / "pages.json").write_text(json.dumps(pages))
    languages.extract_all(str(tmp_path / "pages.json"), languages.OURS)
    assert json.loads(capsys.readouterr().out) == ["Roma è bella.", "ab c."]


def test_a_run_of_the_benchmarks_replaces_their_tables_and_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    pages = importlib.import_module("update_pages")
    printed = "| tool | MB/s |\\n| --- | ---: |\\n| bertdata | {} |\\n| `bzip2 -dc` | 2.0 |"
    (tmp_path / "dump.py").write_text(f"print('one core\\n\\n{printed.format(8.0)}\\n')")
    (tmp_path / "other.py").write_text("raise SystemExit(3)")
    dump, other = f"python {tmp_path}/dump.py --rounds 1", f"python {tmp_path}/other.py"
    page, readme, figures = tmp_path / "page.md", tmp_path / "README.md", tmp_path / "figures.jsonl"
    kept = f"<!-- begin: {other}; table 1 -->\nstays\n<!-- end -->"
    places = [f"<!-- begin: {dump}; {place} -->\nold\n<!-- end -->" for place in ("table 1", "run")]
    page.write_text("\n".join([*places, kept]))
    readme.write_text("<!-- begin: figures -->\nold\n<!-- end -->\nafter")
    figures.write_text('{"date": "2026-01-01", "a bz2 dump decoded: bzip2": 3.68}\n')
    monkeypatch.setattr(pages, "PAGES", (page, readme))
    monkeypatch.setattr(pages, "HISTORY", figures)
    monkeypatch.setattr(sys, "argv", ["bench"])
    with pytest.raises(SystemExit, match=rf"left as they were:\n{other}: .* returned non-zero exit status 3"):
        pages.main()
    new = page.read_text()
    assert "| bertdata | 8.0 |" in new
    assert "old" not in new
    assert kept in new
    assert f"Python {platform.python_version()}, numba" in new
    assert "**3.6x** bzip2 (2 runs, up to 4x)" in readme.read_text()
    assert readme.read_text().endswith("after")
    assert json.loads(figures.read_text().splitlines()[1])["a bz2 dump decoded: bzip2"] == 4


def test_each_figure_is_in_a_table_of_the_page_as_it_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    pages = importlib.import_module("update_pages")
    page = "".join(path.read_text() for path in pages.PAGES)
    places = pages.places(page)
    held = {
        command: "\n\n".join(text for name, text in places.items() if name.startswith(f"{command}; table"))
        for command in pages.commands(page)
    }
    figures = {name for command, text in held.items() for name in pages.figures_of(command, text)}
    assert figures == {figure.name for figure in pages.FIGURES}
    assert {name for line in pages.history() for name in line} <= figures | {"date", "revision", "machine"}
    assert places["figures"].strip() == pages.figures_table(pages.history())


def test_a_larger_dump_has_pages_of_other_ids_and_more_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    large_dump = importlib.import_module("_large_dump")
    pages = bz2.decompress(Path(SAMPLE_DUMP).read_bytes())
    for size in (2 * len(pages), 4 * len(pages)):
        written = large_dump.write_xml(Path(SAMPLE_DUMP), tmp_path / "wiki.xml", size, compress=False)
        assert written == (tmp_path / "wiki.xml").stat().st_size == pytest.approx(size, rel=0.05)
    site = read_siteinfo(str(tmp_path / "wiki.xml"))
    spans = plan_ranges(str(tmp_path / "wiki.xml"), 100_000).ranges
    read = [page for span in spans for page in read_pages(span, site)]
    larger_pages = [page for page in read if isinstance(page, Page)]
    assert len(larger_pages) == len(read)
    assert len({page.id for page in larger_pages}) == len(larger_pages) > 3 * 81
    assert {page.model for page in larger_pages} <= {"", "wikitext"}
    copies = [
        {word for page in larger_pages if page.id // 10**9 == n for word in page.wikitext.split()} for n in range(3)
    ]
    assert len(copies[1] - copies[0]) > 20
    assert len(copies[2] - copies[1] - copies[0]) > 20
    large_dump.write_xml(Path(SAMPLE_DUMP), tmp_path / "wiki.xml.bz2", size, compress=True)
    assert bz2.decompress((tmp_path / "wiki.xml.bz2").read_bytes()) == (tmp_path / "wiki.xml").read_bytes()


def test_a_dump_of_copies_is_one_stream_of_their_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    dump = importlib.import_module("dump")
    monkeypatch.setattr(dump, "DUMP", Path(SAMPLE_DUMP))
    monkeypatch.setattr(dump, "BLOCK", 100_000)
    text = bz2.decompress(Path(SAMPLE_DUMP).read_bytes())
    first, last = text.index(b"<page>"), text.rindex(b"</mediawiki>")
    decompressor = bz2.BZ2Decompressor()
    decoded = decompressor.decompress(dump.stream(str(tmp_path), 5).read_bytes())
    assert decoded == text[:first] + text[first:last] * 5 + text[last:]
    assert decompressor.eof
    assert decompressor.unused_data == b""
