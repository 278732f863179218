"""What the loader costs before its first batch."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.loader.test_rules import python

HEAVY = ("apache_beam", "numba", "torch", "nltk", "transformers", "datasets", "fsspec")


def test_importing_the_loader_imports_nothing_heavy() -> None:
    loaded = json.loads(python("import sys, json, bertdata.loader; print(json.dumps(sorted(sys.modules)))"))
    assert {name.split(".")[0] for name in loaded} & set(HEAVY) == set()


FIRST_BATCH = {
    "bertdata.loader": "next(iter(bertdata.loader.numpy_batches({path!r}, 32)))",
    "bertdata.torch": """
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ShardDataset
from torch.utils.data import DataLoader
dataset = ShardDataset({path!r})
sampler = ResumableBatchSampler(dataset, 32)
next(iter(DataLoader(dataset, batch_sampler=sampler, collate_fn=PretrainingCollator(dataset))))
""",
}


@pytest.mark.costly
def test_importing_the_loader_for_torch_and_a_first_batch_of_tensors_wait_neither_for_numba_nor_for_beam(
    dynamic_build: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    shutil.copytree(dynamic_build, tmp_path / "never opened")  # the rows of a shard are checked once
    code = FIRST_BATCH["bertdata.torch"].format(path=str(tmp_path / "never opened"))
    loaded = "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    of_import, of_batch = python(f"import json, sys, bertdata.torch\n{loaded}\n{code}\n{loaded}").splitlines()
    assert set(json.loads(of_import)) & {"apache_beam", "numba", "nltk", "transformers"} == set()
    assert set(json.loads(of_batch)) & {"numba", "pandas", "apache_beam"} == set()


@pytest.mark.costly
def test_what_draws_masks_depends_on_the_shards_and_not_on_the_batches_before(dynamic_build: Path) -> None:
    pytest.importorskip("torch")
    code = f"""
import sys
import bertdata.torch.data.dataset as collators
from bertdata.torch import PretrainingCollator, ShardDataset
dataset = ShardDataset({str(dynamic_build)!r})
rows = list(dataset.__getitems__([(0, number) for number in range(len(dataset))])) * 50
collator, tokens = PretrainingCollator(dataset), 0
while tokens <= 2 * collators.COMPILED_FROM:
    tokens += int(collator(rows)["attention_mask"].sum())
print("numba" in sys.modules)
collators.COMPILED_FROM = dataset.tokens
PretrainingCollator(dataset)(rows[:1])
print("numba" in sys.modules)
collators.COMPILED_FROM = dataset.tokens - 1
PretrainingCollator(dataset)(rows[:1])
print("numba" in sys.modules, dataset.tokens == int(dataset.lengths.sum()))
"""
    assert python(code).split() == ["False", "False", "True", "True"]


@pytest.mark.slow
@pytest.mark.parametrize("module", FIRST_BATCH)
def test_the_first_batch_takes_less_than_a_second_and_a_half_beyond_importing_torch(
    dynamic_build: Path, module: str
) -> None:
    # CPU seconds of a fresh process; what numba compiles comes from its cache.
    if module == "bertdata.torch":
        pytest.importorskip("torch")
    start = "import torch" if module == "bertdata.torch" else "pass"
    work = FIRST_BATCH[module].format(path=str(dynamic_build))
    code = f"import time\n{start}\nbegan = time.process_time()\nimport {module}\n{work}"
    assert min(float(python(f"{code}\nprint(time.process_time() - began)")) for _ in range(4)) < 1.5
