"""Dataset cards: Markdown with the block of metadata that dataset hubs read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

ARROW = "data-*.arrow"
"""What the shards of a split are called."""


def loading(files: str = ARROW) -> list[str]:
    """Return the lines of a card by which a reader loads the shards, or files that were made of them.

    >>> loading()[3]
    'dataset = datasets.load_from_disk("THIS FOLDER")'
    """
    function = "load_from_disk" if files == ARROW else "load_dataset"
    return ["```python", "import datasets", "", f'dataset = datasets.{function}("THIS FOLDER")', "```"]


def dataset_card(
    manifest: dict[str, Any],
    category: str,
    tag: str,
    title: str,
    licences: str,
    body: list[str],
    metadata: Sequence[str] = (),
    files: str = ARROW,
) -> str:
    """Return the card of shards; `body` holds the lines after its heading, `metadata` further ones before `configs`."""
    head = ["---", f"task_categories: [{category}]", f"tags: [bert, {tag}, bertdata]", *metadata, "configs:"]
    heading = ["---", "", f"# {title}", "", f"Made by bertdata {manifest['bertdata']}. {licences}", ""]
    return "\n".join([*head, *data_files(manifest["splits"], files=files), *heading, *body, ""])


def markdown_table(names: Sequence[str], rows: Sequence[Sequence[str | int]]) -> list[str]:
    """Return the lines of a table; columns of whole numbers are set to the right.

    >>> markdown_table(["split", "bytes"], [["train", 1200]])
    ['| split | bytes |', '|---|---:|', '| train | 1,200 |']
    """
    right = [bool(rows) and all(isinstance(row[place], int) for row in rows) for place in range(len(names))]
    lines = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    rule = "|".join("---:" if number else "---" for number in right)
    return [f"| {' | '.join(names)} |", f"|{rule}|", *(f"| {' | '.join(line)} |" for line in lines)]


def data_files(splits: Iterable[str], folder: str = "", files: str = ARROW) -> list[str]:
    """Return the lines of a card's `configs` by which `datasets.load_dataset` finds the shards of each split alone.

    files: what these are called, as a glob.

    >>> data_files(["train"], "128")
    ['- config_name: "128"', '  data_files:', '  - split: train', '    path: 128/train/data-*.arrow']
    """
    lines = [f'- config_name: "{folder or "default"}"', "  data_files:"]
    place = f"{folder}/" if folder else ""
    return lines + [line for split in splits for line in (f"  - split: {split}", f"    path: {place}{split}/{files}")]
