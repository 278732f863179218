"""Rows filled with whole sentences across documents (RoBERTa section 4.2, FULL-SENTENCES)."""

from __future__ import annotations

import numpy as np

from bertdata.counter_rng import bits, threshold
from bertdata.objectives.blocks import Plan, TokenBlock, word_start_before
from bertdata.objectives.chunks import Chunks, check_block, example_ids
from bertdata.objectives.objective import Objective
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate


class FullSentences(Objective):
    """Rows of sentences of one document or several, with a separator between documents."""

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        """Return the examples of one copy of a block: whole sentences in rows, one document after another."""
        from bertdata.objectives.kernels import segments as segments_kernel

        check_block(block)
        room, separator = template.room(config.max_seq_length, pair=False), len(template.separator)
        pieces = sentence_pieces(block, room)
        spans = np.empty((len(pieces.start), 2), np.int64)
        offsets, firsts = np.empty(len(spans) + 1, np.int64), np.empty(len(spans), np.int64)
        keys = np.array([self.key(config, purpose) for purpose in ("short", "length")], np.uint64)
        with np.errstate(over="ignore"):
            rows = segments_kernel.join_sentences(
                *(pieces.document, pieces.number, pieces.start, pieces.end, block.document_keys, keys),
                np.uint64(threshold(config.short_seq_prob)),
                *(copy, room, separator),
                *(spans, offsets, firsts),
            )
        first = firsts[:rows]
        owners = block.document_keys[pieces.document[first]]
        return Plan(
            spans[: offsets[rows]],
            np.zeros(offsets[rows], np.int8),
            offsets[: rows + 1].copy(),
            np.zeros(rows, np.int8),
            example_ids(bits(self.key(config, "id"), owners, copy, pieces.number[first])),
        )


FULL_SENTENCES = FullSentences(
    "full-sentences", "RoBERTa's rows across documents", segments=(1, None), settings=("short_seq_prob",)
)


def sentence_pieces(block: TokenBlock, room: int) -> Chunks:
    """Return the sentences of all documents; those longer than a row are cut at word starts."""
    starts = np.concatenate([[0], block.sentence_ends])[:-1].astype(np.int64)
    cuts = [starts]
    for number in np.flatnonzero(block.sentence_ends - starts > room):
        begin, end = int(starts[number]), int(block.sentence_ends[number])
        while end - begin > room:
            cut = int(word_start_before(block, np.array([begin + room]), np.array([begin]))[0])
            begin = cut if cut > begin else begin + room
            cuts.append(np.array([begin], np.int64))
    start = np.sort(np.concatenate(cuts)) if len(cuts) > 1 else starts
    ends = np.concatenate([start[1:], block.sentence_ends[-1:]])
    firsts = np.searchsorted(start, np.concatenate([[0], block.document_ends[:-1]])[: len(block.document_ends)])
    document = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, len(start))))
    return Chunks(document, np.arange(len(start), dtype=np.int64) - firsts[document], start, ends)
