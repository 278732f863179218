"""Hand-made token blocks and the shards written from them, for the tests of this folder."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from bertdata.corpus.writer import write_shard
from bertdata.engine.parts import Counters
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import RANDOM_TOKENS, MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.settings import MASKINGS, ExamplesConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.pairs import RowTemplate
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

TOKENIZER = WordPieceTokenizer.from_tokens(
    [*SPECIAL_TOKENS, "[unused0]", "[unused1]", *(f"w{i}" for i in range(60)), *(f"##p{i}" for i in range(20))]
)
CLS, SEP = TOKENIZER.cls_token_id, TOKENIZER.sep_token_id
TEMPLATES = {
    "BERT": None,
    "RoBERTa": RowTemplate((CLS,), (SEP, SEP), (SEP,), second_type=0),
    "XLNet": RowTemplate((), (SEP,), (SEP, CLS), last_type=2),
    "ModernBERT": RowTemplate((CLS,), (SEP,), (SEP,), second_type=0),
}
"""What shards say of their row templates."""
FIRST_WORD = 7
FIRST_PIECE = 67


def info_of(
    objective: str = "nsp",
    masking: str = "dynamic",
    *,
    max_seq_length: int = 32,
    dupe_factor: int = 1,
    seed: int = 0,
    short_seq_prob: float = 0.1,
    config: MaskingConfig | None = None,
    template: RowTemplate | None = None,
) -> PretrainingInfo:
    """Return what shards of these settings say of themselves."""
    examples = ExamplesConfig(objective, masking, max_seq_length, short_seq_prob, dupe_factor, seed)
    info = PretrainingInfo.of(TOKENIZER, examples=examples, masking=config or MaskingConfig())
    return replace(info, template=template)


def block_from(documents: Sequence[Sequence[Sequence[int]]], keys: Sequence[int] | None = None) -> TokenBlock:
    """Return a block of documents, which are lists of sentences, which are lists of ids."""
    sentences = [sentence for document in documents for sentence in document]
    tokens = np.array([token for sentence in sentences for token in sentence], np.uint16)
    given = keys if keys is not None else [1000 + 7919 * number for number in range(len(documents))]
    return TokenBlock(
        tokens=tokens,
        word_start=~TOKENIZER.continuation[tokens] if len(tokens) else np.zeros(0, np.bool_),
        sentence_ends=np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64),
        document_ends=np.cumsum([sum(map(len, document)) for document in documents], dtype=np.int64),
        document_keys=np.array(given, np.uint64),
    )


def block_of(documents: int, seed: int = 0, sentences: int = 8) -> TokenBlock:
    """Return documents of a few sentences of 3 to 12 tokens, one token in five continuing a word."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(3, 13, documents * sentences)
    total = int(lengths.sum())
    ends = np.cumsum(lengths, dtype=np.int64)
    tokens = generator.integers(FIRST_WORD, FIRST_PIECE, total)
    pieces = generator.random(total) < 0.2
    pieces[np.concatenate([[0], ends[:-1]])] = False
    tokens[pieces] = generator.integers(FIRST_PIECE, TOKENIZER.vocab_size, int(pieces.sum()))
    return TokenBlock(
        tokens=tokens.astype(np.uint16),
        word_start=~pieces,
        sentence_ends=ends,
        document_ends=ends[sentences - 1 :: sentences].copy(),
        document_keys=generator.integers(0, 2**63, documents).astype(np.uint64),
    )


def written(block: TokenBlock, info: PretrainingInfo) -> tuple[bytes, Counters]:
    """Return the bytes of the shard of a block, and what was counted on the way."""
    file = io.BytesIO()
    counters = write_shard(block, info, info.masker(TOKENIZER), file)
    return file.getvalue(), counters


def table_of(data: bytes) -> pa.Table:
    """Return the rows of a shard."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()


@st.composite
def blocks(draw: st.DrawFn, least: int = 2) -> TokenBlock:
    """Draw blocks of a few documents, with sentences of one token and sentences longer than a row among them."""
    length = st.one_of(st.integers(1, 9), st.sampled_from([1, 13, 40]))
    shape = draw(st.lists(st.lists(length, min_size=1, max_size=5), min_size=least, max_size=6))
    generator = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    highest = draw(st.sampled_from([FIRST_PIECE, TOKENIZER.vocab_size]))
    documents = [[generator.integers(FIRST_WORD, highest, size).tolist() for size in sizes] for sizes in shape]
    for sentence in (sentence for document in documents for sentence in document):
        sentence[0] = FIRST_WORD
    return block_from(documents)


@st.composite
def infos(draw: st.DrawFn) -> PretrainingInfo:
    """Draw settings of all objectives and both kinds of masking."""
    return info_of(
        draw(st.sampled_from(list(OBJECTIVES))),
        draw(st.sampled_from(MASKINGS)),
        max_seq_length=draw(st.sampled_from([8, 9, 16, 32])),
        dupe_factor=draw(st.integers(1, 3)),
        seed=draw(st.integers(0, 99)),
        short_seq_prob=draw(st.sampled_from([0.0, 0.1, 1.0])),
        config=MaskingConfig(
            max_predictions_per_seq=draw(st.sampled_from([0, 1, 2])),
            mask_unit=draw(st.sampled_from(list(MASK_UNITS))),
            random_tokens=draw(st.sampled_from(RANDOM_TOKENS)),
        ),
        template=draw(st.sampled_from(list(TEMPLATES.values()))),
    )
