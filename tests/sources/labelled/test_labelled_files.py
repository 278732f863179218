"""Reading labelled examples: every format gives the same rows, and what is wrong is named with its line."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.squad import read_questions
from bertdata.finetune.task_shards import encode_task
from bertdata.shards import open_shards
from bertdata.sources.labelled.conll import read_sentences
from bertdata.sources.labelled.labelled_files import class_names, has_names, quoted_lines, read_rows
from bertdata.sources.labelled.labelled_texts import LabelledText, read_classes
from bertdata.sources.labelled.labels import find_labels, label_ids, label_set, numbers
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

ROWS = [{"text": 'a "b", c', "label": "x"}, {"text": "d\u2028e", "label": "y"}]


def write(path: Path, data: str | bytes) -> str:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return str(path)


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    paths = [
        write(tmp_path / "a.jsonl", lines),
        write(tmp_path / "a.jsonl.gz", gzip.compress(lines.encode())),
        write(tmp_path / "a.csv", '\ufefftext,label\n"a ""b"", c",x\r\nd\u2028e,y\n'),
        write(tmp_path / "a.tsv", 'text\tlabel\na "b", c\tx\nd\u2028e\ty\n'),
    ]
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    for path in [*paths, str(tmp_path / "a.parquet")]:
        assert [row for _, row in read_rows(path)] == ROWS, path


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", '{"text": "a"}\n{"text": ', "line 2 is not JSON"),
        ("a.jsonl", '{"text": "a"}\n\n[1]\n', "line 3 is not a JSON object"),
        ("a.csv", "text,label\na,x\n\nb\n", "line 4 has 1 field, the first line names 2"),
        ("a.csv", 'text,label\n"a\nb",x\n"c"d,y\n', "line 4 cannot be read"),
        ("a.csv", "text,text\na,x\n", "line 1 names the column 'text' twice"),
        ("a.csv", b"text,label\na,x\n\xff,y\n", "is not UTF-8"),
        ("a.jsonl", b'{"text": "a"}\n"\xff"\n', "line 2 is not UTF-8"),
        ("a.txt", "text", "has a name of no known format"),
        ("a.parquet", "PAR1", "is not a Parquet file"),
        ("a.jsonl", "", "is empty"),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path: Path, name: str, data: str | bytes, message: str) -> None:
    path = write(tmp_path / name, data)
    with pytest.raises(InputError, match=message) as caught:
        list(read_rows(path))
    assert path in str(caught.value)


def test_a_field_of_any_length_is_read(tmp_path: Path) -> None:
    text = "salt " * 50_000
    for name, mark in (("a.csv", ","), ("a.tsv", "\t")):
        path = write(tmp_path / name, f"text{mark}label\n{text}{mark}x\n")
        assert [row["text"] for _, row in read_rows(path)] == [text]


def test_a_reader_that_is_closed_does_not_limit_the_fields_of_another(tmp_path: Path) -> None:
    text = "salt " * 50_000
    path = write(tmp_path / "a.csv", f"text,label\nshort,x\n{text},y\n")
    csv.field_size_limit(131_072)
    first, second = read_rows(path), read_rows(path)
    assert (next(first)[1]["text"], next(second)[1]["text"]) == ("short", "short")
    del first
    assert next(second)[1]["text"] == text


def test_columns_are_found_by_the_names_that_data_sets_use_or_named(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.csv", "idx,premise,hypothesis,label\n0,a,b,x\n")
    assert list(read_classes(pairs)) == [LabelledText("a", "b", "x", "line 2")]
    assert list(read_classes(pairs, ["hypothesis"], "idx")) == [LabelledText("b", None, "0", "line 2")]
    with pytest.raises(ConfigError, match="has no column 'body'; its columns are 'idx', 'premise'"):
        list(read_classes(pairs, ["body"]))
    with pytest.raises(ConfigError, match="name one or two with `text_columns`"):
        list(read_classes(write(tmp_path / "other.csv", "body,label\na,x\n")))
    with pytest.raises(ConfigError, match="name the one of the labels with `label_column`"):
        list(read_classes(write(tmp_path / "none.csv", "text,class\na,x\n")))
    pq.write_table(pa.table({"text": ["a", None], "label": [0, 1]}), tmp_path / "null.parquet")
    with pytest.raises(InputError, match="row 2 has no text in 'text'"):
        list(read_classes(str(tmp_path / "null.parquet")))


def test_a_pair_without_its_second_text_is_no_single_text(tmp_path: Path) -> None:
    rows = '{"premise": "a", "hypothesis": "", "label": "x"}\n{"premise": "a", "hypothesis": null, "label": "x"}\n'
    read = read_classes(write(tmp_path / "pairs.jsonl", rows))
    with pytest.raises(InputError, match="line 2 has no text in 'hypothesis'"):
        list(read)
    [row] = read_classes(write(tmp_path / "empty.jsonl", rows.splitlines(keepends=True)[0]))
    assert row.pair == ""


COLA = "gj04\t1\t\tOur friends won't \"buy this.\ngj04\t0\t*\tOne more pseudo.\n"


def test_a_table_without_a_line_of_names_is_read_by_the_numbers_of_its_columns(tmp_path: Path) -> None:
    expected = [LabelledText("Our friends won't \"buy this.", None, "1", "line 1")]
    expected.append(LabelledText("One more pseudo.", None, "0", "line 2"))
    assert list(read_classes(write(tmp_path / "train.tsv", COLA), ["4"], "2")) == expected
    assert (
        list(read_classes(write(tmp_path / "train.csv", '"Our friends won\'t ""buy this.",1\n'), ["1"], "2"))
        == expected[:1]
    )
    pair = write(tmp_path / "pair.tsv", "a\tb\ta\n\nc\td\ty\n")
    assert [(text.text, text.pair, text.place) for text in read_classes(pair, ["2", "1"], "3")] == [
        ("b", "a", "line 1"),
        ("d", "c", "line 3"),
    ]
    assert read_rows(pair, header=False).__next__() == ("line 1", {"1": "a", "2": "b", "3": "a"})


def test_what_is_wrong_in_a_table_without_names_is_told_by_line_and_number(tmp_path: Path) -> None:
    path = write(tmp_path / "train.tsv", COLA + "gj04\t1\n")
    with pytest.raises(InputError, match="line 3 has 2 fields; expected 4 or more, as column 4 is asked for"):
        list(read_classes(path, ["4"], "2"))
    with pytest.raises(ConfigError, match="has no column '5'; its columns are '1', '2', '3', '4'"):
        list(read_classes(path, ["5"], "2"))
    with pytest.raises(ConfigError, match="name the one of the labels with `label_column`"):
        list(read_classes(path, ["4"]))


def test_numbers_are_names_where_a_table_has_them_and_a_line_of_known_names_is_no_example(tmp_path: Path) -> None:
    named = write(tmp_path / "named.csv", "4,2\na,x\n")
    assert list(read_classes(named, ["4"], "2")) == [LabelledText("a", None, "x", "line 2")]
    headed = write(tmp_path / "headed.tsv", "sentence\tlabel\na\tx\n")
    with pytest.raises(ConfigError, match="has no column '1'; its columns are 'sentence', 'label'"):
        list(read_classes(headed, ["1"], "2"))
    test = write(tmp_path / "test.tsv", "index\tsentence\n0\ta b\n")
    assert list(read_classes(test, ["4"], "2", unlabelled=True)) == [LabelledText("a b", None, None, "line 2")]


@pytest.mark.parametrize("mark", ["", "\t", " "])
def test_a_byte_order_mark_on_a_line_of_its_own_is_a_blank_line_and_else_left_out(tmp_path: Path, mark: str) -> None:
    path = write(tmp_path / "a.conll", f"\ufeffSalt\tO\n\ufeff{mark}\n\ufeff-DOCSTART-\tO\n\nBern\tB\n")
    assert [(sentence.words, sentence.begins_document) for sentence in read_sentences(path)] == [
        (("Salt",), True),
        (("Bern",), True),
    ]
    path = write(
        tmp_path / "a.conllu", "\ufeff# newdoc\n" + "\t".join(["1", "Salt", *"__NN__"[:1] * 8]) + f"\n\ufeff{mark}\n"
    )
    assert [sentence.words for sentence in read_sentences(path, None, "upos")] == [("Salt",)]


@pytest.mark.parametrize("space", [" ", "\t"])
@pytest.mark.parametrize("before", ["", "Salt O\n"])
def test_a_byte_order_mark_with_a_tag_is_a_word(tmp_path: Path, space: str, before: str) -> None:
    path = write(tmp_path / "a.conll", before.replace(" ", space) + f"\ufeff{space}O\nBern{space}B\n")
    (sentence,) = read_sentences(path)
    assert sentence.words[-2:] == ("\ufeff", "Bern")
    assert sentence.tags is not None
    assert sentence.tags[-2:] == ("O", "B")


def test_labels_have_the_same_ids_whatever_came_first() -> None:
    assert label_set(["b", "a", "b"]) == label_set(["a", "b"]) == ("a", "b")
    assert find_labels([10, 9, True], "x") == ("1", "9", "10")
    assert label_ids([("", "9"), ("", 1)], ("1", "9", "10"), "x", numbered=False, unlabelled=False) == [1, 0]


def test_given_names_may_be_met_by_their_ids_and_minus_one_is_no_label() -> None:
    values: Any = [("row 1", 1), ("row 2", "bad"), ("row 3", -1), ("row 4", None)]
    assert label_ids(values, ("bad", "good"), "x", numbered=True, unlabelled=True) == [1, 0, None, None]
    for value, what in ((-1, "no label"), (2, "the label 2"), (None, "no label"), ("", "no label")):
        with pytest.raises(InputError, match=f"x: row 7 has {what}"):
            label_ids([("row 7", value)], ("bad", "good"), "x", numbered=True, unlabelled=False)
    with pytest.raises(InputError, match="x: row 7 has the label 'fair'"):
        label_ids([("row 7", "fair")], ("bad", "good"), "x", numbered=True, unlabelled=True)


def test_numbers_outside_their_bounds_are_refused_and_minus_one_means_none_there() -> None:
    bounds = (0.0, 5.0)
    values: Any = [("", 0), ("", "5"), ("", -1), ("", "-1.000"), ("", None)]
    assert numbers(values, "x", unlabelled=True, bounds=bounds) == [0, 5, None, None, None]
    assert numbers([("", -1)], "x", unlabelled=True, bounds=(-1, 1)) == [-1]
    for value in (-1, 5.01, "nan", "", None):
        with pytest.raises(InputError, match=r"x: row 7 has the label .*; expected a number from 0 to 5; as here"):
            numbers([("row 7", value)], "x", unlabelled=False, bounds=bounds, hint="; as here")
    for value in (3.1e38, "inf", "many"):
        with pytest.raises(InputError, match=r"expected a number$"):
            numbers([("row 7", value)], "x", unlabelled=True)
    assert numbers([("row 7", "nan"), ("", "-")], "x", unlabelled=True) == [None, None]


def test_a_file_of_numbers_as_columns_has_names_where_its_first_line_has_them(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    for first, expected in (("a\tb", False), ("text\tb", True), ("1\t2", True), ("score\tb", True)):
        path.write_text(f"{first}\nc\td\n")
        assert has_names(str(path), ["1"], "2") is expected
    assert has_names(str(path), ["1", "b"], "2")
    assert has_names(str(path), [], "2")


def test_lines_that_lack_a_needed_field_are_left_out_if_asked_and_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("text\tlabel\tmore\na\nb\t1\nc\n\nd\t0\tx\ty\ne\n")
    examples = list(read_classes(str(path), lenient=True))
    assert [(text.text, text.label, text.left_out) for text in examples] == [("b", "1", 1), ("d", "0", 2)]
    with pytest.raises(InputError, match="line 2 has 1 field, the first line names 3 columns"):
        list(read_classes(str(path)))


def test_label_sets_that_cannot_be_learnt_are_refused() -> None:
    with pytest.raises(InputError, match="all have the label 'a'"):
        find_labels(["a", "a"], "x")
    with pytest.raises(InputError, match="none has a label"):
        find_labels([None], "x")
    with pytest.raises(InputError, match="give `task` regression"):
        find_labels([0.5, 1.0], "x")
    with pytest.raises(ConfigError, match="names 'a' twice"):
        Columns(labels=("a", "b", "a"))
    with pytest.raises(ConfigError, match="expected two or more"):
        Columns(labels=("a",))


def test_numbers_are_finite() -> None:
    assert numbers([("", "2.5"), ("", 3), ("", "")], "x", unlabelled=True) == [2.5, 3.0, None]
    for value in ("high", "nan", "inf", "", None):
        with pytest.raises(InputError, match="x: line 2 has the label"):
            numbers([("line 2", value)], "x", unlabelled=False)


CONLL = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O

\u00a0 NN B-NP O
-DOCSTART- -X- -X- O

Peter NNP B-NP B-PER
"""


