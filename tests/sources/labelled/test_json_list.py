"""The elements of a list in a JSON object are those of `json.loads`, whatever the chunks that are read."""

from __future__ import annotations

import bz2
import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.finetune.squad import read_questions
from bertdata.sources.labelled.json_list import read_json_rows, read_list, read_values
from tests.generated import examples

ATOM = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
VALUE = st.recursive(
    ATOM,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=9,
)
KEY = st.text(max_size=6).filter(lambda key: key != "data")
CHUNKS = st.integers(1, 40)
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


def written(folder: Path, data: bytes, name: str = "a.json") -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


def same(ours: Any, expected: Any) -> bool:
    """Tell whether two values are the same, types, order of keys and NaN included."""
    return repr(ours) == repr(expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("json")


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_elements_are_those_of_json_loads_for_any_chunks(folder: Path, data: st.DataObject) -> None:
    others = data.draw(st.lists(st.tuples(KEY, VALUE), max_size=3))
    place = data.draw(st.integers(0, len(others)))
    items = [*others[:place], ("data", data.draw(st.lists(VALUE, max_size=5))), *others[place:]]
    style: dict[str, Any] = {
        "ensure_ascii": data.draw(st.booleans()),
        "indent": data.draw(st.sampled_from([None, 0, 1, "\t"])),
        "separators": data.draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n", "\n:\t")])),
    }
    colon, comma = style["separators"][1], style["separators"][0]
    text = "{" + comma.join(json.dumps(key) + colon + json.dumps(value, **style) for key, value in items) + " }\n"
    raw = text.encode(data.draw(st.sampled_from(ENCODINGS)), "surrogatepass")
    expected = json.loads(raw)["data"]
    assert same(list(read_list(written(folder, raw), "data", chunk=data.draw(CHUNKS))), expected)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_is_no_json_is_refused_and_nothing_else(folder: Path, data: st.DataObject) -> None:
    document = {"version": "1.1", "data": data.draw(st.lists(VALUE, min_size=1, max_size=3)), "x": [1.5e10, {}]}
    text = json.dumps(document)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 3)))
    text = text[:begin] + data.draw(st.text('{}[]":,\\u0 1e-tn', max_size=3)) + text[end:]
    raw = text.encode("utf-8", "surrogatepass")
    try:
        whole = json.loads(raw, object_pairs_hook=_once)
        expected = whole["data"]
        assert isinstance(whole, dict)
        assert isinstance(expected, list)
    except (ValueError, KeyError, TypeError, AssertionError):
        with pytest.raises(InputError):
            list(read_list(written(folder, raw or b" "), "data", chunk=data.draw(CHUNKS)))
        return
    assert same(list(read_list(written(folder, raw), "data", chunk=data.draw(CHUNKS))), expected)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; one that holds `data` twice is refused here as there, wherever it stands at the top."""
    names = dict(pairs)
    if len(names) < len(pairs) and [key for key, _ in pairs].count("data") > 1:
        raise ValueError("data is there twice")
    return names


SQUAD = json.dumps(
    {"version": "2.0", "data": [{"paragraphs": [{"context": "Zoë", "qas": [{"id": "q", "question": "é?"}]}]}]},
    ensure_ascii=False,
).encode()


@pytest.mark.parametrize("size", range(1, len(SQUAD)))
def test_a_file_cut_off_anywhere_is_refused_with_its_last_byte(size: int, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=rf"a\.json, byte {size}: the text ends here, .* get it again and check its size"
    ):
        list(read_list(written(tmp_path, SQUAD[:size]), "data", chunk=7))


@pytest.mark.parametrize(
    ("data", "byte", "reason"),
    [
        (b'{"data": [1, 2] "x": 1}', 16, "'\"', expected , or }"),
        ('{"ü": "é", "data": [1, é]}'.encode(), 25, "Expecting value"),
        (b'{"data": [1,]}', 12, "Expecting value"),
        (b'{"data": [1], }', 14, "no name in double quotes"),
        (b'{"data": [1]} {"data": [2]}', 14, "more after the object; rows of JSON lines are read from a .jsonl"),
        (b'{"data": [1], "data": [2]}', 21, "a second `data`"),
        (b'{"data": ["a\nb", 1, 2, 3, 4, 5, 6]}', 12, "Invalid control character at"),
        (b'{"data": ["\\x", 1, 2, 3, 4, 5, 6, 7]}', 11, "Invalid \\escape"),
        (b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 10, "it is nested too deeply"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_where_the_json_breaks_is_told_by_its_byte(
    data: bytes, byte: int, reason: str, chunk: int, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        list(read_list(written(tmp_path, data), "data", chunk=chunk))
    assert f"a.json, byte {byte}: this byte of the text is not JSON ({reason}" in str(caught.value)


@pytest.mark.parametrize(("chunk", "encoding"), [(1, "utf-8"), (9, "utf-8-sig"), (100, "utf-16"), (5, "utf-32-le")])
def test_the_byte_is_that_of_the_text_in_any_encoding(chunk: int, encoding: str, tmp_path: Path) -> None:
    text = '{"é中😀": 1, "data": [1, 2, !]}'
    byte = len(text[: text.index("!")].encode(encoding))
    with pytest.raises(InputError, match=f"byte {byte}: "):
        list(read_list(written(tmp_path, text.encode(encoding)), "data", chunk=chunk))


def test_bytes_that_are_no_text_are_told_by_their_place(tmp_path: Path) -> None:
    for chunk in (1, 8, 1000):
        with pytest.raises(InputError, match=r"byte 12: is not UTF-8 here \(invalid start byte\); convert the file"):
            list(read_list(written(tmp_path, b'{"data": ["a\xff"]}'), "data", chunk=chunk))


@pytest.mark.parametrize("data", [b'"data"', b"3", b"{}", b'{"x": []}', b'{"data": {}}', b'{"data": null}', b" "])
def test_an_object_without_the_list_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no list `data`"):
        list(read_list(written(tmp_path, data), "data"))


def test_compressed_files_are_read_and_a_cut_one_is_told_as_such(tmp_path: Path) -> None:
    expected = list(read_list(written(tmp_path, SQUAD), "data"))
    packed = {"gz": gzip.compress(SQUAD), "bz2": bz2.compress(SQUAD), "zst": zstandard.compress(SQUAD)}
    for suffix, data in packed.items():
        assert list(read_list(written(tmp_path, data, f"a.json.{suffix}"), "data")) == expected
        with pytest.raises(InputError, match=rf"a\.json\.{suffix}.* cut off"):
            list(read_list(written(tmp_path, data[:-9], f"a.json.{suffix}"), "data"))


@pytest.mark.costly
def test_memory_is_that_of_an_element_not_of_the_file(tmp_path: Path) -> None:
    article: dict[str, Any] = {
        "paragraphs": [{"context": "Salt. " * 2000, "qas": [{"id": "?", "question": "?" * 90}] * 10}]
    }
    path = tmp_path / "large.json"
    with path.open("w") as file:
        file.write('{"data": [')
        for number in range(2000):
            article["paragraphs"][0]["qas"] = [{"id": f"{number}-{n}", "question": "?"} for n in range(10)]
            file.write((", " if number else "") + json.dumps(article))
        file.write("]}")
    assert path.stat().st_size > 20 << 20
    tracemalloc.start()
    assert sum(1 for _ in read_questions(str(path), unlabelled=True)) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


ROW = st.dictionaries(st.text(max_size=4), VALUE, max_size=4)


@settings(max_examples=examples(100), deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=4), data=st.data())
def test_rows_are_those_of_json_loads_in_each_form_for_any_chunks(
    folder: Path, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    texts = [json.dumps(row, indent=data.draw(st.sampled_from([None, 1]))) for row in rows]
    raws = [json.dumps(rows), json.dumps({"a": 1, "data": rows, "b": [{}]})]
    if "data" not in rows[0]:
        raws += ["".join(texts), "\n".join(texts) + "\n"]
        assert same(list(read_values(written(folder, raws[-1].encode()))), rows)
    for raw in raws:
        assert same(list(read_json_rows(written(folder, raw.encode()), chunk=data.draw(CHUNKS))), rows)


@pytest.mark.parametrize("listed", [[], [1, {"a": 2}], ["x", "y"], [[{}]]])
def test_a_list_data_of_something_else_is_a_column(tmp_path: Path, listed: list[Any]) -> None:
    rows = [{"text": "A.", "data": listed, "more": {"b": 1}}, {"text": "B.", "data": [{"c": 3}]}]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)).encode())
    assert list(read_json_rows(path)) == rows


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b'{"data": [{"a": 1}]} {"a": 2}', "more after the object"),
        (b'[{"a": 1}] {"a": 2}', "more after the list"),
        (b'{"a": 1}\n[2]', "row 2 is not a JSON object"),
        (b'[{"a": 1}, 2]', "row 2 is not a JSON object"),
        (b"3", "row 1 is not a JSON object"),
        (b'{"a": 1}\n{"a": ', "was cut off"),
        (b'{"a": 1},\n{"a": 2}', "is not JSON"),
    ],
)
def test_what_holds_no_rows_is_refused(tmp_path: Path, raw: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        list(read_json_rows(written(tmp_path, raw)))
