"""GLUE's tasks by name, from small files in the formats of GLUE and of data set hubs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError
from bertdata.finetune import TASKS
from bertdata.finetune.glue import GLUE
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.shards import Shards, open_shards
from tests.shards.build import TOKENIZER

TSV = {
    "cola": (
        "s1\t1\t\tThe sea is deep.\ns1\t0\t*\tThe is sea deep.\n",
        "index\tsentence\n0\tSalt is a boat.\n",
    ),
    "sst2": ("sentence\tlabel\na fine boat \t1\nthe sea is deep \t0\n", "index\tsentence\n0\tsalty water\n"),
    "mrpc": (
        "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
        '1\t7\t8\tThe "sea is deep.\tDeep is the sea.\r\n0\t7\t9\tA boat.\tThe sea.\r\n',
        "\ufeffindex\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n0\t1\t2\tA boat.\tBoats.\r\n",
    ),
    "stsb": (
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
        "0\tmade\tf\t2020\t1\tnone\tnone\tA boat.\tThe boat.\t4.750\n"
        "1\tmade\tf\t2020\t2\tnone\tnone\tA boat.\tSalt.\t0.000\n",
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\n"
        "0\tmade\tf\t2020\t1\tnone\tnone\tA boat.\tThe sea.\n",
    ),
    "qqp": (
        "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
        "0\t1\t2\tWhat is salt?\tWhat is the sea?\t0\n1\t3\t4\tcut off\n2\t5\t6\tHow deep?\tHow deep is it?\t1\nlast\n",
        "id\tquestion1\tquestion2\n0\tWhat is a boat?\t\n",
    ),
    "mnli": (
        "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse"
        "\tsentence1\tsentence2\tlabel1\tgold_label\n"
        "0\t1\t1e\tmade\t( )\t( )\t(R)\t(R)\tA boat is here.\tThere is a boat.\tentailment\tentailment\n"
        "1\t1\t1c\tmade\t( )\t( )\t(R)\t(R)\tA boat is here.\tNo boat.\tcontradiction\tcontradiction\n",
        "index\tpromptID\tpairID\tgenre\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse"
        "\tsentence1\tsentence2\n0\t1\t1e\tmade\t( )\t( )\t(R)\t(R)\tA boat.\tThe sea.\n",
    ),
    "qnli": (
        "index\tquestion\tsentence\tlabel\n0\tHow?\tThe sea is deep.\tnot_entailment\n1\tWhat?\tSea.\tentailment\n",
        "index\tquestion\tsentence\n0\tWho?\tThe boat.\n",
    ),
    "rte": (
        "index\tsentence1\tsentence2\tlabel\n0\tThe sea.\tWater.\tentailment\n1\tThe sea.\tA boat.\tnot_entailment\n",
        "index\tsentence1\tsentence2\n0\tSalt.\tSea.\n",
    ),
    "wnli": (
        "index\tsentence1\tsentence2\tlabel\n0\tThe boat hit it.\tIt was deep.\t1\n1\tThe boat hit it.\tSalt it.\t0\n",
        "index\tsentence1\tsentence2\n0\tSea.\tSalt.\n",
    ),
}
"""A training and a test file of each task as GLUE writes them: no quotes, CoLA's without names, a BOM in MRPC's."""
LABELS: dict[str, list[float]] = {
    "cola": [1, 0],
    "sst2": [1, 0],
    "mrpc": [1, 0],
    "stsb": [4.75, 0.0],
    "qqp": [0, 1],
    "mnli": [0, 2],
    "qnli": [1, 0],
    "rte": [0, 1],
    "wnli": [1, 0],
}
HUB_TEXTS = {"mrpc": ("sentence1", "sentence2"), "mnli": ("premise", "hypothesis")}


@pytest.fixture
def vocab(tmp_path: Path) -> str:
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    return str(tmp_path / "vocab")


def encoded(folder: Path, task: str, vocab: str, sources: dict[str, str]) -> Shards:
    encode_task(folder / "out", vocab, sources, TaskConfig(task=task, max_seq_length=32), force=True)
    return open_shards(folder / "out")


def written(folder: Path, name: str, ending: str) -> dict[str, str]:
    """Write the training and the test file of a task in one format and return their paths."""
    paths = {}
    for split, text in zip(("train", "test"), TSV[name], strict=True):
        paths[split] = str(folder / f"{split}.{ending}")
        if ending == "tsv":
            Path(paths[split]).write_text(text, newline="")
            continue
        rows = hub_rows(name, split)
        if ending == "jsonl":
            Path(paths[split]).write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            pq.write_table(pa.Table.from_pylist(rows), paths[split])
    return paths


def hub_rows(name: str, split: str) -> list[dict[str, Any]]:
    """Return the examples of a task with the columns of data set hubs."""
    lines = [line.split("\t") for line in TSV[name][split == "test"].lstrip("\ufeff").splitlines()]
    if name == "cola" and split == "train":
        lines.insert(0, ["source", "label", "mark", "sentence"])
    names, *rows = lines
    texts = GLUE[name].texts[0]
    example_rows: list[dict[str, Any]] = []
    for row in (dict(zip(names, line, strict=False)) for line in rows if len(line) == len(names)):
        example: dict[str, Any] = {hub: row[own] for hub, own in zip(HUB_TEXTS.get(name, texts), texts, strict=True)}
        unknown = -1.0 if name == "stsb" else -1
        example["label"] = LABELS[name][len(example_rows)] if split == "train" else unknown
        example_rows.append(example | {"idx": len(example_rows)})
    return example_rows


@pytest.mark.costly
@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("name", GLUE)
def test_files_of_glue_and_of_hubs_give_the_same_rows(tmp_path: Path, vocab: str, name: str, ending: str) -> None:
    paths = written(tmp_path, name, ending)
    shards = encoded(tmp_path, f"glue/{name}", vocab, paths)
    assert shards.table["label"].to_pylist() == LABELS[name]
    unknown = open_shards(tmp_path / "out", "test").table["label"].to_pylist()
    assert unknown == ([-100] if name != "stsb" else [pytest.approx(float("nan"), nan_ok=True)])
    assert shards.manifest["info"]["labels"] == list(GLUE[name].labels)
    (tmp_path / "hub").mkdir()
    theirs = encoded(tmp_path / "hub", f"glue/{name}", vocab, written(tmp_path / "hub", name, "jsonl"))
    assert shards.table["input_ids"].to_pylist() == theirs.table["input_ids"].to_pylist()


def test_texts_are_those_of_the_right_columns(tmp_path: Path, vocab: str) -> None:
    expected = {
        "cola": "[CLS] the sea is deep . [SEP]",
        "mnli": "[CLS] a boat is here . [SEP] there is a boat . [SEP]",
        "stsb": "[CLS] a boat . [SEP] the boat . [SEP]",
    }
    for name, text in expected.items():
        shards = encoded(tmp_path, f"glue/{name}", vocab, written(tmp_path, name, "tsv"))
        expected_ids = TOKENIZER.encode_batch([part.strip() for part in text[6:-6].split("[SEP]")]).to_pylist()
        ids = list(shards[0]["input_ids"])
        sep = TOKENIZER.sep_token_id
        assert ids == [TOKENIZER.cls_token_id, *(token_id for part in expected_ids for token_id in (*part, sep))]


def test_lines_without_all_fields_are_left_out_and_counted(tmp_path: Path, vocab: str) -> None:
    shards = encoded(tmp_path, "glue/qqp", vocab, written(tmp_path, "qqp", "tsv"))
    counts = shards.manifest["splits"]["train"]["counts"]
    assert (counts["examples"], counts["left_out_lines"]) == (2, 2)
    assert shards.manifest["splits"]["test"]["counts"]["empty_texts"] == 1
    (tmp_path / "x.tsv").write_text("sentence\tlabel\nonly a text\n")
    with pytest.raises(InputError, match=r"x\.tsv: holds no rows"):
        encoded(tmp_path, "glue/sst2", vocab, {"train": str(tmp_path / "x.tsv")})


def test_mismatched_splits_are_those_of_mnli_alone(
    tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "mnli", "tsv")["train"]
    flags = ["--train", path, "--validation", path, "--validation-mismatched", path, "--vocab", vocab]
    assert dispatch(["encode-task", "--task", "glue/mnli", *flags, "--output", str(tmp_path / "out")]) == 0
    assert "validation_mismatched" in capsys.readouterr().out
    assert len(open_shards(tmp_path / "out", "validation_mismatched").table) == 2
    assert dispatch(["verify", str(tmp_path / "out")]) == 0
    with pytest.raises(ConfigError, match="`task` glue/rte has no split test_mismatched; expected some of train, val"):
        encoded(tmp_path, "glue/rte", vocab, {"train": path, "test_mismatched": path})


def test_an_unknown_task_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match=r"no task 'glue/sts'; expected one of .*, did you mean 'glue/stsb'\?"):
        TaskConfig(task="glue/sts")
    with pytest.raises(ConfigError, match=r"did you mean 'glue/sst2'\?"):
        dispatch(["encode-task", "--task", "glue/sst-2", "--train", "x", "--vocab", "y", "--output", "z"])


def test_what_does_not_fit_a_task_is_refused(tmp_path: Path, vocab: str) -> None:
    def refused(name: str, text: str, message: str, ending: str = "tsv") -> None:
        (tmp_path / f"bad.{ending}").write_text(text)
        with pytest.raises((ConfigError, InputError), match=message):
            encoded(tmp_path, f"glue/{name}", vocab, {"train": str(tmp_path / f"bad.{ending}")})

    refused("rte", "a\tb\nx\ty\n", r"bad\.tsv: has the columns 'a', 'b'; expected sentence1, sentence2, label")
    refused("sst2", "sentence\nx\n", r"has the columns 'sentence'; expected sentence, label")
    refused("sst2", "sentence\tlabel\nsea\t1\nsalt\t2\n", r"line 3 has the label '2'.*expected one of negative")
    refused("sst2", "sentence\tlabel\nsea\t1\nsalt\t1\n", r"all have the label 'positive'; expected examples of two")
    refused("stsb", "sentence1\tsentence2\tscore\na\tb\t5.5\n", r"line 2 has the label '5.5'; expected a number from 0")
    refused("stsb", "sentence1\tsentence2\tscore\na\tb\tnan\n", r"line 2 has the label 'nan'; expected a number from 0")
    refused("rte", '{"sentence1": "a", "sentence2": null, "label": 1}\n', r"line 1 has no text in 'sentence2'", "jsonl")
    columns = Columns(text_columns=("sentence1",))
    with pytest.raises(ConfigError, match="`task` glue/rte knows its columns and labels; leave out `text_columns`"):
        encode_task(tmp_path / "o", vocab, {"train": "x"}, TaskConfig(task="glue/rte"), columns)


def test_a_parquet_file_that_numbers_its_labels_otherwise_is_refused(tmp_path: Path, vocab: str) -> None:
    datasets = pytest.importorskip("datasets")
    for names in (["not_entailment", "entailment"], ["entailment", "not_entailment"]):
        features = datasets.Features(
            {name: datasets.Value("string") for name in ("sentence1", "sentence2")}
            | {"label": datasets.ClassLabel(names=names)}
        )
        rows = {"sentence1": ["the sea", "salt"], "sentence2": ["a boat", "sea"], "label": [0, 1]}
        datasets.Dataset.from_dict(rows, features=features).to_parquet(str(tmp_path / "a.parquet"))
        sources = {"train": str(tmp_path / "a.parquet")}
        if names[0] == "entailment":
            assert encoded(tmp_path, "glue/rte", vocab, sources).table["label"].to_pylist() == [0, 1]
        else:
            with pytest.raises(ConfigError, match="numbers its labels as not_entailment, entailment; expected the ord"):
                encoded(tmp_path, "glue/rte", vocab, sources)


def test_metrics_are_those_of_glue() -> None:
    metrics = {name: TASKS[f"glue/{name}"].metrics for name in GLUE}
    assert metrics.pop("cola") == ("matthews_correlation",)
    assert metrics.pop("stsb") == ("pearson", "spearman")
    assert metrics.pop("mrpc") == metrics.pop("qqp") == ("accuracy", "f1")
    assert set(metrics.values()) == {("accuracy",)}
