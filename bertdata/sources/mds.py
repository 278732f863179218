"""MDS files of MosaicML Streaming as documents: samples of text, or of token ids, as Ettin's and mmBERT's data.

A sample of ids is a document, or several where special ids stand between them; its text is that of its tokens
(`token_ids`). A range is a run of samples of one file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bertdata.documents import DocumentGroups
from bertdata.engine.parts import Counters, Task
from bertdata.errors import InputError, shortened
from bertdata.io.mds_files import SUFFIXES, TEXTS, read_head, read_samples
from bertdata.io.mds_index import check_hashes
from bertdata.sources.formats import FileRange, Layout, Request, SourceFile
from bertdata.sources.source_columns import TEXT
from bertdata.sources.table_rows import Rows
from bertdata.sources.tabular import TableFormat
from bertdata.sources.token_ids import TOKEN_IDS, IdsOf, id_texts

_IDS = ("input_ids", "tokens")
_OF_IDS = "ndarray:"


class MdsFormat(TableFormat):
    """MDS of text or of ids; a range is a run of samples."""

    name = "mds"
    suffixes = SUFFIXES
    described = "MDS of text or token ids (.mds, .mds.zstd)"
    settings = ("text_column", "id_column", "language_column", "source_tokenizer")
    revision: int | str = 2

    def names_of(self, path: str) -> list[str]:
        """Return the columns of a file."""
        return [*read_head(path).columns]

    columns_of = names_of

    def layout(self, source: SourceFile, request: Request) -> Layout:
        """Return the column of the text, or that of ids with their tokenizer; raises InputError without either."""
        encodings = {name: encoding for name, (encoding, _) in read_head(source.path).columns.items()}
        column = request.text_column
        if column == TEXT and column not in encodings:
            column = next((name for name in _IDS if encodings.get(name, "").startswith(_OF_IDS)), column)
        encoding = encodings.get(column, "")
        if not encoding.startswith(_OF_IDS):
            if column in encodings and encoding not in TEXTS:
                raise InputError(
                    f"has the encoding {shortened(encoding)} for the column {column!r}; expected one of "
                    f"{', '.join(TEXTS)}: name a column of texts with --text-column",
                    path=source.path,
                )
            return super().layout(source, request)
        self._check_ids(source, request, [*encodings])
        folder = request.config.tokenizer_of(source.source)
        if not folder:
            raise InputError(
                f"holds token ids in the column {column!r}, and no text; name the tokenizer that they are of, a folder "
                f"with its tokenizer.json, with --source-tokenizer FOLDER or {source.source}=FOLDER",
                path=source.path,
            )
        ids_of = IdsOf.named(folder)
        return Layout(column, rules=ids_of, made_from=("ids", ids_of.sha256))

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield runs of samples, by the bytes that they have where they are not compressed."""
        offsets = read_head(path).offsets
        first = 0
        while first < len(offsets) - 1:
            end = max(first + 1, int(np.searchsorted(offsets, offsets[first] + target_bytes)))
            end = min(end, len(offsets) - 1)
            yield first, end, int(offsets[end] - offsets[first])
            first = end

    def plan(self, sources: Sequence[SourceFile], request: Request) -> tuple[list[Task], list[str]]:
        """Return one task for each range of the files, whose documents keep their ids beside other columns."""
        return super().plan(sources, replace(request, columns=(*request.columns, TOKEN_IDS)))

    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the samples of a range; raises InputError where anything follows the last sample of the file."""
        for place, sample in enumerate(read_samples(chosen.path, first=chosen.start, texts=True), chosen.start):
            if place >= chosen.end:
                return
            yield place, sample

    def read(self, chosen: FileRange, writer: DocumentGroups, counters: Counters) -> None:
        """Write the documents of one range; the first one of a file compares its hashes with those of its index."""
        if chosen.start == 0:
            check_hashes(chosen.path)
        rows = Rows(chosen, writer, counters)
        for place, sample in self.rows(chosen):
            if chosen.rules is None or not isinstance(sample, dict):
                rows.add(place, sample)
                continue
            texts = list(id_texts(chosen.rules).documents(sample[chosen.text_column], place, chosen.path, counters))
            for number, (text, ids) in enumerate(texts or [("", "")]):
                more = {TOKEN_IDS: ids} if ids else {}
                name = sample.get(chosen.id_column) or f"{chosen.label}:{place}"
                given = {chosen.id_column: f"{name}.{number}" if len(texts) > 1 else name}
                rows.add(place, sample | given | {chosen.text_column: text} | more)
        counters.details["broken"] = rows.broken


MDS = MdsFormat()
