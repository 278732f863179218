"""The columns of a shard, and the metadata of its Arrow schema.

A shard is an Arrow IPC stream of unpadded lists, in the layout that `datasets.load_from_disk` maps. The schema's
metadata has `huggingface` (the features) and `bertdata` (a `ShardInfo`), so a shard can be read without the files
beside it. It names no machine, path or time, so the same corpus gives the same bytes.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

import pyarrow as pa

from bertdata.errors import InputError, parse_problem
from bertdata.shards import KINDS
from bertdata.shards.card import ARROW
from bertdata.shards.columns import INPUT_IDS, TOKEN_TYPE_IDS
from bertdata.shards.info_numbers import Number, check_numbers, id_numbers, read_template_ids
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.pairs import RowTemplate, SingleTemplate, bert_template
from bertdata.tokenizers.roles import require_rows

FORMAT = 1
SPLITS = ("train", "validation")


@dataclass(frozen=True, kw_only=True)
class ShardInfo(ABC):
    """What a reader must know of any shards: the ids of their vocabulary. Subclasses say what the rows are.

    tokenizer: the fingerprint of the tokenizer they were made with. The id of a special token that it lacks is -1.
    template: what stands around the texts of a row, None for [CLS] a [SEP] b [SEP] with token types 0 and 1.
    """

    tokenizer: str
    vocab_size: int
    pad_token_id: int
    cls_token_id: int
    sep_token_id: int
    mask_token_id: int
    unk_token_id: int
    format: int = FORMAT
    template: RowTemplate | None = None

    masked: ClassVar[bool] = False
    """Whether tokens of the rows are masked, by a loader or in the shards."""
    splits: ClassVar[tuple[str, ...]]
    """The names of possible splits, in their order."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, **others: Any) -> Self:
        """Return it for shards made with a tokenizer; `others` are the fields of the subclass.

        Raises ConfigError where rows cannot be made with it.
        """
        require_rows(tokenizer, masked=cls.masked)
        return cls(**vocabulary_fields(tokenizer), **others)

    @property
    def row_template(self) -> RowTemplate:
        """What stands around the texts of a row."""
        return self.template or bert_template(self.cls_token_id, self.sep_token_id)

    @property
    def token_columns(self) -> dict[str, pa.DataType]:
        """The first columns of a shard: `input_ids` and, where rows have them, `token_type_ids`."""
        types = {TOKEN_TYPE_IDS: pa.list_(pa.uint8())} if self.row_template.has_types else {}
        return {INPUT_IDS: pa.list_(id_type(self.vocab_size))} | types

    @property
    @abstractmethod
    def purpose(self) -> str:
        """What the rows are for."""

    @property
    @abstractmethod
    def max_seq_length(self) -> int:
        """The most tokens of an example, special tokens included."""

    @property
    def row_length(self) -> int:
        """The most tokens of a row, which may hold several examples."""
        return self.max_seq_length

    @property
    def limits(self) -> dict[str, tuple[str, int]]:
        """The columns of whole numbers from 0: what each is, in messages, and the number that it is below.

        Where nothing is to be predicted, labels are -100 as well.
        """
        template = self.row_template
        return {TOKEN_TYPE_IDS: ("a token type", 1 + max(template.second_type, template.last_type or 0))}

    def numbers(self) -> Iterator[Number]:
        """Yield the numbers of a subclass that are to be checked where they are read."""
        return iter(())

    def all_numbers(self) -> Iterator[Number]:
        """Yield all numbers that are to be checked where they are read, each with what is expected of it."""
        ids = {role: getattr(self, f"{role}_token_id") for role in ("pad", "cls", "sep", "mask", "unk")}
        optional = {"unk"} | ({"cls", "sep"} if self.template else set()) | (set() if self.masked else {"mask"})
        yield from id_numbers(self.vocab_size, ids, optional, self.row_template)
        length, most = self.max_seq_length, 1 << 20
        yield "max_seq_length", length, f"a whole number up to {most:,}", type(length) is int and 0 < length <= most
        names = [*self.sources]
        distinct = all(isinstance(name, str) and name for name in names) and len({*names}) == len(names)
        yield "sources", names, "names, each once", distinct and len(names) < 1 << 15
        yield from self.numbers()

    @property
    def label(self) -> str | None:
        """The name of the pair label's column, None where there is none."""
        return None

    @property
    def packed(self) -> bool:
        """Whether a row holds several examples."""
        return False

    @property
    def draws_masks(self) -> bool:
        """Whether a loader draws masks for the rows."""
        return False

    @property
    def bins(self) -> tuple[int, ...]:
        """The longest row of each length bin, none where there are no bins."""
        return ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The names that the column `source` numbers, none where there is none."""
        return ()

    @property
    @abstractmethod
    def list_columns(self) -> tuple[str, ...]:
        """The columns of lists that go into a batch, padded."""

    @property
    @abstractmethod
    def scalar_columns(self) -> dict[str, str]:
        """The columns of numbers that go into a batch, with the names that they have there."""

    @property
    def has_choices(self) -> bool:
        """Whether a row holds several choices one after another, each with the special tokens of a row."""
        return False

    @property
    def set_columns(self) -> dict[str, tuple[str, int]]:
        """The columns of lists of numbers that are rows of 0 and 1 in a batch: their names there, and how wide."""
        return {}

    @abstractmethod
    def columns(self) -> list[pa.Field]:
        """Return the columns of a shard."""

    def values(self) -> dict[str, Any]:
        """Return the JSON that schemas and manifests hold; without a template where it is None."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values if self.template else {name: value for name, value in values.items() if name != "template"}

    @classmethod
    @abstractmethod
    def read(cls, values: dict[str, Any], path: str) -> Self:
        """Read the JSON of this kind; raises InputError where it is not whole."""

    @abstractmethod
    def card(self, manifest: dict[str, Any], account: Mapping[str, Any] | None = None, files: str = ARROW) -> str:
        """Return the dataset card of a manifest as Markdown with the metadata block that dataset hubs read.

        account: what documents were counted by, if they were; files: what the files of a split are called, as a glob.
        """

    def of_rows(self) -> Self:
        """Return what shards themselves say: all that their rows depend on."""
        return self

    @abstractmethod
    def with_length(self, max_seq_length: int) -> Self:
        """Return a copy with another `max_seq_length`."""

    def shared(self, split: str) -> dict[str, Any]:
        """Return what shards of a split that are read together must have in common, by its name in messages."""
        return {"vocabulary": self.tokenizer[:12], "purpose": self.purpose}

    def are_numbers_whole(self) -> bool:
        """Return whether the fields declared as int hold whole numbers; what was read from JSON may be anything."""
        return all(type(getattr(self, number.name)) is int for number in fields(self) if number.type == "int")

    @classmethod
    def from_schema(cls, schema: pa.Schema, path: str) -> Self:
        """Read it from the schema of a shard; raises InputError where the file is not a shard of this kind."""
        text = (schema.metadata or {}).get(b"bertdata")
        if text is None:
            raise InputError(
                "is an Arrow file, but not a bertdata shard; expected one written by build_shards", path=path
            )
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"has damaged metadata ({parse_problem(error)}); build again", path=path) from error
        return cls.from_values(values, path)

    @classmethod
    def from_values(cls, values: Any, path: str) -> Self:
        """Read the JSON of a schema or a manifest; raises InputError where it is not whole or not of this kind."""
        version = values.get("format") if isinstance(values, dict) else None
        if version != FORMAT:
            raise InputError(f"has shard format {version}; this version reads {FORMAT}: build again", path=path)
        if (template := values.get("template")) is not None:
            values = values | {"template": _template(template, path)}
        info = KINDS["task" if "task" in values else "pretraining"].read(values, path)
        if not isinstance(info, cls):
            raise InputError(f"holds {info.purpose}; expected the shards of `bertdata build`", path=path)
        check_numbers(info.all_numbers(), path)
        return info


def vocabulary_fields(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the fields of a `ShardInfo` that come from a tokenizer."""
    ids = {f"{role}_token_id": tokenizer.id_of_role(role) for role in ("pad", "cls", "sep", "mask", "unk")}
    template: RowTemplate | None = tokenizer.row_template
    if isinstance(template, SingleTemplate):
        template = template.plain
    if template == bert_template(ids["cls_token_id"], ids["sep_token_id"]):
        template = None
    return {"tokenizer": tokenizer.fingerprint, "vocab_size": tokenizer.vocab_size, "template": template, **ids}


def _template(values: Any, path: str) -> RowTemplate:
    try:
        return RowTemplate(**(values | read_template_ids(values)))
    except InputError as error:
        raise InputError(str(error), path=path) from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"does not say what stands around texts ({error}); build again", path=path) from error


def ids_column(place: int) -> str:
    """Return the column with the ids of a text, counted from 0, where a row has several texts.

    >>> ids_column(0), ids_column(1)
    ('input_ids', 'input_ids_2')
    """
    return f"{INPUT_IDS}_{place + 1}" if place else INPUT_IDS


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
    """Return the columns of shards, with the metadata."""
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
