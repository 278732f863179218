"""`BatchCollator`: examples to one batch of NumPy arrays, masks drawn here (dynamic) or read from the shards (static).

A dynamic mask is a function of (seed, epoch, example id, position): the same in any worker, on any rank, after any
resume. Where a schedule changes the rates during a run, it is a function of the level of the run as well. Padding is
never masked and never labelled. Batches are padded, with a row for each example, or packed, with all examples one after
another in one row and their offsets beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.loader.block_mask import check_packing, check_varlen
from bertdata.loader.draws import (
    CausalRows,
    Draw,
    DrawnBy,
    DynamicMasks,
    Shifted,
    SomeCausalRows,
    StaticMasks,
    with_second_masks,
)
from bertdata.loader.epoch import HasEpoch
from bertdata.loader.examples import ExampleBatch, ShardExamples
from bertdata.loader.layouts import Batch, Layout, Lists, Packed, Padded, PaddedChoices
from bertdata.loader.next_token import check_next_token
from bertdata.loader.opening import Source
from bertdata.loader.origin import Origin, check_origin, origins_of
from bertdata.loader.padding import MULTIPLE
from bertdata.loader.read_columns import (
    carried_columns,
    check_examples,
    column_lists,
    column_numbers,
    lists_of_examples,
    of_examples,
    rows_of_sets,
)
from bertdata.loader.weights import check_rates
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.options.option import require
from bertdata.shards.columns import CU_SEQLENS, MASK_RATE, WORD_STARTS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.base import Tokenizer

Examples = Sequence[Mapping[str, Any]]


class BatchCollator(HasEpoch):
    """Makes batches of (N, L) int64 arrays of examples from `ShardExamples`; L is a multiple of `pad_to_multiple_of`.

    A batch holds input_ids, token_type_ids where the rows have them, attention_mask (1 at tokens, 0 at padding), labels
    (the id to predict, -100 elsewhere) and, where the objective has one, next_sentence_label or sentence_order_label
    (N,): the names of transformers, so `model(**batch)` works. For fine-tuning shards, labels are those of the task,
    (N,) for texts and (N, L) for tokens, or there are start_positions and end_positions (N,); rows of several texts
    have the ids of the others as input_ids_2 and so on, each as wide as it needs. Of rows with choices, input_ids,
    token_type_ids and attention_mask are (N, choices, L).

    With `packing`, arrays are (1, T): no attention_mask, but position_ids that begin at 0 in each example, and
    cu_seqlens int32 (N + 1,), the offsets of the examples, as flash-attn's `flash_attn_varlen_func` takes them; padding
    at the end is one more sequence. Rows that were packed in the shards (`--pack`) are split into their examples first,
    so they give the same examples and masks, padded or packed. `position_offset` is where position_ids begin, for
    RoBERTa its padding_idx + 1. With `attention_mask="blocks"` there is an attention_mask that keeps examples apart,
    float32 (1, 1, T, T) (see `block_mask`), for attention that does not take cu_seqlens; with `sliding_window`, the
    tokens on each side that layers with local attention see, it is a dictionary of two, as transformers' ModernBERT
    takes it. With `attention_mask="varlen"`, for models of transformers with flash attention, there is no mask, but
    cu_seq_lens_q, cu_seq_lens_k, max_length_q and max_length_k (see `varlen_keys`); `model_config` is then the model's
    `config`, and a ConfigError where its attention would not read them.

    `masking` and `seed` are those of the shards and their split unless given. The epoch of a mask is the one that the
    example has, else the collator's own: `epoch`, or that of the last `set_epoch`. Examples have one where the index
    was a pair (epoch, number), as our sampler yields them, or `set_epoch` of the data set was called. Where neither has
    an epoch, a batch is refused with a ConfigError, for its masks would be the same in every epoch.

    Where the masks follow a schedule, each example needs its level of the run, as our sampler yields it; a batch
    without is refused with a ConfigError.

    Where the rate of each row is drawn (`--mask-rate-draw`), a batch has mask_rates float32 (N,), one for each example,
    loss_weights float32, of the shape of labels, what the loss of each token is multiplied by, 0 where there is no
    label, and maskable int64 (N,), how many tokens of each example are not special. The sum of the weighted losses over
    the sum of maskable is the loss (see `bertdata.masking.rate_draws`).

    Rows of another split of the same build have the masks of their split, where `masking` was not given: a collator of
    train masks rows of validation at their rate. Rows of shards with another vocabulary, objective or masking are
    refused with a ConfigError; rows that others read, as `datasets` does, do not say of which shards they are.

    Static masks are those in the shards. Raises ConfigError for a `tokenizer` that is not the one the shards were made
    with, and for masking settings where the masks are in the shards already.

    columns: which columns of documents that rows carry (`--keep`) a batch has as well, int64 or float32 (N,); take them
    out of it before `model(**batch)`. Raises ConfigError for one that rows do not have.

    What rows are trained for is in the masking settings (`--training`, `bertdata.masking.training`). Causal rows have
    every next token as label at the position before it, and no mask; which rows of a mixed phase are causal is drawn
    anew in each epoch. Their attention is in the batch as with `causal`: padded rows have an attention_mask float32
    (N, 1, L, L), in which masked rows see all; packed ones is_causal, bool (N,), one for each sequence. With
    `causal_flags` attention is left to the model: padded rows keep their attention_mask (N, L), and batches have
    causal_rows, bool, one for each row or packed sequence, and causal_share, a float, that of the phase.

    With `shifted`, labels are one position to the left: a token is predicted at the position before it. With `causal`,
    nothing is masked, and each token but the first of an example has its id as label, special ones too. Its padded
    rows have an attention_mask to be added to attention scores, float32 (N, 1, L, L) (`next_token.causal_mask`), its
    packed ones is_causal, a bool () that is True. No label crosses from one example to the next. Both together are
    the causal rows of GPT-BERT; models that shift labels themselves, as transformers' ForCausalLM do, take causal ones
    that are not shifted. Raises ConfigError for shards of a task, and for `causal` where masks are static.

        collator = BatchCollator(examples)
        batch = collator(examples.__getitems__([(0, 1), (0, 2)]))
    """

    def __init__(
        self,
        shards: Source | Sequence[Source] | ShardExamples,
        *,
        tokenizer: Tokenizer | None = None,
        masking: MaskingConfig | None = None,
        seed: int | None = None,
        epoch: int | None = None,
        pad_to_multiple_of: int = MULTIPLE,
        packing: bool = False,
        shifted: bool = False,
        causal: bool = False,
        causal_flags: bool = False,
        position_offset: int = 0,
        attention_mask: Literal["blocks", "varlen"] | None = None,
        sliding_window: int | None = None,
        model_config: Any = None,
        columns: Sequence[str] = (),
        decoder_masks: float = 0.0,
    ) -> None:
        examples = shards if isinstance(shards, ShardExamples) else ShardExamples(shards)
        info, first = examples.info, examples.shards
        require(
            tokenizer is None or tokenizer.fingerprint == info.tokenizer,
            f"the tokenizer given is not the one the shards were made with ({tokenizer and tokenizer.fingerprint[:12]} "
            f"given, {info.tokenizer[:12]} in the shards); use the one saved beside them, or build with this one",
        )
        self.static = not info.draws_masks
        if self.static and (masking is not None or seed is not None):
            raise ConfigError(
                "masking and seed were given, but the masks of these shards are static: written into them; "
                "leave both out, or build with --masking dynamic"
            )
        require(pad_to_multiple_of >= 1, f"pad_to_multiple_of is {pad_to_multiple_of}; expected at least 1")
        check_packing(packing, position_offset, attention_mask, sliding_window, causal=causal)
        check_varlen(attention_mask, model_config)
        self.info, self.pad_to_multiple_of, self.packing = info, pad_to_multiple_of, packing
        self._list_columns, self._scalars = info.list_columns, info.scalar_columns | carried_columns(info, columns)
        self.position_offset, self.sliding_window = position_offset, sliding_window
        self.attention_mask = attention_mask
        self._layout: Layout = (PaddedChoices if info.has_choices else Padded)(pad_to_multiple_of)
        if packing:
            self._layout = Packed(pad_to_multiple_of, position_offset, attention_mask, sliding_window)
        several = packing and info.has_choices
        require(not several, "packing is for rows of one text, and these have several choices; leave packing out")
        texts = [name for name in self._list_columns if name.startswith("input_ids")]
        require(
            not packing or len(texts) == 1,
            f"packing is for rows of one text, and these have {len(texts)} of different lengths; leave packing out",
        )
        self._epoch, self._tokens = self._epoch_type(), 0 if self.static else examples.tokens
        if epoch is not None:
            self.set_epoch(epoch)
        self._masker: Masker | None = None
        self._reads_words = False
        self.shifted, self.causal, self.causal_flags, self.causal_share = shifted, causal, causal_flags, 0.0
        check_next_token(info, shifted=shifted, causal=causal)
        if isinstance(info, PretrainingInfo) and info.draws_masks:
            build, split = first.build, first.split
            self._masker = info.masker(tokenizer or first.tokenizer(), masking, seed, split, build=build)
            if not causal:
                training = self._masker.config.trained_for
                self.causal_share, self.shifted = training.causal_share, shifted or training.shifted
                self._reads_words = info.word_starts and self._masker.by_words and training.causal_share < 1
                check_packing(packing, position_offset, attention_mask, sliding_window, causal=self.causal_share > 0)
        self._made_for = examples.origin
        self._by_origin: tuple[Origin, Self] | None = None
        self._masking_given, self._second_masks = masking is not None, decoder_masks
        self._static_rates = self._rates_in_rows(examples.origin)
        self._draw = self._draw_of()

    def _rates_in_rows(self, origin: Origin) -> MaskingConfig | None:
        """Return the settings of masks in the shards whose rates were drawn for each row; None for others."""
        of_rows = origin.masking if self.static else None
        return of_rows if of_rows is not None and of_rows.mask_rate_draw else None

    def _draw_of(self) -> Draw:
        """Return what is predicted of the rows."""
        draw = self._first_draw()
        return with_second_masks(draw, self._second_masks, packing=self.packing) if self._second_masks else draw

    def _first_draw(self) -> Draw:
        if self.causal:
            draw: Draw = CausalRows()
        elif self._masker is None:
            draw = StaticMasks((self.info.cls_token_id, self.info.sep_token_id), self._static_rates)
        else:
            masks = self._masks(self._masker)
            draw = SomeCausalRows(masks, self.causal_share, self.causal_flags) if self.causal_share else masks
        return Shifted(draw) if self.shifted else draw

    def _masks(self, masker: Masker) -> DynamicMasks:
        """Return what draws dynamic masks."""
        return DynamicMasks(masker)

    def _of_split(self, examples: Examples) -> Self:
        """Return the collator for the split of examples; raises ConfigError for two such, and for rows of others."""
        collators = set()
        for origin in origins_of(examples):
            if self._by_origin is None or self._by_origin[0] is not origin:
                check_origin(self._made_for, origin, masking_given=self._masking_given)
                alike = self._masking_given or origin.masking == self._made_for.masking
                self._by_origin = origin, self if alike else self._with_masks_of(origin)
            collators.add(self._by_origin[1])
        require(
            len(collators) < 2,
            "rows of train and of validation are in one batch, and these splits have other mask rates; give the "
            "collator masking=MaskingConfig(...), or read one split at a time",
        )
        return collators.pop() if collators else self

    def _with_masks_of(self, origin: Origin) -> Self:
        """Return a copy that masks as another split is masked; the epoch is that of both."""
        other: Self = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _made_for=origin, _by_origin=None)
        if other._masker is not None and origin.masking is not None:
            other._masker = replace(other._masker, config=origin.masking)
        other._static_rates = other._rates_in_rows(origin)
        other._draw = other._draw_of()
        return other

    def __repr__(self) -> str:
        rows = "packed in one row" if self.packing else f"padded to a multiple of {self.pad_to_multiple_of}"
        masks = "the masks in the shards" if isinstance(self.info, PretrainingInfo) else self.info.purpose
        if self._masker is not None:
            config = self._masker.config
            constant = f"{config.masked_lm_prob:.0%} of the tokens"
            rate = config.rate_draw_text or (
                f"a rate that changes, {config.rate_text}," if config.rate_text else constant
            )
            masks = f"masks of {rate} by {config.mask_unit}, seed {self._masker.seed}"
        return f"{type(self).__name__}: {masks}, {rows}"

    def __call__(self, examples: Examples) -> Any:
        """Return the batch of some examples; raises ConfigError for none, or for one without the shards' columns."""
        return self.arrays(examples)

    def arrays(self, examples: Examples) -> Batch:
        """Return the batch of some examples as NumPy arrays; raises ConfigError as a call does."""
        return self._of_split(examples)._arrays(examples)

    def _arrays(self, examples: Examples) -> Batch:
        self._check(examples)
        lists = {name: self._lists(examples, name) for name in self._list_columns}
        ids, drawn_by = lists["input_ids"], self._drawn_by(examples)
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        drawn: dict[str, Ints] = {}
        if not self.static:
            tokens = self._layout.tokens(ids, lengths, self._word_starts(examples), self._fill)
            drawn = self._draw.columns(tokens, drawn_by)
        batch = self._layout.batch(lists, lengths, drawn, self._fill)
        return self._draw.finished(batch, lengths, drawn_by) | self._numbers(examples)

    def _drawn_by(self, examples: Examples) -> DrawnBy:
        """Return what the draws of examples depend on."""
        rates = check_rates(column_numbers(examples, MASK_RATE)) if self._static_rates else None
        if not self._draw.by_epoch:
            return DrawnBy(np.zeros(0, np.int64), np.zeros(0, np.int64), None, rates)
        levels, epochs = self._levels(examples), np.array(self._epochs(examples), np.int64)
        of_run = None if levels is None else np.array(levels, np.int64)
        return DrawnBy(column_numbers(examples, "example_id"), epochs, of_run, rates)

    def _numbers(self, examples: Examples) -> Batch:
        sets = {
            name: rows_of_sets(column_lists(examples, column), width)
            for column, (name, width) in self.info.set_columns.items()
        }
        return {name: column_numbers(examples, column) for column, name in self._scalars.items()} | sets

    def _check(self, examples: Examples) -> None:
        needed = [*self._list_columns, *([] if self.static else ["example_id"]), *self._scalars, *self.info.set_columns]
        needed += [CU_SEQLENS] if self.info.packed else []
        needed += [WORD_STARTS] if self._reads_words else []
        needed += [MASK_RATE] if self._static_rates else []
        check_examples(examples, needed)

    def _epochs(self, examples: Examples) -> list[int]:
        """Return the epoch of each example."""
        given = (
            examples.epochs if isinstance(examples, ExampleBatch) else [example.get("epoch") for example in examples]
        )
        common = self.epoch if None in given else 0
        common = self._unknown_epoch(examples) if common is None else common
        return self._of_packed(examples, [common if epoch is None else epoch for epoch in given])

    def _levels(self, examples: Examples) -> list[int] | None:
        """Return the level of the run of each example, None where the masks do not depend on it."""
        schedule = self.masker.config.rate_text
        if not schedule:
            return None
        given = (
            examples.levels if isinstance(examples, ExampleBatch) else [example.get("level") for example in examples]
        )
        levels = [level for level in given if level is not None]
        if len(levels) < len(given):
            raise ConfigError(
                f"the mask rates change during the run ({schedule}), and the position of the examples in it is not "
                "known; take the batches of ResumableBatchSampler or EpochBatchSampler with run_epochs, the length of "
                "the run, or give the collator masking=MaskingConfig(masked_lm_prob=...), a constant rate"
            )
        return self._of_packed(examples, levels)

    def _of_packed(self, examples: Examples, values: list[int]) -> list[int]:
        """Return the value of each example, given those of the rows."""
        return of_examples(examples, values) if self.info.packed else values

    def _unknown_epoch(self, examples: Examples) -> int:
        """Return the epoch of examples where neither they nor the collator have one; here that is an error."""
        raise ConfigError(
            "the epoch of the examples is not known, and their masks would be the same in every epoch; index them "
            "by (epoch, number), as EpochBatchSampler does, or call set_epoch of the collator before each epoch"
        )

    def _lists(self, examples: Examples, name: str) -> Lists:
        """Return the lists of a column, one for each example of packed rows."""
        return lists_of_examples(examples, name) if self.info.packed else column_lists(examples, name)

    @property
    def masker(self) -> Masker:
        """What draws dynamic masks."""
        assert self._masker is not None, "the masks of these shards are static"
        return self._masker

    def _fill(self, name: str) -> int:
        if name.startswith("input_ids"):
            return self.info.pad_token_id
        return IGNORE_INDEX if name == "labels" else 0

    def _word_starts(self, examples: Examples) -> Lists | None:
        """Return where words begin in each example, None where the masks do not depend on it or the ids tell."""
        return self._lists(examples, WORD_STARTS) if self._reads_words else None
