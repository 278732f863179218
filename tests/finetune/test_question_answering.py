"""Questions: windows, positions and answers are those of `transformers`' recipe, and answers come back as text."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.finetune import Question, answers_from_logits, encode_question_answering
from bertdata.finetune.question_answering import answer_tokens
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.squad import read_questions
from bertdata.finetune.task_shards import encode_task
from bertdata.shards import open_shards
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.data import data_path
from tests.finetune import reference
from tests.sentences.story import STORY
from tests.tokenizers.of_models import MODELS, tokenizer_of
from tests.tokenizers.wordpiece.reference import SMALL

TOKENIZER = WordPieceTokenizer.from_tokens(SMALL)
TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("ab the unß ##\t\n中한é."), max_size=60)
COLUMNS = ("input_ids", "token_type_ids", "start_positions", "end_positions")


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("transformers")
    return reference.fast_tokenizer(TOKENIZER, tmp_path_factory.mktemp("tokenizer"))


def rows(encoded: Any) -> list[dict[str, Any]]:
    columns = {name: encoded.columns[name].to_pylist() for name in (*COLUMNS, "offsets_start", "offsets_end")}
    rows_read = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    for row in rows_read:
        row["offsets"] = list(zip(row.pop("offsets_start"), row.pop("offsets_end"), strict=True))
    return rows_read


def expected_rows(fast: Any, questions: list[Question], length: int, stride: int) -> list[dict[str, Any]]:
    expected = []
    for question in questions:
        answer = question.answers[0] if question.answers else None
        expected += reference.question_answering(fast, question.question, question.context, answer, length, stride)
    return expected


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the two ends of a span in order: pieces of one character make the recipe's cross over."""
    for row in rows:
        row["start_positions"], row["end_positions"] = sorted((row["start_positions"], row["end_positions"]))
    return rows


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_windows_and_positions_are_those_of_transformers(fast: Any, data: st.DataObject) -> None:
    context, question = data.draw(TEXT), data.draw(TEXT.map(lambda text: text[:12]))
    begin = data.draw(st.integers(0, len(context)))
    text = context[begin : begin + data.draw(st.integers(1, 12))]
    answers = ((text, begin),) if text and text == text.strip() else ()
    stride = data.draw(st.integers(0, 5))
    length = len(TOKENIZER.encode(question)) + 4 + stride + data.draw(st.integers(0, 12))
    asked = Question("q", question, context, answers)
    encoded = encode_question_answering(
        TOKENIZER, [asked], max_seq_length=length, doc_stride=stride, max_query_length=0, drop_misplaced=False
    )
    assert rows(encoded) == ordered(expected_rows(fast, [asked], length, stride))


