"""The columns of a shard and what its Arrow schema says of itself.

A shard is an Arrow IPC stream of unpadded lists, in the layout that `datasets.load_from_disk` maps. The schema's
metadata carries `huggingface` (the features) and `bertdata` (a `ShardInfo`): enough to read a shard alone. Nothing in
it names a machine, a path or a time, so the same corpus gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.objective import Objective, find_objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.packed import BORDERS
from bertdata.tokenizers.base import Tokenizer

FORMAT = 1
SPLITS = ("train", "validation")


@dataclass(frozen=True)
class ShardInfo:
    """What a reader must know of shards: how they were made, and the ids it needs to mask and pad them.

    sources: the names that the column `source` numbers; epochs: of each, in train, where `--mix` weights them.
    """

    examples: ExamplesConfig
    masking: MaskingConfig
    tokenizer: str
    vocab_size: int
    pad_token_id: int
    cls_token_id: int
    sep_token_id: int
    mask_token_id: int
    unk_token_id: int
    sources: tuple[str, ...] = ()
    epochs: tuple[float, ...] = ()
    format: int = FORMAT

    @property
    def objective(self) -> Objective:
        """The objective of the rows; raises ConfigError for one that is not there."""
        return find_objective(self.examples.objective)

    @property
    def label(self) -> str | None:
        """The name of the pair label's column, None where the objective has none."""
        return self.objective.label

    def masker(self, tokenizer: Tokenizer, masking: MaskingConfig | None = None, seed: int | None = None) -> Masker:
        """Return what masks rows of this vocabulary, with the settings and the seed of the shards unless given."""
        return Masker(
            masking or self.masking,
            self.examples.seed if seed is None else seed,
            self.cls_token_id,
            self.sep_token_id,
            self.mask_token_id,
            tokenizer.replacement_ids,
            tokenizer.continuation,
        )

    @property
    def purpose(self) -> str:
        """What the rows are for."""
        return "pretraining"

    @property
    def batch_lists(self) -> tuple[str, ...]:
        """The columns of lists that go into a batch, padded."""
        return ("input_ids", "token_type_ids", *(["labels"] if self.examples.masking == "static" else []))

    @property
    def batch_numbers(self) -> dict[str, str]:
        """The columns of numbers that go into a batch, and what they are called there."""
        return {self.label: self.label} if self.label else {}

    def columns(self) -> list[pa.Field]:
        """Return the columns of a shard; `shard_schema` says what they hold."""
        ids = pa.field("input_ids", pa.list_(id_type(self.vocab_size)))
        fields = [ids, pa.field("token_type_ids", pa.list_(pa.uint8()))]
        if self.label:
            fields.append(pa.field(self.label, self._each(pa.int8())))
        fields.append(pa.field("example_id", self._each(pa.int64())))
        if self.sources:
            fields.append(pa.field("source", self._each(pa.int8())))
        if self.examples.masking == "static":
            fields.append(pa.field("labels", pa.list_(label_type(self.vocab_size))))
        if self.examples.pack:
            fields.append(pa.field(BORDERS, pa.list_(pa.int32())))
        return fields

    def _each(self, kind: pa.DataType) -> pa.DataType:
        """Return the type of a column that has one value for each example."""
        return pa.list_(kind) if self.examples.pack else kind

    def values(self) -> dict[str, Any]:
        """Return it as the JSON of a schema or a manifest."""
        return asdict(self) | {"sources": list(self.sources), "epochs": list(self.epochs)}

    @staticmethod
    def from_schema(schema: pa.Schema, path: str) -> ShardInfo:
        """Read it back from a shard's schema; raises InputError where the file is not one of our shards."""
        text = (schema.metadata or {}).get(b"bertdata")
        if text is None:
            raise InputError(
                "is an Arrow file, but not a bertdata shard; expected one written by build_shards", path=path
            )
        try:
            values = json.loads(text)
        except ValueError as error:
            raise InputError(f"has damaged metadata ({error}); build again", path=path) from error
        return ShardInfo.from_values(values, path)

    @staticmethod
    def from_values(values: Any, path: str) -> ShardInfo:
        """Make it of the JSON of a schema or a manifest; raises InputError where that is not whole."""
        found = values.get("format") if isinstance(values, dict) else None
        if found != FORMAT:
            raise InputError(f"has shard format {found}; this version reads {FORMAT}: build again", path=path)
        if "task" in values:
            from bertdata.shards.task_info import task_info

            return task_info(values, path)
        try:
            settings = {"examples": ExamplesConfig(**values["examples"]), "masking": MaskingConfig(**values["masking"])}
            named = {name: tuple(values.get(name, ())) for name in ("sources", "epochs")}
            info = ShardInfo(**(values | settings | named))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"does not say how it was made ({error}); build again", path=path) from error
        numbers = [getattr(info, one.name) for one in fields(info) if one.type == "int"]
        if not all(type(number) is int for number in numbers) or not isinstance(info.tokenizer, str):
            raise InputError("does not say which tokenizer it was made with; build again", path=path)
        if not all(isinstance(one, str) for one in info.sources) or not all(
            isinstance(one, (int, float)) for one in info.epochs
        ):
            raise InputError("does not say which sources it was made of; build again", path=path)
        return info


