"""Import: pretraining rows from files of other tools to shards, such as TFRecords of Google's create_pretraining_data.

Each file becomes one shard, its rows in their order, without their padding, the masks static as they are in the file;
a loader draws them where it has none. Every row is checked against the vocabulary and the row template of its
tokenizer. How the rows were made is not in these files, so only what can be seen is in the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata import __version__
from bertdata.corpus.manifest import write_dataset_files
from bertdata.engine.origin import Origin
from bertdata.engine.output_lock import output_lock, refuse_own
from bertdata.engine.parts import Counters, Counts, add_counts
from bertdata.errors import ConfigError, InputError
from bertdata.formats import IMPORT_FORMATS
from bertdata.formats.base import ImportFormat
from bertdata.formats.static import FIELDS, Fields
from bertdata.io import files
from bertdata.io.patterns import ends_in, expand
from bertdata.io.unchanged import file_states, require_unchanged, unchanged
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.objective import find_objective
from bertdata.objectives.settings import SHORTEST_ROW, ExamplesConfig
from bertdata.shards.columns import WORD_STARTS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import FORMAT, SPLITS, numpy_type, shard_schema
from bertdata.sources.arrow_tables import ARROW
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.roles import require_rows

_OF_MASKS = FIELDS[3:-1]


def import_shards(
    sources: Mapping[str, Sequence[str]], vocab: str, output: str, objective: str = "", *, force: bool = False
) -> dict[str, Any]:
    """Import files, folders or globs by split (train is needed) and return the manifest.

    objective: what the pair label means where the files have one; nsp if it is not given. Raises InputError, with the
    record or row, where a file is damaged, was made with another vocabulary or is not laid out as its rows,
    ConfigError for settings that do not fit the files, OutputError where the folder holds something else or, unless
    `force` is given, what was imported from files that are left out now.
    """
    tokenizer = load_tokenizer(vocab)
    require_rows(tokenizer, vocab, masked=True)
    suffixes = [suffix for name in IMPORT_FORMATS for suffix in IMPORT_FORMATS[name].suffixes]
    paths = {split: _without_caches(expand(sources[split], suffixes)) for split in SPLITS if sources.get(split)}
    refuse_own(output, [path for of_split in paths.values() for path in of_split])
    states = file_states(path for of_split in paths.values() for path in of_split)
    info = _info(tokenizer, paths, objective)
    origin = Origin.of("import", states)
    with output_lock(output, "imported shards", origin, force=force):
        for name in ("manifest.json", "dataset_dict.json", "README.md", *SPLITS):
            files.remove(files.join(output, name))
        entries: dict[str, Any] = {}
        begin = 0
        for split, of_split in paths.items():
            shards: list[dict[str, Any]] = []
            for number, path in enumerate(of_split):
                name = f"{split}/data-{number:05d}-of-{len(of_split):05d}.arrow"
                target = files.join(output, *name.split("/"))
                with files.atomic_write(target) as file, unchanged({path: states[path]}):
                    counters = import_file(path, info, begin, file, tokenizer)
                begin += counters.counts["examples"]
                size, digest = files.size(target), files.sha256(target)
                shards.append({"file": name, "bytes": size, "sha256": digest, "counts": counters.counts})
            entries[split] = {"counts": add_counts(shard["counts"] for shard in shards), "shards": shards}
        tokenizer.save_pretrained(files.join(output, "tokenizer"))
        require_unchanged(states)
        manifest = _manifest(info, paths, entries)
        return write_dataset_files(output, manifest, info)


def _without_caches(paths: list[str]) -> list[str]:
    """Return files without the Arrow files that `datasets` keeps beside those of its folders."""
    tables = [path for path in paths if ends_in(path, ARROW.suffixes)]
    data = {*ARROW.select(tables)}
    return [path for path in paths if path in data or not ends_in(path, ARROW.suffixes)]


def import_file(path: str, info: PretrainingInfo, first_id: int, file: BinaryIO, tokenizer: Tokenizer) -> Counters:
    """Write the rows of a file as one shard, `example_id` counting from `first_id`; counts what is in it."""
    schema, counters, begin = shard_schema(info), Counters(), 0
    for name in ("examples", "documents", "tokens_in_examples", "row_tokens", "labels_1", "predictions"):
        counters.add(name, 0)
    with pa.ipc.new_stream(file, schema) as writer:
        for fields in read_fields(path, tokenizer):
            if of_any_length(path):
                fields = widened(fields, info)  # noqa: PLW2901
            begin += _write_rows(writer, schema, checked(fields, info, path, begin), first_id + begin, info, counters)
    return counters


def of_any_length(path: str) -> bool:
    """Tell whether the rows of a file are not padded to one length."""
    return bool(files.size(path)) and format_of(path).read_tokens is not None


def widened(fields: Fields, info: PretrainingInfo) -> Fields:
    """Return rows that are padded as far as those of the shards may go; longer ones stay as they are."""
    wider = {}
    for name, values in fields.items():
        most = info.masking.max_predictions_per_seq if name.startswith("masked_lm") else info.examples.max_seq_length
        missing = max(0, most - values.shape[1]) if values.ndim == 2 else 0
        filler = info.pad_token_id if name == "input_ids" else 0
        wider[name] = np.pad(values, ((0, 0), (0, missing)), constant_values=filler) if missing else values
    return wider


def read_fields(path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of a file as Google's fields, some at a time.

    A file of no bytes has no rows, as a shard without any (of a length bin that is empty) is exported to TFRecord.
    """
    if files.size(path):
        yield from format_of(path).fields(path, tokenizer)


