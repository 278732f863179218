from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.documents import DocumentWriter, paragraphs
from bertdata.engine.parts import Counters, Task, run_once
from bertdata.errors import ConfigError, InputError
from bertdata.io import files, listing
from bertdata.sources.finished import record_of_part
from bertdata.sources.formats import write_documents
from bertdata.sources.json_lines import JSON_LINES
from bertdata.sources.kinds import find_kind
from bertdata.sources.parquet import PARQUET
from tests.generated import examples
from tests.sources.planned import plan_documents

Row = dict[str, Any]


def write(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def parquet(path: Path, table: pa.Table, row_group_size: int = 1000) -> str:
    pq.write_table(table, path, row_group_size=row_group_size)
    return str(path)


def read(task: Task) -> tuple[list[Row], Counters]:
    file = io.BytesIO()
    counters = write_documents(task, file)
    rows: list[Row] = pq.read_table(pa.BufferReader(file.getvalue())).to_pylist()
    return rows, counters


def read_all(path: str, target: int = 1 << 30, column: str = "text") -> tuple[list[Row], list[Counters]]:
    parts = [read(task) for task in plan_documents([path], "out", target, column)]
    return [row for rows, _ in parts for row in rows], [counters for _, counters in parts]


# What is read


def test_a_row_becomes_a_document_and_other_columns_are_ignored(tmp_path: Path) -> None:
    row = {"id": "a:1", "source": "web", "title": "Salt", "url": "http://x", "text": "Salt.", "other": [1]}
    path = write(tmp_path / "x.jsonl", lines([row, {"text": "Bare."}]))
    [first, second], [counters] = read_all(path)
    assert first == {name: row[name] for name in ("id", "source", "title", "url", "text")}
    assert second == {
        "id": f"x.jsonl:{len(lines([row]))}", "source": "documents", "title": "", "url": "", "text": "Bare."
    }  # fmt: skip
    assert counters.counts == {"rows": 2, "documents": 2, "text_bytes": 10}
    assert counters.drops == {}


RATED = [
    {"text": "Salt.", "score": 3, "meta": {"language": "en"}, "day": "2024-05-01", "flat.name": True},
    {"text": "Water.", "score": None, "meta": None, "day": None, "flat.name": False},
]


def kept(path: str, columns: tuple[str, ...]) -> list[Row]:
    [task] = plan_documents([path], "out", 1 << 30, columns=columns)
    return [json.loads(row["columns"]) for row in read(task)[0]]


def test_columns_are_kept_where_asked_for_in_every_format(tmp_path: Path) -> None:
    names = ("day", "flat.name", "meta.language", "score")
    expected = [
        {"day": "2024-05-01", "flat.name": True, "meta.language": "en", "score": 3},
        {"flat.name": False},
    ]
    table = pa.Table.from_pylist(RATED)
    dated = table.set_column(table.schema.get_field_index("day"), "day", table["day"].cast(pa.date32()))
    assert kept(parquet(tmp_path / "rows.parquet", dated), names) == expected
    assert kept(write(tmp_path / "rows.jsonl", lines(RATED)), names) == expected


def test_places_in_lists_maps_and_decimals_of_spark_are_kept(tmp_path: Path) -> None:
    schema = pa.schema(
        {
            "text": pa.string(),
            "authors": pa.list_(pa.struct({"name": pa.string()})),
            "codes": pa.map_(pa.string(), pa.string()),
            "price": pa.decimal128(10, 2),
            "doc": pa.struct({"body": pa.string()}),
        }
    )
    rows = [
        ("Salt.", [{"name": "Kim"}, {"name": None}], [("iso", "de")], Decimal("3.50"), {"body": "White."}),
        ("Sea.", [], [], Decimal("4.00"), {"body": None}),
        ("Ice.", None, None, None, None),
    ]
    table = pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)
    path = parquet(tmp_path / "rows.parquet", table)
    assert kept(path, ("authors.name", "codes.iso", "price")) == [
        {"authors.name": ["Kim", None], "codes.iso": "de", "price": 3.5},
        {"price": 4},
        {},
    ]
    documents, _ = read_all(path, column="doc.body")
    assert [row["text"] for row in documents] == ["White."]


