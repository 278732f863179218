"""Verify a finished build: count everything again from the bytes and compare it with the manifest.

Checked are the checksum of the manifest, the SHA-256 of every file it names (shards, tokenizer, sentence parameters,
files for `datasets`), that the folders hold these shards and no others, every row (`recount`), sums over shards and
splits, and where each token went. What cannot be counted from shards (pages, books, documents) must add up from stage
to stage. Inputs that have changed since are named, and are no error. The card, which people edit, the stages, which may
be deleted, and what `datasets` keeps beside the shards are not checked.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError, VerificationError
from bertdata.io import files, listing
from bertdata.io.console import Row, counted
from bertdata.objectives.blocks import BORROWED
from bertdata.objectives.mixing import number_of_copies
from bertdata.options.option import require
from bertdata.shards.contents import changed_files, is_changed, is_of_datasets
from bertdata.shards.phases import phase_names
from bertdata.shards.reader import open_shards
from bertdata.shards.schema import SPLITS
from bertdata.tokenizers.base import Tokenizer
from bertdata.verify import accounts
from bertdata.verify.accounts import Build
from bertdata.verify.claims import CHANGED, MANIFEST, ShardEntry
from bertdata.verify.columns import check_accounts
from bertdata.verify.duplicates import Duplicates, count_duplicates
from bertdata.verify.inputs import input_rows
from bertdata.verify.pieces import finish_again, finished_as, write_pieces
from bertdata.verify.recount import recount
from bertdata.verify.unbuilt import is_unbuilt, verify_unbuilt


def verify(
    path: str | os.PathLike[str],
    *,
    duplicates: bool = False,
    piece_bytes: float | None = None,
    report: Callable[[str], None] | None = None,
) -> list[Row]:
    """Recount a build, one shard at a time, and return the table of what was counted; of several phases, each.

    With `duplicates` it also counts examples that are the same or nearly so. `piece_bytes` has the digests of pieces of
    about so many bytes written for all shards, by which these can be streamed in pieces (`bertdata.shards.pieces`), and
    their SHA-256 into the manifest; no byte of a shard changes. `report` is called with the name of each
    shard when it is done. Raises VerificationError with every disagreement, one a line, each beginning with its file;
    InputError where there is no finished build.

        verify("corpus")     # [("train: shards", "1 of 225,976 bytes"), ("  examples", "615"), ...]
    """
    return verify_and_count(path, duplicates, report, piece_bytes)[0]


DuplicatesOfPhases = dict[str, dict[str, Duplicates]]
"""The duplicates of each split, by phase; "" is that of a build without phases."""


def verify_and_count(
    path: str | os.PathLike[str],
    duplicates: bool,
    report: Callable[[str], None] | None,
    piece_bytes: float | None = None,
) -> tuple[list[Row], DuplicatesOfPhases]:
    """Return what `verify` returns, and the duplicates where they are counted."""
    require(
        piece_bytes is None or 1 <= piece_bytes < 1 << 40,
        f"--piece-bytes is {piece_bytes}; expected a number of bytes, as 16e6",
    )
    of_pieces = None if piece_bytes is None else int(piece_bytes)
    place = files.path_text(path).rstrip("/") or "/"
    manifest = files.join(place, MANIFEST)
    if not files.exists(manifest):
        raise InputError(
            f"holds no finished build: there is no {MANIFEST} here; expected the --output of `bertdata build`",
            path=place,
        )
    contents = files.read_json(manifest)
    if is_unbuilt(contents):
        if duplicates:
            raise ConfigError(
                "--duplicates is for builds; these shards were imported or encoded for a task", path=place
            )
        return verify_unbuilt(place, contents, report, of_pieces) + _kept_by_datasets(place, contents), {}
    names = phase_names(contents)
    made_from = None if of_pieces is None else finished_as(place)
    if not names:
        rows, of_splits = _verify(place, contents, duplicates, report, of_pieces)
        finish_again(place, made_from)
        return rows + input_rows(place), {"": of_splits}
    rows, of_phases = [], {}
    problems = [f"{MANIFEST}: {CHANGED}"] if is_changed(contents) else []
    problems += [f"{name}: {problem}; restore it, or build again" for name, problem in changed_files(place, contents)]
    for name in names:
        try:
            phase = files.join(place, name)
            manifest_of_phase = files.read_json(files.join(phase, MANIFEST))
            of_phase, of_phases[name] = _verify(phase, manifest_of_phase, duplicates, report, of_pieces)
            rows += [(f"phase {name}", ""), *of_phase]
        except (VerificationError, InputError) as error:
            problems.append(str(error))
    if problems:
        raise VerificationError("\n".join(problems))
    finish_again(place, made_from)
    return rows + input_rows(place), of_phases


def _verify(
    path: str,
    manifest: dict[str, Any],
    duplicates: bool,
    report: Callable[[str], None] | None,
    piece_bytes: int | None,
) -> tuple[list[Row], dict[str, Duplicates]]:
    build = Build.read(path, manifest)
    build.piece_bytes = piece_bytes
    accounts.check_sums(build)
    _check_names(build)
    accounts.check_shards(build)
    check_accounts(build, list(build.info.sources))
    tokenizer = build.check_files()
    id_counts = np.zeros(build.info.vocab_size, np.int64) if build.info.token_counts else None
    build.check_each(partial(_check_shard, build, tokenizer, id_counts), report)
    if id_counts is not None:
        accounts.check_token_counts(build, id_counts)
        build.raise_problems()
    if piece_bytes is not None:
        write_pieces(build, manifest)
    duplicates_of = _duplicates(build) if duplicates else {}
    return _table(build) + _duplicate_rows(duplicates_of) + _kept_by_datasets(path, manifest), duplicates_of


def _check_names(build: Build) -> None:
    """Check that the folders hold the shards that the manifest names, and no others."""
    for name in sorted({*SPLITS, *build.splits}):
        split = build.splits.get(name)
        claimed = [shard.file for shard in split.shards] if split else []
        wanted = [f"{name}/data-{number:05d}-of-{len(claimed):05d}.arrow" for number in range(len(claimed))]
        if claimed != wanted:
            build.note(MANIFEST, f"split {name} has the shards {', '.join(claimed)}; expected {', '.join(wanted)}")
        there = [f"{name}/{file}" for file in listing.names(files.join(build.path, name))]
        for other in there:
            if other.endswith(".arrow") and other not in claimed and not is_of_datasets(files.name(other)):
                build.note(other, f"is not a shard that {MANIFEST} names; delete it, or build again")


def _check_shard(
    build: Build, tokenizer: Tokenizer | None, id_counts: NDArray[np.int64] | None, split: str, shard: ShardEntry
) -> None:
    """Check one shard; its rows only where its bytes are those of the manifest and the tokenizer is there.

    How often each id is in train is added to `id_counts`.
    """
    info = build.info
    with build.open_shard(shard) as stream:
        if tokenizer is None:
            return
        longest = shard.longest or info.examples.max_seq_length
        lengths = max((shorter + 1 for shorter in info.examples.bins if shorter < longest), default=1), longest
        copies = number_of_copies(accounts.epochs_in(info, split), info.examples.dupe_factor)
        context: dict[str, Any] = {"split": split, "build": build.path}
        context |= {"id_counts": id_counts} if split == "train" else {}
        counters, broken = recount(stream, info, tokenizer, copies=copies, lengths=lengths, **context)
    for rule in broken:
        build.note(shard.file, rule)
    counts = counters.counts
    repeated = counts.pop("repeated_example_ids")
    if repeated and not build.sharing_id(split, shard):
        build.note(
            shard.file,
            f"{counted(repeated, 'example id', 'are')} there more than once, but no documents share an id",
        )
    for name in sorted({*counts, *shard.counts}):
        if not accounts.is_of_the_block(name):
            build.expect(shard.file, name, counts.get(name, 0), shard.counts.get(name, 0))


def _table(build: Build) -> list[Row]:
    """Return the table of a build whose counts are those of its manifest."""
    info = build.info
    names = info.objective.label_names
    rows: list[Row] = []
    for split, entry in build.splits.items():
        counts = Counter(entry.counts)
        examples, tokens, predictions = (counts[name] for name in ("examples", "tokens_in_examples", "predictions"))
        rows += [build.size_row(split), ("  examples", f"{examples:,}")]
        if info.examples.pack:
            length = info.examples.row_length
            padding = 1 - counts["row_tokens"] / max(1, counts["rows"] * length)
            text = f"{counted(counts['rows'], 'row')} of {counted(length, 'token')}, {padding:.3%} of them padding"
            rows.append(("  packed into", text))
        if names:
            ones = counts["labels_1"]
            rows.append(("  labels", f"{examples - ones:,} {names[0]}, {ones:,} {names[1]}"))
        rows.append(("  tokens", f"{tokens:,} and {counts['row_tokens'] - tokens:,} special"))
        dropped = accounts.dropped_tokens(entry.counts)
        made = f"{counts['tokens']:,} x {info.examples.dupe_factor}"
        if accounts.epochs_in(info, split):
            made = f"{counts['tokens_in_copies']:,} of the mixture"
        rows.append(("    made of", f"{made} + {counts[BORROWED]:,} borrowed - {dropped:,} dropped"))
        if info.examples.masking == "static":
            masked, unchanged = counts["predictions_mask"], counts["predictions_kept"]
            other = "similar or random" if info.masking.similar_words else "random"
            text = f"{masked:,} [MASK], {predictions - masked - unchanged:,} {other}, {unchanged:,} kept"
            rows.append(("  predictions", f"{predictions:,}: {text}"))
        else:
            rows.append(("  predictions", f"{predictions:,} in epoch 0"))
    return rows


def _kept_by_datasets(path: str, manifest: dict[str, Any]) -> list[Row]:
    """Return a row for the files that `datasets` keeps beside the shards, none where there are none."""
    folders = [files.join(path, split) for split in manifest["splits"]]
    paths = [files.join(folder, name) for folder in folders for name in listing.names(folder) if is_of_datasets(name)]
    size = sum(files.size(file) for file in paths)
    return (
        [("kept by datasets", f"{counted(len(paths), 'file')} of {size:,} bytes, which may be deleted")]
        if paths
        else []
    )


def figures_of(place: str, duplicates: DuplicatesOfPhases) -> dict[str, Any]:
    """Return the counts of each split as numbers, and its duplicates; of several phases, of each.

    To be called once they are verified.
    """

    def of(folder: str, phase: str) -> dict[str, Any]:
        splits = files.read_json(files.join(folder, MANIFEST))["splits"]
        figures = {"splits": {split: entry.get("counts", {}) for split, entry in splits.items()}}
        of_phase = {split: vars(account) for split, account in duplicates.get(phase, {}).items()}
        return figures | ({"duplicates": of_phase} if of_phase else {})

    names = phase_names(files.read_json(files.join(place, MANIFEST)))
    return {"phases": {name: of(files.join(place, name), name) for name in names}} if names else of(place, "")


def _duplicates(build: Build) -> dict[str, Duplicates]:
    of_splits = count_duplicates([open_shards(build.path, split) for split in build.splits])
    return dict(zip(build.splits, of_splits, strict=True))


def _duplicate_rows(duplicates: dict[str, Duplicates]) -> list[Row]:
    rows: list[Row] = []
    for split, of_split in duplicates.items():
        share = 100 / max(1, of_split.examples)
        text = f"{of_split.exact:,} ({of_split.exact * share:.3f}%) the same as an earlier one of the build"
        rows.append(
            (f"{split}: duplicate examples", f"{text}, {of_split.near:,} ({of_split.near * share:.3f}%) nearly")
        )
    return rows
