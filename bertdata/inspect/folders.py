"""What a folder that bertdata wrote holds, for those kinds that have no page of their own in `show`, `stats`, `report`.

Documents, vocabularies, sentence parameters, exports, models and checkpoints; builds and tasks are opened as shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from bertdata.documents import open_parquet, read_batches
from bertdata.errors import BertDataError, InputError, printable_lines
from bertdata.io import files, listing
from bertdata.io.arrow_data import reading_arrow
from bertdata.io.bounded_lines import bounded_lines
from bertdata.io.console import Row, byte_size, counted, figure
from bertdata.io.json_shape import check_shape
from bertdata.sources.finished import texts_again

_SHOWN = 3
_START = 300
_TOKENS = 12
_SENTENCES = "abbrev_types.txt"
_OF_BUILDS = ({"manifest.json"}, {"dataset_dict.json"}, {"stages", "tokenizer"})
"""What tells a build; one without its manifest is unfinished or damaged, and its tokenizer no vocabulary to show.

train-vocab and train-sentences have stages, too, beside the files of what they made.
"""
DOCUMENTS, VOCABULARY = "documents", "a vocabulary"
"""Kinds that have a report of their own."""


@dataclass(frozen=True)
class Folder:
    """What a folder holds: its kind, rows of figures, a few things in it as text, and the commands that use it."""

    kind: str
    rows: list[Row]
    shown: list[str]
    used_by: str


def describe(path: str) -> Folder | None:
    """Return what a folder or a vocabulary file holds; None where bertdata did not write it, or it is a build."""
    names = set(listing.names(path))
    if any(tell_tale <= names for tell_tale in _OF_BUILDS):
        return None
    readers: list[tuple[bool, Callable[[str], Folder]]] = [
        ("export.json" in names, _export),
        (names >= {"state.json", "optimizer.pt"}, _checkpoint),
        (_SENTENCES in names, _sentences),
        ("log.jsonl" in names, _run),
        ("config.json" in names, _model),
        (any(name.endswith(".parquet") for name in names), _documents),
    ]
    for fits, read in readers:
        if fits:
            return read(path)
    return _vocabulary(path)


def _object(data: bytes, path: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object in a file that may come from anyone; raises InputError where it has another shape."""
    values = files.parse_json(data, path)
    try:
        check_shape(values, shape, "the whole")
    except ValueError as error:
        raise InputError(
            f"does not say what bertdata writes there ({error}); restore it, or make it again", path=path
        ) from error
    return cast("dict[str, Any]", values)


def _read_object(path: str, shape: Mapping[str, Any]) -> dict[str, Any]:
    return _object(files.read_bytes(path), path, shape)


def _export(path: str) -> Folder:
    values = _read_object(files.join(path, "export.json"), {"splits": {"*": [{"rows": int, "bytes": int}]}})
    settings = {name: value for name, value in values.items() if isinstance(value, str | int) and name != "bertdata"}
    rows = [
        (name.replace("_", " "), f"{value:,}" if type(value) is int else str(value)) for name, value in settings.items()
    ]
    for split, entries in values.get("splits", {}).items():
        number, size = (sum(entry.get(name, 0) for entry in entries) for name in ("rows", "bytes"))
        rows.append((split, f"{counted(number, 'row')} in {counted(len(entries), 'file')}, {byte_size(size)}"))
    return Folder("an export of `bertdata export`", rows, [], "the library that it was exported for; docs/formats.md")


def _checkpoint(path: str) -> Folder:
    state = _read_object(files.join(path, "state.json"), {"step": int, "settings": {}})
    rows = [("step", f"{state.get('step', 0):,}"), *_config_rows(path), *_chosen(state.get("settings", {}))]
    used_by = "`bertdata pretrain --branch`, or `bertdata finetune --model`"
    return Folder("a checkpoint of `bertdata pretrain`", rows, [], used_by)


def _run(path: str) -> Folder:
    rows = _config_rows(path)
    log = files.join(path, "log.jsonl")
    end = b""
    with files.open_raw(log) as file:
        for line in bounded_lines(file, log, "JSON lines, one object in a line"):
            end = line if line.endswith(b"\n") else end
    if end:
        last = _object(end, log, {})
        rows += [(f"last, {name.replace('_', ' ')}", _number(value)) for name, value in last.items()]
    steps = [name for name in listing.names(files.join(path, "checkpoints")) if name.startswith("step-")]
    rows.append(("checkpoints", ", ".join(sorted(steps)) or "none is left"))
    return Folder("a run of training", rows, [], "`bertdata finetune --model`, or transformers' from_pretrained")