def test_lists_are_kept_in_every_format_with_what_they_hold(tmp_path: Path) -> None:
    rows: list[Row] = [{"text": "Salt.", "tags": ["a", None]}, {"text": "Water.", "tags": []}, {"text": "Sea."}]
    expected = [{"tags": ["a", None]}, {"tags": []}, {}]
    assert kept(write(tmp_path / "rows.jsonl", lines(rows)), ("tags",)) == expected
    assert kept(parquet(tmp_path / "rows.parquet", pa.Table.from_pylist(rows)), ("tags",)) == expected


@pytest.mark.parametrize(("value", "kind"), [({"a": 1}, "an object"), ([{"a": 1}], "an object"), ([["a"]], "a list")])
def test_a_column_of_objects_and_one_that_no_file_has_are_refused(value: Any, kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", lines([{"text": "Salt.", "tags": value}]))
    with pytest.raises(
        InputError,
        match=f"the column 'tags' holds {kind}",
    ):
        kept(path, ("tags",))
    with pytest.raises(
        ConfigError, match=r"names the column 'tag', which these .* did you mean 'tags'\? Their columns"
    ):
        kept(path, ("tag",))


@pytest.mark.parametrize("name", ["score", "größe", "meta.score"])
def test_a_column_that_only_a_late_row_has_is_known(name: str, tmp_path: Path) -> None:
    late: Row = {"text": "Water.", "note": '"other"', **({"meta": {"score": 3}} if "." in name else {name: 3})}
    rows = [{"text": "Salt."}] * 1500 + [late]
    for path in (
        write(tmp_path / "rows.jsonl", lines(rows)),
        write(tmp_path / "rows.jsonl.gz", gzip.compress(lines(rows))),
    ):
        assert kept(path, (name,))[-1] == {name: 3}
        with pytest.raises(ConfigError, match="names the column 'other', which these documents do not have"):
            kept(path, ("other",))


def test_ids_that_are_numbers_are_kept_and_empty_ones_made_up(tmp_path: Path) -> None:
    rows = [{"id": 0, "text": "a"}, {"id": "", "text": "b"}, {"id": None, "text": "c"}, {"id": 10**30, "text": "d"}]
    table = pa.table({"id": [0, 7, None], "text": ["a", "b", "c"]})
    documents, _ = read_all(write(tmp_path / "x.jsonl", lines(rows)))
    assert [row["id"] for row in documents] == ["0", "x.jsonl:23", "x.jsonl:47", str(10**30)]
    documents, _ = read_all(parquet(tmp_path / "x.parquet", table))
    assert [row["id"] for row in documents] == ["0", "7", "x.parquet:2"]


@pytest.mark.parametrize("suffix", PARQUET.suffixes + JSON_LINES.suffixes)
def test_every_format_gives_the_same_documents(suffix: str, tmp_path: Path) -> None:
    rows = [{"id": str(i), "text": f"Text {i} é."} for i in range(50)]
    path = tmp_path / f"x{suffix}"
    if suffix == ".parquet":
        parquet(path, pa.Table.from_pylist(rows))
    else:
        data, kind = lines(rows), suffix.rpartition(".")[2]
        packers = {"zst": zstandard, "gz": gzip, "bz2": bz2, "xz": lzma}
        if kind in packers:
            data = packers[kind].compress(data)
        write(path, data)
    assert find_kind("documents", [str(tmp_path)]) == [str(path)]
    documents, tallies = read_all(str(path), 100)
    assert [(row["id"], row["text"]) for row in documents] == [(row["id"], row["text"]) for row in rows]
    assert sum(counters.counts.get("rows", 0) for counters in tallies) == 50


def test_the_ending_of_a_file_may_be_in_capitals(tmp_path: Path) -> None:
    path = parquet(tmp_path / "X.PARQUET", pa.table({"text": ["a"]}))
    assert find_kind("documents", [str(tmp_path)]) == [path]
    assert [row["text"] for row in read_all(path)[0]] == ["a"]


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("x.jsonl", b'{"text": " "}\n{"text": null}\n{"title": "A"}\n', "text"),
        ("x.jsonl", b'{"a": "", "b": " "}\n{"a": null, "b": ""}\n{"b": ""}\n', "{a} {b}"),
        ("x.csv", b'text,title\n" ",A\n"",B\n"\t",C\n', "text"),
        ("x.parquet", None, "text"),
    ],
)
def test_rows_that_hold_no_text_have_one_name_whatever_they_are_read_from(
    name: str, content: bytes | None, column: str, tmp_path: Path
) -> None:
    if content is None:
        path = parquet(tmp_path / name, pa.table({"text": [" ", None, ""]}))
    else:
        path = write(tmp_path / name, content)
    rows, [counters] = read_all(path, column=column)
    assert (rows, dict(counters.drops)) == ([], {"no text": 3})


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_kind_of_arrow_string_is_text(kind: pa.DataType, tmp_path: Path) -> None:
    path = parquet(tmp_path / "x.parquet", pa.table({"text": pa.array(["a", None], pa.string()).cast(kind)}))
    rows, [counters] = read_all(path)
    assert [row["text"] for row in rows] == ["a"]
    assert counters.drops == {"no text": 1}


