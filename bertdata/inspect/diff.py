"""`bertdata diff`: how two builds differ, and why: versions, settings, inputs, what each stage counted, shards.

It reads manifests and what builds say of their origin, never a shard: shards are compared by their SHA-256.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bertdata.engine.origin import Origin, read_origin
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.console import Row, table
from bertdata.options.flags import add_json
from bertdata.shards.contents import check_manifest
from bertdata.shards.phases import phase_names

MANIFEST = "manifest.json"
ABSENT = "-"
_SHOWN_SHARDS = 10


@dataclass(frozen=True)
class Change:
    """A value that two builds have differently, by name; None where one has it not."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Difference:
    """How two builds differ: changes by section, the shards that are the same in both, and those that are not."""

    sections: dict[str, list[Change]] = field(default_factory=dict)
    same_shards: int = 0
    other_shards: list[Change] = field(default_factory=list)

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
    builds = [_Build.read(path) for path in (first, second)]
    a, b = builds
    sections = {
        "version": changes({"bertdata": a.manifest.get("bertdata")}, {"bertdata": b.manifest.get("bertdata")}),
        "settings": changes(a.settings(), b.settings()),
        "inputs": changes(a.inputs(), b.inputs()),
        "tokenizer": changes(a.tokenizers(), b.tokenizers()),
        "counts": changes(a.counts(), b.counts()),
    }
    shards_of = [build.shards() for build in builds]
    others = changes(*shards_of)
    same = len(shards_of[0].keys() & shards_of[1].keys()) - sum(
        one.first is not None and one.second is not None for one in others
    )
    return Difference(sections, same, others)


def changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Change]:
    """Return the names whose values differ, those of the first before those that only the second has.

    >>> changes({"seed": 0, "pack": True}, {"seed": 1, "pack": True})
    [Change(name='seed', first=0, second=1)]
    """
    names = dict.fromkeys([*first, *second])
    pairs = ((name, first.get(name), second.get(name)) for name in names)
    return [Change(name, one, other) for name, one, other in pairs if one != other]


