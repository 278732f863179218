"""Count the rows of one shard again, and check them.

Checked are the layout of every row (special tokens, token types, ids, labels, length) and the order of the rows; static
masks are drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.engine.parts import Counters
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.shards.packed import first_examples, unpacked
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.verify.claims import BrokenRules, UncountableError
from bertdata.shards.writer import ROWS_PER_BATCH, order_draws
from bertdata.tokenizers.base import Tokenizer

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Vocabulary:
    """Which ids are special, without [UNK], and which may replace a masked token, each bool (vocab_size,).

    tokenizer: masks are drawn with it.
    """

    special: Flags
    replacement: Flags
    tokenizer: Tokenizer

    @staticmethod
    def of(tokenizer: Tokenizer) -> Vocabulary:
        special, replacement = (np.zeros(tokenizer.vocab_size, np.bool_) for _ in range(2))
        special[tokenizer.special_ids] = True
        special[tokenizer.unk_token_id] = False
        replacement[tokenizer.replacement_ids] = True
        return Vocabulary(special, replacement, tokenizer)


@dataclass(frozen=True)
class _Batch:
    """One record batch as flat arrays: row i is at offsets[i] to offsets[i+1]; `fail` notes rows that break a rule.

    ids: the tokens before masking; shown: the tokens in the rows.
    """

    ids: NDArray[np.integer]
    shown: NDArray[np.unsignedinteger]
    offsets: Ints
    types: NDArray[np.uint8]
    example_ids: Ints
    pair_labels: NDArray[np.int8] | None
    labels: NDArray[np.signedinteger] | None
    fail: Callable[[str, Ints], None]
    sources: NDArray[np.int8] | None

    def fail_at(self, rule: str, wrong: Flags) -> None:
        """Note the rows in which a flat array of flags has any."""
        if wrong.any():
            self.fail(rule, np.unique(np.searchsorted(self.offsets, np.flatnonzero(wrong), side="right") - 1))


def recount(
    batches: Iterable[pa.RecordBatch],
    info: PretrainingInfo,
    vocabulary: Vocabulary,
    *,
    copies: int | None = None,
    lengths: tuple[int, int] | None = None,
) -> tuple[Counters, list[str]]:
    """Return the counts of a shard's rows, and a line for each rule that rows break, with their number and the first.

    The counts are those of `write_shard` that follow from the rows, and `repeated_example_ids`. `copies` is how many
    copies the shard may have, `lengths` the shortest and the longest example of its length bin. The examples of packed
    rows are checked one by one. One batch and the example ids are held in memory. Raises UncountableError where a batch
    does not fit its schema.
    """
    counters = Counters()
    broken = BrokenRules()
    every_id: list[Ints] = []
    order = _Order(info, copies or info.examples.dupe_factor)
    shortest, longest = lengths or (1, info.examples.max_seq_length)
    masker, fail = info.masker(vocabulary.tokenizer), broken.add
    for name in ("examples", "tokens_in_examples", *(f"examples_of_{source}" for source in info.sources)):
        counters.add(name, 0)
    for arrow in batches:
        if not arrow.num_rows:
            order.end_copy()
            continue
        single, firsts = _unpacked(arrow, info, broken.begin, counters)
        batch = _flat(single, info, broken.begin, fail)
        copy = order.copy_of(batch.example_ids if firsts is None else batch.example_ids[firsts], broken.begin)
        found = np.diff(batch.offsets)
        fail(f"there are not {shortest} to {longest} tokens", np.flatnonzero((found < shortest) | (found > longest)))
        if batch.sources is not None:
            unknown = (batch.sources < 0) | (batch.sources >= len(info.sources))
            fail("the source is not one of this build", np.flatnonzero(unknown))
            for number, source in enumerate(info.sources):
                counters.add(f"examples_of_{source}", int((batch.sources == number).sum()))
        special = _check_layout(batch, info, vocabulary)
        if batch.pair_labels is not None:
            counters.add("labels_1", int((batch.pair_labels == 1).sum()))
            number = len(info.objective.label_names)
            known = " or ".join(map(str, range(number)))
            fail(f"{info.label} is not {known}", np.flatnonzero(~np.isin(batch.pair_labels, range(number))))
        fail("the example id is negative", np.flatnonzero(batch.example_ids < 0))
        per_row = np.add.reduceat(special, batch.offsets[:-1], dtype=np.int64)
        available = np.diff(batch.offsets) - per_row
        counters.add("examples", len(available))
        counters.add("row_tokens", len(batch.ids))
        counters.add("tokens_in_examples", int(available.sum()))
        if batch.labels is None:
            drawn, capped = masker.count(batch.ids, batch.offsets, batch.example_ids, 0, special=special)
            counters.add("predictions", drawn)
            counters.add("predictions_capped_rows", capped)
        else:
            _check_predictions(batch, batch.labels, masker, vocabulary, special, copy, counters)
        every_id.append(batch.example_ids)
        broken.begin += len(available)
    ids = np.concatenate(every_id) if every_id else np.zeros(0, np.int64)
    counters.add("repeated_example_ids", len(ids) - len(np.unique(ids)))
    return counters, broken.lines()


def _unpacked(
    arrow: pa.RecordBatch, info: PretrainingInfo, begin: int, counters: Counters
) -> tuple[pa.RecordBatch, Ints | None]:
    """Return a batch of single examples and, for packed rows, which are counted, the number of the first of each."""
    if not info.examples.pack:
        return arrow, None
    try:
        arrow.validate(full=True)
        single = unpacked(arrow)
    except (pa.ArrowException, ValueError) as error:
        raise UncountableError(f"the record batch of row {begin:,} is damaged ({error})") from error
    longest = int(np.diff(arrow["input_ids"].offsets.to_numpy()).max(initial=0))
    if longest > info.examples.row_length:
        raise UncountableError(
            f"the record batch of row {begin:,} has a packed row of {longest:,} tokens; expected at most "
            f"{info.examples.row_length:,}"
        )
    counters.add("rows", arrow.num_rows)
    return single, first_examples(arrow)


def _flat(arrow: pa.RecordBatch, info: PretrainingInfo, begin: int, fail: Callable[[str, Ints], None]) -> _Batch:
    where = f"the record batch of row {begin:,}"
    try:
        arrow.validate(full=True)
    except pa.ArrowException as error:
        raise UncountableError(f"{where} is damaged ({error})") from error
    lists = [arrow[field.name] for field in arrow.schema if pa.types.is_list(field.type)]
    if any(column.null_count for column in [*arrow.columns, *(column.values for column in lists)]):
        raise UncountableError(f"{where} holds nulls")
    offsets = [column.offsets.to_numpy().astype(np.int64) for column in lists]
    if not all(np.array_equal(np.diff(one), np.diff(offsets[0])) for one in offsets):
        raise UncountableError(f"{where} has lists of unlike lengths in one row")
    lengths = np.diff(offsets[0])
    shortest = 1 + 2 * info.objective.separators[0]
    if not len(lengths) or int(lengths.min()) < shortest:
        raise UncountableError(f"{where} has a row of under {shortest} tokens, or no rows")
    values = {
        field.name: arrow[field.name].flatten().to_numpy()
        if pa.types.is_list(field.type)
        else arrow[field.name].to_numpy()
        for field in arrow.schema
    }
    shown, labels = values["input_ids"], values.get("labels")
    batch = _Batch(
        shown if labels is None else np.where(labels == IGNORE_INDEX, shown.astype(np.int64), labels.astype(np.int64)),
        shown,
        offsets[0] - offsets[0][0],
        values["token_type_ids"],
        values["example_id"],
        values[info.label] if info.label else None,
        labels,
        fail,
        values.get("source"),
    )
    if int(shown.max()) >= info.vocab_size:
        raise UncountableError(f"{where} has the id {shown.max()}; the vocabulary ends at {info.vocab_size - 1}")
    if int(batch.ids.min()) < 0 or int(batch.ids.max()) >= info.vocab_size:
        raise UncountableError(f"{where}: labels hold what is neither -100 nor an id of the vocabulary")
    return batch


def _check_layout(batch: _Batch, info: PretrainingInfo, vocabulary: Vocabulary) -> Flags:
    """Check special tokens and token types; returns where [CLS] and [SEP] are."""
    ids, starts, ends = batch.ids, batch.offsets[:-1], batch.offsets[1:]
    separator: Flags = ids == info.sep_token_id
    batch.fail("[CLS] is not the first token", np.flatnonzero(ids[starts] != info.cls_token_id))
    batch.fail("[SEP] is not the last token", np.flatnonzero(~separator[ends - 1]))
    at = np.flatnonzero(separator)
    rows = np.searchsorted(batch.offsets, at, side="right") - 1
    before = at - 1
    batch.fail(
        "a segment is empty", np.unique(rows[(before < starts[rows]) | (before == starts[rows]) | separator[before]])
    )

    special = separator.copy()
    special[starts] = True
    stray = vocabulary.special[ids] & ~special
    if batch.labels is not None:
        stray &= batch.labels == IGNORE_INDEX
    batch.fail_at("a special token is in the text", stray)

    for rule, wrong in info.objective.broken_rules(separator, batch.offsets, batch.types):
        batch.fail(rule, wrong)
    return special


def _check_predictions(
    batch: _Batch,
    labels: NDArray[np.signedinteger],
    masker: Masker,
    vocabulary: Vocabulary,
    special: Flags,
    copy: int,
    counters: Counters,
) -> None:
    """Check and count the static masks of a batch."""
    predicted = labels != IGNORE_INDEX
    batch.fail_at("a special token is predicted", predicted & special)
    at = np.flatnonzero(predicted)
    original, shown = batch.ids[at], batch.shown[at]
    rows = np.searchsorted(batch.offsets, at, side="right") - 1
    batch.fail("a label is a special token", np.unique(rows[vocabulary.special[original]]))
    masked, kept = shown == masker.mask_token_id, shown == original
    if masker.config.random_tokens == "ordinary":
        strange = ~masked & ~kept & ~vocabulary.replacement[shown]
        batch.fail("a replacement is special or unused", np.unique(rows[strange]))
    drawn = masker.mask(batch.ids, batch.offsets, batch.example_ids, copy, special=special)
    number, wanted = (
        np.add.reduceat(one != IGNORE_INDEX, batch.offsets[:-1], dtype=np.int64) for one in (labels, drawn.labels)
    )
    batch.fail("the number of predictions is not the one drawn", np.flatnonzero(number != wanted))
    batch.fail_at("the mask is not the one drawn", (labels != drawn.labels) | (batch.shown != drawn.input_ids))
    counters.add("predictions_capped_rows", drawn.capped)
    counters.add("predictions", len(at))
    counters.add("predictions_mask", int(masked.sum()))
    counters.add("predictions_kept", int(kept.sum()))


class _Order:
    """Finds the copy of each record batch: a copy ends with a short batch, and its order is drawn for it."""

    def __init__(self, info: PretrainingInfo, copies: int) -> None:
        self._seed, self._copies = info.examples.seed, copies
        self._copy, self._last, self._ended = 0, 0, False

    def end_copy(self) -> None:
        """Note an empty batch: after it the next copy begins."""
        self._copy, self._last, self._ended = self._copy + self._ended, 0, True

    def copy_of(self, example_ids: Ints, begin: int) -> int:
        """Return the copy of the next batch; raises UncountableError where its rows are in the order of none."""
        copy = self._copy + self._ended
        draws = order_draws(self._seed, copy, example_ids)
        after = self._ended or int(draws[0]) >= self._last
        if copy >= self._copies or not after or not bool((draws[1:] >= draws[:-1]).all()):
            raise UncountableError(
                f"the rows from row {begin:,} on are not in the order drawn for copy {copy + 1} of {self._copies}"
            )
        self._copy, self._last, self._ended = copy, int(draws[-1]), len(draws) < ROWS_PER_BATCH
        return copy
