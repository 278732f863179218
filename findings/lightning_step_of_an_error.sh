#!/usr/bin/env bash
# Claim: from a checkpoint that Lightning saves when an error ends a step (save_on_exception=True) a run goes on after the batch of that
#   step if the loader is torchdata's StatefulDataLoader, whose state counts a batch as soon as it is taken: that batch is in no
#   finished step of the epoch. Lightning warns of loaders without a state, and not of this.
# Packages: lightning 2.6.6, torchdata 0.11.0, torch 2.13.0.
# Guess: the step that failed is done again with the same batch, whichever it is, as its weights are those of before the step.
# It matters to whoever goes on after a preemption or an error from the checkpoint that was saved then: each time some rows are in no step.
# Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv tools
tools/bin/pip install --quiet --disable-pip-version-check uv==0.13.9
tools/bin/uv venv --quiet environment
tools/bin/uv pip install --quiet --python environment torch==2.13.0 lightning==2.6.6 torchdata==0.11.0
cat >steps.py <<'PYTHON'
"""Train two epochs of four batches, with an error in one step of the first, and go on from the checkpoint of the error."""

import contextlib
import glob
import logging
import shutil
import warnings

import torch
from lightning import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from torchdata.stateful_dataloader import StatefulDataLoader

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Steps(LightningModule):
    def __init__(self, error_at):
        super().__init__()
        self.layer, self.error_at, self.finished = torch.nn.Linear(1, 1), error_at, []

    def training_step(self, batch, _):
        if len(self.finished) == self.error_at:
            raise RuntimeError("an error in a step")
        self.finished.append(int(batch[0]) // 2)
        return self.layer(torch.ones(1, 1)).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def run(error_at=None, checkpoint=None):
    """Return the numbers of the batches of finished steps."""
    model, saving = Steps(error_at), ModelCheckpoint("saved", save_on_exception=True, every_n_train_steps=1000)
    trainer = Trainer(
        accelerator="cpu", max_epochs=2, logger=False, callbacks=[saving], enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0,
    )
    with contextlib.suppress(RuntimeError):
        trainer.fit(model, StatefulDataLoader(torch.arange(8), batch_size=2), ckpt_path=checkpoint)
    return model.finished


print("without an error", run())
for error_at in (1, 3):
    shutil.rmtree("saved", ignore_errors=True)
    before = run(error_at)
    [checkpoint] = glob.glob("saved/*.ckpt")
    print("error in step", error_at, before, "and then", run(checkpoint=checkpoint))
PYTHON
environment/bin/python -W ignore steps.py 2>said | tee seen
cat >expected <<'TEXT'
without an error [0, 1, 2, 3, 0, 1, 2, 3]
error in step 1 [0] and then [2, 3, 0, 1, 2, 3]
error in step 3 [0, 1, 2] and then [0, 1, 2, 3]
TEXT
diff expected seen