def story_questions(text: str, number: int) -> list[Question]:
    """Return questions whose answers are words all over a text."""
    questions = []
    for place in range(number):
        begin = text.index(" ", place * (len(text) - 60) // number) + 1
        end = text.index(" ", begin + 1 + place % 20)
        answer = text[begin:end].strip()
        asked = f"What stands before {text[end : end + 30].strip()}?"
        questions.append(Question(f"q{place}", asked, text, ((answer, text.index(answer, begin)),)))
    return questions


@pytest.mark.parametrize("name", ["bertdata-30k-uncased", "bertdata-30k-cased"])
def test_rows_of_a_story_are_those_of_transformers_under_pretrained_vocabularies(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = WordPieceTokenizer.from_pretrained(name)
    fast = reference.fast_tokenizer(tokenizer, tmp_path)
    questions = story_questions(STORY, 30)
    for length, stride in ((48, 16), (384, 128)):
        encoded = encode_question_answering(tokenizer, questions, max_seq_length=length, doc_stride=stride)
        assert rows(encoded) == expected_rows(fast, questions, length, stride)


def test_rows_of_real_articles_are_those_of_transformers(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    tokenizer = WordPieceTokenizer.from_pretrained("bertdata-30k-uncased")
    fast = reference.fast_tokenizer(tokenizer, tmp_path)
    lines = data_path("wikipedia", "goodwiki-dev.jsonl").read_text().splitlines()[:8]
    texts = ["\n".join(json.loads(line)["gold_prose"])[:6000] for line in lines]
    questions = [
        Question(f"{number}-{question.id}", question.question, question.context, question.answers)
        for number, text in enumerate(texts)
        for question in story_questions(text, 12)
    ]
    encoded = encode_question_answering(tokenizer, questions)
    assert rows(encoded) == expected_rows(fast, questions, 384, 128)


def test_an_answer_in_the_last_token_of_a_window_is_labelled_with_that_token() -> None:
    asked = Question("q", "un", "the un able", (("able", 7),))
    [row] = rows(encode_question_answering(TOKENIZER, [asked], max_seq_length=32, doc_stride=4))
    last = len(row["input_ids"]) - 2
    assert TOKENIZER.decode(row["input_ids"][row["start_positions"] : row["end_positions"] + 1]) == "able"
    assert row["end_positions"] == last


def test_white_space_around_an_answer_does_not_count_to_it() -> None:
    plain = Question("q", "un", "the un able the", (("able", 7),))
    wide = Question("q", "un", "the un able the", ((" able ", 6),))
    assert rows(encode_question_answering(TOKENIZER, [plain])) == rows(encode_question_answering(TOKENIZER, [wide]))


def test_several_pieces_of_one_character_are_one_answer() -> None:
    assert answer_tokens(np.array([0, 0, 0, 2]), np.array([1, 1, 1, 3]), 0, 1) == (0, 2)


def test_every_token_of_a_context_is_in_a_row_and_neighbours_share_what_is_asked() -> None:
    context = " ".join(["the", "un", "able", "cafe"] * 20)
    ids = TOKENIZER.encode(context)
    for stride_is, stride, shared in (("overlap", 3, 3), ("step", 5, 4), ("step", 100, 0)):
        encoded = encode_question_answering(
            TOKENIZER,
            [Question("q", "the", context)],
            max_seq_length=13,
            doc_stride=stride,
            stride_is=stride_is,  # type: ignore[arg-type]
        )
        windows = [row["input_ids"][3:-1] for row in rows(encoded)]
        joined = list(windows[0])
        for before, window in itertools.pairwise(windows):
            assert not shared or before[-shared:] == window[:shared]
            joined += window[shared:]
        assert joined == ids


@pytest.mark.parametrize("model", MODELS)
def test_white_space_before_a_question_is_left_out_as_by_the_recipe(model: str) -> None:
    questions = [Question("a", "who was it?", "the salt"), Question("b", " \n\u00a0who was it?", "the salt")]
    first, second = encode_question_answering(tokenizer_of(model), questions).columns["input_ids"].to_pylist()
    assert first == second


def test_a_question_over_its_length_is_cut_and_counted() -> None:
    asked = Question("q", "the " * 70, "un able")
    encoded = encode_question_answering(TOKENIZER, [asked])
    assert rows(encoded)[0]["token_type_ids"].index(1) == 66
    assert (encoded.counts["truncated_examples"], encoded.counts["truncated_tokens"]) == (1, 6)
    whole = encode_question_answering(TOKENIZER, [asked], max_query_length=0)
    assert rows(whole)[0]["token_type_ids"].index(1) == 72


def test_answers_that_do_not_stand_where_they_say_are_counted_and_the_next_one_is_taken() -> None:
    wrong, right = ("able", 3), ("able", 7)
    questions = [Question("a", "un", "the un able", (wrong,)), Question("b", "un", "the un able", (wrong, right))]
    encoded = encode_question_answering(TOKENIZER, questions)
    assert encoded.columns["question_id"].to_pylist() == ["b"]
    assert (encoded.counts["misplaced_answers"], encoded.counts["questions_dropped_misplaced_answer"]) == (1, 1)
    kept = encode_question_answering(TOKENIZER, questions, drop_misplaced=False)
    assert kept.columns["question_id"].to_pylist() == ["a", "b"]
    assert kept.columns["start_positions"].to_pylist()[0] == 0


def test_an_answer_longer_than_any_window_is_counted() -> None:
    context = "the un " * 10
    asked = Question("q", "the", context, ((context.strip(), 0),))
    encoded = encode_question_answering(TOKENIZER, [asked], max_seq_length=14, doc_stride=2)
    assert encoded.counts["answers_in_no_window"] == 1
    assert set(encoded.columns["start_positions"].to_pylist()) == {0}
    short = Question("q", "the", context, (("the", 0),))
    answer_windows = encode_question_answering(TOKENIZER, [short], max_seq_length=14, doc_stride=2)
    assert answer_windows.counts["answers_in_no_window"] == 0


def test_settings_that_leave_a_context_no_room_are_refused() -> None:
    question = Question("q7", "the un able", "the un able the un able")
    with pytest.raises(ConfigError, match="`doc_stride` is 128, but rows of 64 tokens leave a context 61 at most"):
        encode_question_answering(TOKENIZER, [question], max_seq_length=64)
    with pytest.raises(InputError, match=r"id 'q7', has 6 ids, which leaves its context 3 of 12"):
        encode_question_answering(TOKENIZER, [question], max_seq_length=12, doc_stride=4)
    with pytest.raises(ConfigError, match="`stride_is` is 'jump'"):
        encode_question_answering(TOKENIZER, [question], stride_is="jump")  # type: ignore[arg-type]


def windows_of(encoded: Any) -> pa.Table:
    return pa.table({name: encoded.columns[name] for name in ("question_id", "offsets_start", "offsets_end")})


@pytest.mark.parametrize("threshold", [None, 0.0, -4.0, 4.0])
def test_answers_are_those_that_the_recipe_of_transformers_chooses(threshold: float | None) -> None:
    questions = story_questions(STORY, 25)
    tokenizer = WordPieceTokenizer.from_pretrained("bertdata-30k-uncased")
    encoded = encode_question_answering(tokenizer, questions, max_seq_length=64, doc_stride=20)
    draw = np.random.default_rng(3)
    start, end = (draw.normal(size=(len(encoded), 64), scale=3) for _ in range(2))
    contexts = {question.id: question.context for question in questions}
    answers = answers_from_logits(
        start, end, windows_of(encoded), contexts, n_best=7, max_answer_length=9, null_threshold=threshold
    )
    owners = encoded.columns["question_id"].to_pylist()
    offsets = [row["offsets"] for row in rows(encoded)]
    assert list(answers) == [question.id for question in questions]
    for question in questions:
        places = [number for number, owner in enumerate(owners) if owner == question.id]
        assert len(places) > 1
        expected = reference.best_answers(
            start[places],
            end[places],
            [offsets[place] for place in places],
            question.context,
            n_best=7,
            longest=9,
            threshold=threshold,
        )
        assert answers[question.id].text == expected
    if threshold is not None:
        differences = [answer.null_score_diff or 0.0 for answer in answers.values()]
        assert [answer.text == "" for answer in answers.values()] == [question > threshold for question in differences]


def test_logits_that_are_sure_of_the_labels_give_the_answers_back() -> None:
    questions = [*story_questions(STORY, 25), Question("none", "Who?", STORY)]
    encoded = encode_question_answering(
        WordPieceTokenizer.from_pretrained("bertdata-30k-uncased"), questions, max_seq_length=64, doc_stride=20
    )
    start, end = (np.zeros((len(encoded), 64)) for _ in range(2))
    for number, row in enumerate(rows(encoded)):
        start[number, row["start_positions"]] += 9
        end[number, row["end_positions"]] += 9
    contexts = {question.id: question.context for question in questions}
    answers = answers_from_logits(start, end, windows_of(encoded), contexts, null_threshold=0)
    expected = {question.id: question.answers[0][0] if question.answers else "" for question in questions}
    assert {name: answer.text for name, answer in answers.items()} == expected
    for answer in answers.values():
        assert sum(span.probability for span in answer.candidates) == pytest.approx(1)


def test_a_span_is_inside_the_context_in_order_and_not_too_long() -> None:
    table = pa.table(
        {
            "question_id": ["q"],
            "offsets_start": [[-1, -1, -1, 0, 4, 8, -1]],
            "offsets_end": [[-1, -1, -1, 3, 7, 12, -1]],
        }
    )
    start, end = np.array([[0, 9, 0, 1, 2, 8, 9, 9]]), np.array([[0, 9, 0, 7, 2, 1, 9, 9]])
    best = answers_from_logits(start, end, table, {"q": "the sea blue"}, max_answer_length=2)["q"]
    assert [(span.text, span.score) for span in best.candidates] == [
        ("blue", 9.0),
        ("the", 8.0),
        ("sea", 4.0),
        ("sea blue", 3.0),
        ("the sea", 3.0),
    ]


def test_answers_from_shards_take_their_text_from_the_examples_beside_them(tmp_path: Path) -> None:
    paragraphs = [
        {
            "context": question.context,
            "qas": [
                {
                    "id": question.id,
                    "question": question.question,
                    "answers": [{"text": question.answers[0][0], "answer_start": question.answers[0][1]}],
                }
            ],
        }
        for question in story_questions(STORY, 4)
    ]
    (tmp_path / "squad.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    config = TaskConfig(task="question-answering", max_seq_length=64, doc_stride=20)
    encode_task(tmp_path / "out", "bertdata-30k-uncased", {"train": str(tmp_path / "squad.json")}, config)
    shards = open_shards(tmp_path / "out")
    logits = np.zeros((len(shards), 64))
    assert list(answers_from_logits(logits, logits, shards)) == ["q0", "q1", "q2", "q3"]
    (tmp_path / "out" / "examples" / "train.parquet").unlink()
    with pytest.raises(InputError, match=r"train\.parquet: is missing"):
        answers_from_logits(logits, logits, shards)


def test_logits_and_features_that_do_not_go_together_are_refused() -> None:
    table = pa.table({"question_id": ["q"], "offsets_start": [[-1, 0]], "offsets_end": [[-1, 3]]})
    with pytest.raises(ConfigError, match="for 1 rows"):
        answers_from_logits(np.zeros((2, 4)), np.zeros((2, 4)), table, {"q": "the"})
    with pytest.raises(ConfigError, match="row 0 has 2 tokens, but 1 logits"):
        answers_from_logits(np.zeros((1, 1)), np.zeros((1, 1)), table, {"q": "the"})
    with pytest.raises(ConfigError, match="no contexts were given"):
        answers_from_logits(np.zeros((1, 2)), np.zeros((1, 2)), table)
    for n_best, longest in ((0, 5), (5, 0)):
        with pytest.raises(ConfigError, match=f"n_best is {n_best} and max_answer_length {longest}; expected at least"):
            answers_from_logits(
                np.zeros((1, 2)), np.zeros((1, 2)), table, {"q": "the"}, n_best=n_best, max_answer_length=longest
            )
    with pytest.raises(ConfigError, match="the question 'q' has no context"):
        answers_from_logits(np.zeros((1, 2)), np.zeros((1, 2)), table, {})


@pytest.mark.parametrize("start", [1 << 31, -(1 << 31) - 1, 10**400, 2.5, True, "3"])
def test_a_place_of_an_answer_that_is_no_number_of_characters_is_refused(start: object, tmp_path: Path) -> None:
    row = {"id": "1", "question": "What?", "context": "it rained", "answers": [{"text": "it", "answer_start": start}]}
    (tmp_path / "train.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match=r"train\.jsonl: .*`answer_start`; expected a number of characters"):
        list(read_questions(str(tmp_path / "train.jsonl")))
