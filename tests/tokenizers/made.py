"""Small tokenizers of several models, trained by `tokenizers`, most on the texts of `tests.small_build`."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from bertdata.sentences import SentenceSegmenter
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.small_build import texts

SPECIAL = ["<pad>", "<unk>", "<s>", "</s>", "<mask>"]
KINDS = ("byte-level", "whitespace", "unigram")
"""Byte-level BPE; BPE of a pre-tokenizer that keeps no spaces; Unigram with Metaspace, whose pieces have a mark."""


@cache
def made(kind: str) -> JsonTokenizer:
    """Return a tokenizer of one of `KINDS`; many words of the texts take several of its tokens."""
    return trained(kind, list(texts(60)), 300 if kind == "byte-level" else 60)


def trained(kind: str, corpus: list[str], vocab_size: int) -> JsonTokenizer:
    """Train a tokenizer of one of `KINDS`."""
    settings: dict[str, Any] = {"vocab_size": vocab_size, "special_tokens": SPECIAL, "show_progress": False}
    trainer: Any
    if kind == "byte-level":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        settings["special_tokens"] = [name.replace("<unk>", "<extra>") for name in SPECIAL]
        trainer = trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **settings)
    elif kind == "whitespace":
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        trainer = trainers.BpeTrainer(**settings)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(unk_token="<unk>", **settings)
    tokenizer.train_from_iterator(corpus, trainer)
    return JsonTokenizer(json.loads(tokenizer.to_str()), {})


@cache
def stored_words(kind: str) -> list[tuple[bytes, NDArray[np.bool_]]]:
    """Return the ids of each document, as bytes, and where words begin: where `word_ids` of `tokenizers` changes."""
    reference, segmenter, words = made(kind).reference, SentenceSegmenter.from_pretrained("english"), []
    for sentences in segmenter.segment_batch(list(texts(60))).to_pylist():
        encoded = [reference.encode(sentence, add_special_tokens=False) for sentence in sentences]
        ids = np.array([token for encoding in encoded for token in encoding.ids], np.uint16)
        numbers = [np.array(encoding.word_ids) for encoding in encoded]
        words.append((ids.tobytes(), np.concatenate([np.diff(number, prepend=-1) != 0 for number in numbers])))
    return words


def assert_words(kind: str, ids: NDArray[np.integer], starts: NDArray[np.bool_]) -> None:
    """Assert that the tokens of a text somewhere in the documents begin words where `tokenizers` says they do."""
    wanted, seen = ids.astype(np.uint16).tobytes(), 0
    for document, flags in stored_words(kind):
        at = document.find(wanted)
        while at >= 0:
            if at % 2 == 0:
                seen += 1
                if np.array_equal(flags[at // 2 : at // 2 + len(ids)], starts):
                    return
            at = document.find(wanted, at + 1)
    raise AssertionError(f"{seen} places of these tokens, none with words that begin at {np.flatnonzero(starts)}")
