"""What is said of files that other programs must write in another form: their commands work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata.errors import InputError
from bertdata.sources.labelled.conll import read_sentences
from bertdata.sources.labelled.labelled_files import class_names, file_format
from bertdata.sources.labelled.labelled_texts import read_classes


def command_for(path: Path) -> str:
    """Return the program that the message on a file of another form gives."""
    with pytest.raises(InputError) as caught:
        list(read_sentences(str(path)))
    code = re.search(r'python -c "(.*)" F', str(caught.value))
    assert code
    return code[1]


def written(code: str, given: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the file of what a program prints of a file or folder."""
    monkeypatch.setattr(sys, "argv", ["-c", str(given)])
    exec(code, {})
    new = given.with_name("new.jsonl")
    new.write_text(capsys.readouterr().out)
    return new


def test_standoff_of_brat_is_read_as_its_message_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "brat" / "deeper"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_bytes("Zoë left\r\nUni Bern.".encode())
    notes = "T1\tPER 0 3\tZoë\nT2\tORG 10 18\tUni Bern\nR1\tleft Arg1:T1 Arg2:T2\n#1\tAnnotatorNotes T1\tsure\n"
    (folder / "a.ann").write_text(notes, encoding="utf-8")
    new = written(command_for(folder / "a.ann"), tmp_path / "brat", monkeypatch, capsys)
    [sentence] = read_sentences(str(new))
    assert (sentence.words, sentence.tags) == (
        ("Zoë", "left", "Uni", "Bern", "."),
        ("B-PER", "O", "B-ORG", "I-ORG", "O"),
    )
    (folder / "a.ann").write_text("T1\tPER 0 3;5 6\tZoë e\n", encoding="utf-8")
    with pytest.raises(ValueError, match="too many values"):  # a span of several parts has no tags
        written(command_for(folder / "a.ann"), tmp_path / "brat", monkeypatch, capsys)


def test_a_docbin_of_spacy_is_read_as_its_message_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.spacy"
    path.write_bytes(b"x")
    code = command_for(path)
    compile(code, "message", "exec")
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import Doc, DocBin, Span

    doc = Doc(spacy.blank("en").vocab, words=["Ann", "Bo", "ca", "n't", "go"], spaces=[True, True, False, True, False])
    doc.ents = [Span(doc, 0, 2, label="PER")]
    DocBin(docs=[doc]).to_disk(path)
    [sentence] = read_sentences(str(written(code, path, monkeypatch, capsys)))
    assert (sentence.words, sentence.tags) == (("Ann", "Bo", "ca", "n't", "go"), ("B-PER", "I-PER", "O", "O", "O"))


def test_brackets_of_conll_2012_become_tags_as_the_message_says(tmp_path: Path) -> None:
    awk = shutil.which("awk")
    if not awk:
        pytest.skip("there is no awk")
    path = tmp_path / "a.v4_gold_conll.conll"
    lines = ["x 0 Ann (PERSON* -", "x 1 Bo *) -", "x 2 left * -", "", "x 0 Bern (GPE) -", "x 1 is * -"]
    path.write_text("\n".join(["#begin document (x); part 000", *lines, "", "#end document"]) + "\n")
    with pytest.raises(InputError) as caught:
        list(read_sentences(str(path), "3", "4"))
    code = re.search(r"awk '(.*)' FILE", str(caught.value))
    assert code
    new = tmp_path / "new.conll"
    with new.open("w") as file:
        subprocess.run([awk, code[1], path], stdout=file, check=True)
    tagged = [(sentence.words, sentence.tags) for sentence in read_sentences(str(new))]
    assert tagged == [
        (("Ann", "Bo", "left"), ("B-PERSON", "I-PERSON", "O")),
        (("Bern", "is"), ("B-GPE", "O")),
    ]
    path.write_text("x 0 Ann (A(B*\nx 1 Bo *))\n")
    assert subprocess.run([awk, code[1], path], capture_output=True, check=False).returncode == 1  # nested


def test_pubtator_is_read_as_its_message_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.PubTator"
    mentions = "7\t0\t4\tSalt\tChemical\tD1\n7\t20\t24\tpain\tDisease\tD2\n7\tCID\tD1\tD2\n"
    path.write_text(f"7|t|Salt helps.\n7|a|It ends pain | all.\n{mentions}\n8|t|None.\n8|a|\n\n")
    expected = [
        (("Salt", "helps", ".", "It", "ends", "pain", "|", "all", "."), ("B-Chemical", *"OOOO", "B-Disease", *"OOO")),
        (("None", "."), ("O", "O")),
    ]
    sentences = read_sentences(str(written(command_for(path), path, monkeypatch, capsys)))
    assert [(sentence.words, sentence.tags) for sentence in sentences] == expected


def test_a_folder_of_datasets_is_read_as_its_message_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["b", "a"])})
    datasets.Dataset.from_dict({"text": ["x", "y"], "label": [1, 0]}, features).save_to_disk(str(tmp_path / "saved"))
    [part] = (tmp_path / "saved").glob("*.arrow")
    with pytest.raises(InputError) as caught:
        file_format(str(part))
    [code] = re.findall(r'python -c "(.*)" FOLDER', str(caught.value))
    new = tmp_path / "new.parquet"
    monkeypatch.setattr(sys, "argv", ["-c", str(tmp_path / "saved"), str(new)])
    exec(code, {})
    assert class_names(str(new), "label") == ("b", "a")
    assert [(text.text, text.label) for text in read_classes(str(new))] == [("x", 1), ("y", 0)]
