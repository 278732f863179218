"""`bertdata encode-task`: labelled examples to shards for fine-tuning."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bertdata.cli.command_line import VOCABULARY, add_new_output
from bertdata.finetune import TASKS
from bertdata.finetune.layout import is_unlabelled
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task import TASK_SPLITS
from bertdata.finetune.task_shards import encode_task
from bertdata.io.console import Row, counted, table
from bertdata.options.flags import add_flags, add_quiet
from bertdata.options.option import flag_of
from bertdata.options.request import settings_from
from bertdata.sources.labelled.labelled_files import quoted_lines
from bertdata.sources.labelled.unread_columns import splits_in_rows, unread_columns

_QUOTED_SHARE = 0.05
"""The share of lines with quoted fields from which on these are no text, as a few in files of GLUE are."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata encode-task` to a parser."""
    for split in TASK_SPLITS:
        text = "; labels may be missing" if is_unlabelled(split) else ""
        what = f"{split} examples: .jsonl, .json, .csv, .tsv, .parquet; words also .conll, .conllu"
        if split.endswith("_mismatched"):
            what = f"{split.partition('_')[0]} examples of other sources, for --task glue/mnli"
        parser.add_argument(
            flag_of(split),
            required=split == "train",
            metavar="FILE",
            help=what + text,
        )
    parser.add_argument("--vocab", required=True, metavar="PATH", help=VOCABULARY)
    add_new_output(parser)
    parser.add_argument(
        "--text-columns",
        nargs="+",
        default=[],
        metavar="NAME",
        help="columns of the text and the second text, or of the words; numbers from 1 in files without a header; of "
        "texts also a template of several, as '{word}: {sentence}'",
    )
    parser.add_argument("--label-column", metavar="NAME", help="column of the label or the tags (CoNLL: the last)")
    parser.add_argument(
        "--label-columns",
        nargs="+",
        default=[],
        metavar="NAME",
        help="multi-label classification: the columns of 0 and 1, one for each label, in place of --label-column",
    )
    parser.add_argument(
        "--choice-columns",
        nargs="+",
        default=[],
        metavar="NAME",
        help="multiple choice: the column with the list of choices, or a column for each choice",
    )
    parser.add_argument(
        "--label-separator",
        default="",
        metavar="TEXT",
        help="multi-label classification: what separates the labels in a cell of text, as ,",
    )
    parser.add_argument(
        "--labels",
        nargs="+",
        default=[],
        metavar="NAME",
        help="the labels in the order of their ids (default: those of the training file, sorted)",
    )
    add_quiet(parser)
    add_flags(parser, TaskConfig)


def run(arguments: argparse.Namespace) -> int:
    """Encode as parsed arguments say, and print what was written and truncated, unless --quiet."""
    config = settings_from(arguments, TaskConfig)
    paths = {split: getattr(arguments, split) for split in TASK_SPLITS if getattr(arguments, split)}
    columns = columns_from(arguments)
    manifest = encode_task(arguments.output, arguments.vocab, paths, config, columns, force=arguments.force)
    if not arguments.quiet:
        print(table([*summary_rows(manifest), *column_rows(paths["train"], config.task, columns)]))
    mixed = split_warnings(paths, config.task, columns)
    for warning in [*warnings_of(manifest), *quote_warnings(paths.values()), *mixed]:
        print(f"warning: {warning}", file=sys.stderr)
    return 0


def columns_from(arguments: argparse.Namespace) -> Columns:
    """Return the columns that parsed arguments name."""
    return Columns(
        tuple(arguments.text_columns),
        arguments.label_column,
        tuple(arguments.labels),
        tuple(arguments.label_columns),
        arguments.label_separator,
        tuple(arguments.choice_columns),
    )


def warnings_of(manifest: Mapping[str, Any]) -> list[str]:
    """Return a warning for each split of which most tokens, or most tagged words, do not fit into the rows."""
    lines = []
    for split, entry in manifest["splits"].items():
        counts = entry["counts"]
        what, lost, remaining = "tokens", counts.get("truncated_tokens", 0), counts.get("tokens", 0)
        remedy = "a larger --max-seq-length keeps more"
        if words := counts.get("words"):
            what, lost, remaining = "words", counts["truncated_words"], words - counts["truncated_words"]
            remedy += ", or a blank line after each sentence where the file has none"
        if lost > remaining:
            number = f"{lost:,} of {lost + remaining:,} {what}"
            lines.append(f"{split}: {number} are cut off, as they do not fit into rows; {remedy}")
    return lines


def quote_warnings(paths: Iterable[str]) -> Iterator[str]:
    """Yield a warning for each table with tabs that was written with the quotes of CSV, which are read as text."""
    for path in paths:
        quoted, lines = quoted_lines(path)
        if quoted > lines * _QUOTED_SHARE:
            yield (
                f"{path}: {quoted:,} of the first {counted(lines, 'line')} have a field in quotes, as those of CSV; "
                "where fields are separated by tabs, quotes are text, and stay in the examples; write the file "
                "with commas, as .csv, or without these quotes"
            )


def split_warnings(paths: Mapping[str, str], task: str, columns: Columns) -> Iterator[str]:
    """Yield a warning for each file with rows of several splits, as a column says that is not read."""
    file_columns = TASKS[task].file_columns
    for split, path in paths.items() if file_columns else ():
        name, splits = splits_in_rows(path, unread_columns(path, tuple(file_columns(path, columns))))
        if name:
            own = next((value for value in splits if value.lower().startswith(split[:3])), splits[0])
            yield (
                f"{path}: {name!r} says that its rows are of {', '.join(splits)}; they are all in the split {split}; "
                f"take those of one, as of JSON lines by jq -c 'select(.{name} == \"{own}\")' FILE > NEW"
            )


def column_rows(path: str, task: str, columns: Columns) -> list[Row]:
    """Return the row of a summary that says which columns of a file were read, and which were not."""
    file_columns = TASKS[task].file_columns
    if not file_columns:
        return []
    read = tuple(file_columns(path, columns))
    unread = unread_columns(path, read)
    return [("columns", ", ".join(read)), *([("  not read", ", ".join(unread))] if unread else [])]


def summary_rows(manifest: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a summary; counts of 0 are left out but for those of examples and truncated examples."""
    rows: list[Row] = [
        ("task", manifest["info"]["task"]),
        ("row", f"up to {manifest['info']['max_seq_length']} tokens"),
    ]
    if labels := manifest["info"]["labels"]:
        rows.append((f"{counted(len(labels), 'label')}", ", ".join(labels)))
    for split, entry in manifest["splits"].items():
        counts = entry["counts"]
        rows.append((split, f"{counted(counts['examples'], 'example')}"))
        rows += [
            (f"  {name.replace('_', ' ')}", f"{number:,}")
            for name, number in counts.items()
            if name != "examples" and (number or name == "truncated_examples")
        ]
    return rows
