"""Rows of JSON lines that a kernel reads as columns are those that `json` reads one by one."""

from __future__ import annotations

import gzip
import json
from collections import deque
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.engine.parts import Counters
from bertdata.errors import InputError
from bertdata.io import bounded_lines
from bertdata.kernels.warmup import compiling_always
from bertdata.sources import json_columns, json_lines
from bertdata.sources.batch_columns import NAMES
from tests.generated import examples
from tests.growth import assert_linear, repeated
from tests.sources.read import documents_of

Read = tuple[list[dict[str, Any]], list[Counters]]
LINES = [
    b'{"text": "Salt is white."}',
    b' { "text" :"Salt.\\nIt is white.", "id":"a/1" ,"title": "Salt", "url": "https://x", "source": "notes" } \r',
    b'{"id": 12, "text": "a \\"quoted\\" \\u00e9 \\ud83d\\ude00 \\/ \\b\\f\\t word"}',
    b'{"id": -3, "text": "x", "url": null, "m": {"a": [1, -0.5e+3, {}, [], {"b": [true, false]}], "c": "\\u12aB"}}',
    rb'{"text": "digits that are letters \uABCD \ufeca \ueDFc", "id": "\uabba"}',
    b'{"id": -0, "text": "x"}',
    b'{"id": 123456789012345678901234567890, "text": "x"}',
    b'{"id": 1.0, "text": "x", "title": true}',
    b'{"id": "", "text": "x", "source": "", "title": ""}',
    b'{"text": "first", "text": "second"}',
    b'{"\\u0074ext": "an escaped name"}',
    b'{"text": "a lone \\ud800 half"}',
    b'{"text": "two \\ud800\\u0041 halves \\udc00"}',
    b'{"text": "a lone \xed\xa0\x80 half in bytes"}',
    b'{"text": "not UTF-8 \xff", "id": "b"}',
    b'{"text": "x", "title": "not UTF-8 \xff"}',
    b'{"text": "x", "other": "not UTF-8 \xc3"}',
    b"\xef\xbb\xbf" + b'{"text": "after a mark"}',
    b'{"text": ""}',
    b'{"text": " \\n "}',
    b'{"text": 3}',
    b'{"text": null}',
    b'{"title": "no text"}',
    b"{}",
    b'{"text": "cut',
    b'{"text": "a control \x01 character"}',
    b'{"text": "no escape \\x"}',
    b'{"text": "no unit \\u12g4"}',
    b'{"text": "x",}',
    b'{"text": "x"} {"text": "y"}',
    b'{"text": "x", "n": NaN, "m": -Infinity}',
    b'{"text": "x", "n": 01}',
    b'{"text": "x", "n": trux}',
    b'{"text": "x", "n": nulx}',
    b'{"text": "x", "n": falsx}',
    b'{"text": "x", "n": 1.}',
    b'{"text": "x", "n": .5}',
    b'{"text": "x", "n": 1e}',
    b'{"text": "x", "n": [1 2]}',
    b'{"text": "x", "n": [1,]}',
    b'{"text": "x", "n": {"a" 1}}',
    b'{"text": "x", "n": {"a": 1]}',
    b'{"text": "x", "n": tru}',
    b'{"text": "x", "n": ' + b"[" * 100 + b"]" * 100 + b"}",
    b'{"text": "x", "n": ' + b"9" * 5000 + b"}",
    b'["text"]',
    b'"text"',
    b"",
    b" \t\r",
    b" \x0b\x0c",
    b'{"index": {"_id": "7"}}',
    b'{"index": 3, "text": "not an action"}',
    b'{"text": "' + "Zeile äöü 日本 ".encode() * 40 + b'"}',
]


def read_both(path: Path, target: int = 1 << 30) -> tuple[Read, Read]:
    """Return the documents of a file, and what is counted, as columns and row by row."""
    by_rows = documents_of([str(path)], target=target)
    with compiling_always():
        return documents_of([str(path)], target=target), by_rows


def counted(read: Read) -> list[Any]:
    return [(counters.counts, counters.drops, counters.details) for counters in read[1]]


