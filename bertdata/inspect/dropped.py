"""The documents of a build that were dropped where documents were written, as lines: how many, and samples of them.

A sample has what the rule measured beside its threshold; of a near-duplicate both texts are shown, from the parts of
documents in the build's `stages`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.corpus.summary import broken_place
from bertdata.documents import DROPPED_TEXTS, SAMPLES, open_parquet, read_batches
from bertdata.errors import ConfigError, expected_one_of, printable
from bertdata.inspect.side_by_side import side_by_side
from bertdata.io import files, listing
from bertdata.sources.stage import FOLDERS

_STAYS = re.compile(r"\[(.*) stays for it, similarity [0-9.]+(?:, threshold [0-9.]+)?\]", re.DOTALL)
_WITHOUT_SAMPLES = {
    True: "; no samples (a build with --rejects FOLDER names these pages)",
    False: "; no samples of these are kept",
}
"""What is said where there are no samples, of pages and of other documents."""
TextsOf = Callable[[Collection[str]], Mapping[str, str]]
"""Returns the texts of documents by their ids, as far as they are there."""


def dropped_lines(
    manifest: Mapping[str, Any],
    reason: str = "",
    count: int = SAMPLES,
    texts_of: TextsOf = lambda ids: {},
    width: int = 100,
) -> list[str]:
    """Return samples of the documents that were dropped where documents were written, for one reason or for all.

    count: how many of each at most. texts_of: gives the texts of duplicates. Raises ConfigError for a reason for which
    nothing was dropped.
    """
    sources = next(iter(manifest["phases"].values()))["sources"] if "phases" in manifest else manifest["sources"]
    every = sorted({dropped_for for source in sources.values() for dropped_for in source["drops"]})
    if reason and reason not in every:
        raise ConfigError(
            f"nothing was dropped as {reason!r}"
            + (expected_one_of(reason, every) if every else "; nothing was dropped at all where documents were written")
        )
    lines = []
    for name, source in sources.items():
        for dropped_for in sorted(
            source["drops"], key=lambda dropped_for: (-source["drops"][dropped_for], dropped_for)
        ):
            if reason not in ("", dropped_for):
                continue
            texts = source.get(DROPPED_TEXTS, {}).get(dropped_for, [])
            there: list[Any] = texts or _places_of(source, dropped_for)
            samples, has_pages = there[:count], "pages" in source.get("counts", {})
            hint = f", {len(samples)} of them here" if samples else _WITHOUT_SAMPLES[has_pages]
            if len(samples) < len(there):
                hint += f" (--count {len(there)} shows {len(there)})"
            elif texts and count > len(samples) < source["drops"][dropped_for]:
                hint += f" (a build keeps {SAMPLES} of each reason)"
            lines.append(f"{name}: {source['drops'][dropped_for]:,} dropped as {dropped_for}{hint}")
            for sample in samples:
                lines += _sample_lines(sample, texts_of, width) if texts else [f"  {printable(sample)}"]
    return lines or ["nothing was dropped where documents were written"]


def _places_of(source: Mapping[str, Any], reason: str) -> list[str]:
    """Return where the rows or books that are broken for a reason are, as far as the manifest names them."""
    broken = source.get("broken", [])
    return [broken_place(entry) for entry in broken if entry["reason"] == reason.removeprefix("broken: ")]


def _sample_lines(sample: list[Any], texts_of: TextsOf, width: int) -> Iterator[str]:
    _, number, title, text, *measured = sample
    named = f"{number} ({title})" if title else number
    yield f"  {printable(named)}: {printable(' '.join(text.split())) or '(no text left)'}"
    yield from (f"    {printable(measured_value)}" for measured_value in measured)
    if stays := _STAYS.fullmatch(text):
        texts = texts_of([number, stays[1]])
        if number in texts and stays[1] in texts:
            heads = f"{number} (dropped)", f"{stays[1]} (stays)"
            pair = side_by_side(texts[number], texts[stays[1]], heads, width - 4)
            yield from (f"    {line}" for line in pair)
        else:
            yield "    (their texts are not in the build's stages any more)"


def stored_texts(build: str, ids: Collection[str]) -> dict[str, str]:
    """Return the texts of documents in the stages of a build, or of the build that a phase is in, by id."""
    texts: dict[str, str] = {}
    wanted = pa.array(sorted(ids), pa.string())
    for folder in (files.join(build, "stages"), files.join(build, "..", "stages")):
        for name in FOLDERS.values():
            for part in listing.names(files.join(folder, name)):
                if part.endswith(".parquet") and len(texts) < len(ids):
                    texts |= _texts_in(files.join(folder, name, part), wanted)
    return texts


def _texts_in(path: str, wanted: pa.Array) -> dict[str, str]:
    """Return the texts of those of some ids that are in one part; the texts are read only where there are any."""
    with files.open_raw(path) as raw:
        places = [
            number
            for number in range(open_parquet(raw, path).metadata.num_row_groups)
            if any(
                pc.any(pc.is_in(batch["id"], wanted)).as_py()
                for batch in read_batches(raw, path, columns=["id"], row_groups=[number])
            )
        ]
        rows = [
            row
            for batch in (read_batches(raw, path, columns=["id", "text"], row_groups=places) if places else ())
            for row in batch.filter(pc.is_in(batch["id"], wanted)).to_pylist()
        ]
    return {row["id"]: row["text"] for row in rows}
