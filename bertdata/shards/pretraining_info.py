"""What pretraining shards say of themselves, and their columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self

import pyarrow as pa

from bertdata.engine.fingerprints import fingerprint
from bertdata.errors import InputError
from bertdata.io.console import counted
from bertdata.masking import MASK_UNITS
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.training import MASKED
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.objective import Objective, find_objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.option import require, stored_values
from bertdata.shards.by_source import source_type
from bertdata.shards.card import ARROW, dataset_card, loading, markdown_table
from bertdata.shards.columns import (
    COLUMNS,
    CU_SEQLENS,
    EXAMPLE_ID,
    LABELS,
    MASK_RATE,
    SOURCE,
    WORD_STARTS,
    Column,
    Into,
    carried_column,
    label_column,
)
from bertdata.shards.info_numbers import Number
from bertdata.shards.kept_columns import fields_of
from bertdata.shards.schema import SPLITS, ShardInfo, label_type
from bertdata.shards.settings import SelectionConfig
from bertdata.shards.similar_words import similar_words_for
from bertdata.shards.token_counts import delays_for
from bertdata.sources.names import units_of
from bertdata.tokenizers.base import Tokenizer

_GROUPS = {"examples": ExamplesConfig, "masking": MaskingConfig, "selection": SelectionConfig}
_OPTIONAL = (WORD_STARTS, "selection", "token_counts")
OF_MASKS = ("--masking", "masking settings")
"""What is said of masks where shards that are read together must agree."""
LICENCES = "Texts keep the licences of their sources (Wikipedia: CC BY-SA; see each book for its own)."


def _require_found(values: dict[str, Any], path: str) -> None:
    """Raise InputError where the objective or the masking unit of shards is not there, or is code of a module."""
    for group, setting, registry in (("examples", "objective", OBJECTIVES), ("masking", "mask_unit", MASK_UNITS)):
        settings = values.get(group)
        name = settings.get(setting) if isinstance(settings, dict) else None
        if isinstance(name, str):
            registry.named_in(path, name)


def check_masking(examples: ExamplesConfig, masking: MaskingConfig) -> None:
    """Raise ConfigError for a schedule of static masks, and for causal rows that are static, or pairs."""
    require(
        examples.masking == "dynamic" or masking.training == MASKED,
        f"--training {masking.training} was given with --masking static, whose rows have masks and labels of their "
        "own; take --masking dynamic",
    )
    require(
        not masking.trained_for.causal_share or find_objective(examples.objective).label is None,
        f"--training {masking.training} has causal rows, whose first token sees no other and cannot tell how two "
        f"segments belong together, as --objective {examples.objective} asks of it; take an objective without pairs, "
        "as full-sentences",
    )
    require(
        examples.masking == "dynamic" or not masking.mask_schedule,
        "--mask-schedule was given with --masking static, whose masks are written once and do not know the position in "
        "a run; take --masking dynamic, or a --masked-lm-prob",
    )


@dataclass(frozen=True, kw_only=True)
class PretrainingInfo(ShardInfo):
    """What a reader must know of pretraining shards: how their rows were made and how they are masked.

    masking: its `similar_words` is not a path, but the fingerprint of the table that is kept beside the shards;
    sources: the names that the column `source` numbers; epochs: of each, in train, where `--mix` weights them;
    word_starts: whether there is a column of that name, which tells where words begin where an id alone does not;
    selection: which of the documents are in the shards; token_counts: the fingerprint of how often each token is in
    train, which is kept beside the shards, "" where masks do not need it.
    """

    examples: ExamplesConfig
    masking: MaskingConfig
    sources: tuple[str, ...] = ()
    epochs: tuple[float, ...] = ()
    word_starts: bool = False
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    token_counts: str = ""

    masked: ClassVar[bool] = True
    splits: ClassVar[tuple[str, ...]] = SPLITS

    def __post_init__(self) -> None:
        check_masking(self.examples, self.masking)
        require(
            self.label not in self.selection.kept,
            f"--keep names {self.label!r}, the label of --objective {self.examples.objective}; rename the column",
        )

    @classmethod
    def of(cls, tokenizer: Tokenizer, **others: Any) -> Self:
        return super().of(tokenizer, **({WORD_STARTS: tokenizer.continuation is None} | others))

    def values(self) -> dict[str, Any]:
        values = super().values()
        groups = {name: json.loads(json.dumps(stored_values(getattr(self, name)))) for name in _GROUPS}
        return {name: value for name, value in (values | groups).items() if value or name not in _OPTIONAL}

    @property
    def purpose(self) -> str:
        return "pretraining"

    @property
    def max_seq_length(self) -> int:
        return self.examples.max_seq_length

    @property
    def row_length(self) -> int:
        return self.examples.row_length

    @property
    def limits(self) -> dict[str, tuple[str, int]]:
        limits = super().limits | {"labels": ("a label", self.vocab_size)}
        if self.label and (names := self.objective.label_names):
            limits[self.label] = (self.label, len(names))
        return limits | ({"source": ("the number of a source", len(self.sources))} if self.sources else {})

    def numbers(self) -> Iterator[Number]:
        epochs, expected = self.epochs, f"none, or a number from 0 for each of {counted(len(self.sources), 'source')}"
        right = all(type(number) in (int, float) and 0 <= number < math.inf for number in epochs)
        yield "epochs", epochs, expected, right and len(epochs) in (0, len(self.sources))

    @property
    def packed(self) -> bool:
        return self.examples.pack

    @property
    def has_rates(self) -> bool:
        """Whether rows say the rates of their masks: where these are static, and drawn for each row."""
        return bool(self.masking.mask_rate_draw) and not self.draws_masks

    @property
    def draws_masks(self) -> bool:
        """Whether a loader draws masks for the rows; otherwise they are in the shards."""
        return self.examples.masking == "dynamic"

    def of_rows(self) -> Self:
        """Return what shards themselves say; how dynamic masks are drawn, the manifest alone says.

        The rows do not depend on it. Shards say the default settings in their place.
        """
        return replace(self, masking=MaskingConfig(), token_counts="") if self.draws_masks else self

    def masks_of(self, split: str) -> str:
        """Return what identifies the masks that a loader draws for a split, "" for those of the default settings."""

        def identity(info: PretrainingInfo) -> str:
            masking = info.masking.for_split(split)
            revisions = MASK_UNITS.raised_revisions([masking.mask_unit])
            return fingerprint("masks", stored_values(masking), info.token_counts, *revisions)

        with_masks = identity(self)
        return "" if with_masks == identity(replace(self, masking=MaskingConfig(), token_counts="")) else with_masks

    @property
    def bins(self) -> tuple[int, ...]:
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
        return self.objective.label

    @property
    def token_types(self) -> int:
        """The number of token types that a model of these rows needs to know, 1 where they have none."""
        template = self.row_template
        return 1 + max(template.second_type if self.objective.token_types > 1 else 0, template.last_type or 0)

    def masker(
        self,
        tokenizer: Tokenizer,
        masking: MaskingConfig | None = None,
        seed: int | None = None,
        split: str = "train",
        *,
        build: str = "",
    ) -> Masker:
        """Return what masks rows of a split, with the settings and the seed of the shards unless given.

        build: the folder of the build, where the similar words of its own settings and the counts of its tokens are;
        other settings have the path of a table. Raises ConfigError for a table that is not that of the shards, or
        without any word for this vocabulary, and where masks need counts that the build does not have; InputError where
        there is no table.
        """
        masking = masking or self.masking.for_split(split)
        return Masker(
            masking,
            self.examples.seed if seed is None else seed,
            self.cls_token_id,
            self.sep_token_id,
            self.mask_token_id,
            tokenizer.replacement_ids,
            tokenizer.continuation,
            tokenizer.vocab_size,
            similar_words_for(masking, tokenizer, build, self.masking),
            delays_for(masking, tokenizer, build, self.token_counts),
        )

    @property
    def list_columns(self) -> tuple[str, ...]:
        return tuple(column.name for column, _ in self.typed_columns() if column.into is Into.LISTS)

    @property
    def scalar_columns(self) -> dict[str, str]:
        names = [column.name for column, _ in self.typed_columns() if column.into is Into.NUMBERS]
        return dict(zip(names, names, strict=True))

    def typed_columns(self) -> Iterator[tuple[Column, pa.DataType]]:
        """Yield the columns of a shard, each with the type of one value (see `bertdata.shards.columns`)."""
        for name, lists in self.token_columns.items():
            yield COLUMNS[name], lists.value_type
        if self.word_starts:
            yield COLUMNS[WORD_STARTS], pa.bool_()
        if self.label:
            yield label_column(self.label, self.objective.label_names), pa.int8()
        yield COLUMNS[EXAMPLE_ID], pa.int64()
        if self.sources:
            yield COLUMNS[SOURCE], source_type(len(self.sources))
        for name, kind in fields_of(self.selection.kept).items():
            yield carried_column(name), kind
        if not self.draws_masks:
            yield COLUMNS[LABELS], label_type(self.vocab_size)
        if self.has_rates:
            yield COLUMNS[MASK_RATE], pa.float32()
        if self.packed:
            yield COLUMNS[CU_SEQLENS], pa.int32()

    def columns(self) -> list[pa.Field]:
        return [column.field(kind, self.packed) for column, kind in self.typed_columns()]

    @classmethod
    def read(cls, values: dict[str, Any], path: str) -> Self:
        _require_found(values, path)
        try:
            given = {"selection": {}} | values
            settings = {name: kind(**given[name]) for name, kind in _GROUPS.items()}
            named = {name: tuple(values.get(name, ())) for name in ("sources", "epochs")}
            info = cls(**(values | settings | named))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"does not say how it was made ({error}); build again", path=path) from error
        if not isinstance(info.token_counts, str):
            raise InputError("does not say what counts of tokens its masks need; build again", path=path)
        if not info.are_numbers_whole() or not isinstance(info.tokenizer, str) or type(info.word_starts) is not bool:
            raise InputError("does not say which tokenizer it was made with; build again", path=path)
        if not all(isinstance(source, str) for source in info.sources) or not all(
            isinstance(epoch, (int, float)) for epoch in info.epochs
        ):
            raise InputError("does not say which sources it was made of; build again", path=path)
        return info

    def card(self, manifest: dict[str, Any], account: Mapping[str, Any] | None = None, files: str = ARROW) -> str:
        from bertdata.shards.card_metadata import account_lines, metadata_lines  # which no reader of rows needs

        splits = []
        for split, entry in manifest["splits"].items():
            counts, size = entry["counts"], sum(shard["bytes"] for shard in entry["shards"])
            numbers = (counts[name] for name in ("documents", "examples", "tokens_in_examples"))
            splits.append([split, len(entry["shards"]), *numbers, size])
        sources: list[list[str | int]] = []
        for name, source in manifest["sources"].items():
            counts = source["counts"]
            dropped = ", ".join(f"{reason}: {number:,}" for reason, number in source["drops"].items()) or "none"
            came = sum(counts[unit] for unit in units_of(counts))
            sources.append([name, came, counts.get("documents", 0), dropped])
        numbered = {SOURCE: ": " + ", ".join(f"{number} {name}" for number, name in enumerate(self.sources))}
        columns = [
            [f"`{column.name}`", column.meaning + numbered.get(column.name, "")] for column, _ in self.typed_columns()
        ]
        settings = {name: stored_values(getattr(self, name)) for name in ("examples", "masking")}
        body = [
            *markdown_table(["split", "shards", "documents", "examples", "tokens", "bytes"], splits),
            *("", "## Sources", ""),
            *markdown_table(["source", "in", "documents", "dropped"], sources),
            *account_lines(account or {}),
            *("", "## How to read it", "", *loading(files), ""),
            *markdown_table(["column", "what it holds"], columns),
            *("", "The tokenizer is in `tokenizer/`."),
            *("", "## Settings", "", "```json", json.dumps(settings, indent=1, sort_keys=True), "```"),
        ]
        title = f"{self.examples.objective.upper()} pretraining examples of {self.max_seq_length} tokens"
        metadata = metadata_lines(manifest, account or {}) if manifest["sources"] else []
        return dataset_card(manifest, "fill-mask", "pretraining", title, LICENCES, body, metadata, files)

    def with_length(self, max_seq_length: int) -> Self:
        return replace(self, examples=replace(self.examples, max_seq_length=max_seq_length))

    @property
    def _counts_of_masks(self) -> dict[str, str]:
        return {"token_counts": self.token_counts[:12]} if self.masking.mask_smoothing else {}

    def shared(self, split: str) -> dict[str, Any]:
        return super().shared(split) | {
            "objective": self.label or "without pairs",
            OF_MASKS[0]: self.examples.masking,
            "--pack": "packed" if self.packed else "not packed",
            OF_MASKS[1]: asdict(self.masking.for_split(split)) | self._counts_of_masks,
        }
