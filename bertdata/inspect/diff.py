"""`bertdata diff`: why two builds differ (version, settings, inputs, tokenizer) and how (what was counted, shards).

It reads manifests and what builds say of their origin, never a shard: shards are compared by their SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bertdata.inspect.compared_build import ComparedBuild
from bertdata.io.console import Row, counted, table
from bertdata.shards.contents import reading_values

_SHOWN, _SHOWN_COUNTS = 10, 8
_DETAILS = ("_of_", "tokens_in_copies", "row_tokens", "labels_1", "predictions_")
"""What the names of counts have in them that follow from others; the command leaves them to --json."""


@dataclass(frozen=True)
class Change:
    """A value that two builds have differently, by name; None where one has it not."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Difference:
    """How two builds differ: changes by section, the shards that are the same in both, and those that are not.

    kinds: what each of them holds, as "nsp examples"; only of the same kind they have the same settings and counts.
    """

    sections: dict[str, list[Change]] = field(default_factory=dict)
    same_shards: int = 0
    other_shards: list[Change] = field(default_factory=list)
    kinds: tuple[str, str] = ("", "")
    same_kind: bool = True

    @property
    def same(self) -> bool:
        """Whether all shards have the same bytes."""
        return not self.other_shards

    @property
    def reasons(self) -> list[str]:
        """The sections of what a build is made from in which there are changes."""
        return [name for name in REASONS if self.sections.get(name)]


REASONS = ("version", "settings", "inputs", "tokenizer")
"""What a build is made from; the other sections follow from these."""


def diff(first: str, second: str) -> Difference:
    """Return how two finished builds, or two folders of a fine-tuning task, differ; raises InputError for another."""
    a, b = ComparedBuild.read(first), ComparedBuild.read(second)
    of_a, of_b = _sections(a), _sections(b)
    sections = {name: changes(of_a[name], of_b[name]) for name in of_a}
    others = sections.pop("shards")
    same = len(of_a["shards"].keys() & of_b["shards"].keys()) - sum(
        change.first is not None and change.second is not None for change in others
    )
    return Difference(sections, same, others, (a.kind(), b.kind()), a.task == b.task)


def _sections(build: ComparedBuild) -> dict[str, dict[str, Any]]:
    """Return what is compared of a build by section; raises InputError where its manifest is not whole."""
    with reading_values(build.path):
        build.kind()
        return {
            "version": {"bertdata": build.manifest.get("bertdata")},
            "settings": build.settings(),
            "inputs": build.inputs(),
            "tokenizer": build.tokenizers(),
            "counts": build.counts(),
            "shards": build.shards(),
        }


def changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Change]:
    """Return the names whose values differ, those of the first before those that only the second has.

    >>> changes({"seed": 0, "pack": True}, {"seed": 1, "pack": True})
    [Change(name='seed', first=0, second=1)]
    """
    names = dict.fromkeys([*first, *second])
    pairs = ((name, first.get(name), second.get(name)) for name in names)
    return [Change(name, before, other) for name, before, other in pairs if before != other]


def difference_text(first: str, second: str, difference: Difference) -> str:
    """Return what the command prints: what each is, why and how they differ, and a conclusion."""
    names = [f"{path}, {kind}" if kind else path for path, kind in zip((first, second), difference.kinds, strict=True)]
    parts = [table([("A", names[0]), ("B", names[1])])]
    if rows := _why(difference):
        parts.append("why they differ, A → B\n" + table(rows))
    if rows := _how(difference):
        parts.append("how they differ, A → B\n" + table(rows))
    lines = "\n\n".join([*parts, conclusion(difference)]).split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _why(difference: Difference) -> list[Row]:
    """Return the rows on what builds are made from: what differs, and which of it is the same."""
    rows: list[Row] = []
    for title in REASONS:
        changed = difference.sections.get(title, [])
        one_sided = [change for change in changed if None in (change.first, change.second)]
        if not difference.same_kind and title in ("settings", "inputs"):
            changed = [change for change in changed if change not in one_sided]
        if [change.name for change in changed] in (["bertdata"], ["tokenizer"]):
            rows.append((f"  {title}", _change(changed[0])))
        elif changed:
            rows.append((f"  {title}", ""))
            rows += _some([(f"    {change.name}", _change(change)) for change in changed], _SHOWN)
        if not difference.same_kind and title == "settings" and one_sided:
            rows.append(("  settings that only one has", f"{len(one_sided):,}"))
    same = [name for name in REASONS if name in difference.sections and not difference.sections[name]]
    return [*rows, ("  the same in both", ", ".join(same))] if rows and same else rows