def format_of(path: str) -> ImportFormat:
    """Return the import format of a file, found by its first bytes, then by its name (see `ImportFormat`)."""
    formats: list[ImportFormat] = [IMPORT_FORMATS[name] for name in IMPORT_FORMATS]
    with files.open_raw(path) as raw:
        head = raw.read(max(len(candidate.signature) for candidate in formats))
    fitting = [candidate for candidate in formats if head.startswith(candidate.signature)]
    return max(fitting, key=lambda candidate: (len(candidate.signature), ends_in(path, candidate.suffixes)))


def _info(tokenizer: Tokenizer, paths: Mapping[str, Sequence[str]], objective: str) -> PretrainingInfo:
    """Return what the shards say of themselves, from the first rows there are, and the longest where they differ."""
    train = paths["train"]
    first_read = next(((path, fields) for path in train for fields in read_fields(path, tokenizer)), None)
    if first_read is None:
        raise InputError(
            f"the files of train ({len(train)} in all) have no rows; expected at least one row", path=train[0]
        )
    path, fields = first_read
    has_types = tokenizer.row_template.has_types
    _check_fields(fields, path, has_types)
    has_label, masked = "next_sentence_labels" in fields, _is_masked(fields)
    chosen = objective or ("nsp" if has_label else "doc-sentences")
    if bool(find_objective(chosen).label) != has_label:
        what = "a pair label (next_sentence_labels)" if has_label else "no pair label"
        raise ConfigError(f"has {what}, which --objective {chosen} does not go with", path=path)
    length, room = fields["input_ids"].shape[1], fields["masked_lm_positions"].shape[1] if masked else 0
    for other in (
        found_path for found_paths in paths.values() for found_path in found_paths if of_any_length(found_path)
    ):
        for rows in read_fields(other, tokenizer):
            _check_fields(rows, other, has_types)
            length = max(length, rows["input_ids"].shape[1], SHORTEST_ROW)
            room = max(room, rows["masked_lm_positions"].shape[1] if masked and _is_masked(rows) else 0)
    starts = WORD_STARTS in fields
    if not masked:
        examples = ExamplesConfig(objective=chosen, masking="dynamic", max_seq_length=length)
        return PretrainingInfo.of(tokenizer, examples=examples, masking=MaskingConfig(), word_starts=starts)
    examples = ExamplesConfig(objective=chosen, masking="static", max_seq_length=length)
    masking = MaskingConfig(max_predictions_per_seq=room)
    return PretrainingInfo.of(tokenizer, examples=examples, masking=masking, word_starts=starts)


def _is_masked(fields: Fields) -> bool:
    """Tell whether rows have their masks; rows with some of their fields have them, and lack the others."""
    return any(name in fields for name in _OF_MASKS)


