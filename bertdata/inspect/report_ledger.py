"""Parts of a page of `bertdata report` that stand first: warnings, and the steps from what came in to what is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from bertdata.corpus import ledger
from bertdata.inspect.page import SERIES, Part, bar, grid
from bertdata.io.console import counted
from bertdata.io.markup import element

_SHOWN_BROKEN = 20


def warnings_part(warnings: Iterable[Mapping[str, Any]]) -> list[Element]:
    """Return a list of warnings as manifests have them; nothing without any."""
    items = []
    for warning in warnings:
        threshold = f"(threshold {warning['threshold']:g}; {warning['remedy']})"
        about, quiet = element("b", warning["about"], class_="bad"), element("span", threshold, class_="quiet")
        items.append(element("li", about, f" {warning['found']} ", quiet))
    return [element("ul", items)] if items else []


def ledger_part(steps: Iterable[ledger.Step], sources: Mapping[str, Any]) -> list[Element]:
    """Return a bar for each step, and the broken pieces of the sources where there are any."""
    parts = [_step(step) for step in steps]
    broken = [entry for source in sources.values() for entry in source["broken"]]
    return [*parts, *_broken(broken)]


def _broken(broken: Sequence[Mapping[str, Any]]) -> list[Element]:
    if not broken:
        return []
    rows = []
    for entry in broken[:_SHOWN_BROKEN]:
        place = f"byte {entry['offset']:,}" if "offset" in entry else ""
        rows.append((entry["path"], str(entry.get("title") or entry.get("place") or ""), place, entry["reason"]))
    details = element(
        "details",
        element("summary", counted(len(broken), "broken piece"), ", left out"),
        grid(("file", "title or place", "offset", "what is wrong"), rows),
    )
    if len(broken) > len(rows):
        more = f"{len(broken) - len(rows):,} more are named in the manifest."
        details.append(element("p", more, class_="quiet"))
    return [details]


def _step(step: ledger.Step) -> Element:
    dropped = sorted(step.dropped, key=lambda drop: (-drop[1], drop[0]))
    colors = [f"d{min(place, SERIES - 1)}" for place in range(len(dropped))]
    parts: list[Part] = [("went on", step.left, "c0")]
    parts += [(*drop, color) for drop, color in zip(dropped[: SERIES - 1], colors, strict=False)]
    if rest := dropped[SERIES - 1 :]:
        parts.append((f"{counted(len(rest), 'other reason')}", sum(number for _, number in rest), colors[-1]))
    keys = [("c0", f"{step.left:,} went on")]
    for (reason, number), color in zip(dropped, colors, strict=True):
        keys.append((color, f"{number:,} dropped, {reason} ({number / max(1, step.came):.2%})"))
    if step.added:
        keys.append(("", f"{step.added:,} borrowed, so used twice"))
    came = element("span", f"{step.came:,} {step.unit} in", class_="quiet")
    verdict = element("span", "adds up", class_="good")
    if step.difference:
        verdict = element("span", f"does not add up: {step.difference:+,}", class_="bad")
    return bar(step.title, parts, keys, [" ", came, " ", verdict])
