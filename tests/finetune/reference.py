"""What the fine-tuning recipes of `transformers` give, written again from their steps: the oracle of the tests.

The tokenizer is that of `transformers`; literal special tokens are text, as they are to ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bertdata.tokenizers.wordpiece import WordPieceTokenizer


def fast_tokenizer(tokenizer: WordPieceTokenizer, folder: Path) -> Any:
    """Return the tokenizer of `transformers` with the same files."""
    from transformers import AutoTokenizer

    tokenizer.save_pretrained(folder)
    return AutoTokenizer.from_pretrained(str(folder), split_special_tokens=True)


def classification(tokenizer: Any, texts: Sequence[str], pairs: Sequence[str] | None, length: int) -> list[Any]:
    """Tokenize as run_glue does."""
    encoded = tokenizer(
        list(texts), None if pairs is None else list(pairs), truncation="longest_first", max_length=length
    )
    return list(zip(encoded["input_ids"], encoded["token_type_ids"], strict=True))


def token_classification(
    tokenizer: Any, sentences: Sequence[Sequence[str]], labels: Sequence[Sequence[int]], length: int
) -> list[Any]:
    """Tokenize words and align labels as run_ner does, label_all_tokens off."""
    encoded = tokenizer(list(map(list, sentences)), truncation=True, max_length=length, is_split_into_words=True)
    rows = []
    for number, label in enumerate(labels):
        targets, previous = [], None
        for word in encoded.word_ids(batch_index=number):
            targets.append(-100 if word is None or word == previous else label[word])
            previous = word
        rows.append((encoded["input_ids"][number], targets))
    return rows


def question_answering(
    tokenizer: Any, question: str, context: str, answer: tuple[str, int] | None, length: int, stride: int
) -> list[dict[str, Any]]:
    """Make the windows of a question, padded, and label them as run_qa does.

    Its loop for the first token runs past a window whose last token begins the answer; here it stops at that token.
    """
    encoded = tokenizer(
        [question.lstrip()],
        [context],
        truncation="only_second",
        max_length=length,
        stride=stride,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        padding="max_length",
    )
    rows = []
    for number, offsets in enumerate(encoded["offset_mapping"]):
        ids, sequence = encoded["input_ids"][number], encoded.sequence_ids(number)
        inside = [place for place, token in enumerate(sequence) if token == 1]
        start = end = 0
        if answer and inside:
            first, last = inside[0], inside[-1]
            begin, stop = answer[1], answer[1] + len(answer[0])
            if offsets[first][0] <= begin and offsets[last][1] >= stop:
                while first <= inside[-1] and offsets[first][0] <= begin:
                    first += 1
                while offsets[last][1] >= stop:
                    last -= 1
                start, end = first - 1, last + 1
        tokens = sum(encoded["attention_mask"][number])
        rows.append(
            {
                "input_ids": ids[:tokens],
                "token_type_ids": encoded["token_type_ids"][number][:tokens],
                "start_positions": start,
                "end_positions": end,
                "offsets": [offsets[place] if sequence[place] == 1 else (-1, -1) for place in range(tokens)],
            }
        )
    return rows


def best_answers(
    start: np.ndarray[Any, Any],
    end: np.ndarray[Any, Any],
    offsets: Sequence[Sequence[tuple[int, int]]],
    context: str,
    *,
    n_best: int,
    longest: int,
    threshold: float | None,
) -> str:
    """Choose the answer to one question from the logits of its windows as utils_qa does."""
    least, candidates = None, []
    for number, places in enumerate(offsets):
        null = start[number][0] + end[number][0]
        if least is None or least > null:
            least = null
        for first in np.argsort(start[number])[-1 : -n_best - 1 : -1].tolist():
            for last in np.argsort(end[number])[-1 : -n_best - 1 : -1].tolist():
                if max(first, last) >= len(places) or places[first][0] < 0 or places[last][0] < 0:
                    continue
                if last < first or last - first + 1 > longest:
                    continue
                candidates.append((start[number][first] + end[number][last], places[first][0], places[last][1]))
    if not candidates:
        return ""
    score, begin, stop = max(candidates, key=lambda candidate: candidate[0])
    assert least is not None
    return "" if threshold is not None and least - score > threshold else context[begin:stop]