def _check_fields(fields: Fields, path: str, has_types: bool) -> None:
    of_tokens = [name for name in FIELDS[:3] if has_types or name != "segment_ids"]
    of_tokens += [WORD_STARTS] if WORD_STARTS in fields else []
    needed = [*of_tokens, *(_OF_MASKS if _is_masked(fields) else ())]
    missing = [name for name in needed if name not in fields]
    if missing:
        raise InputError(
            f"has no field {missing[0]!r}, it has {', '.join(fields)}; expected pretraining data of Google's or "
            "NVIDIA's BERT",
            path=path,
        )
    shapes = {name: np.shape(fields[name]) for name in [*needed, FIELDS[-1]] if name in fields}
    rows, *width = shapes["input_ids"]
    room = shapes.get("masked_lm_positions", (rows, 0))[1:]
    expected = [(rows, *width)] * len(of_tokens) + [(rows, *room)] * (len(needed) - len(of_tokens))
    if len(width) != 1 or len(room) != 1 or [shapes[name] for name in needed] != expected:
        raise InputError(
            f"has fields of the shapes {', '.join(f'{name} {shape}' for name, shape in shapes.items())}; expected "
            f"(rows, tokens) for {', '.join(of_tokens)}, and (rows, predictions) for {', '.join(FIELDS[3:-1])}",
            path=path,
        )


def checked(fields: Fields, info: PretrainingInfo, path: str, begin: int) -> Fields:
    """Return fields that are rows of the shards' template and vocabulary; raises InputError, with the row, if not.

    `begin` is the number of the first row in its file.
    """
    template = info.row_template
    _check_fields(fields, path, template.has_types)
    masked = _is_masked(fields)
    if (WORD_STARTS in fields) != info.word_starts:
        raise InputError(f"has rows with or without {WORD_STARTS}, unlike the first file; import them apart", path=path)
    if masked == info.draws_masks:
        raise InputError(
            f"has rows {'with' if masked else 'without'} masks, and the first file {'without' if masked else 'with'} "
            "them; import files of one kind at a time",
            path=path,
        )
    width, room = info.examples.max_seq_length, info.masking.max_predictions_per_seq if masked else 0
    shapes = (fields["input_ids"].shape[1], fields["masked_lm_positions"].shape[1] if masked else 0)
    if shapes != (width, room) or ("next_sentence_labels" in fields) != bool(info.label):
        raise InputError(
            f"has rows of {shapes[0]} tokens and {shapes[1]} predictions at most, the first file {width} and {room}, "
            "or a pair label where that has none; import files of one kind at a time",
            path=path,
        )
    ids, mask = fields["input_ids"], fields["input_mask"]
    lengths = mask.sum(1)
    rows = np.arange(len(ids))
    places = np.arange(width)
    originals = fields["masked_lm_ids"] if masked else ids
    largest, smallest = np.maximum(ids.max(1), originals.max(1)), np.minimum(ids.min(1), originals.min(1))

    def refuse(wrong: Any, message: str) -> None:
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            seen = {"first": ids[row, 0], "last": ids[row, lengths[row] - 1]}
            seen["largest"] = largest[row] if smallest[row] >= 0 else smallest[row]
            raise InputError(f"row {begin + row} {message.format(**seen)}", path=path)

    short = lengths <= template.special(pair=False)
    refuse((mask != (places < lengths[:, None])).any(1) | short, "has an input_mask that is not ones, then zeros")
    refuse(
        (largest >= info.vocab_size) | (smallest < 0),
        f"has the id {{largest}}, and the vocabulary ends at {info.vocab_size - 1}: it was made with another one; give "
        "that with --vocab",
    )
    begin_ids, end_ids = len(template.prefix), lengths - len(template.suffix)
    other = (ids[:, :begin_ids] != np.array(template.prefix, np.int64)).any(1)
    for place, token_id in enumerate(template.suffix):
        other |= ids[rows, end_ids + place] != token_id
    refuse(
        other,
        f"begins with the id {{first}} and ends with {{last}}; in this vocabulary rows begin with "
        f"{', '.join(map(str, template.prefix)) or 'text'} and end with "
        f"{', '.join(map(str, template.suffix)) or 'text'}: it was made with another one; give that with --vocab",
    )
    if template.has_types:
        types, expected_types = fields["segment_ids"], sorted({0, template.second_type, template.last_type or 0})
        refuse(
            ~np.isin(types, expected_types).all(1),
            f"has segment_ids other than {' and '.join(map(str, expected_types))}",
        )
    if masked:
        weights, positions = fields["masked_lm_weights"] > 0, fields["masked_lm_positions"]
        refuse(
            (weights & ((positions < begin_ids) | (positions >= end_ids[:, None]))).any(1),
            "predicts a token outside its text",
        )
        ordered = np.sort(np.where(weights, positions, -1 - np.arange(room)), axis=1)
        refuse((np.diff(ordered, axis=1) == 0).any(1), "predicts one token twice")
    else:
        refuse(
            (ids == info.mask_token_id).any(1),
            "has the id of [MASK] and no labels: it was masked before; expected ids that are not masked, or labels",
        )
    if info.label:
        labels: NDArray[np.int64] = fields["next_sentence_labels"].reshape(-1)
        refuse((labels < 0) | (labels > 1), "has a pair label other than 0 and 1")
    return fields