def test_another_column_can_hold_the_text(tmp_path: Path) -> None:
    for path in (
        write(tmp_path / "x.jsonl", lines([{"content": "a", "text": 1}])),
        parquet(tmp_path / "x.parquet", pa.table({"content": ["a"], "text": [1]})),
    ):
        assert [row["text"] for row in read_all(path, column="content")[0]] == ["a"]


def test_lone_surrogates_in_json_do_not_end_the_build(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", b'{"text": "a\\ud800b", "title": "\\udfff", "id": "\\ud800"}\n')
    [row], _ = read_all(path)
    assert (row["text"], row["title"], row["id"]) == ("a\ufffdb", "\ufffd", "\\ud800")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One.\nTwo.", "One.\n\nTwo."),
        ("One\nline.\n\nTwo.", "One\nline.\n\nTwo."),
        ("One.\r\n\r\n \t\r\nTwo.\r", "One.\n\nTwo."),
        ("\n\n  One. \n \n", "One."),
        ("\n\nOne.\nTwo.\n\n", "One.\n\nTwo."),
        (" \n\t", ""),
        ("", ""),
    ],
)
def test_blank_lines_part_paragraphs_and_without_any_each_line_is_one(text: str, expected: str) -> None:
    assert paragraphs(text) == expected


@given(st.text(st.sampled_from("a \n\r\t\u2028"), max_size=40))
def test_paragraphs_lose_no_letter_and_are_parted_once(text: str) -> None:
    parted = paragraphs(text)
    assert parted.count("a") == text.count("a")
    assert parted == parted.strip()
    assert paragraphs(parted) == parted
    assert "\n\n\n" not in parted


# Cutting


@settings(deadline=None, max_examples=examples(40))
@given(st.data())
def test_json_lines_cut_anywhere_give_each_row_once(data: st.DataObject) -> None:
    texts = data.draw(st.lists(st.text(st.sampled_from("ab é\n"), max_size=9), max_size=5))
    ends = data.draw(st.lists(st.sampled_from([b"\n", b"\r\n", b"\n\n", b" \n\n"]), min_size=5, max_size=5))
    rows = [json.dumps({"id": str(i), "text": "x" + text}).encode() for i, text in enumerate(texts)]
    content = b'{"id": "first", "text": "y"}' + b"".join(end + row for end, row in zip(ends, rows, strict=False))
    content += data.draw(st.sampled_from([b"", b"\n", b"\n\n \n"]))
    target = data.draw(st.integers(1, len(content) + 5))
    path = _temporary("cut.jsonl", content)
    documents, tallies = read_all(path, target)
    assert [row["id"] for row in documents] == ["first", *map(str, range(len(texts)))]
    assert sum(counters.counts.get("rows", 0) for counters in tallies) == len(texts) + 1
    assert documents == read_all(path)[0]


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 4000))
def test_parquet_cut_anywhere_gives_each_row_once(rows: int, group: int, target: int) -> None:
    file = io.BytesIO()
    pq.write_table(pa.table({"text": [f"Text {i} " * (i % 7 + 1) for i in range(rows)]}), file, row_group_size=group)
    path = _temporary("cut.parquet", file.getvalue())
    documents, tallies = read_all(path, target)
    assert [row["id"] for row in documents] == [f"cut.parquet:{i}" for i in range(rows)]
    assert sum(counters.counts["rows"] for counters in tallies) == rows


