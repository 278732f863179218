"""Token blocks for tests: from words written out, drawn by hypothesis, or large and random.

A token's id is its place in the block, so that a row tells where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.objective import plan_examples
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate, bert_template

CLS, SEP = 1_000_001, 1_000_002
BERT = bert_template(CLS, SEP)
"""BERT's row template, with ids above those of the text."""
TEMPLATES = {
    "BERT": BERT,
    "RoBERTa": RowTemplate((CLS,), (SEP, SEP), (SEP,), second_type=0),
    "XLNet": RowTemplate((), (SEP,), (SEP, CLS), last_type=2),
    "ModernBERT": RowTemplate((CLS,), (SEP,), (SEP,), second_type=0),
}
SPECIALS = {"nsp": 3, "sop": 3, "doc-sentences": 2}
"""The special tokens of a row."""

Sentence = Sequence[int]
"""The number of tokens in each word."""


def block_of(documents: Sequence[Sequence[Sentence]], keys: Sequence[int] | None = None) -> TokenBlock:
    """Return a block of documents, each sentences, each the lengths of its words; keys are 1, 2, ... by default."""
    lengths = [[sum(words) for words in sentences] for sentences in documents]
    starts = [place == 0 for sentences in documents for words in sentences for word in words for place in range(word)]
    total = len(starts)
    return TokenBlock(
        tokens=np.arange(total, dtype=np.uint32),
        word_start=np.array(starts, np.bool_),
        sentence_ends=np.cumsum([length for document in lengths for length in document], dtype=np.int64),
        document_ends=np.cumsum([sum(document) for document in lengths], dtype=np.int64),
        document_keys=np.array(range(1, len(documents) + 1) if keys is None else keys, np.uint64),
    )


def blocks(documents: int = 6, word: int = 4, *, at_least: int = 0) -> st.SearchStrategy[TokenBlock]:
    """Draw blocks of few documents with sentences shorter and longer than a row."""
    counts = st.integers(1, 8) | st.integers(1, 40)
    words = st.builds(
        lambda count, step: [1 + i * step % word for i in range(1, count + 1)], counts, st.integers(1, word)
    )
    document = st.lists(words, min_size=1, max_size=10)
    return st.lists(document, min_size=at_least, max_size=documents).map(block_of)


def random_block(seed: int, documents: int, sentences: float, sentence: float = 20.0) -> TokenBlock:
    """Return a block of random documents: about so many sentences in each, of so many tokens, most words one token."""
    rng = np.random.default_rng(seed)
    counts = np.maximum(1, rng.geometric(1 / sentences, documents))
    lengths = rng.geometric(1 / sentence, int(counts.sum()))
    ends = np.cumsum(lengths)
    word_start = rng.random(int(ends[-1])) < 0.8
    word_start[np.concatenate([[0], ends[:-1]])] = True
    return TokenBlock(
        tokens=np.arange(len(word_start), dtype=np.uint32),
        word_start=word_start,
        sentence_ends=ends,
        document_ends=ends[np.cumsum(counts) - 1],
        document_keys=rng.permutation(documents).astype(np.uint64) + np.uint64(1000),
    )


def examples_of(plan: Plan) -> list[list[tuple[int, int]]]:
    """Return the spans of each example."""
    spans = [(int(start), int(end)) for start, end in plan.spans]
    return [spans[plan.offsets[i] : plan.offsets[i + 1]] for i in range(len(plan.ids))]


def documents_of(block: TokenBlock, positions: Sequence[int]) -> list[int]:
    """Return the number of the document that each position is in."""
    return [int(document) for document in np.searchsorted(block.document_ends, positions, side="right")]


def plan_of(
    block: TokenBlock, objective: str, length: int = 128, copy: int = 0, template: RowTemplate = BERT, **options: Any
) -> Plan:
    """Return the plan of a block."""
    return plan_examples(block, ExamplesConfig(objective=objective, max_seq_length=length, **options), copy, template)


def drawn_plan(data: st.DataObject, objective: str, **shape: int) -> tuple[TokenBlock, Plan, int]:
    """Draw a block of as many documents as the objective needs or more, its plan, and the length of its rows."""
    block = data.draw(blocks(at_least=OBJECTIVES[objective].min_documents, **shape))
    length = data.draw(st.integers(8, 40))
    options: dict[str, Any] = {
        "short_seq_prob": data.draw(st.sampled_from([0.0, 0.1, 1.0])),
        "seed": data.draw(st.integers(0, 99)),
    }
    return block, plan_of(block, objective, length, data.draw(st.integers(0, 3)), **options), length


def tokens_of(plan: Plan) -> list[int]:
    """Return the places of all tokens of a plan, in order."""
    return [position for start, end in plan.spans.tolist() for position in range(start, end)]
