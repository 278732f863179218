from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.sources.inputs import find_documents
from bertdata.sources.streamed import HubDataSet, hub_data_set, written

ROWS = [{"text": f"Salt {number}.", "n": number} for number in range(2500)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS[:3]).encode()


def from_stdin(data: bytes, output: Path, path: str = "-") -> str:
    [path_written] = written([path], str(output), stdin=lambda: io.BytesIO(data))
    return path_written


@pytest.mark.parametrize(
    ("data", "name", "path"),
    [
        (LINES, "stdin.jsonl", "-"),
        (b"\xef\xbb\xbf" + LINES, "stdin.jsonl", "-"),
        (b"Salt is white.\n", "stdin.txt", "-"),
        (b"text\nSalt\n", "stdin.csv", "-.csv"),
        (b"\x1f\x8b...", "stdin.jsonl.gz", "-.jsonl.gz"),
        (LINES, "news.jsonl", "news=-"),
    ],
)
def test_standard_input_becomes_a_file_beside_the_build(data: bytes, name: str, path: str, tmp_path: Path) -> None:
    copied = from_stdin(data, tmp_path / "out", path)
    place = tmp_path / "out-documents" / name
    assert copied == (f"news={place}" if "news" in path else str(place))
    assert place.read_bytes() == data


def test_the_same_bytes_leave_the_file_as_it_is(tmp_path: Path) -> None:
    place = Path(from_stdin(LINES, tmp_path / "out"))
    before = place.stat().st_mtime_ns
    from_stdin(LINES, tmp_path / "out")
    assert place.stat().st_mtime_ns == before
    from_stdin(LINES * 2, tmp_path / "out")
    assert place.read_bytes() == LINES * 2


def test_standard_input_of_more_than_is_looked_at_is_whole(tmp_path: Path) -> None:
    data = LINES * 5000
    assert Path(from_stdin(data, tmp_path / "out")).read_bytes() == data


@pytest.mark.parametrize(
    ("data", "words"), [(b" \n", "standard input is empty"), (b"\x1f\x8b..", r"is compressed \(\.gz\); decompress it")]
)
def test_what_is_no_documents_is_told(data: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        from_stdin(data, tmp_path / "out")
    assert not (tmp_path / "out-documents").exists()


def test_standard_input_can_be_named_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"names standard input .* twice"):
        written(["-", "news=-.csv"], str(tmp_path / "out"))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the hub: `datasets` takes OWNER/NAME for a folder where there is one."""
    pytest.importorskip("datasets")
    (tmp_path / "owner" / "salt").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "owner" / "salt" / "train-00000.parquet", row_group_size=100)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def test_a_data_set_of_the_hub_is_streamed_into_parquet(hub: Path) -> None:
    said: list[str] = []
    [one, other] = written(
        [
            "salt=hf://owner/salt",
            "hf://owner/salt?rows=1200&split=train",
        ],
        "out",
        say=said.append,
    )
    assert one == "salt=out-documents/owner-salt.parquet"
    assert pq.read_table(one.removeprefix("salt=")).to_pylist() == ROWS
    assert pq.read_table(other).to_pylist() == ROWS[:1200]
    assert said[0] == "hf://owner/salt: 2,500 rows, in out-documents/owner-salt.parquet"


def test_a_data_set_that_is_there_is_fetched_again_only_by_force(hub: Path) -> None:
    [place] = written(["hf://owner/salt"], "out")
    pq.write_table(pa.Table.from_pylist(ROWS[:7]), hub / "owner" / "salt" / "train-00000.parquet")
    said: list[str] = []
    assert written(["hf://owner/salt"], "out", say=said.append) == [place]
    assert (pq.read_metadata(place).num_rows, "as it was fetched before" in said[0]) == (2500, True)
    written(["hf://owner/salt"], "out", force=True)
    assert pq.read_metadata(place).num_rows == 7


def test_several_splits_are_named_to_choose_from(hub: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS[:7]), hub / "owner" / "salt" / "test-00000.parquet")
    with pytest.raises(InputError, match=r"has the splits train, test; name one: hf://owner/salt\?split=train"):
        written(["hf://owner/salt"], "out")
    [place] = written(["hf://owner/salt?split=test"], "out")
    assert pq.read_metadata(place).num_rows == 7


def test_a_data_set_that_cannot_be_read_is_told_and_leaves_nothing(hub: Path) -> None:
    with pytest.raises(
        InputError, match=r"hf://owner/pepper: datasets cannot read it .*check the name and the network"
    ):
        written(["hf://owner/pepper"], "out")
    assert list((hub / "out-documents").iterdir()) == []


def test_an_address_is_a_data_set_or_a_file_of_one() -> None:
    assert hub_data_set("hf://datasets/owner/salt@v1.0?config=en") == HubDataSet("owner/salt", "v1.0", "en")
    assert hub_data_set("hf://datasets/owner/salt/data/a.parquet") is None
    with pytest.raises(ConfigError, match="has the key 'spilt', did you mean 'split'"):
        hub_data_set("hf://owner/salt?spilt=train")
    with pytest.raises(ConfigError, match="has rows=many; expected a whole number"):
        hub_data_set("hf://owner/salt?rows=many")


def test_a_bare_name_of_the_hub_is_told_its_address() -> None:
    with pytest.raises(InputError, match="or hf://owner/nothing-here for a data set of the Hugging Face hub"):
        find_documents(["owner/nothing-here"])
