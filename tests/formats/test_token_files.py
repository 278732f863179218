"""Files for Megatron-Core, datatrove and webdataset: read by themselves where installed, else by their layout."""

from __future__ import annotations

import json
import tarfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.formats import export
from bertdata.formats.importing import import_shards
from bertdata.formats.webdataset import read_webdataset
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from tests.formats.test_tokenised import rows_of
from tests.small_build import tokenizer as small_tokenizer
from tests.small_build import write_build
from tests.tokenizers.of_models import tokenizer_of

CONFIGS = {
    "one segment": ExamplesConfig("full-sentences", "dynamic", 32),
    "packed": ExamplesConfig("doc-sentences", "dynamic", 24, pack=True),
    "order": ExamplesConfig("sop", "dynamic", 32),
}


def built(place: Path, name: str) -> Path:
    return write_build(place / "build", CONFIGS[name])


def segments(row: dict[str, Any]) -> list[list[int]]:
    """Return the texts of a row in the order of their document."""
    ids, label = row["input_ids"], row.get("sentence_order_label")
    if label is None:
        return [ids[1:-1]]
    border = ids.index(ids[-1])
    pair = [ids[1:border], ids[border + 1 : -1]]
    return pair[::-1] if label else pair


def parsed(prefix: Path) -> list[list[list[int]]]:
    """Return the documents of a .bin and .idx, by the layout of Megatron-Core's indexed_dataset.py."""
    data = prefix.with_suffix(".idx").read_bytes()
    assert data[:9] == b"MMIDIDX\0\0"
    version, code, sequences, borders = (
        int.from_bytes(data[9:17], "little"),
        data[17],
        int.from_bytes(data[18:26], "little"),
        int.from_bytes(data[26:34], "little"),
    )
    assert (version, code) == (1, 8)
    lengths = np.frombuffer(data, "<i4", sequences, 34)
    places = np.frombuffer(data, "<i8", sequences, 34 + 4 * sequences)
    ends = np.frombuffer(data, "<i8", borders, 34 + 12 * sequences)
    assert len(data) == 34 + 12 * sequences + 8 * borders
    ids: NDArray[Any] = np.frombuffer(prefix.with_suffix(".bin").read_bytes(), "<u2")
    texts = [ids[at // 2 : at // 2 + length].tolist() for at, length in zip(places, lengths, strict=True)]
    return [texts[start:end] for start, end in pairwise(ends)]


@pytest.mark.parametrize("name", CONFIGS)
def test_megatron_reads_examples_as_documents_and_segments_as_sequences(tmp_path: Path, name: str) -> None:
    build = built(tmp_path, name)
    described = export(str(build), "megatron", str(tmp_path / "out"))
    for split, entries in described["splits"].items():
        prefixes = [tmp_path / "out" / entry["file"].removesuffix(".bin") for entry in entries]
        assert all(entry["beside"] == [f"{prefix.name}.idx"] for entry, prefix in zip(entries, prefixes, strict=True))
        expected = [segments(row) for row in rows_of(build, split)]
        assert [document for prefix in prefixes for document in parsed(prefix)] == expected
        assert sum(entry["rows"] for entry in entries) == len(expected)


@pytest.mark.parametrize("name", CONFIGS)
def test_megatron_core_itself_reads_the_same(tmp_path: Path, name: str) -> None:
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset", reason="megatron-core is not installed")
    build = built(tmp_path, name)
    described = export(str(build), "megatron", str(tmp_path / "out"), ["train"])
    sequences = []
    for entry in described["splits"]["train"]:
        dataset = indexed.IndexedDataset(str(tmp_path / "out" / entry["file"].removesuffix(".bin")))
        borders = dataset.document_indices.tolist()
        sequences += [[dataset[i].tolist() for i in range(*pair)] for pair in pairwise(borders)]
    assert sequences == [segments(row) for row in rows_of(build)]


@pytest.mark.parametrize("name", ["one segment", "packed"])
def test_a_ds_file_has_the_ids_of_examples_and_where_they_end(tmp_path: Path, name: str) -> None:
    build = built(tmp_path, name)
    described = export(str(build), "ds", str(tmp_path / "out"), ["train"])
    rows = []
    for entry in described["splits"]["train"]:
        path = tmp_path / "out" / entry["file"]
        assert entry["beside"] == [f"{path.name}.index", f"{path.name}.metadata"]
        ids: NDArray[Any] = np.fromfile(path, "<u2")
        ends = np.fromfile(f"{path}.index", "<u8").astype(int)
        assert Path(f"{path}.metadata").read_text().split("\n")[:2] == ["../tokenizer|2", str(len(ids))]
        rows += [part.tolist() for part in np.split(ids, ends)[:-1]]
    assert rows == [row["input_ids"] for row in rows_of(build)]


def test_datatrove_itself_reads_the_same(tmp_path: Path) -> None:
    dataset = pytest.importorskip("datatrove.utils.dataset", reason="datatrove is not installed")
    build = built(tmp_path, "one segment")
    export(str(build), "ds", str(tmp_path / "out"), ["train"])
    path = sorted((tmp_path / "out" / "train").glob("*.ds"))[0]
    read = dataset.DatatroveFileDataset(str(path), 15, return_positions=True)
    ids, ends = np.fromfile(path, "<u2"), np.fromfile(f"{path}.index", "<u8").astype(int)
    assert len(read) == len(ids) // 16
    positions = np.concatenate([np.arange(length) for length in np.diff([0, *ends])])
    for number in range(len(read)):
        window = slice(number * 16, number * 16 + 16)
        assert read[number]["input_ids"].tolist() == ids[window].tolist()
        assert (
            read[number]["positions"].tolist()[1:]
            == [place if place < at else at for at, place in enumerate(positions[window].tolist())][1:]
            or number == 0
        )


def test_a_tar_of_webdataset_has_a_row_in_each_file(tmp_path: Path) -> None:
    build = built(tmp_path, "order")
    described = export(str(build), "webdataset", str(tmp_path / "out"))
    for split, entries in described["splits"].items():
        rows = []
        for entry in entries:
            with tarfile.open(tmp_path / "out" / entry["file"]) as archive:
                rows += [json.load(archive.extractfile(member)) for member in archive]  # type: ignore[arg-type]
        assert rows == open_shards(build, split).table.to_pylist()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_webdataset_itself_reads_the_same(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset", reason="webdataset is not installed")
    build = built(tmp_path, "order")
    described = export(str(build), "webdataset", str(tmp_path / "out"), ["train"])
    paths = [str(tmp_path / "out" / entry["file"]) for entry in described["splits"]["train"]]
    samples = [
        sample["json"] for sample in webdataset.WebDataset(paths, shardshuffle=False, empty_check=False).decode()
    ]
    assert samples == open_shards(build, "train").table.to_pylist()


@pytest.mark.parametrize("to", ["megatron", "ds"])
@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ExamplesConfig("nsp", "dynamic", 32), "objective. nsp are"),
        (ExamplesConfig("full-sentences", "static", 32), "masks of these shards are static"),
    ],
)
def test_rows_that_a_trainer_would_misread_are_refused(
    tmp_path: Path, to: str, config: ExamplesConfig, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        export(str(write_build(tmp_path / "build", config)), to, str(tmp_path / "out"))


def test_pairs_without_token_types_are_not_told_apart(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", CONFIGS["order"], pieces=tokenizer_of("RoBERTa"))
    with pytest.raises(ConfigError, match="have no token types, which tell the two texts of a pair apart"):
        export(str(build), "megatron", str(tmp_path / "out"))


def test_a_tar_without_a_json_file_says_what_it_has(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("0.npy"))
    with pytest.raises(InputError, match=r"a\.tar: has '0\.npy', and no \.json"):
        list(read_webdataset(str(tmp_path / "a.tar"), small_tokenizer()))


def test_a_tar_that_is_cut_off_or_something_else_is_named(tmp_path: Path) -> None:
    build = built(tmp_path, "one segment")
    export(str(build), "webdataset", str(tmp_path / "out"), ["validation"])
    [path] = (tmp_path / "out" / "validation").glob("*.tar")
    whole = path.read_bytes()
    for data in (whole[:700], b"Salt is white. " * 50):
        path.write_bytes(data)
        with pytest.raises(InputError, match=f"{path.name}: is not a whole tar"):
            import_shards({"train": [str(path)]}, str(build / "tokenizer"), str(tmp_path / "back"))
