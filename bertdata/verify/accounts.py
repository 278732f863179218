"""Whether the numbers of a build's manifest add up from stage to stage.

bytes of a source's files      = bytes of the ranges they were read in
source: what came in           = documents + drops by reason (of a book cut into chapters, these came in)
repeated text                  what came in = what is left + what was left out, or dropped
documents, bytes of text       = those tokenised, or dropped there
documents, sentences, tokens   = those of all shards, and those that a selection left out, by source
tokens of a shard              x copies, or by the epochs of each source in a mixture = tokens in copies
tokens in copies               + those used twice - those dropped by reason = tokens in examples
examples, tokens of a shard    = those of all its sources
a split                        = its shards
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bertdata.corpus.left_out import BY, PREFIXES, SELECTED, account_of
from bertdata.corpus.manifest import mixture
from bertdata.corpus.selection import LEFT_OUT
from bertdata.engine.parts import Counts, add_counts
from bertdata.errors import VerificationError
from bertdata.io import files
from bertdata.objectives.blocks import BORROWED, DROPPED
from bertdata.shards.accounts import DOCUMENTS_IN, TOKENS_IN
from bertdata.shards.contents import reading_values
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.token_counts import FOLDER, load_counts
from bertdata.sources.names import input_count
from bertdata.verify.claims import MANIFEST, Claims, ShardEntry, whole_counts

_OF_THE_BLOCK = ("documents", "documents_sharing_id", "sentences", "tokens", "unknown_tokens", "tokens_in_copies")
_PREFIXES = (BORROWED, DROPPED, "tokens_of_", "tokens_in_copies_of_", DOCUMENTS_IN, TOKENS_IN, *PREFIXES)
_STORED = ("documents", "sentences", "tokens", "unknown_tokens")
"""Counts of the token store; all it holds is in shards."""


@dataclass(kw_only=True)
class Build(Claims):
    """The manifest of a build."""

    info: PretrainingInfo

    @classmethod
    def read(cls, path: str, manifest: dict[str, Any]) -> Self:
        """Take a manifest apart; raises VerificationError where it is not whole, InputError if it is not of a build."""
        with reading_values(path, VerificationError):
            PretrainingInfo.from_values(manifest["info"], files.join(path, MANIFEST))
        return super().read(path, manifest)

    def sharing_id(self, split: str, shard: ShardEntry) -> int:
        """Return how many documents of a shard have the id of another; the first of its bins has the count for all."""
        shards, bins = self.splits[split].shards, len(self.info.examples.bins)
        first = shards.index(shard) // bins * bins
        return shards[first].counts.get("documents_sharing_id", 0)


def is_of_the_block(count: str) -> bool:
    """Return whether a count is of what a shard was made from, which cannot be counted from its rows."""
    return count in _OF_THE_BLOCK or count.startswith(_PREFIXES) or count.endswith(LEFT_OUT)


def dropped_tokens(counts: Counts) -> int:
    """Return how many tokens are in no example."""
    return sum(number for name, number in counts.items() if name.startswith(DROPPED))


def check_sums(build: Build) -> None:
    """Check what must add up within the manifest: sources, documents, sentences, tokens, splits, epochs.

    Raises VerificationError where it is not whole.
    """
    given: Counter[str] = Counter()
    with reading_values(build.path, VerificationError):
        for name, source in build.manifest["sources"].items():
            counts, drops = whole_counts(source["counts"]), whole_counts(source["drops"])
            sizes = whole_counts({str(number): entry["bytes"] for number, entry in enumerate(source["inputs"])})
            taken = whole_counts({"bytes": source["bytes"]})["bytes"]
            build.expect(MANIFEST, f"bytes read of source {name}", taken, sum(sizes.values()))
            came, accounted = input_count(counts), counts.get("documents", 0) + sum(drops.values())
            if came != accounted:
                build.note(
                    MANIFEST, f"of source {name}, {came:,} came in, but documents and drops add up to {accounted:,}"
                )
            given.update(counts)
        tokens, dropped = (whole_counts(build.manifest["tokens"][name]) for name in ("counts", "drops"))
        size = int(build.manifest["vocabulary"]["pieces"])
    documents = tokens.get("documents", 0) + sum(dropped.values())
    build.expect(MANIFEST, "documents tokenized or dropped", documents, given["documents"])
    _check_repeated(build, given["documents"], given["text_bytes"], given)
    text_bytes = tokens.get("text_bytes", 0)
    build.expect(MANIFEST, "bytes of text tokenized or dropped", text_bytes, given["text_bytes"])
    for name in _STORED:
        of_splits = sum(
            split.counts.get(name, 0) + split.counts.get(name + LEFT_OUT, 0) for split in build.splits.values()
        )
        build.expect(MANIFEST, f"{name} of all splits", of_splits, tokens.get(name, 0))
    build.expect(MANIFEST, "tokens of the vocabulary", build.info.vocab_size, size)
    for name, split in build.splits.items():
        total = add_counts(shard.counts for shard in split.shards)
        for count in sorted({*total, *split.counts}):
            summed = total.get(count, 0)
            build.expect(MANIFEST, f"{count} of split {name}, over its shards", summed, split.counts.get(count, 0))
        by_source = {
            what: sum(number for count, number in split.counts.items() if count.startswith(prefixes))
            for what, prefixes in (("documents", SELECTED), (f"documents{LEFT_OUT}", tuple(BY.values())))
        }
        if any(by_source.values()):
            for count, number in by_source.items():
                build.expect(MANIFEST, f"{count} of all sources of split {name}", number, split.counts.get(count, 0))
        for count, prefix in (("documents", DOCUMENTS_IN), ("tokens", TOKENS_IN)):
            by_language = [number for name_of_count, number in split.counts.items() if name_of_count.startswith(prefix)]
            if by_language:
                build.expect(
                    MANIFEST, f"{count} of all languages of split {name}", sum(by_language), split.counts[count]
                )
    left_out = account_of({name: {"counts": split.counts} for name, split in build.splits.items()})
    if build.manifest.get("left_out", {}) != left_out:
        build.note(MANIFEST, "left_out: the documents by source are not those that the counts of the splits give")
    mix = build.manifest.get("mix", {})
    with reading_values(build.path, VerificationError):
        shares = {
            name: {key: share[key] for key in ("weight", "wanted") if key in share}
            for name, share in mix.items()
            if "planned" in share
        }
        expected = mixture(build.info, build.splits["train"].counts, shares) if "train" in build.splits else mix
    if mix != expected:
        build.note(MANIFEST, "mix: the tokens and epochs of the sources are not those that the counts of train give")


def _check_repeated(build: Build, documents: int, text_bytes: int, sources: Counts) -> None:
    """Check the account of the text that was left out as repeated, if there is one, against the sums of the sources.

    Raises VerificationError where it is not whole.
    """
    if "dedup_spans" not in build.manifest:
        return
    with reading_values(build.path, VerificationError):
        account = dict(build.manifest["dedup_spans"])
        units = str(account.pop("spans"))
        del account["samples"]
        counts = whole_counts(account)
        came, without_repeats, gone = (counts[f"documents{ending}"] for ending in ("", "_left", "_dropped"))
        size, of_dropped, left_out, rest = (
            counts[name] for name in ("text_bytes", "bytes_dropped", "bytes_left_out", "bytes_left")
        )
        changed, spans = counts["documents_changed"], counts["left_out"]
    build.expect(MANIFEST, "documents with repeated text left out, or dropped", without_repeats + gone, came)
    build.expect(MANIFEST, "bytes of text left, left out as repeated, or dropped", rest + left_out + of_dropped, size)
    for name, number in (
        ("changed by dedup-spans", changed),
        (f"{units} left out, repeated", spans),
        ("bytes left out, repeated", left_out),
    ):
        build.expect(MANIFEST, f"{name}, of all sources", number, sources.get(name, 0))
    if "decontamination" not in build.manifest:
        build.expect(MANIFEST, "documents left without repeated text", documents, without_repeats)
        build.expect(MANIFEST, "bytes of text left without repeated text", text_bytes, rest)


def epochs_in(info: PretrainingInfo, split: str) -> tuple[float, ...]:
    """Return the epochs of each source in a split, none where sources are not weighted."""
    return info.epochs if split == "train" else ()


def check_shards(build: Build) -> None:
    """Check where the tokens of each shard went: into copies by source, then into examples or dropped by reason.

    The length bins of a shard are checked together.
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


