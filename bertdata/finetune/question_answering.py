"""Extractive questions (BERT section 4.2 and 4.3, SQuAD): [CLS] question [SEP] a window of the context [SEP].

A context that does not fit is cut into windows that overlap, so that an answer is whole in some window. `doc_stride` is
the number of tokens that neighbouring windows share, as in the question-answering recipe of `transformers`; in BERT's
released code it is the step from window to window (`stride_is="step"`). An answer is labelled by its first and last
token, and by [CLS], 0, in a window without all of it. `answers` maps logits back to text.

Differences from the recipe: an answer that begins in the last token of a window is labelled with that token (the recipe
goes on into [SEP] and the padding), white space around an answer is not part of it, and a question of over
`max_query_length` tokens is cut, as in BERT's code (the recipe fails).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.errors import ConfigError, InputError
from bertdata.finetune.layout import Encoded, Layout, Segments, TaskSplit, is_unlabelled, join_segments, ranges
from bertdata.finetune.settings import STRIDES, Columns, TaskConfig
from bertdata.finetune.squad import Question, read_questions
from bertdata.finetune.task import Labels, Task
from bertdata.io.console import counted
from bertdata.tokenizers.base import Tokenizer

_SHOWN = 40


def encode_question_answering(
    tokenizer: Tokenizer,
    questions: Sequence[Question],
    *,
    max_seq_length: int = 384,
    doc_stride: int = 128,
    max_query_length: int = 64,
    stride_is: Literal["overlap", "step"] = "overlap",
    drop_misplaced: bool = True,
) -> Encoded:
    """Encode questions to a row for each window, with the columns that `TaskInfo.columns` names.

    White space before a question is left out. The label is the first answer that is in the context at its
    `answer_start`. Questions whose answers are all misplaced are left out with `drop_misplaced`, otherwise they count
    as without an answer. max_query_length 0: questions are never cut. Counts examples (windows), questions, those
    without an answer, those of several windows, misplaced answers, answers too long for any window, truncated questions
    and their tokens cut off.

    Raises ConfigError for settings that leave a context no room, and InputError, naming the question, where a question
    leaves none.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "who", "?", "it", "was", "ann"])
    >>> one = Question("q1", "Who?", "It was Ann", (("Ann", 7),))
    >>> rows = encode_question_answering(tokenizer, [one], max_seq_length=7, doc_stride=1).columns
    >>> rows["input_ids"].to_pylist(), rows["start_positions"].to_pylist(), rows["offsets_start"].to_pylist()
    ([[2, 5, 6, 3, 7, 8, 3], [2, 5, 6, 3, 8, 9, 3]], [0, 5], [[-1, -1, -1, -1, 0, 3, -1], [-1, -1, -1, -1, 3, 7, -1]])
    """
    check_settings(max_seq_length, doc_stride, max_query_length, stride_is)
    spans = [_answer_span(question) for question in questions]
    misplaced = [bool(question.answers) and span is None for question, span in zip(questions, spans, strict=True)]
    chosen = [number for number, wrong in enumerate(misplaced) if not (wrong and drop_misplaced)]
    taken, spans = [questions[number] for number in chosen], [spans[number] for number in chosen]
    asked = Segments.of(tokenizer.encode_batch([question.question.lstrip() for question in taken]))
    cut_lengths = np.minimum(asked.lengths, max_query_length) if max_query_length else asked.lengths
    contexts, begins, ends = _encode_contexts(tokenizer, taken)
    template = tokenizer.row_template
    special = template.special(pair=True)
    owner, window = _windows(taken, contexts, cut_lengths, special, max_seq_length, doc_stride, stride_is)
    rows = join_segments(asked.cut(cut_lengths).take(owner), window, template=template)
    positions = np.zeros((len(owner), 2), np.int32)
    answered = np.zeros(len(taken), np.bool_)
    bounds = zip(owner.tolist(), window.starts.tolist(), window.lengths.tolist(), rows.second.tolist(), strict=True)
    for row, (number, start, length, second) in enumerate(bounds):
        if (span := spans[number]) is not None:
            part = slice(start, start + length)
            answer = answer_tokens(begins[part], ends[part], *span)
            if answer is not None:
                base = second - int(rows.offsets[row])
                positions[row] = answer[0] + base, answer[1] + base
                answered[number] = True
    with_answer = np.array([span is not None for span in spans], np.bool_)
    counts = {
        "examples": len(owner),
        "questions": len(questions),
        "questions_without_answer": sum(not question.answers for question in questions),
        "questions_of_several_windows": int((np.bincount(owner, minlength=1) > 1).sum()),
        "questions_dropped_misplaced_answer": len(questions) - len(taken),
        "misplaced_answers": sum(misplaced),
        "answers_in_no_window": int((with_answer & ~answered).sum()),
        "tokens": len(rows.input_ids),
        "truncated_examples": int((cut_lengths < asked.lengths).sum()),
        "truncated_tokens": int((asked.lengths - cut_lengths).sum()),
    }
    columns = rows.columns() | {
        "start_positions": pa.array(positions[:, 0]),
        "end_positions": pa.array(positions[:, 1]),
        "question_id": pa.array([taken[number].id for number in owner.tolist()], pa.string()),
        "offsets_start": _in_rows(rows, window, begins),
        "offsets_end": _in_rows(rows, window, ends),
    }
    return Encoded(columns, counts)


def check_settings(max_seq_length: int, doc_stride: int, max_query_length: int, stride_is: str) -> None:
    """Raise ConfigError where settings of questions are out of range, or leave a context no room."""
    if stride_is not in STRIDES:
        raise ConfigError(f"--stride-is is {stride_is!r}; expected one of {', '.join(STRIDES)}")
    if max_query_length < 0:
        raise ConfigError(f"--max-query-length is {max_query_length}; expected 0 (no limit) or more")
    least = 0 if stride_is == "overlap" else 1
    if doc_stride < least:
        raise ConfigError(f"--doc-stride is {doc_stride}; expected at least {least} where it is the {stride_is}")
    if stride_is == "overlap" and doc_stride >= max_seq_length - 3:
        raise ConfigError(
            f"--doc-stride is {doc_stride}, but rows of {max_seq_length} tokens leave a context "
            f"{max(0, max_seq_length - 3)} at most; it is how many tokens two windows share: give less"
        )


def _answer_span(question: Question) -> tuple[int, int] | None:
    """Return the characters of the first answer that is where its start says, without white space around it."""
    for text, start in question.answers:
        inner = text.strip()
        if inner and start >= 0 and question.context[start : start + len(text)] == text:
            first = start + len(text) - len(text.lstrip())
            return first, first + len(inner)
    return None


def _encode_contexts(
    tokenizer: Tokenizer, questions: Sequence[Question]
) -> tuple[Segments, NDArray[np.int32], NDArray[np.int32]]:
    """Return the ids of contexts, each distinct one encoded once, and where the characters of tokens begin and end."""
    contexts = [question.context for question in questions]
    distinct = {context: place for place, context in enumerate(dict.fromkeys(contexts))}
    encoded = tokenizer.encode_batch_with_offsets(list(distinct))
    places = np.array([distinct[context] for context in contexts], np.int64)
    characters = encoded["offset_mapping"].values.flatten().to_numpy()
    return Segments.of(encoded["input_ids"]).take(places), characters[::2], characters[1::2]


def _windows(
    questions: Sequence[Question],
    contexts: Segments,
    question_lengths: Ints,
    special: int,
    max_seq_length: int,
    doc_stride: int,
    stride_is: str,
) -> tuple[Ints, Segments]:
    """Return the question of each window, and the windows; the last one of a context ends where the context does."""
    room = max_seq_length - special - question_lengths
    step = room - doc_stride if stride_is == "overlap" else np.minimum(doc_stride, room)
    over = contexts.lengths - room
    tight = np.flatnonzero((step <= 0) & (over > 0))
    if len(tight):
        number = int(tight[0])
        length = int(question_lengths[number])
        raise InputError(
            f"{questions[number].place or 'question'}, id {questions[number].id!r}, has {length} ids, which "
            f"leaves its context {max(0, int(room[number]))} of {max_seq_length}, and --doc-stride is {doc_stride}; "
            "give a smaller --doc-stride or --max-query-length, or a larger --max-seq-length"
        )
    windows = 1 + np.where(over > 0, -(-over // np.maximum(step, 1)), 0)
    owner = np.repeat(np.arange(len(question_lengths)), windows)
    start = ranges(windows) * step[owner]
    length = np.minimum(room[owner], contexts.lengths[owner] - start)
    return owner, Segments(contexts.ids, contexts.starts[owner] + start, length)


def answer_tokens(
    starts: NDArray[np.integer], ends: NDArray[np.integer], first: int, end: int
) -> tuple[int, int] | None:
    """Return the first and last token of the characters from `first` to before `end`, None where they are not all here.

    starts, ends: the characters of a window's tokens, (T,).

    >>> answer_tokens(np.array([0, 3, 7]), np.array([2, 6, 10]), 3, 10)
    (1, 2)
    >>> answer_tokens(np.array([0, 3, 7]), np.array([2, 6, 10]), 8, 11) is None
    True
    """
    if not len(starts) or starts[0] > first or ends[-1] < end:
        return None
    after, before = np.flatnonzero(starts > first), np.flatnonzero(ends < end)
    at_start = int(after[0]) - 1 if len(after) else len(starts) - 1
    at_end = int(before[-1]) + 1 if len(before) else 0
    return min(at_start, at_end), max(at_start, at_end)


def _in_rows(rows: Layout, windows: Segments, values: NDArray[np.int32]) -> pa.ListArray:
    flat = np.full(len(rows.input_ids), -1, np.int32)
    steps = ranges(windows.lengths)
    flat[np.repeat(rows.second, windows.lengths) + steps] = values[np.repeat(windows.starts, windows.lengths) + steps]
    return rows.lists(flat)


def original_examples(questions: Sequence[Question]) -> pa.Table:
    """Return questions as a table with the columns of the `squad` data set: id, question, context, answers.

    >>> original_examples([Question("q1", "Who?", "It was Ann", (("Ann", 7),))]).to_pylist()[0]["answers"]
    {'text': ['Ann'], 'answer_start': [7]}
    """
    answers = pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])
    schema = pa.schema([*((name, pa.string()) for name in ("id", "question", "context")), ("answers", answers)])
    rows: list[Mapping[str, object]] = []
    for question in questions:
        texts, starts = [text for text, _ in question.answers], [start for _, start in question.answers]
        rows.append(vars(question) | {"answers": {"text": texts, "answer_start": starts}})
    return pa.Table.from_pylist(rows, schema)


def read_question_answering(
    paths: Mapping[str, str], tokenizer: Tokenizer, config: TaskConfig, columns: Columns
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the splits of files of questions, which have no label set and whose columns have SQuAD's names."""

    def encode(split: str, questions: Sequence[Question]) -> Encoded:
        return encode_question_answering(
            tokenizer,
            questions,
            max_seq_length=config.length,
            doc_stride=config.doc_stride,
            max_query_length=config.max_query_length,
            stride_is=cast("Literal['overlap', 'step']", config.stride_is),
            drop_misplaced=split == "train",
        )

    splits = {}
    for split, path in paths.items():
        read = partial(read_questions, path, unlabelled=is_unlabelled(split))
        number = _count(read(), path, placed=not is_unlabelled(split))
        splits[split] = TaskSplit(number, read, partial(encode, split), original_examples)
    return (), splits


