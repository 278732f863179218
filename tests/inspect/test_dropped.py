"""Samples of dropped documents can be argued with: what was measured, and what stays for a duplicate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli.main import dispatch
from bertdata.inspect.dropped import dropped_lines
from bertdata.inspect.side_by_side import side_by_side

NEAR = [7, "b", "", "[a stays for it, similarity 0.97, threshold 0.80]"]


def manifest(samples: list[list[Any]], dropped: int = 9) -> dict[str, Any]:
    return {"sources": {"rows": {"drops": {"near duplicate": dropped}, "dropped_texts": {"near duplicate": samples}}}}


def test_both_texts_of_a_near_duplicate_stand_side_by_side_with_the_words_that_differ() -> None:
    texts = {"a": "Salt is a white mineral.", "b": "Salt is a grey mineral."}
    assert dropped_lines(manifest([NEAR]), count=1, texts_of=lambda ids: texts, width=80) == [
        "rows: 9 dropped as near duplicate, 1 of them here",
        "  b: [a stays for it, similarity 0.97, threshold 0.80]",
        "    b (dropped)                          |  a (stays)",
        "    Salt is a «grey» mineral.            |  Salt is a «white» mineral.",
    ]


def test_rows_and_books_that_cannot_be_read_are_named_by_their_places() -> None:
    broken = [{"path": "x.jsonl", "place": place, "reason": "no text"} for place in (10, 20, 30)]
    broken.append({"path": "b.zip", "title": "Salt", "reason": "not text"})
    source = {"drops": {"no text": 3, "broken: not text": 1}, "counts": {"rows": 9}, "broken": broken}
    assert dropped_lines({"sources": {"rows": source}}, count=2) == [
        "rows: 3 dropped as no text, 2 of them here (--count 3 shows 3)",
        "  x.jsonl:10",
        "  x.jsonl:20",
        "rows: 1 dropped as broken: not text, 1 of them here",
        "  Salt (b.zip)",
    ]


def test_where_the_stages_are_gone_it_says_so() -> None:
    assert dropped_lines(manifest([NEAR]))[-1] == "    (their texts are not in the build's stages any more)"


def test_what_was_measured_is_below_a_sample_and_older_builds_have_none() -> None:
    old, new = [1, "x", "", "Short."], [2, "y", "", "Short.", "words 1, at least 50 expected (min_words)"]
    lines = dropped_lines(manifest([old, new]))
    assert lines[1:] == ["  x: Short.", "  y: Short.", "    words 1, at least 50 expected (min_words)"]


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, ", 1 of them here (--count 2 shows 2)"),
        (2, ", 2 of them here"),
        (9, ", 2 of them here (a build keeps 5 of each reason)"),
    ],
)
def test_it_obeys_count(count: int, shown: str) -> None:
    samples = [[number, f"x{number}", "", "Short."] for number in range(2)]
    lines = dropped_lines(manifest(samples), count=count)
    assert lines[0] == f"rows: 9 dropped as near duplicate{shown}"
    assert len(lines) == 1 + min(count, 2)


def test_long_texts_are_shown_from_where_they_differ() -> None:
    words = [f"w{number}" for number in range(200)]
    other = [*words[:100], "else", *words[101:]]
    lines = list(side_by_side(" ".join(words), " ".join(other), ("a", "b"), 60))
    assert lines[1].startswith("... w88 ")
    assert "«w100»" in "".join(lines)
    assert "«else»" in "".join(lines)
    assert "w87" not in "".join(lines)
    assert max(map(len, lines)) <= 60


def test_show_reads_the_texts_of_duplicates_from_the_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = [f"word{number} of {number * 7 % 31} things." for number in range(60)]
    rows = [{"id": f"d{n}", "text": " ".join(f"salt{n}x{place} is here." for place in range(60))} for n in range(8)]
    changed = [*base[:30], "other30 of 24 things.", *base[31:]]
    rows += [{"id": "first", "text": " ".join(base)}, {"id": "second", "text": " ".join(changed)}]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ["--dedup", "near", "--vocab", "bertdata-30k-uncased", "--workers", "1", "--quiet"]
    objective = ["--objective", "full-sentences"]
    build = str(tmp_path / "build")
    assert dispatch(["build", "--documents", str(tmp_path / "x.jsonl"), "--output", build, *flags, *objective]) == 0
    capsys.readouterr()
    assert dispatch(["show", build, "--dropped", "near duplicate"]) == 0
    shown = capsys.readouterr().out
    assert ", threshold 0.80]" in shown
    assert "(dropped)" in shown
    assert {"«word30»", "«other30»"} <= {*shown.split()}
