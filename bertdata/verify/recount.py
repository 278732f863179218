"""Count the rows of one shard again, and check them.

Checked are the layout of every row (special tokens, token types, ids, labels, length) and the order of the rows; static
masks are drawn again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.corpus.writer import ROWS_PER_BATCH, order_draws
from bertdata.engine.parts import Counters
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.shards.by_source import count_by_source
from bertdata.shards.columns import MASK_RATE, WORD_STARTS
from bertdata.shards.kept_columns import SUM_OF, sums_of
from bertdata.shards.packed import first_examples, unpacked
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.pairs import RowTemplate
from bertdata.verify.claims import BrokenRules, UncountableError, flat_columns


@dataclass(frozen=True)
class _Batch:
    """One record batch as flat arrays: row i is at offsets[i] to offsets[i+1].

    ids: the tokens before masking; shown: the tokens in the rows.
    """

    ids: NDArray[np.integer]
    shown: NDArray[np.unsignedinteger]
    offsets: Ints
    types: NDArray[np.uint8] | None
    example_ids: Ints
    pair_labels: NDArray[np.int8] | None
    labels: NDArray[np.signedinteger] | None
    sources: NDArray[np.signedinteger] | None
    word_starts: Flags | None
    rates: NDArray[np.float32] | None
    carried: dict[str, NDArray[np.integer | np.floating]]

    def sums(self, flags: Flags) -> Ints:
        """Return for how many tokens of each row a flag is set."""
        return np.add.reduceat(flags, self.offsets[:-1], dtype=np.int64)


def recount(
    batches: Iterable[pa.RecordBatch],
    info: PretrainingInfo,
    tokenizer: Tokenizer,
    *,
    copies: int | None = None,
    lengths: tuple[int, int] | None = None,
    split: str = "train",
    build: str = "",
    id_counts: Ints | None = None,
) -> tuple[Counters, list[str]]:
    """Return the counts of a shard's rows, and a line for each rule that rows break, with their number and the first.

    The counts are those of `write_shard` that follow from the rows, and `repeated_example_ids`. `copies` is how many
    copies the shard may have, `lengths` the shortest and the longest example of its length bin, `split` the one whose
    masks it has, `build` the folder of the build, for its tables of masks; how often each id is in the rows, special
    tokens of their template not counted, is added to `id_counts`, int64 (V,). The examples of packed rows are checked
    one by one. One batch and the example ids are held in memory. Raises UncountableError where a batch does not fit its
    schema.
    """
    order = _Order(info, copies or info.examples.dupe_factor)
    masker = info.masker(tokenizer, split=split, build=build)
    rows = _Recount(info, masker, tokenizer, lengths or (1, info.examples.max_seq_length), id_counts)
    for arrow in batches:
        if not arrow.num_rows:
            order.end_copy()
            continue
        single, firsts = rows.unpacked(arrow)
        batch = rows.flat(single)
        begin = rows.broken.begin
        rows.add(batch, order.copy_of(batch.example_ids if firsts is None else batch.example_ids[firsts], begin))
    ids = np.concatenate(rows.example_ids)
    rows.counters.add("repeated_example_ids", len(ids) - len(np.unique(ids)))
    return rows.counters, rows.broken.lines()


class _Recount:
    """The counts of the batches so far, and the rules that their rows break.

    special, replacement: which ids are special, without [UNK], and which may replace a masked token, bool (V,).
    """

    def __init__(
        self,
        info: PretrainingInfo,
        masker: Masker,
        tokenizer: Tokenizer,
        lengths: tuple[int, int],
        id_counts: Ints | None,
    ) -> None:
        self.info, self.lengths, self.masker, self.id_counts = info, lengths, masker, id_counts
        self.counters, self.broken, self.example_ids = Counters(), BrokenRules(), [np.zeros(0, np.int64)]
        self.special, self.replacement = (np.zeros(info.vocab_size, np.bool_) for _ in range(2))
        self.special[tokenizer.special_ids] = True
        if tokenizer.unk_token_id >= 0:
            self.special[tokenizer.unk_token_id] = False
        self.replacement[tokenizer.replacement_ids] = True
        self.counters.add_all(examples=0, tokens_in_examples=0)
        self.counters.add_all(**count_by_source("examples", np.zeros(0, np.int8), info.sources))
        self.counters.add_all(**{f"{SUM_OF}{name}": 0 for name in info.selection.kept})

    def unpacked(self, arrow: pa.RecordBatch) -> tuple[pa.RecordBatch, Ints | None]:
        """Return a batch of single examples and, for packed rows, the number of the first example of each."""
        if not self.info.examples.pack:
            return arrow, None
        where = f"the record batch of row {self.broken.begin:,}"
        try:
            arrow.validate(full=True)
            single = unpacked(arrow)
        except MemoryError:
            raise
        except (pa.ArrowException, ValueError) as error:
            raise UncountableError(f"{where} is damaged ({error})") from error
        longest, most = (
            int(np.diff(arrow["input_ids"].offsets.to_numpy()).max(initial=0)),
            self.info.examples.row_length,
        )
        if longest > most:
            raise UncountableError(f"{where} has a packed row of {longest:,} tokens; expected at most {most:,}")
        self.counters.add("rows", arrow.num_rows)
        return single, first_examples(arrow)

    def flat(self, arrow: pa.RecordBatch) -> _Batch:
        """Return a batch as flat arrays; raises UncountableError where it does not fit its schema."""
        info, where = self.info, f"the record batch of row {self.broken.begin:,}"
        try:
            arrow.validate(full=True)
        except MemoryError:
            raise
        except pa.ArrowException as error:
            raise UncountableError(f"{where} is damaged ({error})") from error
        lists = [arrow[field.name] for field in arrow.schema if pa.types.is_list(field.type)]
        if any(column.null_count for column in [*arrow.columns, *(column.values for column in lists)]):
            raise UncountableError(f"{where} holds nulls")
        offsets = [column.offsets.to_numpy().astype(np.int64) for column in lists]
        lengths = np.diff(offsets[0])
        if not all(np.array_equal(np.diff(offset), lengths) for offset in offsets):
            raise UncountableError(f"{where} has lists of unlike lengths in one row")
        segments = info.objective.segments[0]
        shortest = info.row_template.special(pair=segments > 1) + segments
        if not len(lengths) or int(lengths.min()) < shortest:
            raise UncountableError(f"{where} has a row of under {shortest} tokens, or no rows")
        values = flat_columns(arrow)
        ids = shown = values["input_ids"]
        if (labels := values.get("labels")) is not None:
            ids = np.where(labels == IGNORE_INDEX, shown.astype(np.int64), labels.astype(np.int64))
        if int(shown.max()) >= info.vocab_size:
            raise UncountableError(f"{where} has the id {shown.max()}; the vocabulary ends at {info.vocab_size - 1}")
        if int(ids.min()) < 0 or int(ids.max()) >= info.vocab_size:
            raise UncountableError(f"{where}: labels hold what is neither -100 nor an id of the vocabulary")
        return _Batch(
            ids,
            shown,
            offsets[0] - offsets[0][0],
            values.get("token_type_ids"),
            values["example_id"],
            values[info.label] if info.label else None,
            labels,
            values.get("source"),
            values.get(WORD_STARTS),
            values.get(MASK_RATE),
            {name: values[name] for name in info.selection.kept},
        )

    def add(self, batch: _Batch, copy: int) -> None:
        """Check and count the rows of a batch."""
        info, counters, (shortest, longest) = self.info, self.counters, self.lengths
        lengths, fail = np.diff(batch.offsets), self.broken.add_flags
        fail(f"there are not {shortest} to {longest} tokens", (lengths < shortest) | (lengths > longest))
        if batch.sources is not None:
            unknown = (batch.sources < 0) | (batch.sources >= len(info.sources))
            fail("the source is not one of this build", unknown)
            counters.add_all(**count_by_source("examples", batch.sources[~unknown], info.sources))
        special = self._check_layout(batch)
        if batch.pair_labels is not None:
            counters.add("labels_1", int((batch.pair_labels == 1).sum()))
            values = range(len(info.objective.label_names))
            fail(f"{info.label} is not {' or '.join(map(str, values))}", ~np.isin(batch.pair_labels, values))
        fail("the example id is negative", batch.example_ids < 0)
        if batch.word_starts is not None:
            self.broken.add_flags("a special token continues a word", special & ~batch.word_starts, batch.offsets)
        ordinary = len(batch.ids) - int(special.sum())
        if self.id_counts is not None:
            self.id_counts += np.bincount(batch.ids[~special], minlength=len(self.id_counts))
        counters.add_all(examples=len(lengths), row_tokens=len(batch.ids), tokens_in_examples=ordinary)
        counters.add_all(**sums_of(batch.carried))
        if batch.labels is None:
            words = {"special": special, "word_starts": batch.word_starts}
            drawn, capped = self.masker.count(batch.ids, batch.offsets, batch.example_ids, 0, levels=0, **words)
            counters.add_all(predictions=drawn, predictions_capped_rows=capped)
        else:
            self._check_predictions(batch, batch.labels, special, copy)
        self.example_ids.append(batch.example_ids)
        self.broken.begin += len(lengths)

    def _check_layout(self, batch: _Batch) -> Flags:
        """Check special tokens and token types; returns where special tokens are."""
        ids, offsets, template = batch.ids, batch.offsets, self.info.row_template
        self.broken.add_template(ids, offsets, template)
        special, borders = self._separators(ids, offsets, template)
        stray = self.special[ids] & ~special
        if batch.labels is not None:
            stray &= batch.labels == IGNORE_INDEX
        self.broken.add_flags("a special token is in the text", stray, offsets)
        for rule, wrong in self.info.objective.broken_rules(borders, offsets, batch.types, template):
            self.broken.add(rule, wrong)
        return special

    def _separators(self, ids: NDArray[np.integer], offsets: Ints, template: RowTemplate) -> tuple[Flags, Flags]:
        """Check what stands between segments; returns where special tokens are, and where separators begin.

        The first of a pair are those of `between`, the others one id each.
        """
        begins, ends = offsets[:-1] + len(template.prefix), offsets[1:] - len(template.suffix)
        number, lengths = np.arange(len(ids)), np.diff(offsets)
        inside = (number >= np.repeat(begins, lengths)) & (number < np.repeat(ends, lengths))
        inner = inside & np.isin(ids, template.between)
        row_begins = np.zeros(len(ids) + 1, np.bool_)
        row_begins[offsets] = True
        run_begins = np.flatnonzero(inner & (row_begins[:-1] | ~np.append(False, inner[:-1])))
        run_ends = np.flatnonzero(inner & (row_begins[1:] | ~np.append(inner[1:], False))) + 1
        rows = np.searchsorted(offsets, run_begins, side="right") - 1
        pair = (np.diff(rows, prepend=-1) > 0) & (self.info.objective.token_types == 2)
        sizes, run_lengths = np.where(pair, len(template.between), 1), run_ends - run_begins
        at = np.flatnonzero(inner)
        within = (at - np.repeat(run_begins, run_lengths)) % np.repeat(sizes, run_lengths)
        unlike = ids[at] != np.array(template.between, np.int64)[within]
        wrong = np.unique(np.concatenate([rows[run_lengths % sizes > 0], np.repeat(rows, run_lengths)[unlike]]))
        self.broken.add("the separators of two segments are not those of the row template", wrong)
        empty = (run_lengths > sizes) | np.isin(run_begins, begins) | np.isin(run_ends, ends)
        self.broken.add("a segment is empty", np.unique(rows[empty]))
        borders = np.zeros(len(ids), np.bool_)
        borders[at[within == 0]] = True
        return inner | ~inside, borders

    def _check_predictions(self, batch: _Batch, labels: NDArray[np.signedinteger], special: Flags, copy: int) -> None:
        """Check and count the static masks of a batch."""
        masker, counters, predicted = self.masker, self.counters, labels != IGNORE_INDEX
        masked, unchanged = (predicted & (batch.shown == other) for other in (masker.mask_token_id, batch.ids))
        drawn = masker.mask(
            *(batch.ids, batch.offsets, batch.example_ids, copy), special=special, word_starts=batch.word_starts
        )
        wrong = {
            "a special token is predicted": predicted & special,
            "a label is a special token": predicted & self.special[batch.ids],
            "the mask is not the one drawn": (labels != drawn.labels) | (batch.shown != drawn.input_ids),
        }
        if masker.config.random_tokens == "ordinary":
            strange = predicted & ~masked & ~unchanged & ~self.replacement[batch.shown]
            wrong["a replacement is special or unused"] = strange
        for rule, flags in wrong.items():
            self.broken.add_flags(rule, flags, batch.offsets)
        number, wanted = (batch.sums(values != IGNORE_INDEX) for values in (labels, drawn.labels))
        self.broken.add_flags("the number of predictions is not the one drawn", number != wanted)
        if batch.rates is not None:
            rates = masker.rates(batch.example_ids, copy)
            self.broken.add_flags("the mask rate is not the one drawn", batch.rates != rates)
        counters.add_all(predictions=int(predicted.sum()), predictions_capped_rows=drawn.capped)
        counters.add_all(predictions_mask=int(masked.sum()), predictions_kept=int(unchanged.sum()))


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
