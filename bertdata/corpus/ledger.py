"""What came of the documents and tokens of a build, step by step, until each is in a shard or left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bertdata.corpus.left_out import left_out_drops
from bertdata.corpus.summary import with_others_as_one
from bertdata.engine.parts import add_counts
from bertdata.objectives.blocks import BORROWED, DROPPED
from bertdata.sources.names import input_count, units_of


@dataclass(frozen=True)
class Step:
    """One step: of a `unit` that is counted, `came` came in, `dropped` by reason were dropped, `left` went on.

    `added` were used twice. `left` is counted independently of the others, so they need not add up.
    """

    title: str
    unit: str
    came: int
    dropped: tuple[tuple[str, int], ...]
    added: int
    left: int

    @property
    def difference(self) -> int:
        """How many more were dropped or went on than came in.

        >>> Step("books", "books", 5, (("too short", 2),), 0, 3).difference
        0
        """
        return self.left + sum(number for _, number in self.dropped) - self.came - self.added


def source_steps(sources: Mapping[str, Any]) -> list[Step]:
    """Return the step of each source, as a manifest has them, to documents."""
    steps = []
    for name, source in with_others_as_one(sources).items():
        counts = source["counts"]
        units = [*units_of(counts), *(["chapters"] if counts.get("chapters") else [])]
        unit, came, drops = " and ".join(units) or "pieces", input_count(counts), tuple(source["drops"].items())
        steps.append(Step(f"{name} to documents", unit, came, drops, 0, counts.get("documents", 0)))
    return steps


def ledger(manifest: Mapping[str, Any]) -> list[Step]:
    """Return the steps of a build: each source to documents, documents to tokens, tokens to each split's examples."""
    steps = source_steps(manifest["sources"])
    documents, tokens = sum(step.left for step in steps), manifest["tokens"]
    drops, remaining = tuple(tokens["drops"].items()), tokens["counts"].get("documents", 0)
    steps.append(Step("documents with tokens", "documents", documents, drops, 0, remaining))
    copies = manifest["info"]["examples"]["dupe_factor"]
    if left_out := left_out_drops(add_counts(entry["counts"] for entry in manifest["splits"].values())):
        taken = sum(entry["counts"]["documents"] for entry in manifest["splits"].values())
        steps.append(Step("documents selected", "documents", remaining, left_out, 0, taken))
    for split, entry in manifest["splits"].items():
        counts = entry["counts"]
        drops = tuple(
            (name.removeprefix(DROPPED).replace("_", " "), number)
            for name, number in counts.items()
            if name.startswith(DROPPED) and number
        )
        mixed = split == "train" and manifest["info"].get("epochs")
        times = ", mixed by weight" if mixed else f", {copies} copies" if copies > 1 else ""
        came = counts["tokens_in_copies"] if mixed else counts["tokens"] * copies
        title, remaining = f"tokens to {split} examples{times}", counts["tokens_in_examples"]
        steps.append(Step(title, "tokens", came, drops, counts.get(BORROWED, 0), remaining))
    return steps