def _count(questions: Iterable[Question], path: str, *, placed: bool) -> int:
    """Return how many questions there are; raises InputError where answers are to be `placed` and most are not.

    A file has a few misplaced answers by mistake; where most are, their places are counted in another way, as from 1 or
    in bytes.
    """
    number = answered = misplaced = 0
    first: Question | None = None
    for question in questions:
        number += 1
        answered += bool(question.answers)
        if question.answers and _answer_span(question) is None:
            misplaced += 1
            first = first or question
    if placed and first and 2 * misplaced > answered:
        text, start = first.answers[0]
        shown, there = repr(text[:_SHOWN]), first.context.find(text)
        place = f"it stands at {there}" if there >= 0 else "the context does not have it"
        raise InputError(
            f"{misplaced:,} of {counted(answered, 'question')} with answers have none that is in the context at its "
            f"`answer_start`: {first.place} has {shown} at {start}, and {place}; expected a place in characters, from "
            "0 (not from 1, in bytes or in tokens): write the places anew",
            path=path,
        )
    return number


QUESTION_ANSWERING = Task(
    help="the answer to a question, as a span of its context",
    read=read_question_answering,
    columns=(
        ("start_positions", pa.int32()),
        ("end_positions", pa.int32()),
        ("question_id", pa.string()),
        ("offsets_start", pa.list_(pa.int32())),
        ("offsets_end", pa.list_(pa.int32())),
    ),
    batch_numbers={"start_positions": "start_positions", "end_positions": "end_positions"},
    max_seq_length=384,
    windows=True,
    check=lambda config: check_settings(config.length, config.doc_stride, config.max_query_length, config.stride_is),
    head="QuestionAnswering",
    metrics=("exact_match", "f1"),
    category="question-answering",
)
