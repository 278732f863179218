"""`bertdata.build` does what the command does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bertdata
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from tests.small_build import texts, tokenizer


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    lines = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts(60))]
    (tmp_path / "documents.jsonl").write_text("\n".join(lines))
    tokenizer().save_pretrained(tmp_path / "vocab")
    return tmp_path / "documents.jsonl"


def test_the_function_writes_what_the_command_writes(documents: Path, tmp_path: Path) -> None:
    manifest = bertdata.build(
        tmp_path / "function",
        documents=documents,
        vocab=tmp_path / "vocab",
        objective="sop",
        max_seq_length=(32, 48),
        mix={"documents": 2},
        workers=1,
    )
    flags = ["--documents", str(documents), "--vocab", str(tmp_path / "vocab"), "--objective", "sop", "--workers", "1"]
    flags += ["--max-seq-length", "32", "48", "--mix", "documents=2", "--output", str(tmp_path / "command")]
    assert dispatch(["build", *flags]) == 0
    for length in ("32", "48"):
        function, command = (
            json.loads((tmp_path / name / length / "manifest.json").read_text()) for name in ("function", "command")
        )
        assert manifest["phases"][length] == function == command


def test_settings_of_one_value_are_those_of_the_shards(documents: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "vocab": str(tmp_path / "vocab"),
        "max_seq_length": 32,
        "masking": "static",
        "workers": 1,
    }
    manifest = bertdata.build(tmp_path / "out", documents=[documents], **settings)
    assert manifest["info"] == bertdata.open_shards(tmp_path / "out").info.values() == manifest.train.info.values()
    assert (manifest["info"]["examples"]["max_seq_length"], manifest["info"]["examples"]["masking"]) == (32, "static")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_seq_len": 64}, "there is no setting 'max_seq_len', did you mean 'max_seq_length'?"),
        ({"help": True}, "there is no setting 'help'"),
        ({"objective": "nps"}, "did you mean 'nsp'?"),
        (
            {"clean": "nfx"},
            "there is no cleaner 'nfx'; expected one of nfc, emails, ip-addresses, ipv6-addresses, did you mean 'nfc'?",
        ),
        ({"filter": "min-charcters=3"}, "did you mean 'min-characters'?"),
        ({"sources": "documnts"}, "the sources of this build are: documents, did you mean 'documents'?"),
        ({"mix": "documnts=2"}, "the sources of this build are: documents, did you mean 'documents'?"),
        ({"recipe": "nofile.toml"}, "there is no recipe in 'nofile.toml': no such file; check the path"),
        ({"max_seq_length": "64"}, "max_seq_length"),
        ({"books": 3}, "`books` is 3; expected one or several strings"),
        ({"dry_run": True}, "`dry_run` is for the command line; leave it out"),
        ({"recipe": "bert-bas"}, "there is no recipe 'bert-bas'; did you mean 'bert-base'?"),
        ({"vocab_size": 100}, "`vocab_size` has no effect: the vocabulary is given by `vocab`"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(
    documents: Path, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        bertdata.build(tmp_path / "out", documents=documents, vocab=tmp_path / "vocab", **settings)
    assert not (tmp_path / "out").exists()
