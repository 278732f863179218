"""What a manifest says of its shards, and the checks that builds, imports and fine-tuning data have in common."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.corpus.manifest import dataset_files
from bertdata.engine.parts import Counts
from bertdata.errors import BertDataError, InputError, VerificationError, printable
from bertdata.io import files
from bertdata.io.console import Row, counted
from bertdata.shards.cache import fetched
from bertdata.shards.contents import changed_files, check_names, inside, is_changed, reading_values
from bertdata.shards.manifest_shape import check_values
from bertdata.shards.pieces import FOLDER, Pieces, changed_piece, cut, path_of, read_pieces
from bertdata.shards.reader import open_stream
from bertdata.shards.schema import ShardInfo, shard_schema, vocabulary_fields
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.pairs import RowTemplate

MANIFEST = "manifest.json"
CHANGED = "its checksum is not that of its contents: it was damaged or edited; restore it, or build again"


class UncountableError(Exception):
    """A record batch is so damaged that its rows cannot be counted."""


class BrokenRules:
    """The rules that rows of a shard break, each with the number of these rows and the first; `begin`: rows before.

    rows: the numbers of the rows that what is checked belongs to, None where each is a row itself.
    """

    def __init__(self) -> None:
        self.begin = 0
        self.rows: NDArray[np.int64] | None = None
        self._rules: dict[str, tuple[int, int]] = {}

    def add(self, rule: str, rows: NDArray[np.int64]) -> None:
        """Note that rows, ascending and counted from `begin`, break a rule."""
        rows = rows if self.rows is None else np.unique(self.rows[rows])
        if len(rows):
            number, first = self._rules.get(rule, (0, self.begin + int(rows[0])))
            self._rules[rule] = number + len(rows), first

    def add_flags(self, rule: str, wrong: NDArray[np.bool_], offsets: NDArray[np.int64] | None = None) -> None:
        """Note the rows that break a rule: `wrong` says which, or, with the offsets of rows, which of their tokens."""
        at = np.flatnonzero(wrong)
        self.add(rule, at if offsets is None else np.unique(np.searchsorted(offsets, at, side="right") - 1))

    def add_template(self, ids: NDArray[Any], offsets: NDArray[np.int64], template: RowTemplate) -> None:
        """Note the rows that do not begin and end with the special ids of a template; none may be shorter."""
        begins, suffix = offsets[:-1], offsets[1:] - len(template.suffix)
        for rule, starts, expected in (("begin", begins, template.prefix), ("end", suffix, template.suffix)):
            wrong = np.zeros(len(starts), np.bool_)
            for place, token_id in enumerate(expected):
                wrong |= ids[starts + place] != token_id
            self.add_flags(f"a row does not {rule} with the special ids {', '.join(map(str, expected))}", wrong)

    def lines(self) -> list[str]:
        """Return a line for each rule."""
        return [
            f"{rule} in {number:,} of {self.begin:,} rows, first in row {first:,}"
            for rule, (number, first) in self._rules.items()
        ]


def flat_columns(batch: pa.RecordBatch) -> dict[str, NDArray[Any]]:
    """Return the values of all columns by name, lists one after another."""
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return {
        name: (column.flatten() if pa.types.is_list(column.type) else column).to_numpy(zero_copy_only=False)
        for name, column in columns
    }


@dataclass(frozen=True)
class ShardEntry:
    """A shard as the manifest names it; longest: the longest row of its length bin."""

    file: str
    bytes: int
    sha256: str
    counts: Counts
    longest: int | None = None


@dataclass(frozen=True)
class SplitEntry:
    """A split: its counts and its shards."""

    counts: Counts
    shards: list[ShardEntry]


@dataclass(kw_only=True)
class Claims:
    """What a manifest says of its shards, and the disagreements found so far: a line each, which begins with a file.

    piece_bytes: the bytes of the pieces to cut shards into, None for none; cut: the pieces of each shard that was;
    pieces: those that the build has, which are compared.
    """

    path: str
    manifest: dict[str, Any]
    info: ShardInfo
    splits: dict[str, SplitEntry]
    problems: list[str] = field(default_factory=list)
    piece_bytes: int | None = None
    cut: dict[str, list[list[Any]]] = field(default_factory=dict)
    pieces: Pieces = field(default_factory=dict)

    @classmethod
    def read(cls, path: str, manifest: dict[str, Any]) -> Self:
        """Take a manifest apart; raises VerificationError where it is not whole."""
        place = files.join(path, MANIFEST)
        check_names(manifest, place)
        with reading_values(path, VerificationError):
            check_values(manifest)
            splits = {str(name): _split(split) for name, split in manifest["splits"].items()}
            info = ShardInfo.from_values(manifest.get("info"), place)
            problems = [f"{MANIFEST}: {CHANGED}"] if is_changed(manifest) else []
            return cls(path=path, manifest=manifest, info=info, splits=splits, problems=problems)

    def check_each(self, check: Callable[[str, ShardEntry], None], report: Callable[[str], None] | None) -> None:
        """Check each shard, given with its split, and report its name when it is done; raises VerificationError.

        The error has every disagreement, if there are any.
        """
        for name, split in self.splits.items():
            for shard in split.shards:
                with self.noting(shard.file):
                    check(name, shard)
                if report:
                    report(shard.file)
        self.raise_problems()

    def raise_problems(self) -> None:
        """Raise VerificationError with every disagreement, if there are any."""
        if self.problems:
            head = f"{counted(len(self.problems), 'disagreement')} in {self.path}:"
            raise VerificationError("\n".join([head, *self.problems]))

    def size_row(self, split: str) -> Row:
        """Return the row of a table with the number and the bytes of the shards of a split."""
        shards = self.splits[split].shards
        return f"{split}: shards", f"{len(shards):,} of {sum(shard.bytes for shard in shards):,} bytes"

    def note(self, file: str, problem: str) -> None:
        """Keep one disagreement."""
        self.problems.append(f"{printable(file)}: {printable(problem)}")

    @contextmanager
    def noting(self, file: str) -> Iterator[None]:
        """Keep an error that ends the check of one file as a disagreement, and go on."""
        try:
            yield
        except MemoryError:
            raise
        except (BertDataError, UncountableError, pa.ArrowException, OSError) as error:
            self.note(file, str(error).removeprefix(files.join(self.path, file) + ": "))

    def expect(self, file: str, what: str, counted: int, claimed: int) -> None:
        """Keep a disagreement of two numbers, if they are not the same."""
        if counted != claimed:
            self.note(file, f"{what}: {counted:,} counted, {claimed:,} in {MANIFEST}")

    def check_files(self) -> Tokenizer | None:
        """Check the files beside the shards; returns the tokenizer, if it is the one they were made with."""
        for name, expected in dataset_files(self.manifest["splits"], self.info).items():
            with self.noting(name):
                if files.read_json(files.join(self.path, name)) != expected:
                    self.note(name, f"does not say what {MANIFEST} says of the same shards; build again")
        if self.piece_bytes is None:
            for split in self.splits:
                with self.noting(path_of(split)):
                    self.pieces |= read_pieces(self.path, split, self.manifest)
        tokenizer = self._tokenizer()
        named = {problem.partition(":")[0] for problem in self.problems}
        for name, problem in changed_files(self.path, self.manifest):
            if name.startswith(f"{FOLDER}/") and self.piece_bytes is not None:
                continue  # they are written again
            if name not in named and os.path.dirname(name) not in named:
                self.note(name, f"{problem}; restore it, or build again")
        return tokenizer

    def _tokenizer(self) -> Tokenizer | None:
        with self.noting("tokenizer"):
            tokenizer = load_tokenizer(files.join(self.path, "tokenizer"))
            if all(getattr(self.info, name) == value for name, value in vocabulary_fields(tokenizer).items()):
                return tokenizer
            self.note(
                "tokenizer",
                f"is not the tokenizer of these shards: {tokenizer.fingerprint[:12]} with {tokenizer.vocab_size:,} "
                f"tokens here, {self.info.tokenizer[:12]} with {self.info.vocab_size:,} in {MANIFEST}; "
                "restore it, or build again",
            )
        return None

    @contextmanager
    def open_shard(self, shard: ShardEntry) -> Iterator[pa.RecordBatchStreamReader]:
        """Open a shard; raises InputError where its bytes or its schema are not what the manifest says.

        One at a URL is copied to a temporary file, so that it is asked for once; no other is held meanwhile.
        """
        with contextlib.ExitStack() as stack:
            path = inside(self.path, shard.file)
            if files.is_remote(path):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bertdata-verify-"))
                path = fetched(path, os.path.join(folder, os.path.basename(path)))
            yield stack.enter_context(self._open(path, shard, inside(self.path, shard.file)))

    @contextmanager
    def _open(self, path: str, shard: ShardEntry, shown: str) -> Iterator[pa.RecordBatchStreamReader]:
        if (size := files.size(path)) != shard.bytes:
            raise InputError(
                f"has {size:,} bytes, {MANIFEST} says {shard.bytes:,}: it was cut off or changed; delete it and build "
                "again"
            )
        if (digest := files.sha256(path)) != shard.sha256:
            raise InputError(
                f"its SHA-256 is {digest}, {MANIFEST} says {shard.sha256}: it was changed; delete it and build again"
            )
        with open_stream(path, shown) as stream:
            info = type(self.info).from_schema(stream.schema, shown)
            if info.tokenizer != self.info.tokenizer:
                raise InputError(
                    f"was made with the tokenizer {info.tokenizer[:12]}, {MANIFEST} says {self.info.tokenizer[:12]}; "
                    "build again"
                )
            if info.of_rows() != self.info.of_rows() or not stream.schema.equals(
                shard_schema(info), check_metadata=True
            ):
                raise InputError(f"its schema is not that of the settings in {MANIFEST}; build again")
            if self.piece_bytes is not None:
                self.cut[shard.file] = cut(path, self.piece_bytes)
            elif problem := changed_piece(path, self.pieces.get(shard.file, ()), pa.schema(info.columns())):
                self.note(shard.file, f"{problem}: write it again by `bertdata verify --piece-bytes`")
            yield stream


def whole_counts(values: Mapping[str, Any]) -> Counts:
    """Return counts; raises TypeError where one is not a whole number."""
    if not all(type(number) is int for number in values.values()):
        raise TypeError(f"counts that are not whole numbers: {values}")
    return dict(values)


def _split(values: Mapping[str, Any]) -> SplitEntry:
    shards = [
        ShardEntry(**shard | whole_counts({"bytes": shard["bytes"]}) | {"counts": whole_counts(shard["counts"])})
        for shard in values["shards"]
    ]
    return SplitEntry(whole_counts(values["counts"]), shards)
