#!/usr/bin/env bash
# Claim: with enable_jit_checkpoint a Trainer saves a checkpoint after SIGTERM and does not call on_save of its callbacks, which it calls
#   after every other checkpoint.
# Packages: transformers 5.24.0, accelerate 1.15.0, torch 2.13.0.
# Guess: on_save is called for each checkpoint, whatever made the Trainer save it.
# It matters to whoever writes something beside a checkpoint in on_save, as the state of a loader, averaged weights or a copy in a store:
#   the checkpoint of a preempted run, from which it goes on, is the one without.
# Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
tools/bin/uv venv --quiet environment
tools/bin/uv pip install --quiet --python environment torch==2.13.0 transformers==5.24.0 accelerate==1.15.0
cat >signal_in_a_run.py <<'PYTHON'
"""Train with a checkpoint every fourth step, and send SIGTERM in the sixth."""

import os
import signal
import time

import torch
from transformers import Trainer, TrainerCallback, TrainingArguments

STEPS = []


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def forward(self, labels):
        return {"loss": self.layer(labels.float()[:, None]).mean()}


class Beside(TrainerCallback):
    def on_step_begin(self, args, state, control, **_):
        if state.global_step == 5:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)  # the checkpoint is asked for after three seconds

    def on_save(self, args, state, control, **_):
        STEPS.append(state.global_step)


settings = TrainingArguments(
    "out", max_steps=20, save_steps=4, enable_jit_checkpoint=True, use_cpu=True, report_to=[], disable_tqdm=True
)
rows = [{"labels": number} for number in range(1000)]
Trainer(Model(), settings, train_dataset=rows, callbacks=[Beside()]).train()
print("checkpoints", sorted(name for name in os.listdir("out") if name.startswith("checkpoint")))
print("on_save at steps", STEPS)
PYTHON
environment/bin/python -W ignore signal_in_a_run.py 2>said | grep -v "^{" | tee seen
cat >expected <<'TEXT'
checkpoints ['checkpoint-4', 'checkpoint-5']
on_save at steps [4]
TEXT
diff expected seen
