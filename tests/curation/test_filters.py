"""Filters: what each keeps, that every drop is counted under its filter, and that the cut of the input is no matter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.cli.main import dispatch
from bertdata.curation import FILTERS
from bertdata.curation.document_rules import rules_of
from bertdata.curation.filters import Filter, Judgement, drop_reasons, parse_filter, with_filters
from bertdata.engine.parts import run_once
from bertdata.engine.stages import BuildState
from bertdata.errors import ConfigError
from bertdata.options.option import stored_values
from bertdata.shards import open_shards
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from tests.outside import Outside
from tests.sources.planned import plan_books, plan_documents, plan_wikipedia
from tests.sources.test_cleaning import PROSE, dump, page

ROOT = Path(__file__).parents[2]
TEXTS = [f"Water {number} " + "is wet. " * (number % 7) + "# " * (number % 5) for number in range(60)]


@given(st.lists(st.text(), max_size=5), st.integers(1, 8))
def test_min_characters_keeps_texts_of_so_many_code_points(texts: list[str], least: int) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    reasons = drop_reasons(pa.array(texts, pa.string()), [f"min-characters={least}"]).to_pylist()
    assert [reason is None for reason in reasons] == [len(text) >= least for text in texts]


@given(st.lists(st.text("ab #.…\n\u00a0", min_size=1), max_size=8), st.sampled_from(["0", "0.1", "0.5", "1"]))
def test_max_symbol_ratio_counts_hashes_and_ellipses_for_each_word(texts: list[str], ratio: str) -> None:
    reasons = drop_reasons(pa.array(texts, pa.string()), [f"max-symbol-ratio={ratio}"]).to_pylist()
    for text, reason in zip(texts, reasons, strict=True):
        words = len(re.split(r"\s+", text.strip()))  # a text of white space alone is one empty word
        symbols = max(text.count("#"), text.count("...") + text.count("…"))
        assert (reason is None) == (symbols <= float(ratio) * words)


ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9$\-_@.&+/:=?#~]|[!*\(\),]|(?:%[0-9A-Fa-f]{2}))+")
SHARES: dict[str, Callable[[str], int]] = {
    "max-address-ratio": lambda text: sum(map(len, ADDRESS.findall(text))),
    "max-digit-ratio": lambda text: len(re.findall("[0-9]", text)),
    "max-sign-ratio": lambda text: len(text) - len(re.findall("[a-zA-Z0-9\n?!,.]", text)),
}
"""What NeMo Curator counts, by Python's expressions for ASCII."""
PIECES = st.sampled_from(["https://a.org/x?b=%20c", "http://", "1984", "salt", " ", "\n", "***", "Is it?", "(no)", "~"])


@given(st.lists(st.lists(PIECES, max_size=8).map("".join), max_size=6), st.sampled_from([None, "0", "0.3", "1"]))
def test_shares_of_characters_are_those_of_nemo_curator_on_ascii(texts: list[str], given_share: str | None) -> None:
    for name, count in SHARES.items():
        most = given_share or {"max-address-ratio": "0.2", "max-digit-ratio": "0.15"}.get(name, "0.25")
        filters = [name if given_share is None else f"{name}={given_share}"]
        kept = [reason is None for reason in drop_reasons(pa.array(texts, pa.string()), filters).to_pylist()]
        assert kept == [(count(text) / len(text) if text else 1.0) <= float(most) for text in texts]


def test_letters_and_digits_of_all_scripts_are_no_signs() -> None:
    assert drop_reasons(pa.array(["Привет, мир", "नमस्ते दुनिया", "١٢٣"]), ["max-sign-ratio"]).to_pylist() == [None] * 3
    assert drop_reasons(pa.array(["١٢٣"]), ["max-digit-ratio"]).to_pylist() == ["filter max-digit-ratio"]


