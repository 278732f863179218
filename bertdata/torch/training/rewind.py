"""Going back from a loss spike: the last checkpoint is loaded, and the batches since then are left out.

PaLM was trained so (Chowdhery et al. 2022, section 5.1): from a checkpoint before a spike, without the batches around
it, the spike does not come again, for it takes both these batches and these weights. Steps keep their numbers, so the
run has as many, and the same learning rates; only its rows are later ones of the order. That is written into the
checkpoint before the run goes on, so a run that is killed at any time goes on to the same weights.
"""

from __future__ import annotations

import logging

from bertdata.errors import printable
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.torch.training import checkpoint, metrics_log
from bertdata.torch.training.optimization import DivergenceError, SpikeError
from bertdata.torch.training.run import Run

_LOG = logging.getLogger("bertdata")


def go_back(run: Run, spike: SpikeError, step: int, sampler: dict[str, int], most: int) -> int:
    """Load the last checkpoint of a run, and return its step; all processes call it.

    step: that of the spike; sampler: its state after the batch of that step, from where the run goes on; most: how many
    times a run goes back. Raises DivergenceError where it did so often already.
    """
    if len(run.rewinds) >= most:
        raise DivergenceError(
            f"{spike}, and the run went back {most} times already (--max-rewinds), from steps "
            f"{', '.join(f'{begin:,}' for begin, _ in run.rewinds)}; lower the learning rate, or lengthen the warm-up; "
            "the last checkpoint is kept"
        )
    last = checkpoint.newest(files.join(run.output, "checkpoints"))
    assert last is not None, "one is written before the first step"
    run.model.reload(last.directory)
    checkpoint.load_optimizer(last, run.optimizer)
    run.rewinds.append((step, last.step))
    run.group.barrier()
    if run.group.first:
        checkpoint.continue_from(last, sampler, run.rewinds)
        metrics_log.keep(files.join(run.output, metrics_log.LOG), last.step)
        left_out = f"the batches since then, of {counted(step - last.step, 'step')}, are left out"
        _LOG.warning("%s: the run goes back to %s, and %s", spike, printable(last.directory), left_out)
    return last.step
