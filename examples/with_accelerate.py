"""Pretrain with Accelerate: the loader is registered for checkpointing, and not wrapped.

    accelerate launch examples/with_accelerate.py corpus/train --output runs/accelerate --steps 1000

Accelerate need not deal out batches: the sampler knows the rank. What it saves and loads includes where the loader is.
"""

from __future__ import annotations

import argparse
import os

import torch
from accelerate import Accelerator
from accelerate.utils import send_to_device, set_seed
from transformers import BertConfig, BertForPreTraining

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset


class Progress:
    """The number of steps taken, saved with the rest."""

    step = 0

    def state_dict(self) -> dict[str, int]:
        return {"step": self.step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.step = state["step"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards")
    parser.add_argument("--output", required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=32, help="of each rank")
    parser.add_argument("--workers", type=int, default=0)
    flags = parser.parse_args()
    folder = os.path.join(flags.output, "state")

    accelerator = Accelerator()
    dataset = ShardDataset(flags.shards)
    sampler = ResumableBatchSampler(
        dataset,
        flags.batch_size,
        epochs=None,
        rank=accelerator.process_index,
        world_size=accelerator.num_processes,
    )
    loader, progress = ResumableLoader(dataset, sampler, num_workers=flags.workers), Progress()

    set_seed(0)
    config = BertConfig(
        vocab_size=dataset.info.vocab_size,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForPreTraining(config)
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-3))
    accelerator.register_for_checkpointing(loader, progress)
    if os.path.exists(folder):
        accelerator.load_state(folder)

    batches = iter(loader)
    while progress.step < flags.steps:
        batch = send_to_device(next(batches), accelerator.device)
        loss = model(**batch).loss
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        progress.step += 1
        accelerator.print(f"step {progress.step} loss {loss.item():.6f}", flush=True)
    accelerator.save_state(folder)
    accelerator.end_training()


if __name__ == "__main__":
    main()