def _model(path: str) -> Folder:
    return Folder("a model", _config_rows(path), [], "`bertdata finetune --model`, or transformers' from_pretrained")


def _config_rows(path: str) -> list[Row]:
    data = files.read_if_there(where := files.join(path, "config.json"))
    config = {} if data is None else _object(data, where, {})
    names = ("model_type", "num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")
    rows = [(name.replace("_", " "), _number(config[name])) for name in names if name in config]
    weights = files.join(path, "model.safetensors")
    return [*rows, ("weights", byte_size(files.size(weights)))] if files.exists(weights) else rows


def _chosen(settings: Mapping[str, Any]) -> Iterator[Row]:
    for name in ("batch_size", "learning_rate", "max_steps", "warmup", "seed"):
        if name in settings:
            yield name.replace("_", " "), _number(settings[name])


def _number(value: Any) -> str:
    return f"{value:,}" if type(value) is int else figure(value) if isinstance(value, float) else str(value)


def _sentences(path: str) -> Folder:
    rows, some = [], []  # of a file that may be empty, as collocations of a small corpus
    for name in sorted(listing.names(path)):
        if name.endswith((".txt", ".tab")):
            lines = (files.read_if_there(files.join(path, name)) or b"").splitlines()
            rows.append((name.partition(".")[0].replace("_", " "), f"{len(lines):,}"))
            if name == _SENTENCES:
                some = [line.decode(errors="replace").strip() for line in lines[:_TOKENS]]
    return Folder("sentence parameters", rows, [f"abbreviations: {' '.join(some)}"], "`--sentences` of a build")


def _documents(path: str) -> Folder:
    names = sorted(name for name in listing.names(path) if name.endswith(".parquet"))
    documents = 0
    samples: list[str] = []
    for name in names:
        where = files.join(path, name)
        with files.open_raw(where) as raw, reading_arrow(where, "cannot be read", "write it again with what made it"):
            table = open_parquet(raw, where)
            documents += table.metadata.num_rows
            if len(samples) < _SHOWN and table.metadata.num_rows and {"text"} <= set(table.schema_arrow.names):
                columns = [name for name in ("title", "id", "text") if name in table.schema_arrow.names]
                first = next(read_batches(raw, where, columns=columns))
                samples += [_document(row) for row in first.slice(0, _SHOWN - len(samples)).to_pylist()]
        if len(samples) < _SHOWN:
            with suppress(InputError):  # of a source that is gone
                for again in texts_again(where) or []:
                    samples += [_document(row) for row in again.slice(0, _SHOWN - len(samples)).to_pylist()]
                    break
    size = sum(entry.size for name, entry in listing.entries(path).items() if name in names)
    rows = [("documents", f"{documents:,}"), ("parts", f"{counted(len(names), 'Parquet file')}, {byte_size(size)}")]
    return Folder(DOCUMENTS, rows, samples, "`--documents` of build, train-vocab, train-sentences and build-shards")


def _document(row: Mapping[str, Any]) -> str:
    text = " ".join(str(row["text"])[:_START].split())
    return (
        f"{row.get('title') or row.get('id') or 'untitled'}\n  {text}{' ...' if len(str(row['text'])) > _START else ''}"
    )


def _vocabulary(path: str) -> Folder | None:
    from bertdata.tokenizers.loading import load_tokenizer

    try:
        tokenizer = load_tokenizer(path)
    except BertDataError:
        return None
    count = tokenizer.vocab_size
    some = [tokenizer.tokens[count * (place + 1) // (_TOKENS + 1)] for place in range(_TOKENS)]
    rows = [
        ("tokenizer", type(tokenizer).__name__),
        ("tokens", f"{count:,}"),
        ("special tokens", " ".join(tokenizer.special_tokens)),
        ("encoded by", "tokenizers" if tokenizer.slow_because else "kernels"),
    ]
    if tokenizer.continuation is not None:
        continuing = int(tokenizer.continuation.sum())
        rows.append(("tokens that continue a word", f"{continuing:,} ({continuing / max(1, count):.1%})"))
    used_by = "`--vocab` of a build; `bertdata tokenize`"
    return Folder(VOCABULARY, rows, [f"some tokens: {' '.join(some)}"], used_by)


def text_of(folder: Folder, path: str) -> str:
    """Return what the commands print of a folder."""
    from bertdata.io.console import table

    rows = [(path, folder.kind), *folder.rows, ("used by", folder.used_by)]
    return "\n\n".join([table(rows), *map(printable_lines, folder.shown)])