def test_conll_sentences_end_at_blank_lines_and_documents_at_docstart(tmp_path: Path) -> None:
    sentences = list(read_sentences(write(tmp_path / "a.conll", CONLL)))
    assert [sentence.words for sentence in sentences] == [("EU", "rejects"), ("\u00a0",), ("Peter",)]
    assert [sentence.tags for sentence in sentences] == [("B-ORG", "O"), ("O",), ("B-PER",)]
    assert [sentence.begins_document for sentence in sentences] == [True, False, True]
    assert [sentence.place for sentence in sentences] == ["line 3", "line 6", "line 9"]


def test_conll_columns_are_numbers_from_one_and_may_be_parted_by_tabs(tmp_path: Path) -> None:
    tabs = write(tmp_path / "a.txt", "1\tNew York\tB\n2\tis\tO\n")
    assert next(iter(read_sentences(tabs, "2", "3"))).words == ("New York", "is")
    spaces = write(tmp_path / "b.conll", CONLL)
    assert next(iter(read_sentences(spaces, None, "2"))).tags == ("NNP", "VBZ")
    with pytest.raises(ConfigError, match="not in line 3, which has 4"):
        list(read_sentences(spaces, None, "5"))
    with pytest.raises(ConfigError, match="number of a column, from 1"):
        list(read_sentences(spaces, None, "ner"))