@dataclass(frozen=True)
class _Build:
    path: str
    manifest: dict[str, Any]
    phases: dict[str, dict[str, Any]]
    origin: Origin | None

    @staticmethod
    def read(path: str) -> _Build:
        place = files.join(path.rstrip("/"), MANIFEST)
        manifest = files.read_json_if_there(place)
        if not isinstance(manifest, dict):
            raise InputError(
                f"holds no finished build or task: there is no {MANIFEST} here; expected the --output of "
                "`bertdata build` or `bertdata encode-task`",
                path=path,
            )
        check_manifest(manifest, place)
        names = phase_names(manifest)
        phases = {name: files.read_json(files.join(path, name, MANIFEST)) for name in names}
        return _Build(path.rstrip("/"), manifest, phases or {"": manifest}, read_origin(path)[0])

    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, phase in self.phases.items():
            found |= _flat(phase.get("info", {}), f"{name}: " if name else "", skip=("tokenizer", "format", "sources"))
        return found | (_flat(self.origin.settings, "") if self.origin else {})

    def inputs(self) -> dict[str, Any]:
        """Return the inputs by name and their bytes: those that the manifest has of each source."""
        found = {}
        for source, entry in next(iter(self.phases.values())).get("sources", {}).items():
            for one in entry.get("inputs", []):
                name = one.get("file") or one.get("name") or one.get("path") if isinstance(one, dict) else one
                others = {key: value for key, value in one.items() if value != name} if isinstance(one, dict) else {}
                found[f"{source}: {name}"] = ", ".join(f"{key} {value}" for key, value in others.items()) or "there"
        return found

    def tokenizers(self) -> dict[str, Any]:
        first = next(iter(self.phases.values()))
        vocabulary = first.get("vocabulary", {}).get("pieces") or first.get("info", {}).get("vocab_size")
        digest = str(first.get("info", {}).get("tokenizer", ""))[:12]
        return {"tokenizer": f"{vocabulary:,} tokens, {digest}" if vocabulary else digest}

    def counts(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first = next(iter(self.phases.values()))
        for source, entry in first.get("sources", {}).items():
            found |= _flat(entry.get("counts", {}), f"{source}: ")
            found |= _flat(entry.get("drops", {}), f"{source}: dropped, ")
        for group, start in (("counts", "tokens: "), ("drops", "tokens: dropped, ")):
            found |= _flat(first.get("tokens", {}).get(group, {}), start)
        for name, phase in self.phases.items():
            for split, entry in phase["splits"].items():
                found |= _flat(entry["counts"], f"{name + ' ' if name else ''}{split}: ")
        return found

    def shards(self) -> dict[str, str]:
        return {
            files.join(name, shard["file"]) if name else str(shard["file"]): str(shard.get("sha256", ""))[:12]
            for name, phase in self.phases.items()
            for entry in phase["splits"].values()
            for shard in entry["shards"]
        }


def _flat(values: Mapping[str, Any], start: str, skip: Iterable[str] = ()) -> dict[str, Any]:
    """Return the values of nested mappings by their last name: settings have names of their own."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name in skip:
            continue
        if isinstance(value, Mapping):
            found |= _flat(value, start)
        else:
            found[f"{start}{name}"] = value
    return found


def difference_text(first: str, second: str, found: Difference) -> str:
    """Return what the command prints: the sections with their changes, the shards, and a conclusion."""
    parts = [table([("A", first), ("B", second)])]
    for title, changed in found.sections.items():
        if changed:
            rows = [_row(change, counts=title == "counts") for change in changed]
            parts.append(f"{title}, A → B\n" + table([(f"  {name}", text) for name, text in rows]))
    if found.other_shards:
        rows = [_row(change) for change in found.other_shards[:_SHOWN_SHARDS]]
        if left := len(found.other_shards) - len(rows):
            rows.append(("...", f"{left:,} more"))
        parts.append("shards, SHA-256\n" + table([(f"  {name}", text) for name, text in rows]))
    return "\n\n".join([*parts, conclusion(found)])


def conclusion(found: Difference) -> str:
    """Return one sentence on whether the shards are the same, and what differs where they are not.

    >>> conclusion(Difference({"settings": [Change("seed", 0, 1)]}, 0, [Change("train/a.arrow", "12", "34")]))
    'Of the shards 0 are the same and 1 differs; they were made with other settings: seed.'
    """
    if found.same:
        one = found.same_shards == 1
        text = "The one shard has the same bytes" if one else f"All {found.same_shards:,} shards have the same bytes"
        return f"{text}, although these differ: {', '.join(found.reasons)}." if found.reasons else f"{text}."
    number = len(found.other_shards)
    text = f"Of the shards {found.same_shards:,} are the same and {number:,} {'differs' if number == 1 else 'differ'}"
    if not found.reasons:
        return f"{text}, from the same version, settings and inputs: recount them by `bertdata verify`."
    named = [f"another {name}" if name in ("version", "tokenizer") else f"other {name}" for name in found.reasons]
    settings = [change.name for change in found.sections.get("settings", [])]
    detail = f": {', '.join(settings)}" if settings and found.reasons == ["settings"] else ""
    return f"{text}; they were made with {' and '.join(named)}{detail}."


def _row(change: Change, *, counts: bool = False) -> Row:
    one, other = (ABSENT if value is None else _text(value) for value in (change.first, change.second))
    more = f" ({change.second - change.first:+,})" if counts and None not in (change.first, change.second) else ""
    return change.name, f"{one} → {other}{more}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return str(value) or '""'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata diff` to a parser."""
    parser.add_argument("first", metavar="A", help="a finished build, or a folder of encode-task")
    parser.add_argument("second", metavar="B", help="another one")
    add_json(parser, "the changes by section")


def run(arguments: argparse.Namespace) -> int:
    """Print how two builds differ; the code is 0 also where they do."""
    found = diff(arguments.first, arguments.second)
    if arguments.json:
        values = {name: [vars(change) for change in changed] for name, changed in found.sections.items()}
        shards = {"same": found.same_shards, "others": [vars(change) for change in found.other_shards]}
        print(json.dumps({"same": found.same, "reasons": found.reasons, "changes": values, "shards": shards}, indent=1))
    else:
        print(difference_text(arguments.first, arguments.second, found))
    return 0
