"""What a manifest says of a build, taken apart, and whether its numbers add up from stage to stage.

bytes of a source's files      = bytes of the ranges they were read in
source: what came in           = documents + drops by reason (of a book cut into chapters, these came in)
documents, bytes of text       = those tokenised, or dropped there
documents, sentences, tokens   = those of all shards
tokens of a shard              x copies, or by the epochs of each source in a mixture = tokens in copies
tokens in copies               + those used twice - those dropped by reason = tokens in examples
examples, tokens of a shard    = those of all its sources
a split                        = its shards
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from bertdata.engine.parts import Counts, add_counts
from bertdata.errors import BertDataError, InputError, VerificationError, printable
from bertdata.io import files
from bertdata.objectives.blocks import BORROWED, DROPPED
from bertdata.shards.contents import check_names
from bertdata.shards.manifest import mixture
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.verify.recount import UncountableError
from bertdata.sources.names import input_count

MANIFEST = "manifest.json"
_OF_THE_BLOCK = ("documents", "documents_sharing_id", "sentences", "tokens", "unknown_tokens", "tokens_in_copies")
_PREFIXES = (BORROWED, DROPPED, "tokens_of_", "tokens_in_copies_of_")
_STORED = ("documents", "sentences", "tokens", "unknown_tokens")
"""What the token store holds, every one of it in a shard."""


@dataclass(frozen=True)
class ShardEntry:
    """A shard as the manifest names it; longest: of its length bin."""

    file: str
    bytes: int
    sha256: str
    counts: Counts
    longest: int | None


@dataclass(frozen=True)
class SplitEntry:
    """A split: its counts and its shards."""

    counts: Counts
    shards: list[ShardEntry]


@dataclass
class Build:
    """A manifest, taken apart, and the disagreements found so far."""

    path: str
    manifest: dict[str, Any]
    info: PretrainingInfo
    splits: dict[str, SplitEntry]
    tokens: Counts
    token_drops: Counts
    sources: dict[str, tuple[Counts, Counts]]
    pieces: int
    problems: list[str] = field(default_factory=list)

    @staticmethod
    def read(path: str) -> Build:
        """Read the manifest; raises InputError where there is none and VerificationError where it is not whole."""
        where = files.join(path, MANIFEST)
        if not files.exists(where):
            raise InputError(
                f"holds no finished build: there is no {MANIFEST} here; expected the --output of `bertdata build`",
                path=path,
            )
        try:
            manifest = files.read_json(where)
            check_names(manifest, where)
            return Build(
                path,
                manifest,
                PretrainingInfo.from_values(manifest["info"], where),
                {
                    str(name): SplitEntry(
                        _counts(split["counts"]),
                        [
                            ShardEntry(
                                str(one["file"]),
                                int(one["bytes"]),
                                str(one["sha256"]),
                                _counts(one["counts"]),
                                one.get("longest"),
                            )
                            for one in split["shards"]
                        ],
                    )
                    for name, split in manifest["splits"].items()
                },
                _counts(manifest["tokens"]["counts"]),
                _counts(manifest["tokens"]["drops"]),
                {
                    str(name): (_counts(source["counts"]) | _stored(source), _counts(source["drops"]))
                    for name, source in manifest["sources"].items()
                },
                int(manifest["vocabulary"]["pieces"]),
            )
        except BertDataError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise VerificationError(
                f"is not a whole manifest ({type(error).__name__}: {error}); build again", path=where
            ) from error

    def shards(self) -> Iterator[tuple[str, ShardEntry]]:
        """Yield the shards with their split."""
        return ((name, shard) for name, split in self.splits.items() for shard in split.shards)

    def sharing_id(self, split: str, shard: ShardEntry) -> int:
        """Return how many documents of a shard have the id of another; the first of its bins tells it for all."""
        shards, bins = self.splits[split].shards, len(self.info.examples.bins)
        first = shards.index(shard) // bins * bins
        return shards[first].counts.get("documents_sharing_id", 0)

    def note(self, file: str, problem: str) -> None:
        """Keep one disagreement."""
        self.problems.append(f"{printable(file)}: {printable(problem)}")

    @contextmanager
    def noting(self, file: str) -> Iterator[None]:
        """Keep what stops the look at one file as a disagreement, and go on."""
        try:
            yield
        except (BertDataError, UncountableError, pa.ArrowException, OSError) as error:
            self.note(file, str(error).removeprefix(files.join(self.path, file) + ": "))

    def expect(self, file: str, what: str, found: int, claimed: int) -> None:
        """Keep a disagreement of two numbers, where they are not the same."""
        if found != claimed:
            self.note(file, f"{what}: {found:,} counted, {claimed:,} in {MANIFEST}")


def is_of_the_block(count: str) -> bool:
    """Tell whether a count is of what a shard was made from, which its rows do not tell."""
    return count in _OF_THE_BLOCK or count.startswith(_PREFIXES)


def dropped_tokens(counts: Counts) -> int:
    """Return how many tokens are in no example."""
    return sum(number for name, number in counts.items() if name.startswith(DROPPED))


def _counts(values: Mapping[str, Any]) -> Counts:
    if not all(type(number) is int for number in values.values()):
        raise TypeError(f"counts that are no numbers: {values}")
    return dict(values)


def _stored(source: Mapping[str, Any]) -> Counts:
    """Return the bytes of a source's files, and of the ranges they were read in."""
    sizes = _counts({str(number): one["bytes"] for number, one in enumerate(source["inputs"])})
    return _counts({"bytes": source["bytes"], "bytes of its files": sum(sizes.values())})


