"""The page of `bertdata report` on a folder of `bertdata encode-task`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from bertdata.finetune.task_info import TaskInfo
from bertdata.inspect.page import grid, histogram, page, stacked
from bertdata.inspect.report_ledger import warnings_part
from bertdata.inspect.stats import histogram as bins_of
from bertdata.inspect.task_figures import measure_task, task_examples
from bertdata.io.console import counted
from bertdata.io.markup import element
from bertdata.shards import Shards

MOST_TRUNCATED = 0.1
"""The share of truncated rows from which on the page warns."""


def task_report_html(splits: Sequence[Shards], info: TaskInfo, *, examples: int = 4) -> str:
    """Return the page of a task: figures, labels and row lengths of each split, and examples of the first."""
    figures = {shards.split: measure_task(shards, info) for shards in splits}
    manifest = splits[0].manifest
    truncated = sum(figure.counts.get("truncated_examples", 0) for figure in figures.values())
    rows = sum(figure.rows for figure in figures.values())
    tiles = {
        "rows": f"{rows:,}",
        "splits": f"{len(splits)}",
        "labels": f"{len(info.labels)}" if info.labels else "none",
        "truncated": f"{truncated / max(1, rows):.1%}",
        "tokens in a row": f"{info.max_seq_length}",
    }
    chosen = sorted({len(splits[0]) * place // max(1, examples) for place in range(min(examples, len(splits[0])))})
    example_parts = []
    for task_example in task_examples(splits[0], info, chosen):
        parts = [element("h3", f"{splits[0].split} {task_example.number:,}: {counted(task_example.tokens, 'token')}")]
        parts += [element("p", text) for text in task_example.texts]
        example_parts.append(
            element("article", parts, element("p", element("b", task_example.target)) if task_example.target else [])
        )
    shards = [shard for entry in manifest["splits"].values() for shard in entry["shards"]]
    files = grid(
        ("file", "bytes", "SHA-256, first 16 digits"),
        [(shard["file"], f"{shard['bytes']:,}", shard["sha256"][:16]) for shard in shards],
    )
    settings = element("pre", json.dumps(manifest["info"], indent=1, sort_keys=True))
    names = list(dict.fromkeys(name for figure in figures.values() for name in figure.counts))
    counted_rows = [
        (name.replace("_", " "), *(f"{figure.counts.get(name, 0):,}" for figure in figures.values())) for name in names
    ]
    lengths = [
        histogram(f"{split}: {counted(figure.rows, 'row')}", "tokens in a row", bins_of(figure.lengths), "rows")
        for split, figure in figures.items()
    ]
    sections = {
        "Warnings": _warnings(truncated, rows),
        "Splits": [grid(("", *figures), counted_rows)],
        "Labels": [stacked(split, figure.labels) for split, figure in figures.items() if figure.labels],
        "Row lengths": [element("div", lengths, class_="columns")],
        "Examples": example_parts,
        "Shards and settings": [
            element("details", element("summary", counted(len(shards), "shard")), files),
            element("details", element("summary", "settings"), settings),
        ],
    }
    return page(f"{info.task}: {info.definition.help}", f"Made by bertdata {manifest['bertdata']}.", tiles, sections)


def _warnings(truncated: int, rows: int) -> list[Element]:
    share = truncated / max(1, rows)
    if share <= MOST_TRUNCATED:
        return []
    cut = f"{share:.1%} of the rows were cut to fit"
    warning = {"about": "truncation", "found": cut, "threshold": MOST_TRUNCATED, "remedy": "raise --max-seq-length"}
    return warnings_part([warning])
