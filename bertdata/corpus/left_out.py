"""Which documents a selection left out of each source: counts of shards, their account in the manifest, its warnings.

The account, `left_out` in the manifest, is made of the counts of all shards. By the setting that left them out it has
for each source the `documents`, those it was decided for (`of`), and how many have no value in a column of the
condition (`without`):

    {"where": {"notes": {"documents": 30, "of": 30, "without": {"owner": 30}}}}
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.corpus.compared_values import COMPARED, OTHER_FORM
from bertdata.curation.where import parse_condition
from bertdata.engine.parts import Counts, add_counts
from bertdata.io.console import Row, counted, largest
from bertdata.objectives.objective import find_objective
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import SelectionConfig

MOST_LEFT_OUT = 0.5
_NAMED = 5
SELECTED = "documents_selected_of_"
MOVED = "documents_moved_to_"
BY = {"sources": "documents_left_out_by_sources_of_", "where": "documents_left_out_by_where_of_",
      "sample": "documents_left_out_by_sample_of_"}  # fmt: skip
"""What the names of counts begin with, before the name of a source; the settings in the order in which they decide."""
WITHOUT = "documents_left_out_without_"
"""Before `SOURCE:COLUMN`: of those that the condition left out, how many have no value in the column."""
PREFIXES = (SELECTED, MOVED, WITHOUT, COMPARED, OTHER_FORM, *BY.values())


def count_left_out(
    flags: Mapping[str, NDArray[np.bool_]],
    sources: NDArray[np.integer],
    names: Sequence[str],
    columns: Mapping[str, pa.Array],
) -> Counts:
    """Return the documents of each source that are selected, and those that each setting left out.

    flags: by setting, which documents it takes, bool (N,), in the order of `BY`; sources: the number in `names` of the
    source of each document (N,); columns: those that the condition reads and not every document has.

    >>> flags = {"where": np.array([True, False, False])}
    >>> count_left_out(flags, np.array([0, 0, 1]), ["a", "b"], {"owner": pa.array(["kim", "lee", None])})
    {'documents_left_out_by_where_of_a': 1, 'documents_left_out_by_where_of_b': 1, \
'documents_left_out_without_b:owner': 1, 'documents_selected_of_a': 1}
    """
    counts: Counter[str] = Counter()

    def add(prefix: str, chosen: NDArray[np.bool_], suffix: str = "") -> None:
        numbers = np.bincount(sources[chosen], minlength=len(names))
        for number in np.flatnonzero(numbers).tolist():
            counts[f"{prefix}{names[number]}{suffix}"] += int(numbers[number])

    candidates = np.ones(len(sources), np.bool_)
    for setting, taken in flags.items():
        add(BY[setting], candidates & ~taken)
        if setting == "where":
            for column, values in columns.items():
                add(WITHOUT, candidates & ~taken & values.is_null().to_numpy(zero_copy_only=False), f":{column}")
        candidates &= taken
    add(SELECTED, candidates)
    return dict(sorted(counts.items()))


def account_of(splits: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a manifest says of the documents that were left out, from the counts of its splits; {} of none."""
    counts = add_counts(split["counts"] for split in splits.values())
    later = _by_source(counts, SELECTED)
    account: dict[str, Any] = {}
    for setting, prefix in reversed(BY.items()):
        left_out = _by_source(counts, prefix)
        later = add_counts([later, left_out])
        if left_out:
            account[setting] = {
                name: {"documents": number, "of": later[name]} for name, number in sorted(left_out.items())
            }
    for name, number in counts.items():
        if name.startswith(WITHOUT):
            source, _, column = name.removeprefix(WITHOUT).partition(":")
            account["where"][source].setdefault("without", {})[column] = number
    if moved := _by_source(counts, MOVED):
        account["source_where"] = dict(sorted(moved.items()))
    return dict(sorted(account.items()))


def _by_source(counts: Counts, prefix: str) -> Counts:
    return {name.removeprefix(prefix): number for name, number in counts.items() if name.startswith(prefix)}


def left_out_rows(counts: Counts) -> list[Row]:
    """Return the rows of a summary on what a selection left out of a split, by source; of over 30 the largest.

    >>> left_out_rows({"documents_left_out_by_where_of_notes": 30, "documents_selected_of_web": 5})
    [('  left out by --where', '30 documents: 30 of notes')]
    """
    rows = []
    for setting, prefix in BY.items():
        if left_out := _by_source(counts, prefix):
            largest_names, others = largest(left_out)
            parts = [f"{left_out[name]:,} of {name}" for name in largest_names]
            if others:
                parts.append(f"{sum(left_out[name] for name in others):,} of {counted(len(others), 'other')}")
            together = counted(sum(left_out.values()), "document")
            rows.append((f"  left out by --{setting}", f"{together}: {', '.join(parts)}"))
    for name, number in _by_source(counts, MOVED).items():
        rows.append((f"  moved to {name}", f"{counted(number, 'document')} by --source-where"))
    return rows


