"""A user's strict mypy accepts a script that uses the public names, and refuses one that uses them wrongly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bertdata

pytest.importorskip("mypy", reason="checks types with mypy")

ROOT = Path(bertdata.__file__).parents[1]
CONFIG = """
[mypy]
strict = True
ignore_missing_imports = True
[mypy-bertdata.*]
ignore_errors = True
[mypy-pyarrow.*,numba.*,regex.*,fsspec.*,tqdm.*]
follow_imports = skip
"""
"""As for an installed package, whose own errors mypy does not report."""
SCRIPT = """
import numpy as np
import bertdata
from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples, numpy_batches

try:
    corpus = bertdata.build("corpus", documents="texts.jsonl", max_seq_length=128)
except bertdata.ConfigError as error:
    raise SystemExit(str(error)) from error
rows: int = len(corpus.train) + len(bertdata.open_shards("corpus", "train"))
tokenizer = bertdata.load_tokenizer("bertdata-30k-uncased")
ids: list[int] = tokenizer.encode("salt water")
text: str = tokenizer.decode(ids)
pieces: tuple[str, ...] = bertdata.train_wordpiece(["salt water"], vocab_size=100)
wordpiece: bertdata.WordPieceTokenizer = bertdata.WordPieceTokenizer.from_tokens(pieces)
sentences: list[str] = list(bertdata.SentenceSegmenter.from_pretrained("english").segment(text))
prose: str | None = bertdata.clean_wikitext("'''Rome'''")
book: str | None = bertdata.clean_book("It was late.")
examples = ShardExamples("corpus/train")
sampler = EpochBatchSampler(examples, 32, seed=1)
collator = BatchCollator(examples, pad_to_multiple_of=8)
for batch in numpy_batches("corpus/train", 32):
    width: int = batch["input_ids"].shape[1]
    mask: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = batch["attention_mask"]
"""
WRONG = 'import bertdata\nids: list[str] = bertdata.load_tokenizer("x").encode("salt")\nbertdata.clean_book(3)\n'


def mypy(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(script)
    (folder / "mypy.ini").write_text(CONFIG)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "script.py"]
    environment = {"MYPYPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONPATH": ""}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_script_that_uses_the_public_names_is_well_typed(tmp_path: Path) -> None:
    done = mypy(tmp_path, SCRIPT)
    assert done.stdout.startswith("Success"), done.stdout + done.stderr
    wrong = mypy(tmp_path, WRONG)
    assert wrong.returncode == 1
    assert wrong.stdout.count(": error: ") == 2, wrong.stdout