def check_sums(build: Build) -> None:
    """Check what must add up within the manifest: sources, documents, sentences, tokens, splits, epochs."""
    for name, (counts, drops) in build.sources.items():
        build.expect(MANIFEST, f"bytes read of source {name}", counts["bytes"], counts["bytes of its files"])
        taken = input_count(counts)
        left = counts.get("documents", 0) + sum(drops.values())
        if taken != left:
            build.note(MANIFEST, f"of source {name}, {taken:,} came in, but documents and drops add up to {left:,}")
    given = add_counts(counts for counts, _ in build.sources.values())
    kept = build.tokens.get("documents", 0)
    documents = kept + sum(build.token_drops.values())
    build.expect(MANIFEST, "documents tokenized or dropped", documents, given.get("documents", 0))
    tokenized = build.tokens.get("text_bytes", 0)
    build.expect(MANIFEST, "bytes of text tokenized or dropped", tokenized, given.get("text_bytes", 0))
    for name in _STORED:
        held = sum(split.counts.get(name, 0) for split in build.splits.values())
        build.expect(MANIFEST, f"{name} of all splits", held, build.tokens.get(name, 0))
    build.expect(MANIFEST, "pieces of the vocabulary", build.info.vocab_size, build.pieces)
    for name, split in build.splits.items():
        total = add_counts(shard.counts for shard in split.shards)
        for count in sorted({*total, *split.counts}):
            found = total.get(count, 0)
            build.expect(MANIFEST, f"{count} of split {name}, over its shards", found, split.counts.get(count, 0))
    mix = build.manifest.get("mix", {})
    weights = {name: one["weight"] for name, one in mix.items() if "weight" in one}
    if "train" in build.splits and mix != mixture(build.info, build.splits["train"].counts, weights):
        build.note(MANIFEST, "mix: the tokens and epochs of the sources are not those that the counts of train give")


def epochs_in(info: PretrainingInfo, split: str) -> tuple[float, ...]:
    """Return the epochs of each source in a split, none where sources are not weighted."""
    return info.epochs if split == "train" else ()


def check_shards(build: Build) -> None:
    """Check where the tokens of each shard went: into copies by source, from there into examples or under a reason.

    The length bins of a shard are looked at together.
    """
    bins = build.info.examples.bins
    for split, entry in build.splits.items():
        longest = [shard.longest for shard in entry.shards]
        wanted = list(bins) * (len(longest) // len(bins)) if len(bins) > 1 else [None] * len(longest)
        if longest != wanted:
            build.note(
                MANIFEST, f"split {split} has not a shard for each length bin in turn: {', '.join(map(str, bins))}"
            )
            continue
        for first in range(0, len(entry.shards), len(bins)):
            group = entry.shards[first : first + len(bins)]
            counts = Counter(add_counts(shard.counts for shard in group))
            _check_copies(build, group[0].file, counts, epochs_in(build.info, split))


def _check_copies(build: Build, file: str, counts: Counter[str], epochs: tuple[float, ...]) -> None:
    info = build.info
    if not epochs:
        times = counts["tokens"] * info.examples.dupe_factor
        build.expect(file, "tokens times copies", times, counts["tokens_in_copies"])
    for name, share in zip(info.sources, epochs, strict=False):
        held, taken = counts[f"tokens_of_{name}"], counts[f"tokens_in_copies_of_{name}"]
        if not held * math.floor(share) <= taken <= held * math.ceil(share):
            build.note(file, f"tokens_in_copies_of_{name}: {taken:,} in {MANIFEST}; expected {share:g} times {held:,}")
    for what in ("tokens", "tokens_in_copies", "examples") if info.sources else ():
        together = sum(counts[f"{what}_of_{name}"] for name in info.sources)
        build.expect(file, f"{what} of all sources", together, counts[what])
    given = counts["tokens_in_copies"] + counts[BORROWED] - dropped_tokens(counts)
    if given != counts["tokens_in_examples"]:
        build.note(
            file,
            f"tokens: {counts['tokens_in_examples']:,} in the examples, but those in copies, with those borrowed and "
            f"without those dropped, are {given:,}",
        )
