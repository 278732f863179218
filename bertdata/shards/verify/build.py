"""Verify a finished build: count everything again from the bytes and hold it against the manifest.

The checksum of the manifest, the SHA-256 of every file it names (shards, tokenizer, sentence parameters, files for
`datasets`), none missing and no shard too many, every row (`recount`), sums over shards and splits, where each token
went, and the tokenizer. What cannot be counted from shards (pages, books, documents) must add up from stage to stage.
Passed over are the card, which people edit, the stages, which they may delete, and what `datasets` leaves there.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from fnmatch import fnmatch

import pyarrow as pa

from bertdata.engine.parts import Counts, add_counts
from bertdata.errors import ConfigError, InputError, VerificationError
from bertdata.io import files
from bertdata.io.console import Row, table
from bertdata.objectives.blocks import BORROWED
from bertdata.objectives.mixing import number_of_copies
from bertdata.shards.contents import changed_files, inside, is_changed
from bertdata.shards.lengths import phase_names
from bertdata.shards.manifest import dataset_files
from bertdata.shards.pretraining_info import PretrainingInfo, pretraining_info
from bertdata.shards.reader import open_shards
from bertdata.shards.schema import SPLITS, shard_schema
from bertdata.shards.verify.accounts import (
    MANIFEST,
    Build,
    ShardEntry,
    check_shards,
    check_sums,
    dropped_tokens,
    epochs_in,
    is_of_the_block,
)
from bertdata.shards.verify.duplicates import count_duplicates
from bertdata.shards.verify.recount import Vocabulary, recount
from bertdata.shards.verify.rows import is_plain, verify_rows
from bertdata.tokenizers.loading import load_tokenizer

CHANGED = "its checksum is not that of its contents: it was damaged or edited; restore it, or build again"
CACHES = "*/cache-*.arrow"
"""What `datasets` keeps beside the shards of what was computed from them, as after `filter`; no part of a build."""


def verify(
    path: str | os.PathLike[str], *, duplicates: bool = False, report: Callable[[str], None] | None = None
) -> list[Row]:
    """Recount a build, one shard at a time, and return the table of what was counted; of several phases, each.

    With `duplicates` it also counts examples that are the same or nearly. `report` is called with the name of each
    shard when it is done. Raises VerificationError with every disagreement, one a line, each beginning with the file it
    is in; InputError where there is no finished build.

        verify("corpus")     # [("train: shards", "1 of 225,976 bytes"), ("  examples", "615"), ...]
    """
    place = files.path_text(path).rstrip("/") or "/"
    manifest = files.join(place, MANIFEST)
    found = files.read_json(manifest) if files.exists(manifest) else {}
    if is_plain(found):
        if duplicates:
            raise ConfigError(
                "--duplicates is for builds; these shards were imported or encoded for a task", path=place
            )
        return verify_rows(place, found, report)
    names = phase_names(found)
    if not names:
        return _verify(place, duplicates, report)
    rows: list[Row] = []
    problems = [f"{MANIFEST}: {CHANGED}"] if is_changed(found) else []
    problems += [f"{name}: {problem}" for name, problem in changed_files(place, found)]
    for name in names:
        try:
            rows += [(f"{name} tokens a row", ""), *_verify(files.join(place, name), duplicates, report)]
        except (VerificationError, InputError) as error:
            problems.append(str(error))
    if problems:
        raise VerificationError("\n".join(problems))
    return rows


def _verify(path: str, duplicates: bool, report: Callable[[str], None] | None) -> list[Row]:
    build = Build.read(path)
    if is_changed(build.manifest):
        build.note(MANIFEST, CHANGED)
    check_sums(build)
    _check_names(build)
    check_shards(build)
    for name, expected in dataset_files(build.manifest["splits"], build.info).items():
        with build.noting(name):
            if files.read_json(files.join(build.path, name)) != expected:
                build.note(name, f"does not say what {MANIFEST} says of the same shards; build again")
    vocabulary = _check_tokenizer(build)
    told = {problem.partition(":")[0] for problem in build.problems}
    for name, problem in changed_files(path, build.manifest):
        if name not in told and os.path.dirname(name) not in told:
            build.note(name, problem)
    counted: dict[str, list[Counts]] = {split: [] for split in build.splits}
    for split, shard in build.shards():
        with build.noting(shard.file):
            counted[split].append(_check_shard(build, split, shard, vocabulary))
        if report:
            report(shard.file)
    if build.problems:
        number = len(build.problems)
        raise VerificationError(
            "\n".join([f"{number} disagreement{'s' * (number > 1)} in {build.path}:", *build.problems])
        )
    return _table(build, counted) + (_duplicate_rows(build) if duplicates else [])


def _check_names(build: Build) -> None:
    """Check that the folders hold the shards that the manifest names, and no others."""
    for name in sorted({*SPLITS, *build.splits}):
        split = build.splits.get(name)
        claimed = [shard.file for shard in split.shards] if split else []
        wanted = [f"{name}/data-{number:05d}-of-{len(claimed):05d}.arrow" for number in range(len(claimed))]
        if claimed != wanted:
            build.note(MANIFEST, f"split {name} has the shards {', '.join(claimed)}; expected {', '.join(wanted)}")
        found = [f"{name}/{one}" for one in files.names(files.join(build.path, name))]
        for other in found:
            if other.endswith(".arrow") and other not in claimed and not fnmatch(other, CACHES):
                build.note(other, f"is no shard that {MANIFEST} names; delete it, or build again")


def _check_tokenizer(build: Build) -> Vocabulary | None:
    """Check that the tokenizer beside the shards is the one they were made with; returns what may stand where."""
    with build.noting("tokenizer"):
        tokenizer = load_tokenizer(files.join(build.path, "tokenizer"))
        if (
            pretraining_info(tokenizer, build.info.examples, build.info.masking, build.info.sources, build.info.epochs)
            == build.info
        ):
            return Vocabulary.of(tokenizer)
        build.note(
            "tokenizer",
            f"is not the tokenizer of this build: {tokenizer.fingerprint[:12]} with {tokenizer.vocab_size:,} pieces "
            f"here, {build.info.tokenizer[:12]} with {build.info.vocab_size:,} in {MANIFEST}; "
            "restore it, or build again",
        )
    return None


def _check_shard(build: Build, split: str, shard: ShardEntry, vocabulary: Vocabulary | None) -> Counts:
    """Check one shard; its rows only where its bytes are those of the manifest and the tokenizer is there."""
    path = inside(build.path, shard.file)
    size = files.size(path)
    if size != shard.bytes:
        raise InputError(
            f"has {size:,} bytes, {MANIFEST} says {shard.bytes:,}: it was cut off or changed; delete it and build again"
        )
    found = files.sha256(path)
    if found != shard.sha256:
        raise InputError(
            f"its SHA-256 is {found}, {MANIFEST} says {shard.sha256}: it was changed; delete it and build again"
        )
    with (
        closing(files.open_raw(path) if files.is_remote(path) else pa.memory_map(path)) as source,
        pa.ipc.open_stream(source) as stream,
    ):
        info = PretrainingInfo.from_schema(stream.schema, path)
        if info.tokenizer != build.info.tokenizer:
            raise InputError(
                f"was made with the tokenizer {info.tokenizer[:12]}, {MANIFEST} says {build.info.tokenizer[:12]}; "
                "build again"
            )
        if info != build.info or not stream.schema.equals(shard_schema(info), check_metadata=True):
            raise InputError(f"its schema is not that of the settings in {MANIFEST}; build again")
        if vocabulary is None:
            return {}
        longest = shard.longest or info.examples.max_seq_length
        lengths = max((one + 1 for one in info.examples.bins if one < longest), default=1), longest
        copies = number_of_copies(epochs_in(info, split), info.examples.dupe_factor)
        tally, broken = recount(stream, info, vocabulary, copies=copies, lengths=lengths)
    for rule in broken:
        build.note(shard.file, rule)
    counts = tally.counts
    repeated = counts.pop("repeated_example_ids")
    if repeated and not build.sharing_id(split, shard):
        build.note(shard.file, f"{repeated:,} example ids stand more than once, but no documents share an id")
    for name in sorted({*counts, *shard.counts}):
        if not is_of_the_block(name):
            build.expect(shard.file, name, counts.get(name, 0), shard.counts.get(name, 0))
    return counts


def packed_text(counts: Mapping[str, int], row_length: int) -> str:
    """Return one line on packed rows and their padding.

    >>> packed_text({"rows": 10, "row_tokens": 1270}, 128)
    '10 rows of 128 tokens, 0.781% of them padding'
    """
    rows = counts.get("rows", 0)
    padding = 1 - counts.get("row_tokens", 0) / max(1, rows * row_length)
    return f"{rows:,} rows of {row_length:,} tokens, {padding:.3%} of them padding"


def _table(build: Build, counted: Mapping[str, list[Counts]]) -> list[Row]:
    info = build.info
    names = info.objective.label_names
    rows: list[Row] = []
    for split, entry in build.splits.items():
        counts = Counter(add_counts(counted[split]))
        examples, tokens, predictions = (counts[name] for name in ("examples", "tokens_in_examples", "predictions"))
        rows.append(
            (f"{split}: shards", f"{len(entry.shards):,} of {sum(shard.bytes for shard in entry.shards):,} bytes")
        )
        rows.append(("  examples", f"{examples:,}"))
        if info.examples.pack:
            rows.append(("  packed into", packed_text(counts, info.examples.row_length)))
        if names:
            ones = counts["labels_1"]
            rows.append(("  labels", f"{examples - ones:,} {names[0]}, {ones:,} {names[1]}"))
        rows.append(("  tokens", f"{tokens:,} and {counts['row_tokens'] - tokens:,} special"))
        dropped = dropped_tokens(entry.counts)
        made = f"{entry.counts.get('tokens', 0):,} x {info.examples.dupe_factor}"
        if epochs_in(info, split):
            made = f"{entry.counts.get('tokens_in_copies', 0):,} of the mixture"
        rows.append(("    made of", f"{made} + {entry.counts.get(BORROWED, 0):,} borrowed - {dropped:,} dropped"))
        if info.examples.masking == "static":
            masked, kept = counts["predictions_mask"], counts["predictions_kept"]
            text = f"{masked:,} [MASK], {predictions - masked - kept:,} random, {kept:,} kept"
            rows.append(("  predictions", f"{predictions:,}: {text}"))
        else:
            rows.append(("  predictions", f"{predictions:,} in epoch 0"))
    return rows


def _duplicate_rows(build: Build) -> list[Row]:
    found = count_duplicates([open_shards(build.path, split) for split in build.splits])
    rows: list[Row] = []
    for split, one in zip(build.splits, found, strict=True):
        share = 100 / max(1, one.examples)
        text = f"{one.exact:,} ({one.exact * share:.3f}%) the same as an earlier one of the build"
        rows.append((f"{split}: duplicate examples", f"{text}, {one.near:,} ({one.near * share:.3f}%) nearly"))
    return rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata verify`."""
    parser.add_argument("directory", metavar="DIR", help="a finished build, the --output of `bertdata build`")
    parser.add_argument(
        "--duplicates",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="count examples that are the same or nearly, too (default: no)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run `bertdata verify`: print what was recounted, or raise VerificationError with every disagreement."""
    from tqdm import tqdm

    with tqdm(unit=" shards", disable=None, leave=False) as bar:
        rows = verify(arguments.directory, duplicates=arguments.duplicates, report=lambda _: bar.update() and None)
    print(table(rows))
    print(f"\nverified: {arguments.directory} holds what its manifest says")
    return 0
