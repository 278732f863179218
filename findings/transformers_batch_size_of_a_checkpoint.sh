#!/usr/bin/env bash
# Claim: transformers 4 resumes a Trainer's run with the batch size of the checkpoint, whatever `per_device_train_batch_size` says now;
#   transformers 5 with the one that is asked for, and goes to where so many steps of it would be. At the end of the first of two epochs,
#   with half of the batch size, version 4 goes on with the second epoch in batches as before; version 5 goes through half of the first
#   epoch again, and then through the second.
# Packages: transformers 4.57.6 and 5.24.0, accelerate 1.15.0, torch 2.13.0.
# Guess: version 4 takes the batch size that is asked for and counts by it, as version 5 does.
# It matters to whoever halves a batch after a run was out of memory: version 4 is out of memory again, and version 5 trains rows twice;
#   neither says so.
# Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
for version in 4.57.6 5.24.0; do
    tools/bin/uv venv --quiet "with-$version"
    tools/bin/uv pip install --quiet --python "with-$version" torch==2.13.0 accelerate==1.15.0 "transformers==$version"
done
cat >resume.py <<'PYTHON'
"""Train on sixteen rows in batches of four as far as the end of an epoch, and resume in batches of two."""

import torch
import transformers
from transformers import Trainer, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

SEEN = []


class Model(torch.nn.Module):
    """A model that notes the rows of each batch while it is trained."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, row, **_):
        SEEN.append(row.tolist())
        return {"loss": (self.weight * row).mean()}


def train(size, epochs, **more):
    """Train in the order of the rows, and print the batches."""
    settings = TrainingArguments(
        "run",
        per_device_train_batch_size=size,
        num_train_epochs=epochs,
        save_strategy="epoch",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(Model(), settings, train_dataset=[{"row": float(number)} for number in range(16)])
    trainer._get_train_sampler = lambda *_: torch.utils.data.SequentialSampler(range(16))
    SEEN.clear()
    trainer.train(**more)
    return [[int(row) for row in batch] for batch in SEEN]


print(transformers.__version__, "batches of 4, one epoch:", train(4, 1))
print(transformers.__version__, "asked for 2, two epochs:", train(2, 2, resume_from_checkpoint=get_last_checkpoint("run")))
PYTHON
for version in 4.57.6 5.24.0; do
    rm -rf run
    "with-$version/bin/python" -W ignore resume.py 2>>said | grep "^$version"
done | tee seen
cat >expected <<'TEXT'
4.57.6 batches of 4, one epoch: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
4.57.6 asked for 2, two epochs: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
5.24.0 batches of 4, one epoch: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
5.24.0 asked for 2, two epochs: [[8, 9], [10, 11], [12, 13], [14, 15], [0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], [14, 15]]
TEXT
diff expected seen