def left_out_drops(counts: Counts) -> tuple[tuple[str, int], ...]:
    """Return what a selection left out of a split as drops of a ledger, with their reasons.

    >>> left_out_drops({"documents_left_out_by_where_of_notes": 30})
    (('left out of notes by --where', 30),)
    """
    return tuple(
        (f"left out of {name} by --{setting}", number)
        for setting, prefix in BY.items()
        for name, number in _by_source(counts, prefix).items()
    )


def warnings_of_selection(account: Mapping[str, Any], selection: SelectionConfig) -> Iterator[dict[str, str | float]]:
    """Yield the warnings of a selection that leaves less than half of a source, as manifests have them.

    A sample is meant to leave few, so of it, and of `source_where`, only a source without documents is warned of.
    """
    for name, numbers in account.get("where", {}).items():
        if (share := numbers["documents"] / numbers["of"]) > MOST_LEFT_OUT:
            of, whole = counted(numbers["of"], "document"), ", all that it has" if share == 1 else ""
            left_out = of if share == 1 else f"{numbers['documents']:,} of the {of}"
            finding = f"--where {selection.where!r} left out {left_out} of the source {name}{whole}"
            missing = numbers.get("without", {})
            lacks = ", ".join(
                f"{'none has a' if number == numbers['documents'] else counted(number, 'document', 'have') + ' no'} "
                f"value of {column!r}"
                for column, number in missing.items()
            )
            taking = parse_condition(selection.where).taking_missing(missing)
            remedy = "take a wider condition, or leave the source out"
            if taking:
                quoted = f'"{taking}"' if not {*'"$`\\'} & {*taking} else shlex.quote(taking)
                remedy = f"a comparison with a missing value does not hold; to take such documents: --where {quoted}"
            yield _warning("selection", share, MOST_LEFT_OUT, ": ".join(filter(None, (finding, lacks))), remedy)
    for name, numbers in account.get("sample", {}).items():
        if numbers["documents"] == numbers["of"]:
            finding = f"--sample took none of the {counted(numbers['of'], 'document')} of the source {name}"
            yield _warning("selection", 1.0, 1.0, finding, f"take more of it, as {name}=1, or leave the source out")
    for name in selection.regrouped:
        if not account.get("source_where", {}).get(name):
            finding = f"--source-where moved no document to the source {name}"
            remedy = "see whether documents have values in the columns of its condition, or leave it out"
            yield _warning("selection", 0.0, 1.0, finding, remedy)


def warnings_of_train(
    info: PretrainingInfo, splits: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, str | float]]:
    """Yield the warnings of sources that a selection takes documents of, and train has nothing of, by the reason."""
    train = splits.get("train", {}).get("counts", {})
    others = add_counts(split["counts"] for name, split in splits.items() if name != "train")
    held_out, unweighted, without_pairs = [], [], []
    for number, name in enumerate(info.sources):
        if not train.get(f"tokens_of_{name}"):
            held_out += [name] if others.get(f"tokens_of_{name}") else []
        elif not train.get(f"tokens_in_copies_of_{name}"):
            unweighted += [name] if info.epochs and info.epochs[number] else []
        elif not train.get(f"examples_of_{name}") and find_objective(info.examples.objective).sentence_pairs:
            without_pairs.append(name)
    for names, reason, remedy in (
        (held_out, "all of it is held out for validation", "add documents to it, or give --validation-fraction 0"),
        (unweighted, "its share of train is less than a document", "give it a larger weight in --mix, or train more"),
        (
            without_pairs,
            f"none of its documents has the two sentences that --objective {info.examples.objective} pairs",
            "join what belongs together into documents, or choose --objective full-sentences",
        ),
    ):
        if names:
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            which = f"the source{'s' if len(names) > 1 else ''} {', '.join(names[:_NAMED])}{more}"
            yield _warning("source without examples", 0.0, 1.0, f"train has nothing of {which}: {reason}", remedy)


def _warning(about: str, figure: float, threshold: float, finding: str, remedy: str) -> dict[str, str | float]:
    return {"about": about, "figure": figure, "threshold": threshold, "found": finding, "remedy": remedy}
