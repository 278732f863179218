"""The n-grams of test data: made once, kept in a file beside the parts, and read by each worker.

The file is three Arrow streams: what each file of test data gave, their texts, each once in a file, and the n-grams by
their hash, each as the bytes where it is in these texts. Memory is the text of the test data and 28 bytes for each
n-gram, and 16 to 32 more for the table of hashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.decontamination.ngram_words import normalised
from bertdata.curation.decontamination.ngrams import ngrams_of
from bertdata.engine.byte_ranges import write_stream
from bertdata.io.arrow_data import read_stage_file, read_stream

REVISION = 5
_NGRAMS = pa.schema(
    [
        pa.field(name, kind)
        for name, kind in (("hash", "uint64"), ("begin", "int64"), ("end", "int64"), ("file", "int32"))
    ]
)
_BYTES: int = sum(field.type.bit_width // 8 for field in _NGRAMS)


@dataclass(frozen=True)
class TestFile:
    """What one file of test data gave: texts, those of them too short for an n-gram, and distinct n-grams."""

    __test__ = False  # not a test of pytest's

    name: str
    texts: int
    too_short: int
    ngrams: int


@dataclass(frozen=True)
class NgramTable:
    """The n-grams of `n` words of test data, by hash.

    texts: one after another, UTF-8. hashes, begins, ends, numbers: of each n-gram of each file, by hash and file: its
    hash, the bytes of `texts` where it is, and the number of the file. files: what each file gave.

    The n-grams of one file are distinguished by a 64-bit hash: of a million n-grams, two share one with a probability
    of 1 in 37 million. What is found in a document is compared word by word.
    """

    n: int
    files: tuple[TestFile, ...]
    texts: bytes
    hashes: NDArray[np.uint64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int32]
    fingerprint: str = ""

    @staticmethod
    def of(texts: Mapping[str, Iterable[str]], n: int) -> NgramTable:
        """Return the table of files of test data, given as their texts by name.

        >>> table = NgramTable.of({"quiz.txt": ["Salt is a mineral.", "Salt!"]}, 3)
        >>> table.files[0].texts, table.files[0].too_short, table.files[0].ngrams
        (2, 1, 2)
        """
        test_files: list[TestFile] = []
        encoded: list[bytes] = []
        columns: list[tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]] = []
        base = 0
        for number, (name, every) in enumerate(texts.items()):
            distinct: dict[str, int] = {}
            for text in every:
                distinct[text] = distinct.get(text, 0) + 1
            column = pa.array(list(distinct), pa.large_string())
            hashes, places = ngrams_of(column, n)
            long = np.zeros(len(distinct), np.bool_)
            long[places[:, 0]] = True
            times = np.fromiter(distinct.values(), np.int64, len(distinct))
            unique, first = np.unique(hashes, return_index=True)
            data = "".join(distinct).encode()
            columns.append(
                (unique, places[first, 1] + base, places[first, 2] + base, np.full(len(unique), number, np.int32))
            )
            encoded.append(data)
            base += len(data)
            test_files.append(TestFile(name, int(times.sum()), int(times[~long].sum()), len(unique)))
        hashes, begins, ends, numbers = (np.concatenate(arrays) for arrays in zip(*columns, strict=True))
        order = np.lexsort((numbers, hashes))
        return NgramTable(
            n, tuple(test_files), b"".join(encoded), hashes[order], begins[order], ends[order], numbers[order]
        )

    @property
    def memory(self) -> int:
        """The bytes that a worker holds of the table, the hashes in places that are up to four times as many.

        >>> NgramTable.of({"quiz.txt": ["Salt is a mineral."]}, 3).memory
        138
        """
        return len(self.texts) + len(self.hashes) * _BYTES + 8 * _places(len(self.hashes))

    def ngram(self, place: int) -> str:
        """Return the n-gram at a place of the table, normalised."""
        return normalised(self.texts[self.begins[place] : self.ends[place]].decode())

    @cached_property
    def lookup(self) -> NDArray[np.uint64]:
        """The hashes as an open addressing table (`search_kernel.fill`); one free place where there are none."""
        from bertdata.curation.decontamination.search_kernel import fill

        keys = self.hashes[np.append(True, self.hashes[1:] != self.hashes[:-1])[: len(self.hashes)]]
        table = np.zeros(_places(len(keys)), np.uint64)
        fill(table, keys)
        return table

    def write(self, file: BinaryIO) -> None:
        """Write the table into a file, which `read_table` reads."""
        facts = pa.table(
            {"name": [test_file.name for test_file in self.files]}
            | {key: [asdict(test_file)[key] for test_file in self.files] for key in ("texts", "too_short", "ngrams")}
        ).replace_schema_metadata({"n": str(self.n)})
        write_stream(file, facts)
        write_stream(file, pa.table([pa.array([self.texts], pa.large_binary())], ["texts"]))
        columns = (self.hashes, self.begins, self.ends, self.numbers)
        write_stream(file, pa.table([pa.array(column) for column in columns], schema=_NGRAMS))


def _places(keys: int) -> int:
    """Return how many places the open addressing table of so many hashes has."""
    return 2 << max(1, keys).bit_length()


@lru_cache(1)
def read_table(path: str, fingerprint: str) -> NgramTable:
    """Return the table in a file; raises InputError where it is damaged.

    The table of the last path and fingerprint is kept, so that a worker reads it once.
    """
    what = "the n-grams of test data"
    facts, texts, ngrams = read_stage_file(path, what, lambda raw: [read_stream(raw) for _ in range(3)])
    hashes, begins, ends, numbers = (ngrams[name].to_numpy() for name in _NGRAMS.names)
    test_files = tuple(TestFile(**row) for row in facts.to_pylist())
    n = int(facts.schema.metadata[b"n"])
    return NgramTable(n, test_files, texts["texts"][0].as_py(), hashes, begins, ends, numbers, fingerprint)