def shard_info(
    tokenizer: Tokenizer,
    examples: ExamplesConfig,
    masking: MaskingConfig,
    sources: Sequence[str] = (),
    epochs: Sequence[float] = (),
) -> ShardInfo:
    """Return what shards made with a tokenizer, settings and sources say of themselves."""
    return ShardInfo(
        examples=examples,
        masking=masking,
        tokenizer=tokenizer.fingerprint,
        vocab_size=tokenizer.vocab_size,
        pad_token_id=tokenizer.pad_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        mask_token_id=tokenizer.mask_token_id,
        unk_token_id=tokenizer.unk_token_id,
        sources=tuple(sources),
        epochs=tuple(epochs),
    )


def id_type(vocab_size: int) -> pa.DataType:
    """Return the type of token ids: uint16 where the vocabulary fits, else uint32."""
    return pa.uint16() if vocab_size <= 1 << 16 else pa.uint32()


def label_type(vocab_size: int) -> pa.DataType:
    """Return the type of labels, which are ids or -100: int16 where the vocabulary fits, else int32."""
    return pa.int16() if vocab_size <= 1 << 15 else pa.int32()


def numpy_type(kind: pa.DataType) -> Any:
    """Return the NumPy data type of an Arrow number, without pandas, which pyarrow's `to_pandas_dtype` imports.

    >>> numpy_type(pa.uint16()), numpy_type(pa.float32())
    (dtype('uint16'), dtype('float32'))
    """
    return pa.array([], kind).to_numpy(zero_copy_only=False).dtype


def shard_schema(info: ShardInfo) -> pa.Schema:
    """Return the columns for an objective and masking, with the metadata.

    `next_sentence_label`: 0 is IsNext, 1 is NotNext; `sentence_order_label`: 0 in order, 1 swapped; `labels` (static
    masking only): the id to predict, -100 elsewhere; `example_id`: what a dynamic mask is drawn by; `source`: the place
    in `info.sources` of the document that the first token is of. In packed rows the last two and the label are lists,
    and `cu_seqlens` says where the examples end.
    """
    schema = pa.schema(info.columns())
    metadata = {
        "huggingface": json.dumps({"info": {"features": features(schema)}}),
        "bertdata": json.dumps(info.values(), sort_keys=True),
    }
    return schema.with_metadata(metadata)


def features(schema: pa.Schema) -> dict[str, Any]:
    """Return the columns as `datasets` writes them into dataset_info.json."""

    def feature(kind: pa.DataType) -> dict[str, Any]:
        if pa.types.is_list(kind):
            return {"_type": "Sequence", "feature": feature(kind.value_type)}
        return {"_type": "Value", "dtype": str(kind)}

    return {field.name: feature(field.type) for field in schema}


def data_files(splits: Iterable[str], folder: str = "") -> list[str]:
    """Return the lines of a card's `configs` by which `datasets.load_dataset` finds the shards of each split alone.

    >>> data_files(["train"], "128")
    ['- config_name: "128"', '  data_files:', '  - split: train', '    path: 128/train/data-*.arrow']
    """
    lines = [f'- config_name: "{folder or "default"}"', "  data_files:"]
    place = f"{folder}/" if folder else ""
    return lines + [line for one in splits for line in (f"  - split: {one}", f"    path: {place}{one}/data-*.arrow")]
