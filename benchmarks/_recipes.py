"""The features that transformers' fine-tuning examples compute by `datasets.map`, reimplemented.

Run by `benchmarks/finetune.py` in an environment without bertdata. Rows are not padded, as where a collator does it; an
answer that begins in the last token of a window is labelled with that token, where the recipe runs on into [SEP].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Batch = dict[str, list[Any]]


def recipe(task: str, tokenizer: Any, length: int, stride: int) -> Callable[[Batch], Batch]:
    """Return the function that a recipe maps over batches of examples."""

    def classify(batch: Batch) -> Batch:
        features = tokenizer(batch["sentence1"], batch["sentence2"], truncation="longest_first", max_length=length)
        return {name: features[name] for name in ("input_ids", "token_type_ids")} | {"label": batch["label"]}

    def tag(batch: Batch) -> Batch:
        features = tokenizer(batch["tokens"], truncation=True, max_length=length, is_split_into_words=True)
        every = []
        for number, tags in enumerate(batch["ner_tags"]):
            before, labels = None, []
            for word in features.word_ids(batch_index=number):
                labels.append(-100 if word is None or word == before else tags[word])
                before = word
            every.append(labels)
        return {name: features[name] for name in ("input_ids", "token_type_ids")} | {"labels": every}

    def ask(batch: Batch) -> Batch:
        features = tokenizer(
            [question.lstrip() for question in batch["question"]],
            batch["context"],
            truncation="only_second",
            max_length=length,
            stride=stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        starts, ends = [], []
        for number, offsets in enumerate(features["offset_mapping"]):
            answers = batch["answers"][features["overflow_to_sample_mapping"][number]]
            sequence = features.sequence_ids(number)
            first, last = sequence.index(1), len(sequence) - 1 - sequence[::-1].index(1)
            begin = answers["answer_start"][0]
            stop = begin + len(answers["text"][0])
            start = end = 0
            if offsets[first][0] <= begin and offsets[last][1] >= stop:
                limit = last
                while first <= limit and offsets[first][0] <= begin:
                    first += 1
                while offsets[last][1] >= stop:
                    last -= 1
                start, end = first - 1, last + 1
            starts.append(start)
            ends.append(end)
        rows = {name: features[name] for name in ("input_ids", "token_type_ids")}
        return rows | {"start_positions": starts, "end_positions": ends}

    return {"classification": classify, "token-classification": tag, "question-answering": ask}[task]
