"""What pretraining shards say of themselves, and their columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import pyarrow as pa

from bertdata.engine.parts import Counts
from bertdata.errors import InputError
from bertdata.masking import MASK_UNITS
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.objective import Objective, find_objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.packed import CU_SEQLENS
from bertdata.shards.schema import SPLITS, ShardInfo, data_files, id_type, label_type, vocabulary_fields
from bertdata.sources.names import units_of
from bertdata.tokenizers.base import Tokenizer

LICENCES = "Texts keep the licences of their sources (Wikipedia: CC BY-SA; see each book for its own)."


@dataclass(frozen=True, kw_only=True)
class PretrainingInfo(ShardInfo):
    """What a reader must know of pretraining shards: how their rows were made and how they are masked.

    sources: the names that the column `source` numbers; epochs: of each, in train, where `--mix` weights them.
    """

    examples: ExamplesConfig
    masking: MaskingConfig
    sources: tuple[str, ...] = ()
    epochs: tuple[float, ...] = ()

    splits: ClassVar[tuple[str, ...]] = SPLITS

    @property
    def purpose(self) -> str:
        """What the rows are for."""
        return "pretraining"

    @property
    def max_seq_length(self) -> int:
        """The most tokens of an example, special tokens included."""
        return self.examples.max_seq_length

    @property
    def packed(self) -> bool:
        """Whether a row holds several examples."""
        return self.examples.pack

    @property
    def draws_masks(self) -> bool:
        """Whether a loader draws masks for the rows; else they are in the shards."""
        return self.examples.masking == "dynamic"

    @property
    def bins(self) -> tuple[int, ...]:
        """The longest row of each length bin, none where there are no bins."""
        return self.examples.bins if self.examples.bin_size else ()

    @property
    def objective(self) -> Objective:
        """The objective of the rows; raises ConfigError for one that is not there."""
        return find_objective(self.examples.objective)

    def raised_revisions(self) -> list[Any]:
        """Return the revisions of the objective, and of the unit of static masks, that the fingerprints of shards hold.

        Without a revision above 1 there are none.
        """
        units = [] if self.draws_masks else [self.masking.mask_unit]
        return OBJECTIVES.raised_revisions([self.examples.objective]) + MASK_UNITS.raised_revisions(units)

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
    def list_columns(self) -> tuple[str, ...]:
        """The columns of lists that go into a batch, padded."""
        return ("input_ids", "token_type_ids", *([] if self.draws_masks else ["labels"]))

    @property
    def scalar_columns(self) -> dict[str, str]:
        """The columns of numbers that go into a batch, and what they are called there."""
        return {self.label: self.label} if self.label else {}

    def columns(self) -> list[pa.Field]:
        """Return the columns of a shard.

        The label's values are those of the objective (`next_sentence_label`: 0 is IsNext, 1 is NotNext); `labels`
        (static masking only): the id to predict, -100 elsewhere; `example_id`: what a dynamic mask is drawn by;
        `source`: the place in `sources` of the document that the first token is of. In packed rows the last two and
        the label are lists, and `cu_seqlens` says where the examples end.
        """
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
            fields.append(pa.field(CU_SEQLENS, pa.list_(pa.int32())))
        return fields

    def _each(self, kind: pa.DataType) -> pa.DataType:
        """Return the type of a column that has one value for each example."""
        return pa.list_(kind) if self.examples.pack else kind

    def values(self) -> dict[str, Any]:
        """Return it as the JSON of a schema or a manifest."""
        return asdict(self) | {"sources": list(self.sources), "epochs": list(self.epochs)}

    @classmethod
    def read(cls, values: dict[str, Any], path: str) -> Self:
        """Make it of the JSON of this kind; raises InputError where that is not whole."""
        try:
            settings = {"examples": ExamplesConfig(**values["examples"]), "masking": MaskingConfig(**values["masking"])}
            named = {name: tuple(values.get(name, ())) for name in ("sources", "epochs")}
            info = cls(**(values | settings | named))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"does not say how it was made ({error}); build again", path=path) from error
        if not info.are_numbers_whole() or not isinstance(info.tokenizer, str):
            raise InputError("does not say which tokenizer it was made with; build again", path=path)
        if not all(isinstance(one, str) for one in info.sources) or not all(
            isinstance(one, (int, float)) for one in info.epochs
        ):
            raise InputError("does not say which sources it was made of; build again", path=path)
        return info

    def card(self, manifest: dict[str, Any]) -> str:
        """Return the dataset card of a manifest as Markdown with the metadata block that dataset hubs read."""
        return _card(manifest)

    def with_length(self, max_seq_length: int) -> Self:
        """Return the same with another `max_seq_length`."""
        return replace(self, examples=replace(self.examples, max_seq_length=max_seq_length))

    def shared(self) -> dict[str, Any]:
        """Return what shards that are read together must have in common, by what messages call it."""
        return super().shared() | {
            "objective": self.label or "without pairs",
            "--masking": self.examples.masking,
            "--pack": "packed" if self.packed else "not packed",
            "masking settings": asdict(self.masking),
        }


def pretraining_info(
    tokenizer: Tokenizer,
    examples: ExamplesConfig,
    masking: MaskingConfig,
    sources: Sequence[str] = (),
    epochs: Sequence[float] = (),
) -> PretrainingInfo:
    """Return what shards made with a tokenizer, settings and sources say of themselves."""
    return PretrainingInfo(
        examples=examples,
        masking=masking,
        sources=tuple(sources),
        epochs=tuple(epochs),
        **vocabulary_fields(tokenizer),
    )


def _card(manifest: dict[str, Any]) -> str:
    info = manifest["info"]
    examples, masking = info["examples"], info["masking"]
    label = find_objective(examples["objective"]).label
    lines = [
        "---",
        "task_categories: [fill-mask]",
        "tags: [bert, pretraining, bertdata]",
        "configs:",
        *data_files(manifest["splits"]),
        "---",
        "",
        f"# {examples['objective'].upper()} pretraining examples of {examples['max_seq_length']} tokens",
        "",
        f"Made by bertdata {manifest['bertdata']}. {LICENCES}",
        "",
        "| split | shards | documents | examples | tokens | bytes |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for split, entry in manifest["splits"].items():
        counts: Counts = entry["counts"]
        size = sum(shard["bytes"] for shard in entry["shards"])
        cells = [len(entry["shards"]), counts["documents"], counts["examples"], counts["tokens_in_examples"], size]
        lines.append(f"| {split} | " + " | ".join(f"{cell:,}" for cell in cells) + " |")
    lines += ["", "## Sources", "", "| source | in | documents | dropped |", "|---|---:|---:|---|"]
    for name, source in manifest["sources"].items():
        counts = source["counts"]
        taken = sum(counts[unit] for unit in units_of(counts))
        dropped = ", ".join(f"{reason}: {number:,}" for reason, number in source["drops"].items()) or "none"
        lines.append(f"| {name} | {taken:,} | {counts.get('documents', 0):,} | {dropped} |")
    lines += [
        "",
        "## How to read it",
        "",
        "```python",
        "import datasets",
        "",
        'dataset = datasets.load_from_disk("THIS FOLDER")',
        "```",
        "",
        "Columns: `input_ids` and `token_type_ids` (unpadded lists), "
        + (f"`{label}`, " if label else "")
        + "`example_id`"
        + (
            ", `source` (" + ", ".join(f"{n} {name}" for n, name in enumerate(info["sources"])) + ")"
            if info["sources"]
            else ""
        )
        + (", `labels` (-100 where nothing is predicted)" if examples["masking"] == "static" else "")
        + (", `cu_seqlens` (the borders of the examples in a packed row)" if examples["pack"] else "")
        + ". The tokenizer is in `tokenizer/`.",
        "",
        "## Settings",
        "",
        "```json",
        json.dumps({"examples": examples, "masking": masking}, indent=1, sort_keys=True),
        "```",
        "",
    ]
    return "\n".join(lines)
