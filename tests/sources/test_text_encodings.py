"""Text that is not UTF-8: all such files are named at once, read by an encoding or a guess, or left out and counted."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import fsspec
import pyarrow.parquet as pq
import pytest

from bertdata.cli.main import dispatch
from bertdata.corpus.manifest import source_entry
from bertdata.corpus.summary import source_rows
from bertdata.engine.parts import PartMetadata, Task, run_once
from bertdata.engine.stages import BuildState, Plan
from bertdata.errors import ConfigError, InputError
from bertdata.io.encodings import WITH_CP1252, find_bad_byte
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.sources.text_encodings import parse_encodings

PROSE = "Das Mädchen kam spät – viel zu spät – nach Hause. Es regnete über München."
ROW = {"id": "1", "text": PROSE}


def planned(files: dict[Path, str], output: Path, *, kind: str = "documents", **settings: object) -> Plan:
    config = CleaningConfig(**settings)  # type: ignore[arg-type]
    return ReadSource(kind, {str(path): name for path, name in files.items()}, str(output), config).plan(BuildState())


def made(plan: Plan) -> tuple[list[str], list[PartMetadata]]:
    """Return the texts of the documents, and the records of the parts."""
    texts, records = [], []
    for task in plan.steps[-1].tasks:
        records.append(run_once(task, write_documents))
        texts += pq.read_table(task.path)["text"].to_pylist()
    return texts, records


def text_file(folder: Path, ending: str, encoding: str) -> Path:
    """Write a file of some format that holds one document."""
    name, _, compressed = ending.partition("+")
    body = {
        "txt": PROSE + "\n",
        "csv": f'id,text\n1,"{PROSE}"\n',
        "tsv": f"id\ttext\n1\t{PROSE}\n",
        "jsonl": json.dumps(ROW, ensure_ascii=False) + "\n",
    }[name].encode(encoding)
    path = folder / f"a.{name}{'.gz' if compressed else ''}"
    path.write_bytes(gzip.compress(body) if compressed else body)
    return path


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8"])
@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "jsonl", "txt+gz", "jsonl+gz", "csv+gz"])
def test_files_of_each_format_are_read_by_an_encoding_and_utf_8_as_before(
    ending: str, encoding: str, whole: bool, tmp_path: Path
) -> None:
    path = text_file(tmp_path, ending, encoding)
    for asked in ("utf-16" if encoding == "utf-16" else "cp1252", "guess"):
        texts, [record] = made(planned({path: "a"}, tmp_path / asked, encoding=(asked,), whole_files=whole))
        assert texts == [PROSE]
        entry = source_entry([], [record])
        expected = {} if encoding == "utf-8" else {"encodings": {encoding: [path.name]}}
        assert {name: value for name, value in entry.items() if name == "encodings"} == expected
        shown = [(f"  read as {encoding}", "1")] if encoding != "utf-8" else []
        assert [row for row in source_rows({"a": entry}) if "read as" in row[0]] == shown


def test_all_bad_files_are_named_before_any_work_with_what_fits(tmp_path: Path) -> None:
    files = {}
    for number in range(30):
        path = tmp_path / f"note_{number:02}.txt"
        path.write_bytes(PROSE.encode("cp1252" if number % 5 else "utf-8"))
        files[path] = "notes" if number % 2 else "others"
    with pytest.raises(InputError) as caught:
        planned(files, tmp_path / "out", whole_files=True)
    lines = str(caught.value).split("\n")
    assert lines[0] == "24 of 30 files are not text in UTF-8:"
    assert len([line for line in lines if "note_" in line]) == 20
    assert lines[1] == f"  {tmp_path}/note_01.txt, byte 5: is not UTF-8 (byte 0xe4), it fits cp1252"
    assert lines[21] == "  and 4 more"
    assert "latin" not in lines[22]
    for advice in ("`encoding` cp1252 reads them", "`encoding` notes=cp1252", "`bad_files` skip", "iconv -f cp1252"):
        assert advice in lines[22]
    assert len(made(planned(files, tmp_path / "a", whole_files=True, encoding=("cp1252",)))[0]) == 30
    with pytest.raises(InputError, match="12 of 30"):
        planned(files, tmp_path / "out", whole_files=True, encoding=("notes=cp1252",))


def test_files_that_are_left_out_are_counted_and_named(tmp_path: Path) -> None:
    good, bad, table = tmp_path / "good.txt", tmp_path / "bad.txt", tmp_path / "t.csv"
    good.write_text(PROSE)
    bad.write_bytes(bytes(range(256)) * 40)
    table.write_bytes(b"id,text\n1,\xff\xfe\x00\x81\n")
    for whole in (True, False):
        plan = planned(
            dict.fromkeys((good, bad, table), "a"), tmp_path / str(whole), bad_files="skip", whole_files=whole
        )
        texts, records = made(plan)
        entry = source_entry([], records)
        assert (texts, entry["drops"]) == ([PROSE], {"not UTF-8": 2})
        assert sorted(broken_file["path"] for broken_file in entry["broken"]) == ["bad.txt", "t.csv"]
        assert entry["counts"]["rows"] == entry["counts"]["documents"] + 2


def test_another_encoding_makes_anew_what_it_decides_alone(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(json.dumps(ROW, ensure_ascii=False).encode("cp1252"))
    (tmp_path / "b.jsonl").write_text(json.dumps(ROW))

    def fingerprints(encoding: str) -> list[str]:
        plan = planned({tmp_path / "a.jsonl": "a", tmp_path / "b.jsonl": "b"}, tmp_path / "out", encoding=(encoding,))
        return [task.fingerprint for task in plan.steps[0].tasks]

    first, second = fingerprints("cp1252"), fingerprints("cp1250")
    assert first[0] != second[0]
    assert first[1] == second[1]


def test_a_byte_late_in_a_compressed_file_is_found_where_an_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"Salt is white.\n" * 200_000 + b"It is sp\xe4t.\n"))
    assert find_bad_byte(str(path), 1 << 20) is None
    [text] = made(planned({path: "a"}, tmp_path / "out", encoding=("guess",)))[0]
    assert text.endswith("It is spät.")


def test_the_beginning_of_a_decoded_file_is_estimated_from(tmp_path: Path) -> None:
    for name, line in (("a.txt", PROSE), ("a.jsonl", json.dumps(ROW, ensure_ascii=False)), ("a.csv", f'1,"{PROSE}"')):
        path = tmp_path / name
        path.write_bytes((("id,text\n" if name == "a.csv" else "") + f"{line}\n" * 500).encode("cp1252"))
        [task] = planned({path: "a"}, tmp_path / "out", encoding=("cp1252",)).steps[0].tasks
        from bertdata.sources import SOURCE_FORMATS

        short = SOURCE_FORMATS[task.payload.format].beginning(task, 4000, str(tmp_path))
        assert isinstance(short, Task)
        assert 0 < short.weight <= 5000
        record = run_once(short, write_documents)
        assert 0 < record.counts["text_bytes"] < 8000
        assert not any("not UTF-8" in reason for reason in record.drops)


def test_stray_bytes_of_cp1252_in_utf_8_are_read_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes((PROSE * 5).encode() + b" It \x96 is.")
    for asked in ("guess", "cp1252"):
        [text], [record] = made(planned({path: "a"}, tmp_path / asked, encoding=(asked,)))
        assert text == PROSE * 5 + " It – is."
        assert record.counts[f"read as {WITH_CP1252}"] == 1


def test_lines_of_json_that_are_not_utf_8_are_dropped_one_by_one_where_no_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json.dumps(ROW).encode() + b'\n{"id": "2", "text": "caf\xe9"}\n')
    for settings in ({}, {"bad_files": "skip"}):
        texts, [record] = made(planned({path: "a"}, tmp_path / str(len(settings)), **settings))
        assert (texts, record.drops) == ([PROSE], {"not UTF-8": 1})
    assert made(planned({path: "a"}, tmp_path / "named", encoding=("cp1252",)))[0] == [PROSE, "café"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["klingon"], "'klingon' is not an encoding that Python knows"),
        (["hex"], "not an encoding"),
        (["a=cp1252", "a=cp1250"], "two for the source a"),
        (["cp1252", "guess"], "two for all sources"),
        (["a b=cp1252"], "expected NAME or SOURCE=NAME"),
    ],
)
def test_what_is_no_encoding_is_refused(given: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_encodings(given)


def test_a_file_in_another_encoding_than_named_is_named_with_what_fits(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("日本語の文章です。これは短い。\n".encode("shift_jis"))
    with pytest.raises(InputError, match=r"is not euc_kr \(byte 0x..\), it fits shift_jis"):
        planned({path: "a"}, tmp_path / "out", encoding=("euc_kr",))


def test_books_take_the_encoding_that_is_named_and_guess_without(tmp_path: Path) -> None:
    book = "\n\n".join(
        ["CHAPTER I", *[f"Zażółć gęślą jaźń, to jest zdanie {n}. Było późno w nocy." for n in range(40)]]
    )
    path = tmp_path / "book.txt"
    path.write_bytes(book.encode("cp1250"))
    for encoding in ("cp1250", "cp1251"):
        [text], [record] = made(planned({path: "books"}, tmp_path / encoding, kind="books", encoding=(encoding,)))
        assert ("Zażółć gęślą" in text) == (encoding == "cp1250")
        assert record.counts[f"read as {encoding}"] == 1
    assert "Zażółć gęślą" in made(planned({path: "books"}, tmp_path / "guessed", kind="books"))[0][0]


def test_clean_and_tokenize_use_the_same_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, other, bad = tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.txt"
    path.write_bytes("We met – late.\n".encode("cp1252"))
    other.write_text("We met – late.\n")
    bad.write_bytes(bytes(range(256)) * 20)
    tokenize = ["tokenize", "--vocab", "bertdata-30k-uncased"]
    for encoding in ("cp1252", "guess"):
        assert dispatch(["clean", str(path), "--kind", "book", "--encoding", encoding]) == 0
        assert dispatch([*tokenize, str(path), str(other), "--encoding", encoding]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == "We met – late."
        assert lines[1] == lines[2] == "we met – late ."
    with pytest.raises(InputError, match=r"is not UTF-8 \(byte 0x96\), it fits cp1252; --encoding cp1252") as caught:
        dispatch(["clean", str(path)])
    assert "bad-files" not in str(caught.value)
    with pytest.raises(InputError, match="2 of 3 files are not text in UTF-8"):
        dispatch([*tokenize, str(path), str(other), str(bad)])
    assert dispatch([*tokenize, str(path), str(other), str(bad), "--bad-files", "skip"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "we met – late .\n"
    assert printed.err == f"left out, not UTF-8: {path}, {bad}\n"


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_files_at_a_url_are_looked_at_and_decoded(name: str, tmp_path: Path) -> None:
    url = f"memory://{tmp_path.name}/{name}"
    data = (PROSE + "\n").encode("cp1252")
    with fsspec.open(url, "wb") as file:
        file.write(gzip.compress(data) if name.endswith(".gz") else data)
    stages = {
        encoding: ReadSource("documents", {url: "a"}, str(tmp_path), CleaningConfig(encoding=encoding))
        for encoding in ((), ("guess",))
    }
    with pytest.raises(InputError, match=r"byte 5: is not UTF-8 \(byte 0xe4\), it fits cp1252"):
        stages[()].plan(BuildState())
    assert made(stages["guess",].plan(BuildState()))[0] == [PROSE]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_utf_16_is_neither_read_as_utf_8_nor_as_the_encoding_of_the_other_files(encoding: str, tmp_path: Path) -> None:
    text = "Salt is a white mineral. It dissolves in water." * 9
    wide, narrow = tmp_path / "wide.txt", tmp_path / "narrow.txt"
    wide.write_bytes(text.encode(encoding))
    narrow.write_bytes(PROSE.encode("cp1252"))
    for asked in ([], ["cp1252"]):
        with pytest.raises(InputError, match=f"it fits {encoding}"):
            planned({wide: "a"}, tmp_path / "out", whole_files=True, encoding=asked)
    with pytest.raises(InputError) as caught:
        planned({wide: "a", narrow: "a"}, tmp_path / "out", whole_files=True)
    assert "`encoding` guess" in str(caught.value)
    assert "`encoding` cp1252" not in str(caught.value)
    with pytest.raises(InputError, match=f"`encoding` a={encoding} b=cp1252 reads them"):
        planned({wide: "a", narrow: "b"}, tmp_path / "out", whole_files=True)
    for asked in (["guess"], [f"a={encoding}", "b=cp1252"]):
        plan = planned({wide: "a", narrow: "b"}, tmp_path / str(len(asked)), whole_files=True, encoding=asked)
        assert sorted(made(plan)[0]) == sorted([text, PROSE])