def check_token_counts(build: Build, counted: NDArray[np.int64]) -> None:
    """Check the counts of tokens beside the shards, which masks are drawn by, with the ids found in the rows of train.

    Each id is in the rows as often as in all copies of the text, but for tokens that are in no example or used twice.
    Raises the errors of `bertdata.shards.mask_tables.load`.
    """
    info, train = build.info, Counter(build.splits["train"].counts)
    table = f"{FOLDER}/table.arrow"
    claimed = load_counts(build.path, info.token_counts).counts
    if len(claimed) != len(counted):
        build.note(table, f"has counts of {len(claimed):,} tokens; the vocabulary has {len(counted):,}")
        return
    if (total := int(claimed.sum())) != train["tokens"]:
        build.note(table, f"adds up to {total:,} tokens; expected those of train in {MANIFEST}, {train['tokens']:,}")
    epochs = [share for share in info.epochs if share] or [info.examples.dupe_factor]
    more = int(np.maximum(counted - claimed * math.ceil(max(epochs)), 0).sum())
    fewer = int(np.maximum(claimed * math.floor(min(epochs)) - counted, 0).sum())
    if more > train[BORROWED] or fewer > dropped_tokens(train):
        build.note(table, f"has not the counts of the rows: {more:,} tokens more and {fewer:,} fewer are in these")


def _check_copies(build: Build, file: str, counts: Counter[str], epochs: tuple[float, ...]) -> None:
    info = build.info
    if not epochs:
        times = counts["tokens"] * info.examples.dupe_factor
        build.expect(file, "tokens times copies", times, counts["tokens_in_copies"])
    for name, share in zip(info.sources, epochs, strict=False):
        available, taken = counts[f"tokens_of_{name}"], counts[f"tokens_in_copies_of_{name}"]
        if not available * math.floor(share) <= taken <= available * math.ceil(share):
            build.note(
                file, f"tokens_in_copies_of_{name}: {taken:,} in {MANIFEST}; expected {share:g} times {available:,}"
            )
    for what in ("tokens", "tokens_in_copies", "examples") if info.sources else ():
        together = sum(counts[f"{what}_of_{name}"] for name in info.sources)
        build.expect(file, f"{what} of all sources", together, counts[what])
    given = counts["tokens_in_copies"] + counts[BORROWED] - dropped_tokens(counts)
    if given != counts["tokens_in_examples"]:
        build.note(
            file,
            f"tokens: {counts['tokens_in_examples']:,} in the examples; expected those in copies and those borrowed "
            f"without those dropped, {given:,}",
        )
