from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.corpus.summary import build_rows
from bertdata.curation import LANGUAGE_MODELS, languages
from bertdata.curation.languages import LanguageModel, with_languages
from bertdata.errors import ConfigError, InputError, MissingExtraError
from bertdata.sample import SAMPLE_DUMP
from bertdata.shards.settings import SelectionConfig
from bertdata.sources.formats import write_documents
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from bertdata.verify.build import verify
from tests.pipelines.builds import SETTINGS, build
from tests.shards.build import text_of
from tests.sources.planned import plan_rows, plan_wikipedia

GERMAN = "Das Salz ist weiß und löst sich im Wasser auf. Im Winter wird es auf die Straßen gestreut. " * 4
FRENCH = "Le sel est blanc et il se dissout dans l'eau. En hiver, on le répand sur les routes. " * 4


class _Letters:
    """A model that finds German by its letters, and counts the texts that it was asked for."""

    asked = 0

    def __call__(self, text: str) -> str:
        _Letters.asked += 1
        return "de" if "ß" in text else ""


LETTERS = LanguageModel(help="by ß", package="pyarrow", load=_Letters)


def read(config: CleaningConfig, path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    [task], _ = plan_rows([str(path)], config)
    counters = write_documents(task, file := io.BytesIO())
    rows = pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    return [json.loads(row["columns"]) for row in rows], counters.details["document_languages"]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    values = [{"text": GERMAN}, {"text": FRENCH, "language": "fr"}, {"text": FRENCH}, {"text": GERMAN, "language": ""}]
    path.write_text("".join(json.dumps(row) + "\n" for row in values))
    return path


def test_a_model_is_asked_where_the_source_says_nothing(rows: Path) -> None:
    _Letters.asked = 0
    columns, counted = read(CleaningConfig(language_model=f"{__name__}:LETTERS"), rows)
    assert [column.get("language") for column in columns] == ["de", "fr", None, "de"]
    assert _Letters.asked == 3
    assert {code: documents for code, (documents, _) in counted.items()} == {"de": 2, "fr": 1, "unknown": 1}


def test_the_source_alone_says_it_without_a_model(rows: Path) -> None:
    columns, counted = read(CleaningConfig(language_model="source"), rows)
    assert columns == [{}, {"language": "fr"}, {}, {"language": ""}]
    assert counted["unknown"][0] == 3


def test_the_language_of_a_wiki_is_that_of_its_articles() -> None:
    for task in plan_wikipedia([SAMPLE_DUMP], "out", CleaningConfig(language_model="source")):
        counters = write_documents(task, file := io.BytesIO())
        columns = pq.read_table(io.BytesIO(file.getvalue()))["columns"].to_pylist()
        [code] = counters.details["languages"]
        assert [json.loads(column) for column in columns] == [{"language": code}] * counters.counts["documents"]


def test_a_text_is_told_alone() -> None:
    texts = pa.array([GERMAN, FRENCH, ""])
    pytest.importorskip("py3langid")
    code_of = LANGUAGE_MODELS["py3langid"].load()
    assert [code_of(text) for text in texts.to_pylist()[:2]] == ["de", "fr"]
    assert [code_of(text) for text in (FRENCH, GERMAN, FRENCH)] == ["fr", "de", "fr"]


def test_lingua_tells_the_same() -> None:
    pytest.importorskip("lingua")
    code_of = LANGUAGE_MODELS["lingua"].load()
    assert [code_of(text) for text in (GERMAN, FRENCH, "1234")] == ["de", "fr", ""]


def test_a_file_of_fasttext_is_a_model(tmp_path: Path, rows: Path) -> None:
    fasttext = pytest.importorskip("fasttext")
    lines = [f"__label__deu_Latn {GERMAN}\n", f"__label__fra_Latn {FRENCH}\n"] * 20
    (tmp_path / "train.txt").write_text("".join(lines))
    fasttext.train_supervised(str(tmp_path / "train.txt"), epoch=20, verbose=0).save_model(str(tmp_path / "lid.bin"))
    columns, _ = read(CleaningConfig(language_model=str(tmp_path / "lid.bin")), rows)
    assert [column["language"] for column in columns] == ["deu_Latn", "fr", "fra_Latn", "deu_Latn"]


def test_only_the_beginning_of_a_text_is_looked_at() -> None:
    codes = languages._codes(lambda text: str(len(text)), pa.array(["é" * 5000, "é"]))
    assert codes.to_pylist() == ["1000", "1"]


@pytest.mark.parametrize(
    ("model", "words"), [("py3langit", "did you mean 'py3langid'"), ("lid.176", "or a file of fastText")]
)
def test_what_is_no_model_is_refused_at_once(model: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        CleaningConfig(language_model=model)


def test_a_file_that_is_missing_is_refused_before_any_work(rows: Path) -> None:
    with pytest.raises(InputError, match=r"lid\.176\.bin"):
        plan_rows([str(rows)], CleaningConfig(language_model="lid.176.bin"))


def test_a_model_whose_package_is_missing_names_its_extra(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LANGUAGE_MODELS._items, "py3langid", replace(languages.PY3LANGID, package="no-such-package"))
    monkeypatch.setattr(LANGUAGE_MODELS, "_found", {})
    with pytest.raises(MissingExtraError, match=r"no-such-package is not installed; .*languages"):
        plan_rows([str(rows)], CleaningConfig(language_model="py3langid"))


def test_a_language_that_is_known_is_not_overwritten() -> None:
    columns, codes = with_languages(['{"language": "xx", "n": 1}'], pa.array(["a"]), lambda texts: pa.array(["en"]))
    assert (json.loads(columns[0]), codes) == ({"language": "xx", "n": 1}, ["xx"])


def test_a_build_counts_and_selects_by_language(tmp_path: Path) -> None:
    values = [{"id": f"d{n}", "text": text_of(n), "language": ["en", "de", "fr", ""][n % 4]} for n in range(200)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in values))
    sources = Sources(documents=(str(tmp_path / "rows.jsonl"),))
    cleaning = replace(SETTINGS.cleaning, language_model="source")
    [phase] = SETTINGS.phases
    chosen = replace(phase, selection=SelectionConfig(where="language in ('en', 'de')"), name="two")
    settings = replace(SETTINGS, cleaning=cleaning, phases=(replace(phase, name="all"), chosen))
    manifest = build(tmp_path / "out", settings, sources)
    verify(tmp_path / "out")
    counts = {name: _counts(phase) for name, phase in manifest["phases"].items()}
    assert {name: number for name, number in counts["all"].items() if name.startswith("documents_in_")} == {
        f"documents_in_language_{code}": 50 for code in ("de", "en", "fr", "unknown")
    }
    assert {name for name in counts["two"] if name.startswith("documents_in_")} == {
        "documents_in_language_de",
        "documents_in_language_en",
    }
    tokens = sum(number for name, number in counts["two"].items() if name.startswith("tokens_in_language_"))
    assert tokens == counts["two"]["tokens"]
    assert manifest["phases"]["all"]["sources"]["documents"]["languages"] == {"de": 50, "en": 50, "fr": 50}
    assert any(name.strip() == "languages" and "unknown" in text for name, text in build_rows(manifest))


def test_languages_are_sources_with_weights_of_their_own(tmp_path: Path) -> None:
    values = [{"id": f"d{n}", "text": text_of(n), "language": "de" if n % 5 == 0 else "en"} for n in range(200)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in values))
    [phase] = SETTINGS.phases
    by_language = SelectionConfig(source_where=("de=language == 'de'", "en=language == 'en'"))
    mixed = replace(phase, selection=by_language, mixing=replace(phase.mixing, mix_temperature=0.5))
    settings = replace(SETTINGS, cleaning=replace(SETTINGS.cleaning, language_model="source"), phases=(mixed,))
    manifest = build(tmp_path / "out", settings, Sources(documents=(str(tmp_path / "rows.jsonl"),)))
    mix = manifest["mix"]
    assert mix["de"]["epochs"] > 1 > mix["en"]["epochs"]


def _counts(manifest: dict[str, Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for split in manifest["splits"].values():
        for name, number in split["counts"].items():
            counts[name] = counts.get(name, 0) + number
    return counts
