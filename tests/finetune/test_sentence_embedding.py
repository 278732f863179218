"""Texts for sentence embeddings: rows equal to those of transformers, scores, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError, VerificationError
from bertdata.finetune.sentence_embedding import encode_sentences
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.loader import numpy_batches
from bertdata.shards import open_shards
from bertdata.verify.build import verify
from tests.finetune.reference import fast_tokenizer
from tests.shards.build import TOKENIZER, text_of

TRIPLETS = [[text_of(number), text_of(number + 1)[: 9 * number], text_of(number + 2)] for number in range(1, 9)]


@pytest.fixture
def vocab(tmp_path: Path) -> str:
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    return str(tmp_path / "vocab")


def encoded(folder: Path, task: str, vocab: str, text: str, name: str = "a.tsv", **others: Any) -> Path:
    (folder / name).write_text(text)
    columns, splits = others.pop("columns", None), others.pop("splits", ["train"])
    config = TaskConfig(task=task, **({"max_seq_length": 16} | others))
    encode_task(folder / "out", vocab, dict.fromkeys(splits, str(folder / name)), config, columns, force=True)
    return folder / "out"


def test_each_text_is_encoded_as_transformers_does(tmp_path: Path) -> None:
    theirs = fast_tokenizer(TOKENIZER, tmp_path / "vocab")
    encoded = encode_sentences(TOKENIZER, TRIPLETS, max_seq_length=20)
    for place, name in enumerate(("input_ids", "input_ids_2", "input_ids_3")):
        expected = theirs([texts[place] for texts in TRIPLETS], truncation=True, max_length=20)
        assert encoded.columns[name].to_pylist() == expected["input_ids"]
        if not place:
            assert encoded.columns["token_type_ids"].to_pylist() == expected["token_type_ids"]
    lengths = [[len(ids) for ids in theirs(texts)["input_ids"]] for texts in TRIPLETS]
    assert encoded.counts == {
        "examples": 8,
        "tokens": int(np.minimum(lengths, 20).sum()),
        "truncated_examples": sum(max(three) > 20 for three in lengths),
        "truncated_tokens": int(np.maximum(np.array(lengths) - 20, 0).sum()),
        "unlabelled_examples": 0,
    }
    assert encoded.counts["truncated_examples"] > 0


def test_rows_have_at_most_128_tokens_unless_another_length_is_given() -> None:
    ids = encode_sentences(TOKENIZER, [["sea " * 200]]).columns["input_ids"]
    assert len(ids[0]) == TaskConfig(task="sentence-similarity").length == 128


def test_groups_that_differ_in_size_and_short_rows_are_refused() -> None:
    with pytest.raises(ConfigError, match="have not as many texts each"):
        encode_sentences(TOKENIZER, [["salt", "water"], ["salt"]])
    with pytest.raises(ConfigError, match="there is not a score for each"):
        encode_sentences(TOKENIZER, [["salt", "water"]], [0.5, 1.0])
    with pytest.raises(ConfigError, match="max_seq_length is 2; expected at least 3"):
        encode_sentences(TOKENIZER, [["salt", "water"]], max_seq_length=2)


def test_a_batch_is_padded_for_each_text_by_itself(tmp_path: Path, vocab: str) -> None:
    text = "anchor\tpositive\tnegative\nsalt\twater\t" + "stone " * 12 + "\nsalt water\triver\tlamp\n"
    out = encoded(tmp_path, "sentence-triplets", vocab, text)
    [batch] = numpy_batches(out, 2)
    assert {name: array.shape for name, array in batch.items()} == {
        "input_ids": (2, 8),
        "token_type_ids": (2, 8),
        "attention_mask": (2, 8),
        "input_ids_2": (2, 8),
        "input_ids_3": (2, 16),
    }
    assert sorted((batch["input_ids_3"] != TOKENIZER.pad_token_id).sum(1).tolist()) == [3, 14]
    verify(str(out))


def test_scores_of_a_declared_range_become_0_to_1(tmp_path: Path, vocab: str) -> None:
    text = "sentence1\tsentence2\tscore\nsalt\twater\t5\nsalt\tlamp\t2.5\nlamp\tclock\t0\n"
    out = encoded(tmp_path, "sentence-similarity", vocab, text, score_range=("0", "5"))
    assert open_shards(out).table["label"].to_pylist() == [1.0, 0.5, 0.0]
    text = "sentence1\tsentence2\tlabel\nsalt\twater\t1\nsalt\tlamp\t-0.5\n"
    assert open_shards(encoded(tmp_path, "sentence-similarity", vocab, text)).table["label"].to_pylist() == [1.0, -0.5]


def test_scores_that_are_no_numbers_or_outside_are_refused(tmp_path: Path, vocab: str) -> None:
    def refused(score: str, message: str, **others: Any) -> None:
        text = f"sentence1\tsentence2\tscore\nsalt\twater\t0.5\nsalt\twater\t{score}\n"
        with pytest.raises(InputError, match=message):
            encoded(tmp_path, "sentence-similarity", vocab, text, **others)

    refused("3.8", r"a\.tsv: line 3 has the label '3.8'; expected a number from -1 to 1; .* take `score_range`, as 0 5")
    refused("5.1", r"line 3 has the label '5.1'; expected a number from 0 to 5$", score_range=("0", "5"))
    refused("much", "line 3 has the label 'much'; expected a number")
    refused("", "line 3 has the label ''; expected a number")


def test_a_test_file_may_lack_scores(tmp_path: Path, vocab: str) -> None:
    (tmp_path / "test.tsv").write_text("sentence1\tsentence2\nsalt\twater\n")
    (tmp_path / "a.tsv").write_text("sentence1\tsentence2\tscore\nsalt\twater\t1\n")
    sources = {"train": str(tmp_path / "a.tsv"), "test": str(tmp_path / "test.tsv")}
    encode_task(tmp_path / "out", vocab, sources, TaskConfig(task="sentence-similarity"))
    assert np.isnan(open_shards(tmp_path / "out", "test")[0]["label"])
    with pytest.raises(
        ConfigError, match=r"test\.tsv: has no column 'label'.*name the one of the scores with `label_column`"
    ):
        encode_task(
            tmp_path / "o",
            vocab,
            sources | {"train": str(tmp_path / "test.tsv")},
            TaskConfig(task="sentence-similarity"),
        )


def test_missing_and_empty_texts_are_refused_with_their_line(tmp_path: Path, vocab: str) -> None:
    def refused(task: str, text: str, message: str, name: str = "a.jsonl", error: type[Exception] = InputError) -> None:
        with pytest.raises(error, match=message):
            encoded(tmp_path, task, vocab, text, name)

    row: dict[str, Any] = {"anchor": "salt", "positive": "water", "negative": "lamp"}
    lines = [json.dumps(row) + "\n", json.dumps(row | {"negative": None}) + "\n"]
    refused(
        "sentence-triplets", "".join(lines), r"a\.jsonl: line 2 has None in 'negative'; expected a text that is not"
    )
    refused("sentence-triplets", lines[0] + '{"anchor": "a", "positive": "b"}', "line 2 has None in 'negative'")
    refused("sentence-pairs", '{"anchor": "salt", "positive": " \\n"}\n', "line 1 has ' .n' in 'positive'")
    refused("sentence-pairs", "anchor\tpositive\n\twater\n", "line 2 has '' in 'anchor'", "a.tsv")
    refused("sentence-triplets", "anchor\tpositive\tnegative\na\tb\n", "line 2 has 2 fields", "a.tsv")
    missing = (
        "has the columns 'anchor', 'positive', and none of the known names.*; expected 3 columns of texts, as anchor"
    )
    refused("sentence-triplets", '{"anchor": "a", "positive": "b"}\n', missing, error=ConfigError)
    refused("sentence-pairs", "anchor\tpositive\n", r"a\.tsv: holds no rows", "a.tsv")


def test_columns_are_given_by_name_or_in_a_file_without_names_by_number(tmp_path: Path, vocab: str) -> None:
    columns = Columns(text_columns=("2", "3", "1"))
    out = encoded(tmp_path, "sentence-triplets", vocab, "lamp\tsalt\twater\nclock\tstone\triver\n", columns=columns)
    rows = open_shards(out).table
    assert [rows[name][0].as_py()[1] for name in ("input_ids", "input_ids_2", "input_ids_3")] == [
        ids[0] for ids in TOKENIZER.encode_batch(["salt", "water", "lamp"]).to_pylist()
    ]
    text = '{"q": "salt", "a": "water"}\n'
    named = encoded(tmp_path, "sentence-pairs", vocab, text, "a.jsonl", columns=Columns(text_columns=("q", "a")))
    assert len(open_shards(named).table) == 1
    with pytest.raises(ConfigError, match="`text_columns` names q; expected 2 columns of texts"):
        encoded(tmp_path, "sentence-pairs", vocab, text, "a.jsonl", columns=Columns(text_columns=("q",)))
    for wrong, flag in ((Columns(label_column="a"), "`label_column`"), (Columns(labels=("a", "b")), "`labels`")):
        with pytest.raises(ConfigError, match=f"`task` sentence-pairs has no labels; leave out {flag}$"):
            encoded(tmp_path, "sentence-pairs", vocab, text, "a.jsonl", columns=wrong)


def test_damage_in_the_ids_of_another_text_is_found(tmp_path: Path, vocab: str) -> None:
    from bertdata.verify import unbuilt
    from bertdata.verify.claims import BrokenRules

    out = encoded(tmp_path, "sentence-pairs", vocab, "anchor\tpositive\nsalt\twater\nlamp\tclock\n")
    shards = open_shards(out)
    [batch] = shards.table.to_batches()
    for ids in ([[2, 60_000, 3]] * 2, [[7, 8, 3]] * 2, [[2]] * 2, [[2, *[7] * 20, 3]] * 2):
        place = batch.schema.get_field_index("input_ids_2")
        damaged = batch.set_column(place, "input_ids_2", pa.array(ids, pa.list_(pa.uint16())))
        broken = BrokenRules()
        unbuilt._check_rows(damaged, shards.info, broken)
        assert broken.lines()
    broken = BrokenRules()
    unbuilt._check_rows(batch, shards.info, broken)
    assert not broken.lines()
    path = next((out / "train").glob("*.arrow"))
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")
    with pytest.raises(VerificationError):
        verify(str(out))


def test_the_command_encodes_scored_pairs(tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text('sentence1,sentence2,score\nsalt,"water, river",3.5\n')
    flags = ["--train", str(tmp_path / "a.csv"), "--vocab", vocab, "--output", str(tmp_path / "out")]
    assert dispatch(["encode-task", "--task", "sentence-similarity", *flags, "--score-range", "0", "5"]) == 0
    assert "1 example" in capsys.readouterr().out
    assert open_shards(tmp_path / "out").table["label"].to_pylist() == pytest.approx([0.7])
    assert open_shards(tmp_path / "out").manifest["settings"]["score_range"] == ["0", "5"]
    assert dispatch(["verify", str(tmp_path / "out")]) == 0
    assert " 8, special ones among them" in capsys.readouterr().out