def _how(difference: Difference) -> list[Row]:
    """Return the rows on what follows: counts by where they were made, and shards."""
    groups: dict[str, list[Change]] = {}
    left_out = 0
    for change in difference.sections.get("counts", []):
        group, _, name = change.name.partition(": ")
        if not (change.first or change.second):
            continue  # 0, and not counted at all
        both = None not in (change.first, change.second)
        if any(part in name for part in _DETAILS) or not (both or difference.same_kind):
            left_out += 1
        else:
            groups.setdefault(group, []).append(Change(name.replace("_", " "), change.first, change.second))
    rows: list[Row] = []
    for group, changed in groups.items():
        if len({change.first is None for change in changed}) == 1 and None in (changed[0].first, changed[0].second):
            only, numbers = _one_sided(changed)
            rows.append((f"  {group}", f"only in {only}: {numbers}"))
            continue
        rows.append((f"  {_GROUPS.get(group, group)}", ""))
        rows += _some([(f"    {change.name}", _change(change, counts=True)) for change in changed], _SHOWN_COUNTS)
    if left_out:
        rows.append(("  other counts", f"{left_out:,} differ, too; --json has them"))
    if difference.other_shards:
        rows.append(("  shards", f"{len(difference.other_shards):,} differ, {difference.same_shards:,} are the same"))
    return rows


def _one_sided(changed: list[Change]) -> tuple[str, str]:
    """Return which build alone has some counts, and the main ones of them."""
    only = "B" if changed[0].first is None else "A"
    numbers = {change.name: change.second if only == "B" else change.first for change in changed}
    main = [name for name in ("documents", "examples", "tokens") if name in numbers] or list(numbers)[:3]
    return only, ", ".join(f"{numbers[name]:,} {name}" for name in main)


_GROUPS = {"tokens": "all documents, as tokens"}


def _some(rows: list[Row], most: int) -> list[Row]:
    """Return rows, of more than `most` the first and how many there are besides."""
    if len(rows) <= most + 1:
        return rows
    return [*rows[:most], ("    ...", f"{len(rows) - most:,} more; --json has them")]


def conclusion(difference: Difference) -> str:
    """Return one sentence on whether the shards are the same, and what differs where they are not.

    >>> conclusion(Difference({"settings": [Change("seed", 0, 1)]}, 0, [Change("train/a.arrow", "12", "34")]))
    'Of the shards 0 are the same and 1 differs; they were made with other settings: seed.'
    """
    if difference.same:
        is_single = difference.same_shards == 1
        text = (
            "The one shard has the same bytes"
            if is_single
            else f"All {counted(difference.same_shards, 'shard', 'have')} the same bytes"
        )
        return f"{text}, although these differ: {', '.join(difference.reasons)}." if difference.reasons else f"{text}."
    number = len(difference.other_shards)
    if not difference.same_kind:
        return "They hold different things, so only what both have was compared."
    text = (
        f"Of the shards {difference.same_shards:,} are the same and {number:,} {'differs' if number == 1 else 'differ'}"
    )
    if not difference.reasons:
        return f"{text}, from the same version, settings and inputs: recount them by `bertdata verify`."
    named = [f"another {name}" if name in ("version", "tokenizer") else f"other {name}" for name in difference.reasons]
    settings = [change.name for change in difference.sections.get("settings", [])]
    detail = (
        f": {', '.join(settings)}" if settings and difference.reasons == ["settings"] and len(settings) <= 5 else ""
    )
    return f"{text}; they were made with {' and '.join(named)}{detail}."


def _change(change: Change, *, counts: bool = False) -> str:
    """Return a change as text; of counts also by how much.

    >>> _change(Change("examples", 200, 250), counts=True), _change(Change("news.txt", None, "9 bytes"))
    ('200 → 250 (+50, +25.0%)', '9 bytes, only in B')
    """
    if change.first is None or change.second is None:
        only = "A" if change.second is None else "B"
        return f"{_text(change.first if change.second is None else change.second)}, only in {only}"
    more = f"{change.second - change.first:+,}" if counts else ""
    share = f", {(change.second - change.first) / change.first:+.1%}" if counts and change.first else ""
    return f"{_text(change.first)} → {_text(change.second)}" + (f" ({more}{share})" if more else "")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return str(value) or '""'
