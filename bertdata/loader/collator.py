"""`BatchCollator`: examples to one batch of NumPy arrays, masks drawn here (dynamic) or read from the shards (static).

A dynamic mask is a function of (seed, epoch, example id, position): the same in any worker, on any rank, after any
resume. Where a schedule changes the rates during a run, it is a function of the level of the run as well. Padding is
never masked and never labelled. Batches are padded, with a row for each example, or packed, with all examples one after
another in one row and their offsets beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.loader.block_mask import check_packing, check_varlen
from bertdata.loader.epoch import HasEpoch
from bertdata.loader.examples import ExampleBatch, ShardExamples, Source
from bertdata.loader.layouts import Batch, Layout, Lists, Packed, Padded
from bertdata.loader.next_token import causal_labels, check_next_token, with_causal_rows, with_next_tokens
from bertdata.loader.padding import MULTIPLE, padded_length, padded_rows
from bertdata.loader.read_columns import (
    carried_columns,
    check_examples,
    column_lists,
    column_numbers,
    lists_of_examples,
    of_examples,
)
from bertdata.loader.weights import check_rates, row_weights, with_weights
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.training import causal_rows
from bertdata.shards.packed import CU_SEQLENS, MASK_RATE, WORD_STARTS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.base import Tokenizer

Examples = Sequence[Mapping[str, Any]]
Flags = NDArray[np.bool_] | None


class BatchCollator(HasEpoch):
    """Makes batches of (N, L) int64 arrays of examples from `ShardExamples`; L is a multiple of `pad_to_multiple_of`.

    A batch holds input_ids, token_type_ids where the rows have them, attention_mask (1 at tokens, 0 at padding), labels
    (the id to predict, -100 elsewhere) and, where the objective has one, next_sentence_label or sentence_order_label
    (N,): the names of transformers, so `model(**batch)` works. For fine-tuning shards, labels are those of the task,
    (N,) for texts and (N, L) for tokens, or there are start_positions and end_positions (N,); rows of several texts
    have the ids of the others as input_ids_2 and so on, each as wide as it needs.

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
    ) -> None:
        examples = shards if isinstance(shards, ShardExamples) else ShardExamples(shards)
        info, first = examples.info, examples.shards
        if tokenizer is not None and tokenizer.fingerprint != info.tokenizer:
            raise ConfigError(
                f"the tokenizer given is not the one the shards were made with ({tokenizer.fingerprint[:12]} given, "
                f"{info.tokenizer[:12]} in the shards); use the one saved beside them, or build with this one"
            )
        self.static = not info.draws_masks
        if self.static and (masking is not None or seed is not None):
            raise ConfigError(
                "masking and seed were given, but the masks of these shards are static: written into them; "
                "leave both out, or build with --masking dynamic"
            )
        if pad_to_multiple_of < 1:
            raise ConfigError(f"pad_to_multiple_of is {pad_to_multiple_of}; expected at least 1")
        check_packing(packing, position_offset, attention_mask, sliding_window, causal=causal)
        check_varlen(attention_mask, model_config)
        self.info, self.pad_to_multiple_of, self.packing = info, pad_to_multiple_of, packing
        self._scalars = info.scalar_columns | carried_columns(info, columns)
        self.position_offset, self.sliding_window = position_offset, sliding_window
        self.attention_mask = attention_mask
        self._layout: Layout = Padded(pad_to_multiple_of)
        if packing:
            self._layout = Packed(pad_to_multiple_of, position_offset, attention_mask, sliding_window)
        if packing and (others := [name for name in info.list_columns if name.startswith("input_ids_")]):
            raise ConfigError(
                f"packing is for rows of one text, and these have {len(others) + 1} of different lengths; leave "
                "packing out"
            )
        self._epoch, self._tokens = self._epoch_type(), 0 if self.static else examples.tokens
        if epoch is not None:
            self.set_epoch(epoch)
        self._masker: Masker | None = None
        self._reads_words = False
        self.shifted, self.causal = shifted, causal
        check_next_token(info, shifted=shifted, causal=causal)
        if isinstance(info, PretrainingInfo) and info.draws_masks:
            build, split = first.build, first.split
            self._masker = info.masker(tokenizer or first.tokenizer(), masking, seed, split, build=build)
            self._reads_words = info.word_starts and self._masker.by_words
        self._rates: MaskingConfig | None = None
        if isinstance(info, PretrainingInfo) and not causal:
            of_split = info.masking.for_split(first.split) if self._masker is None else self._masker.config
            self._rates = of_split if of_split.mask_rate_draw else None
        self.causal_flags = causal_flags
        self.causal_share = 0.0
        if self._masker is not None and not causal:
            training = self._masker.config.trained_for
            self.causal_share, self.shifted = training.causal_share, shifted or training.shifted
            check_packing(packing, position_offset, attention_mask, sliding_window, causal=training.causal_share > 0)

    def __repr__(self) -> str:
        rows = "packed in one row" if self.packing else f"padded to a multiple of {self.pad_to_multiple_of}"
        masks = "the masks in the shards" if isinstance(self.info, PretrainingInfo) else self.info.purpose
        if self._masker is not None:
            config = self._masker.config
            rate = config.rate_draw_text or f"{config.masked_lm_prob:.0%} of the tokens"
            masks = f"masks of {rate} by {config.mask_unit}, seed {self._masker.seed}"
        return f"{type(self).__name__}: {masks}, {rows}"

    def __call__(self, examples: Examples) -> Any:
        """Return the batch of some examples; raises ConfigError for none, or for one without the shards' columns."""
        return self.arrays(examples)

    def arrays(self, examples: Examples) -> Batch:
        """Return the batch of some examples as NumPy arrays; raises ConfigError as a call does."""
        self._check(examples)
        lists = {name: self._lists(examples, name) for name in self.info.list_columns}
        ids = lists["input_ids"]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        epochs = [] if self.static or self.causal or self.causal_share == 1 else self._epochs(examples)
        batch = self._laid_out(examples, lists, lengths, epochs)
        weights: Batch = {}
        if self._rates is not None:
            special = (self.info.cls_token_id, self.info.sep_token_id)
            weights = with_weights(batch, lengths, self._drawn_rates(examples, epochs), self._rates, special)
        if self.shifted or self.causal:
            batch = with_next_tokens(batch | weights, shifted=self.shifted, causal=self.causal)
            weights = {}
        if self.causal_share:
            flags = self._causal_rows(examples, epochs, len(lengths))
            batch = with_causal_rows(batch, flags, self.causal_share if self.causal_flags else None)
        return batch | weights | self._numbers(examples)

    def _drawn_rates(self, examples: Examples, epochs: list[int]) -> NDArray[np.float32]:
        """Return the mask rate of each example, float32 (N,)."""
        if self.static:
            return check_rates(column_numbers(examples, MASK_RATE))
        return self.masker.rates(column_numbers(examples, "example_id"), np.array(epochs, np.int64))

    def unmasked(self, examples: Examples) -> Batch:
        """Return the padded ids without masks, uint16 or int32 (N, L), and what determines the masks.

        lengths and, where rows have token types, second_segments (the position from which these are not 0) are int32
        (N,), example_ids, epochs and, under a schedule, levels int64 (N,), word_starts bool (N, L), where the masks
        depend on it and the ids do not tell. Where rates are drawn, there are mask_rates, maskable, and loss_weights of
        the rows, float32 (N,).
        """
        self._check(examples)
        ids = self._lists(examples, "input_ids")
        lengths = np.fromiter(map(len, ids), np.int32, len(ids))
        width, levels = padded_length(int(lengths.max()), self.pad_to_multiple_of), self._levels(examples)
        rows = padded_rows(ids, width, self.info.pad_token_id, ids[0].dtype)
        batch: Batch = {
            "input_ids": rows if rows.dtype == np.uint16 else rows.astype(np.int32),
            "lengths": lengths,
            "example_ids": column_numbers(examples, "example_id"),
            "epochs": np.array(self._epochs(examples), np.int64),
        }
        if self._rates is not None:
            batch |= row_weights(self.masker, self.masker.special(np.concatenate(ids)), batch)
        if levels is not None:
            batch["levels"] = np.array(levels, np.int64)
        if self.info.row_template.has_types:
            typed = np.concatenate(self._lists(examples, "token_type_ids")) > 0
            batch["second_segments"] = lengths - np.add.reduceat(typed, np.cumsum(lengths) - lengths, dtype=np.int32)
        if (starts := self._word_starts(examples)) is not None:
            batch[WORD_STARTS] = padded_rows(starts, width, 1, np.bool_)
        return batch | self._numbers(examples)

    def _numbers(self, examples: Examples) -> Batch:
        return {name: column_numbers(examples, column) for column, name in self._scalars.items()}

    def _check(self, examples: Examples) -> None:
        needed = [*self.info.list_columns, *([] if self.static else ["example_id"]), *self._scalars]
        needed += [CU_SEQLENS] if self.info.packed else []
        needed += [WORD_STARTS] if self._reads_words else []
        needed += [MASK_RATE] if self.static and self._rates is not None else []
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

    def _laid_out(self, examples: Examples, lists: Mapping[str, Lists], lengths: Ints, epochs: list[int]) -> Batch:
        """Return the columns of tokens as arrays, masked where the shards are not."""
        masked: dict[str, Ints] = {}
        if not self.static:
            tokens = self._layout.tokens(lists["input_ids"], lengths, self._word_starts(examples), self._fill)
            masked["input_ids"], masked["labels"] = self._masked(examples, epochs, *tokens)
        return self._layout.batch(lists, lengths, masked, self._fill)

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

    def _masked(
        self,
        examples: Examples,
        epochs: list[int],
        input_ids: NDArray[np.integer],
        offsets: Ints,
        padding: Flags,
        word_starts: Flags,
    ) -> tuple[Ints, Ints]:
        """Return the masked ids and the labels of flat rows of some epochs; padding is not masked."""
        if self.causal or self.causal_share == 1:
            return input_ids.astype(np.int64), causal_labels(input_ids, offsets, padding)
        special = self.masker.special(input_ids)
        if padding is not None:
            special |= padding
        levels, ids = self._levels(examples), column_numbers(examples, "example_id")
        groups = list(zip(epochs, levels or [0] * len(epochs), strict=True))
        if len(set(groups)) == 1:
            masked, labels = self._drawn(input_ids, offsets, special, ids, groups[0], word_starts)
        else:
            masked, labels = np.empty(len(input_ids), np.int64), np.empty(len(input_ids), np.int64)
            lengths = np.diff(offsets)
            for group in set(groups):
                rows = (np.array(groups) == group).all(1)
                tokens = np.repeat(rows, lengths)
                ends = np.concatenate([[0], np.cumsum(lengths[rows])])
                starts = None if word_starts is None else word_starts[tokens]
                drawn = self._drawn(input_ids[tokens], ends, special[tokens], ids[rows], group, starts)
                masked[tokens], labels[tokens] = drawn
        if self.causal_share:
            causal = np.repeat(self._causal_rows(examples, epochs, len(epochs)), np.diff(offsets))
            masked = np.where(causal, input_ids, masked)
            labels = np.where(causal, causal_labels(input_ids, offsets, padding), labels)
        return masked, labels

    def _causal_rows(self, examples: Examples, epochs: list[int], number: int) -> NDArray[np.bool_]:
        """Return which of a number of examples are causal, by their epochs, bool (N,)."""
        if self.causal_share == 1:
            return np.ones(number, np.bool_)
        ids = column_numbers(examples, "example_id")
        return causal_rows(self.causal_share, self.masker.seed, ids, np.array(epochs, np.int64))

    def _drawn(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        special: NDArray[np.bool_],
        ids: Ints,
        group: tuple[int, int],
        word_starts: Flags,
    ) -> tuple[Ints, Ints]:
        """Return the masked ids and the labels of rows of one epoch and one level."""
        epoch, level = group
        masked = self.masker.at(level).mask(input_ids, offsets, ids, epoch, special=special, word_starts=word_starts)
        return masked.input_ids, masked.labels