CONLLU = """# newdoc id = a
# text = Du chat
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\t_
1\tDe\tde\tADP\t_\t_\t3\tcase\t_\t_
2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_
3\tchat\tchat\tNOUN\t_\t_\t0\troot\t_\tEntity=B

# newdoc id = b
1\tOui\toui\tINTJ\t_\t_\t0\troot\t_\tEntity=O
1.1\tvide\t_\tNOUN\t_\t_\t_\t_\t_\t_
"""


def test_conllu_leaves_out_ranges_and_empty_words(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllu", CONLLU)
    sentences = list(read_sentences(path))
    assert [sentence.words for sentence in sentences] == [("De", "le", "chat"), ("Oui",)]
    assert [sentence.tags for sentence in sentences] == [("ADP", "DET", "NOUN"), ("INTJ",)]
    assert [sentence.begins_document for sentence in sentences] == [True, True]
    tagged = list(read_sentences(path, None, "misc:Entity"))
    assert [sentence.tags for sentence in tagged] == [(None, None, "B"), ("O",)]
    assert next(iter(read_sentences(path, None, "feats:Number"))).tags is None
    with pytest.raises(InputError, match=r"line 6 has 'Entity=B' in MISC.*as `label_column` misc:Entity"):
        list(read_sentences(path, None, "misc"))
    with pytest.raises(ConfigError, match="keys are of feats and misc"):
        list(read_sentences(path, None, "upos:x"))
    assert next(iter(read_sentences(path, "3", "8"))).words == ("de", "le", "chat")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.conll", "EU B\nrejects\n", "line 2 has 1 column, the lines before have 2"),
        ("a.conll", "EU\n", "line 1 is a word without a tag"),
        ("a.conll", "\n\n", "holds no sentences"),
        ("a.conllu", "1 EU\n", "line 1 has 1 column; CoNLL-U has 10"),
        ("a.conllu", "\t".join("abcdefghij"), "line 1 begins with 'a'"),
        ("a.jsonl", '{"tokens": ["a"], "ner_tags": [1, 2]}', "line 1 has 1 word and 2 tags"),
        ("a.jsonl", '{"tokens": "a b", "ner_tags": [1, 2]}', "line 1 has no list of strings in 'tokens'"),
        ("a.jsonl", '{"tokens": ["a"], "ner_tags": [0.5]}', "no list of strings or whole numbers"),
        ("a.jsonl", '{"tokens": ["a"], "ner_tags": [1]}\n{"tokens": ["a"]}', "line 2 has no tags in 'ner_tags'"),
    ],
)
def test_words_that_are_not_what_they_should_be_are_named(tmp_path: Path, name: str, data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_sentences(write(tmp_path / name, data)))


