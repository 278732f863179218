"""Inputs that cannot be used are named at once: paths that are nothing, and files that are not what they should be."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from bertdata.errors import InputError
from bertdata.sources.inputs import find_documents
from bertdata.sources.problems import Problems, SeveralInputsError
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.tokenizers import load_tokenizer


def refusal(folder: Path, **texts: str) -> InputError:
    """Return the error with which files of these texts, by their names without the period, are refused."""
    paths = {}
    for name, text in texts.items():
        source, _, ending = name.rpartition("_")
        path = folder / f"{source}.{ending}"
        path.write_text(text)
        paths[str(path)] = source
    with pytest.raises(InputError) as refused:
        ReadSource("documents", paths, str(folder / "out"), CleaningConfig()).plan(None)  # type: ignore[arg-type]
    return refused.value


def test_all_bad_files_of_all_formats_are_named_and_good_ones_are_not(tmp_path: Path) -> None:
    error = refusal(
        tmp_path, a_jsonl='{"body": "Salt."}\n', b_csv="body\nSalt.\n", c_parquet="no table", d_jsonl='{"text": "x"}\n'
    )
    assert isinstance(error, SeveralInputsError)
    assert {Path(str(each).split(": ")[0]).name for each in error.errors} == {"a.jsonl", "b.csv", "c.parquet"}
    assert all(str(each) in str(error) for each in error.errors)


def test_several_files_of_one_format_are_named(tmp_path: Path) -> None:
    error = refusal(tmp_path, **{f"f{number}_jsonl": '{"body": "Salt."}\n' for number in range(25)})
    lines = str(error).split("\n")
    assert lines[0].startswith("25 of the inputs")
    assert (len(lines), lines[-1].strip()) == (22, "and 5 more")


def test_a_reason_that_files_of_a_source_share_is_said_once(tmp_path: Path) -> None:
    paths = [tmp_path / f"part-{number:02}.jsonl" for number in range(23)]
    for path in paths:
        path.write_text('{"body": "Salt."}\n')
    paths[3].write_text("no JSON\n")
    with pytest.raises(SeveralInputsError) as refused:
        ReadSource("documents", {str(path): "web" for path in paths}, str(tmp_path / "out"), CleaningConfig()).plan(
            None  # type: ignore[arg-type]
        )
    head, of_many, of_one = str(refused.value).split("\n")
    assert head.startswith("23 of the inputs")
    assert of_many.count("part-") == 20
    assert " and 2 more: has no column 'text'" in of_many
    assert of_one.strip().startswith(str(paths[3]))


def test_one_bad_file_has_its_own_error_alone(tmp_path: Path) -> None:
    error = refusal(tmp_path, a_jsonl='{"body": "Salt."}\n', b_jsonl='{"text": "Salt."}\n')
    assert type(error) is InputError
    assert str(error).startswith(str(tmp_path / "a.jsonl"))


def test_all_paths_that_match_nothing_are_named(tmp_path: Path) -> None:
    (tmp_path / "here.txt").write_text("Salt.")
    names = {name: str(tmp_path / f"{name}.txt") for name in ("here", "lost", "gone")}
    with pytest.raises(SeveralInputsError) as refused:
        find_documents([f"{name}={path}" for name, path in names.items()])
    assert [str(each).split(": ")[0] for each in refused.value.errors] == [names["lost"], names["gone"]]
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_no_problem_is_no_error() -> None:
    problems = Problems()
    with problems.noted():
        pass
    problems.raise_any()


def test_a_table_without_names_is_told_what_its_first_line_is(tmp_path: Path) -> None:
    rows = "R-1,Salt is a white mineral.\nR-2,Water is wet.\n"
    assert "first line" in str(refusal(tmp_path, a_csv=rows))
    assert "first line" not in str(refusal(tmp_path, a_jsonl='{"body": "Salt."}\n'))


def test_a_file_of_a_tokenizer_that_is_not_there_leads_to_the_folder(tmp_path: Path) -> None:
    load_tokenizer("bertdata-30k-uncased").save_pretrained(tmp_path / "corpus" / "tokenizer")
    for folder in (tmp_path / "corpus", tmp_path / "corpus" / "tokenizer"):
        with pytest.raises(InputError, match=f"{folder} holds a tokenizer"):
            load_tokenizer(folder / "words.txt")
    with pytest.raises(InputError) as refused:
        load_tokenizer(tmp_path / "other" / "vocab.txt")
    assert "holds a tokenizer" not in str(refused.value)