_FOLDER: list[Path] = []


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    if not _FOLDER:
        _FOLDER.append(tmp_path_factory.mktemp("tables"))


def _temporary(name: str, data: bytes) -> str:
    return write(_FOLDER[0] / name, data)


def test_a_range_ends_with_the_row_group_that_fills_it(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", pa.table({"text": [f"Text {i % 10}" for i in range(40)]}), 10)
    group = pq.ParquetFile(path).metadata.row_group(0).total_byte_size
    for target, ends in ((group, [1, 2, 3, 4]), (group + 1, [2, 4]), (2 * group, [2, 4]), (3 * group, [3, 4])):
        tasks = plan_documents([path], "out", target)
        assert [task.payload.end for task in tasks] == ends
        assert sum(task.weight for task in tasks) == 4 * group


def test_ids_made_up_do_not_depend_on_the_cuts(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", lines([{"text": f"t{i}"} for i in range(40)]))
    whole = [row["id"] for row in read_all(path)[0]]
    assert len(set(whole)) == 40
    for target in (1, 7, 100):
        assert [row["id"] for row in read_all(path, target)[0]] == whole


def test_a_line_longer_than_many_ranges_is_read_once_and_not_searched_by_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"text": "x" * 100_000}
    path = write(tmp_path / "x.jsonl", lines([{"text": "a"}, row, {"text": "b"}]))
    taken = [0]

    class Counted(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(-1 if size is None else size)
            taken[0] += len(line)
            return line

    tasks = plan_documents([path], "out", 1000, "text")
    monkeypatch.setattr(files, "open_raw", lambda path: Counted(Path(path).read_bytes()))
    rows_read = [row for task in tasks for row in read(task)[0]]
    assert [len(row["text"]) for row in rows_read] == [1, 100_000, 1]
    assert taken[0] < 3 * 100_000


def test_tasks_have_names_weights_and_fingerprints_of_their_own(tmp_path: Path) -> None:
    paths = [write(tmp_path / name / "x.jsonl", lines([{"text": "a" * 50}] * 10)) for name in ("a", "b")]
    tasks = plan_documents(paths, "out", 100, "text")
    assert len({task.path for task in tasks}) == len({task.fingerprint for task in tasks}) == len(tasks) > 10
    assert sum(task.weight for task in tasks) == sum(files.size(path) for path in paths)
    other = plan_documents(paths, "out", 100, "text")
    assert [task.fingerprint for task in other] == [task.fingerprint for task in tasks]


def test_a_file_that_changed_has_other_fingerprints(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", lines([{"text": "a"}]))
    [before] = plan_documents([path], "out", 100, "text")
    write(tmp_path / "x.jsonl", lines([{"text": "ab"}]))
    [after] = plan_documents([path], "out", 100, "text")
    assert before.fingerprint != after.fingerprint


def test_files_with_names_in_any_script_do_not_overwrite_each_other(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.jsonl", lines([{"text": name}])) for name in ("日本", "中国", "a b", "a-b")]
    tasks = plan_documents(paths, str(tmp_path / "out"), 1000, "text")
    for task in tasks:
        run_once(task, write_documents)
    assert sorted(pq.read_table(task.path)["text"][0].as_py() for task in tasks) == sorted(
        ["日本", "中国", "a b", "a-b"]
    )


# What is refused, dropped and named


def test_a_missing_text_column_lists_the_columns_there_are(tmp_path: Path) -> None:
    for path in (
        write(tmp_path / "x.jsonl", lines([{"body": "a", "id": 1}])),
        write(tmp_path / "x.jsonl.gz", gzip.compress(b"\n" + lines([{"body": "a", "id": 1}]))),
        parquet(tmp_path / "x.parquet", pa.table({"body": ["a"], "id": [1]})),
    ):
        with pytest.raises(InputError) as caught:
            plan_documents([path], "out", 1000, "text")
        assert str(caught.value).startswith(f"{path}: has no column 'text'; its columns are 'body', 'id'")
        assert ("(text is in 'body')" in str(caught.value)) is not path.endswith(".parquet")
        assert "`text_column`" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "inside"),
    [
        ([{"version": 1, "data": [{"text": "a"}, {"text": "b"}]}], True),
        ([{"data": [{"text": "a"}, {"text": "b"}]}] * 2, False),
        ([{"data": [{"text": "a"}]}], False),
        ([{"data": ["a", "b"]}], False),
        ([{"a": [{"text": "a"}] * 2, "b": [{"text": "a"}] * 2}], False),
        ([{"a-b": [{"text": "a"}] * 2}], False),
    ],
)
def test_rows_inside_the_only_row_are_told(tmp_path: Path, rows: list[dict[str, Any]], inside: bool) -> None:
    path = write(tmp_path / "x.json", lines(rows))
    with pytest.raises(InputError, match="has no column 'text'") as caught:
        plan_documents([path], "out", 1000, "text")
    assert (" (one row, whose 'data' holds rows: jq -c '.data[]' FILE > rows.jsonl)" in str(caught.value)) == inside
    assert ("jq" in str(caught.value)) == inside


def test_a_file_without_any_text_offers_no_column(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", lines([{"id": 1, "place": {"x": 2}}, {"id": 2, "tags": [3]}]))
    with pytest.raises(InputError, match="its columns are 'id', 'place', 'tags', and none holds text"):
        plan_documents([path], "out", 1000, "text")


def test_a_first_row_may_lack_the_text_that_others_have(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", lines([{"id": 1, "meta": "x"}, {"id": 2, "text": "Rome is old."}]))
    [task] = plan_documents([path], "out", 1000, "text")
    counters = write_documents(task, io.BytesIO())
    assert (counters.counts["documents"], counters.counts["rows"]) == (1, 2)


def test_a_text_column_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column 'text' holds int64"):
        plan_documents([parquet(tmp_path / "x.parquet", pa.table({"text": [1]}))], "out", 1000, "text")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.jsonl", b"", "this file is empty"),
        ("x.jsonl", b"\n \n", "holds no lines"),
        ("x.jsonl", b'["a"]\n', "is a JSON array; expected JSON lines"),
        ("x.jsonl", b'{"text": "a"', "begins with a JSON object that does not end in its line"),
        ("x.jsonl", b"[" * 100_000, "is a JSON array; expected JSON lines"),
        ("x.jsonl", b'{"text": "caf\xe9"}', "its first line is not UTF-8; expected JSON lines in UTF-8"),
        ("x.parquet", b'{"text": "a"}', "is not a Parquet file"),
        ("x.jsonl.gz", b'{"text": "a"}', "is not compressed, and its name says gz"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, data)
    with pytest.raises(InputError) as caught:
        plan_documents([path], "out", 1000, "text")
    assert str(caught.value).startswith(path)
    assert message in str(caught.value)


def test_files_without_any_row_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    pq.ParquetWriter(path, pa.schema([("text", pa.string())])).close()
    with pytest.raises(InputError, match=r"x\.parquet: these files hold no rows"):
        plan_documents([path], "out", 1000, "text")
    other = parquet(tmp_path / "y.parquet", pa.table({"text": ["a"]}))
    assert len(plan_documents([path, other], "out", 1000, "text")) == 1


def test_broken_lines_are_named_by_their_byte_dropped_and_the_rest_read(tmp_path: Path) -> None:
    content = [b'{"text": "a"}\n', b"not json\n", b"[1]\n", b'{"text": 3}\n', b"\xff\xfe\n", b"[" * 9999 + b"\n"]
    content += [b'{"id": 5}\n', b'{"text": " \\n "}\n', b'{"text": "z"}']
    path = write(tmp_path / "x.jsonl", b"".join(content))
    starts = [sum(map(len, content[:i])) for i in range(len(content))]
    for target in (60, 1 << 20):
        rows, tallies = read_all(path, target)
        assert [row["text"] for row in rows] == ["a", "z"]
        broken = [entry for counters in tallies for entry in counters.details["broken"]]
        assert [entry["place"] for entry in broken] == starts[1:7]
        reasons = ["not a JSON object"] * 2 + ["no text: a number", "not UTF-8", "not a JSON object", "no text"]
        assert [entry["reason"] for entry in broken] == reasons
        assert {entry["path"] for entry in broken} == {path}
        drops: dict[str, int] = {}
        for counters in tallies:
            for reason, number in counters.drops.items():
                drops[reason] = drops.get(reason, 0) + number
        assert drops == {"not a JSON object": 3, "not UTF-8": 1, "no text: a number": 1, "no text": 2}
        assert sum(counters.counts.get("rows", 0) for counters in tallies) == 9


def test_a_damaged_parquet_file_is_told_as_the_input_and_leaves_no_part(tmp_path: Path) -> None:
    path = parquet(tmp_path / "x.parquet", pa.table({"text": [f"some text {i} " * 50 for i in range(2000)]}))
    data = bytearray(Path(path).read_bytes())
    data[2000:2600] = b"\xa5" * 600
    Path(path).write_bytes(data)
    [task] = plan_documents([path], str(tmp_path / "out"), 1 << 30, "text")
    with pytest.raises(InputError) as caught:
        run_once(task, write_documents)
    assert str(caught.value).startswith(f"{path}: cannot be read from row 0 on")
    assert listing.names(str(tmp_path / "out")) == []


def test_strings_in_parquet_that_are_no_utf8_are_told_as_the_input(tmp_path: Path) -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\x00\x00\x00\x00\x02\x00\x00\x00"), pa.py_buffer(b"\xff\xfe")]
    )
    path = parquet(tmp_path / "x.parquet", pa.table({"text": bad}))
    with pytest.raises(InputError, match=r"x\.parquet: cannot be read from row 0 on"):
        read_all(path)


def test_a_truncated_gz_is_refused_with_its_byte(tmp_path: Path) -> None:
    whole = gzip.compress(lines([{"text": f"{i**9}"} for i in range(5000)]))
    path = write(tmp_path / "x.jsonl.gz", whole[: len(whole) // 2])
    [task] = plan_documents([path], "out", 1000, "text")
    with pytest.raises(InputError, match="inside the gz stream"):
        read(task)


# Parts of our own


def test_a_part_that_a_stage_wrote_is_known_by_its_record(tmp_path: Path) -> None:
    def work(task: Task, file: Any) -> Counters:
        with DocumentWriter(file, counters := Counters()) as writer:
            writer.add("a", "s", "", "", "text")
        return counters

    record = run_once(Task(str(tmp_path), "p", ".parquet", "f", 0, None), work)
    path = str(tmp_path / "p.parquet")
    assert record_of_part(path) == record
    (tmp_path / "p.parquet").write_bytes(b"other")
    assert record_of_part(path) is None


@pytest.mark.parametrize("record", [b"{}", b"[]", b"not json", b"", b'{"name": 1}'])
def test_a_json_file_beside_a_table_that_is_no_record_is_no_matter(record: bytes, tmp_path: Path) -> None:
    path = parquet(tmp_path / "x.parquet", pa.table({"text": ["a"]}))
    write(tmp_path / "x.json", record)
    assert record_of_part(path) is None
    assert record_of_part(write(tmp_path / "y.jsonl", lines([{"text": "a"}]))) is None


@pytest.mark.parametrize("name", ["text", "id", "other"])
def test_two_parquet_columns_of_one_name_are_refused_by_it(tmp_path: Path, name: str) -> None:
    texts = pa.array(["One. Two."])
    names = ["text", "id", "other", name]
    pq.write_table(pa.Table.from_arrays([texts] * 4, names), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=rf"a\.parquet: has several columns of the name '{name}'"):
        plan_documents([str(tmp_path / "a.parquet")], str(tmp_path / "out"), 1 << 20)