def _write_rows(
    writer: pa.RecordBatchWriter,
    schema: pa.Schema,
    fields: Fields,
    first_id: int,
    info: PretrainingInfo,
    counters: Counters,
) -> int:
    """Write checked rows as one record batch, and count them; returns how many there are."""
    number = len(fields["input_ids"])
    taken = fields["input_mask"] > 0
    lengths = taken.sum(1)
    targets = np.full(taken.shape, IGNORE_INDEX, np.int64)
    if not info.draws_masks:
        row, column = np.nonzero(fields["masked_lm_weights"] > 0)
        targets[row, fields["masked_lm_positions"][row, column]] = fields["masked_lm_ids"][row, column]
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    columns: dict[str, pa.Array] = {"example_id": pa.array(np.arange(first_id, first_id + number, dtype=np.int64))}
    values = {"input_ids": fields["input_ids"]} | ({} if info.draws_masks else {"labels": targets})
    if info.row_template.has_types:
        values["token_type_ids"] = fields["segment_ids"]
    if info.word_starts:
        flags = pa.array(fields[WORD_STARTS][taken] > 0)
        columns[WORD_STARTS] = pa.ListArray.from_arrays(offsets, flags)
    for name, rows in values.items():
        kind = schema.field(name).type.value_type
        columns[name] = pa.ListArray.from_arrays(offsets, pa.array(rows[taken].astype(numpy_type(kind)), kind))
    if info.label:
        labels = fields["next_sentence_labels"].reshape(-1).astype(np.int8)
        columns[info.label] = pa.array(labels)
        counters.add("labels_1", int(labels.sum()))
    writer.write_batch(pa.RecordBatch.from_arrays([columns[field.name] for field in schema], schema=schema))
    shown, original = fields["input_ids"][targets != IGNORE_INDEX], targets[targets != IGNORE_INDEX]
    template = info.row_template
    around = [*template.prefix, *template.between, *template.suffix]
    special = np.isin(np.where(targets == IGNORE_INDEX, fields["input_ids"], targets), around)
    counters.add("examples", number)
    counters.add("row_tokens", int(lengths.sum()))
    counters.add("tokens_in_examples", int((taken & ~special).sum()))
    counters.add("predictions", len(original))
    counters.add("predictions_mask", int((shown == info.mask_token_id).sum()))
    counters.add("predictions_kept", int((shown == original).sum()))
    counters.add("predictions_capped_rows", 0)
    return number


def _manifest(info: PretrainingInfo, paths: dict[str, list[str]], entries: dict[str, Any]) -> dict[str, Any]:
    inputs = [{"name": files.name(path), "bytes": files.size(path)} for of_split in paths.values() for path in of_split]
    counts: Counts = {"rows": sum(entry["counts"]["examples"] for entry in entries.values())}
    return {
        "format": FORMAT,
        "bertdata": __version__,
        "info": info.values(),
        "imported": True,
        "sources": {"imported": {"inputs": inputs, "counts": counts, "drops": {}, "broken": []}},
        "vocabulary": {"pieces": info.vocab_size},
        "tokens": {"counts": {}, "drops": {}},
        "notes": []
        if info.draws_masks
        else ["imported: the masks are those of the files, whatever the settings say they would be"],
        "splits": entries,
    }