def test_the_first_filter_that_drops_a_text_is_the_reason() -> None:
    texts = pa.array(["Salt.", "# # #", "Water is wet and deep."])
    filters = ["max-symbol-ratio", "min-characters=6"]
    assert drop_reasons(texts, filters).to_pylist() == [
        "filter min-characters=6",
        "filter max-symbol-ratio",
        None,
    ]
    assert drop_reasons(texts, filters[::-1]).to_pylist()[1] == "filter min-characters=6"
    assert drop_reasons(texts, []).to_pylist() == [None] * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min-words=3", "there is no filter 'min-words'; expected one of min-characters, max-symbol-ratio"),
        ("min-characters", "needs an argument: write `filter` min-characters=ARGUMENT; it drops documents with fewer"),
        ("min-characters=0", "expected a whole number of 1 or more, as 200"),
        ("min-characters=²", "expected a whole number of 1 or more"),
        ("min-characters=many", "`filter` min-characters=many: expected a whole number"),
        ("max-symbol-ratio=2", "expected a number from 0 to 1, as 0.1"),
        ("max-symbol-ratio=nan", "expected a number from 0 to 1"),
    ],
)
def test_a_filter_that_does_not_exist_or_fit_is_refused_before_any_work(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        parse_filter(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        CleaningConfig(filter=(text,))


@pytest.mark.parametrize("kept", [pa.array([True]), pa.array([1, 0]), pa.array([True, None])])
def test_a_filter_that_does_not_decide_on_each_text_is_named(kept: pa.Array, monkeypatch: pytest.MonkeyPatch) -> None:
    broken: Any = Filter(help="", keep=lambda texts, _: kept, parse=str, default="")
    monkeypatch.setitem(FILTERS._items, "broken", broken)
    with pytest.raises(ConfigError, match=r"the filter broken returned \d values .* for 2 texts"):
        drop_reasons(pa.array(["a", "b"]), ["broken"])


def tables(folder: Path, target: int, filters: tuple[str, ...], name: str = "x.jsonl") -> tuple[dict[str, str], Any]:
    """Return the documents of the texts, written in ranges of some bytes, and the drops of all parts."""
    path = folder / name
    if name.endswith(".txt"):
        path.write_text("".join(f"{text}\n\n" for text in TEXTS))
    else:
        rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    documents: dict[str, str] = {}
    drops: dict[str, int] = {}
    for task in with_filters(plan_documents([str(path)], str(folder / f"out-{target}"), target), filters):
        record = run_once(task, write_documents)
        written = pq.read_table(task.path).to_pylist()
        assert record.counts.get("documents", 0) == len(written)
        assert record.counts.get("text_bytes", 0) == sum(len(row["text"].encode()) for row in written)
        assert record.counts.get("rows", 0) == len(written) + sum(record.drops.values())
        assert sum(rows for rows, _ in record.details["row_groups"]) == len(written)
        assert sum(slot[1] for slot in record.details["slots"]) == len(written)
        documents |= {row["id"]: row["text"] for row in written}
        for reason, number in record.drops.items():
            drops[reason] = drops.get(reason, 0) + number
    return documents, drops


@pytest.mark.parametrize("smallest", [pytest.param(1, marks=pytest.mark.slow), 40])
@pytest.mark.parametrize("name", ["x.jsonl", "x.txt"])
def test_ranges_of_any_size_keep_the_same_documents(name: str, smallest: int, tmp_path: Path) -> None:
    filters = ("min-characters=25", "max-symbol-ratio=0.2")
    expected = [
        reason is None for reason in drop_reasons(pa.array([text.strip() for text in TEXTS]), filters).to_pylist()
    ]
    kept_tables = [tables(tmp_path, target, filters, name) for target in (smallest, 200, 1 << 20)]
    assert kept_tables[0] == kept_tables[1] == kept_tables[2]
    documents, drops = kept_tables[0]
    assert 0 < len(documents) == sum(expected) < len(TEXTS)
    assert set(drops) == {f"filter {filter_name}" for filter_name in filters}


def test_a_page_that_a_filter_drops_is_among_the_rejects(tmp_path: Path) -> None:
    pages = [
        page(1, "Salt"),
        page(2, "Short", "Salt."),
        page(3, "List of salts", "* [[Salt]]\n* [[Sea salt]]\n* [[Rock salt]]\n"),
        page(4, "Brief", "Sea."),
    ]
    (tmp_path / "x.xml").write_bytes(dump(*pages))
    config = CleaningConfig(filter=("min-characters=20",), rejects=str(tmp_path / "rejects"))
    tasks = plan_wikipedia([str(tmp_path / "x.xml")], str(tmp_path / "out"), config)
    [record] = [run_once(task, write_documents) for task in tasks]
    assert (record.counts["pages"], record.counts["documents"]) == (4, 1)
    assert record.drops == {"list": 1, "filter min-characters=20": 2}
    [path] = (tmp_path / "rejects").iterdir()
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {(row["id"], row["title"], row["reason"]) for row in rows} == {
        (2, "Short", "filter min-characters=20"),
        (3, "List of salts", "list"),
        (4, "Brief", "filter min-characters=20"),
    }
    assert all(row["offset"] > 0 for row in rows)


def test_books_that_are_dropped_are_counted_beside_other_drops(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text(f"{PROSE * 20}\n\n{PROSE * 20}\n")
    (tmp_path / "short.txt").write_text("A book of few words, and no more than these.\n")
    (tmp_path / "none.txt").write_text("1\n2\n3\n")
    config = CleaningConfig(filter=("min-characters=200",))
    [task] = plan_books([str(tmp_path / "*.txt")], str(tmp_path / "out"), config)
    record = run_once(task, write_documents)
    assert (record.counts["books"], record.counts["documents"]) == (3, 1)
    assert record.drops["filter min-characters=200"] == 1
    assert sum(record.drops.values()) == 2


def test_fingerprints_name_filters_and_their_revision_only_where_there_are_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt")))

    def mark(*filters: str) -> str:
        stage = ReadSource("wikipedia", {str(tmp_path / "x.xml"): ""}, "out", CleaningConfig(filter=filters))
        [task] = stage.plan(BuildState()).steps[0].tasks
        assert rules_of(task).filters == filters
        return task.fingerprint

    [plain] = plan_wikipedia([str(tmp_path / "x.xml")], "out", CleaningConfig())
    assert mark() == plain.fingerprint
    marks = [mark(), mark("min-characters=2"), mark("min-characters=3"), mark("max-symbol-ratio", "min-characters=2")]
    marks.append(mark("min-characters=2", "max-symbol-ratio"))
    newer = Filter(**{**FILTERS["min-characters"].__dict__, "revision": 2})
    monkeypatch.setitem(FILTERS._items, "min-characters", newer)
    marks.append(mark("min-characters=2"))
    assert len(set(marks)) == len(marks)
    assert "filter" not in stored_values(CleaningConfig())
    given = stored_values(CleaningConfig(filter=("max-symbol-ratio",)))
    assert given == {**stored_values(CleaningConfig()), "filter": ("max-symbol-ratio",)}


def test_documents_that_are_cleaned_already_are_not_filtered_in_silence(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt")))
    assert dispatch(["clean-wikipedia", str(tmp_path / "x.xml"), "--output", str(tmp_path / "out")]) == 0
    flags = ["--filter", "max-symbol-ratio", "--output", str(tmp_path / "build")]
    with pytest.raises(ConfigError, match="these documents are written already, and --filter is for where they are"):
        dispatch(["build", "--documents", str(tmp_path / "out"), *flags])


OUTSIDE = """
import pyarrow.compute as pc

from bertdata.curation import CLEANERS
from bertdata.curation.cleaners import Cleaner
from bertdata.curation import FILTERS
from bertdata.curation.filters import Filter


def without(texts, word):
    return pc.invert(pc.match_substring(texts, word))


CLEANERS.add("no-gold", Cleaner(help="takes out gold", clean=lambda texts: pc.replace_substring(texts, "Gold.", "")))
FILTERS.add("without", Filter(help="drops documents with a word", keep=without, parse=str))
"""


@pytest.mark.costly
def test_a_package_outside_adds_a_filter_and_a_cleaner_and_builds_with_them(tmp_path: Path) -> None:
    outside = Outside.write(tmp_path, "toy_curation", OUTSIDE)
    sentences = "The sea is deep, and salt is in it. Ships sail on it to the island in the south. "
    rows = [{"id": f"d{n}", "text": sentences * 3 + ("Gold." if n % 3 else "Iron.")} for n in range(60)]
    rows.append({"id": "gold", "text": "Gold."})
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build = tmp_path / "build"
    flags = ["--clean", "no-gold", "--filter", "without=Iron", "--vocab", "bertdata-30k-uncased"]
    helped, built, shown, _ = outside.bertdata(
        ["build", "--help-all"],
        ["build", "--documents", "x.jsonl", "--output", build, *flags, "--range-bytes", 2000],
        ["show", build],
        ["verify", build],
    )
    assert "- without: drops documents with a word" in helped
    assert "- no-gold: takes out gold" in helped
    for counted in ("dropped, emptied by no-gold 1 ", "dropped, filter without=Iron 20 ", "changed by no-gold 41 "):
        assert counted in " ".join(built.split())
    assert re.search(r"documents +40 ", built)
    assert "island" in shown
    assert not {"gold", "iron"} & set(re.findall(r"[\w-]+", shown.lower()))
    drops = open_shards(build).manifest["sources"]["documents"]["drops"]
    assert drops == {"emptied by no-gold": 1, "filter without=Iron": 20}
    assert len(open_shards(build)) > 0


def test_a_filter_that_says_it_only_drops_may_change_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(texts: pa.StringArray, argument: object) -> Judgement:
        return Judgement(pa.nulls(len(texts), pa.string()), pc.utf8_upper(texts))

    changing = Filter(help="changes texts", parse=str, default="", judge=judge, only_drops=True)
    monkeypatch.setitem(FILTERS._items, "shouting", changing)
    with pytest.raises(ConfigError, match="the filter shouting changes texts and says that it only drops some"):
        drop_reasons(pa.array(["Salt."]), ["shouting"])