def test_rows_of_words_need_their_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"tokens": ["a"], "pos": ["X"]}')
    with pytest.raises(ConfigError, match="name the one of the tags with `label_column`"):
        list(read_sentences(path))
    for words, tags, what in (("word", "pos", "words"), ("tokens", "tag", "tags")):
        with pytest.raises(
            ConfigError, match=rf"has no column '{words if what == 'words' else tags}'; its columns are"
        ):
            list(read_sentences(path, words, tags))
    assert next(iter(read_sentences(path, None, "pos"))).tags == ("X",)
    assert next(iter(read_sentences(path, unlabelled=True))).tags is None


def test_names_of_tags_come_from_a_parquet_file_of_datasets(tmp_path: Path) -> None:
    feature = {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}, "_type": "Sequence"}
    metadata = {"huggingface": json.dumps({"info": {"features": {"ner_tags": feature}}})}
    table = pa.table({"tokens": [["a", "b"], ["b"]], "ner_tags": [[1, 0], [1]]}).replace_schema_metadata(metadata)
    pq.write_table(table, tmp_path / "a.parquet")
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a", "b"]).save_pretrained(tmp_path / "vocab")
    source = {"train": str(tmp_path / "a.parquet")}
    encode_task(tmp_path / "out", str(tmp_path / "vocab"), source, TaskConfig(task="token-classification"))
    shards = open_shards(tmp_path / "out")
    assert shards.manifest["info"]["labels"] == ["O", "B-PER"]
    assert [row["labels"] for row in shards.table.to_pylist()] == [[-100, 1, 0, -100], [-100, 1, -100]]