@pytest.mark.costly
@pytest.mark.parametrize("ending", [b"\n", b""])
def test_each_form_of_a_line_is_the_same_row(tmp_path: Path, ending: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    for line in LINES:
        path.write_bytes(b'{"text": "first"}\n' + line + ending)
        columns, rows = read_both(path)
        assert (columns[0], counted(columns)) == (rows[0], counted(rows)), line
    path.write_bytes(b"\n".join([b'{"text": "first"}', *LINES, *LINES[::-1]]) + ending)
    columns, rows = read_both(path)
    assert (columns[0], counted(columns)) == (rows[0], counted(rows))
    assert len(rows[0]) > 30


def as_written(row: dict[str, Any], choose: Callable[[], int]) -> bytes:
    """Return a row as one of several writers writes it."""
    text = json.dumps(
        row, ensure_ascii=choose() % 2 == 0, separators=[(",", ":"), (", ", ": "), (" , ", " : ")][choose() % 3]
    )
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data and choose() % 4 == 0:
        data[choose() % len(data)] = choose() % 256
    return bytes(data.replace(b"\n", b" "))


texts = st.text(st.characters(), max_size=30) | st.text('ab\n\r \\"\u3000é', max_size=12)
values = st.recursive(
    texts | st.integers() | st.booleans() | st.none() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["text", "id", "title", "url", "source", "other", "_id"])
objects = st.dictionaries(names, texts | values, max_size=5).map(lambda row: {"text": "A text."} | row)


@pytest.mark.costly
@settings(deadline=None, max_examples=examples(120))
@given(rows=st.lists(objects, min_size=1, max_size=12), target=st.integers(20, 400), data=st.data())
def test_rows_as_columns_are_those_of_json(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], target: int, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    choices = data.draw(st.randoms(use_true_random=False))
    lines = [as_written(row, lambda: choices.randrange(1 << 16)) for row in rows]
    path.write_bytes(b'{"text": "A first row."}\n' + b"\n".join(lines))
    columns, by_rows = read_both(path, target)
    assert (columns[0], counted(columns)) == (by_rows[0], counted(by_rows))


@pytest.mark.costly
def test_lines_of_any_length_are_whole_wherever_a_piece_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": str(number), "text": "x" * (number * 7 % 90), "title": "é" * (number % 5)} for number in range(200)]
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    plain, compressed = tmp_path / "rows.jsonl", tmp_path / "packed.jsonl.gz"
    plain.write_bytes(data)
    compressed.write_bytes(gzip.compress(data))
    for piece in (1, 50, 130, 1 << 20):
        monkeypatch.setattr(json_columns, "PIECE", piece)
        for path in (plain, compressed):
            columns, by_rows = read_both(path, 1000)
            assert (columns[0], counted(columns)) == (by_rows[0], counted(by_rows))


def test_a_line_that_is_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.jsonl"
    for module in (bounded_lines, json_columns, json_lines):
        monkeypatch.setattr(module, "LONGEST", 1000)
    monkeypatch.setattr(json_columns, "PIECE", 100)
    for ending in (b'"}', b'"}\n{"text": "x"}\n'):
        path.write_bytes(b'{"text": "first"}\n\n{"text": "' + b"x" * 2000 + ending)
        with compiling_always(), pytest.raises(InputError, match="what begins in line 3 goes on for over"):
            documents_of([str(path)])


@pytest.mark.parametrize(
    "unit", ["Rain. ", r"\n", r"\u6f22", r"\"", "é", '", "text": "', '", "x": {"y": "', '", "x": ["']
)
def test_the_time_of_a_line_grows_as_its_bytes_do_in_however_many_pieces_it_is_read(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PIECE", "BEYOND"):
        monkeypatch.setattr(json_columns, name, 64)

    def read(text: str) -> None:
        data = text.encode()
        deque(json_columns.read_columns(BytesIO(data), 0, len(data), (*NAMES, "text")), maxlen=0)

    assert_linear(read, repeated(unit, after='{"text": "', before='"}'), enough=1 << 20)


@pytest.mark.parametrize(
    "escape", [r"\n", r"\"", r"\\", r"\u00e9", r"\uABCD", r"\ufeca", r"\ud83d\ude00", r"\u0041\u12aB"]
)
def test_the_kernel_itself_reads_each_escape(escape: str) -> None:
    line = f'{{"text": "Rain {escape}."}}\n'
    data = line.encode()
    [lines] = json_columns.read_columns(BytesIO(data), 0, len(data), (*NAMES, "text"))
    assert lines.places is not None
    assert lines.columns[-1].to_pylist() == [json.loads(line)["text"]]