@pytest.mark.parametrize("held", [1, 4096])
def test_the_documents_of_a_file_are_counted_however_many_sentences_are_held(
    tmp_path: Path, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bertdata.finetune.task_shards.EXAMPLES_AT_ONCE", held)
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a"]).save_pretrained(tmp_path / "vocab")
    source = {"train": write(tmp_path / "a.conll", CONLL)}
    manifest = encode_task(tmp_path / "out", str(tmp_path / "vocab"), source, TaskConfig(task="token-classification"))
    assert manifest["splits"]["train"]["counts"]["documents"] == 2


def squad(entry: dict[str, Any], **more: Any) -> str:
    return json.dumps({"version": "v2.0", "data": [{"paragraphs": [{"context": "a b", "qas": [entry], **more}]}]})


def test_both_versions_of_squad_and_rows_give_the_same_questions(tmp_path: Path) -> None:
    answers = [{"text": "b", "answer_start": 2}, {"text": "a", "answer_start": 0}]
    plain = list(read_questions(write(tmp_path / "1.json", squad({"id": "q", "question": "?", "answers": answers}))))
    assert [(question.id, question.question, question.context, question.answers) for question in plain] == [
        ("q", "?", "a b", (("b", 2), ("a", 0)))
    ]
    row = {"id": "q", "question": "?", "context": "a b", "answers": {"text": ["b", "a"], "answer_start": [2, 0]}}
    assert list(read_questions(write(tmp_path / "a.jsonl", json.dumps(row)))) == plain
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    assert list(read_questions(str(tmp_path / "a.parquet"))) == plain


def test_impossible_questions_have_no_answer_whatever_is_plausible(tmp_path: Path) -> None:
    entry = {"id": "q", "question": "?", "is_impossible": True, "answers": [], "plausible_answers": [{"text": "b"}]}
    [question] = list(read_questions(write(tmp_path / "2.json", squad(entry))))
    assert question.answers == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"data": [', r"a\.json, byte 10: the text ends here, inside its JSON: the file was cut off"),
        ('{"data": [{"a": 1 "b"}]}', r"a\.json, byte 18: this byte of the text is not JSON \(Expecting ',' delimiter"),
        ("3", "has no list `data`"),
        ("[]", "holds no questions"),
        ('{"data": [{"title": "a"}]}', r"data\[0\] has no list of objects `paragraphs`"),
        (squad({"question": "?", "answers": []}), r"data\[0\]\.paragraphs\[0\]\.qas\[0\] has None for `id`"),
        (squad({"id": "q", "question": "?"}), r"qas\[0\] has no `answers`; expected a list of objects"),
        (squad({"id": 1.5, "question": "?", "answers": []}), r"qas\[0\] has 1.5 for `id`; expected a string"),
        (squad({"id": "q", "question": "?", "answers": [{"text": "b"}]}), r"answers\[0\] has None for `answer_start`"),
        ('{"data": []}', "holds no questions"),
    ],
)
def test_squad_that_is_not_whole_is_named_with_its_place(tmp_path: Path, data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(read_questions(write(tmp_path / "a.json", data)))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"text": ["a"], "answer_start": []}, "line 1 has not as many `answer_start` as `text`"),
        ({"text": ["a"]}, "line 1 has not as many `answer_start` as `text`"),
        ({"text": "a", "answer_start": [0]}, "line 1 has not as many `answer_start` as `text`"),
        ({"text": ["a"], "answer_start": 0}, "line 1 has not as many `answer_start` as `text`"),
        ({"text": [1], "answer_start": [0]}, "line 1 has 1 for `text`; expected a string"),
        ({"text": ["a"], "answer_start": ["0"]}, "line 1 has '0' for `answer_start`"),
        ("a", "line 1 has a string for `answers`"),
    ],
)
def test_answers_of_rows_that_are_not_whole_are_named_with_their_line(
    tmp_path: Path, answers: Any, message: str
) -> None:
    row = json.dumps({"id": "q", "question": "?", "context": "a", "answers": answers})
    with pytest.raises(InputError, match=message):
        list(read_questions(write(tmp_path / "a.jsonl", row + "\n")))


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    row = json.dumps({"id": "q", "question": "?", "context": "a", "answers": None})
    with pytest.raises(InputError, match="line 2 has the id 'q', which line 1 has too"):
        list(read_questions(write(tmp_path / "a.jsonl", f"{row}\n{row}\n")))


@pytest.mark.parametrize(
    ("texts", "quoted"),
    [(['"salt"'] * 12, 12), (['"salt"'] * 11 + ["salt"], 0), (['"salt" or "sea"'] * 12, 0), (['"salt"'] * 9, 0)],
)
def test_a_column_of_quoted_fields_alone_was_written_with_the_quotes_of_csv(
    tmp_path: Path, texts: list[str], quoted: int
) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\n" + "".join(f"{text}\t{place}\n" for place, text in enumerate(texts)))
    assert quoted_lines(str(path)) == (quoted, len(texts) + 1)


def test_names_of_classes_inside_of_objects_are_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    names = datasets.ClassLabel(names=["neg", "pos"])
    features = datasets.Features({"of": {"text": datasets.Value("string"), "class": names}})
    rows = datasets.Dataset.from_dict({"of": [{"text": "a", "class": 1}]}, features)
    rows.to_parquet(str(tmp_path / "a.parquet"))
    assert class_names(str(tmp_path / "a.parquet"), "of.class") == ("neg", "pos")
    assert class_names(str(tmp_path / "a.parquet"), "of.text") == class_names(str(tmp_path / "a.parquet"), "of") == ()
