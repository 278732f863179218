"""Pretrain a transformers BERT from shards with a plain PyTorch loop, and go on exactly after an interruption.

    python examples/plain_dataloader.py corpus/train --output runs/plain --steps 1000

Run it again and it goes on from `state.pt`: the same batches, the same masks.
"""

from __future__ import annotations

import argparse
import os

import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForPreTraining

from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ShardDataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards")
    parser.add_argument("--output", required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--workers", type=int, default=0)
    flags = parser.parse_args()
    os.makedirs(flags.output, exist_ok=True)
    path = os.path.join(flags.output, "state.pt")

    dataset = ShardDataset(flags.shards)
    sampler = ResumableBatchSampler(dataset, flags.batch_size, epochs=None, seed=0)

    torch.manual_seed(0)
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
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    done = 0
    if os.path.exists(path):
        saved = torch.load(path, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        sampler.load_state_dict(saved["sampler"])
        done = saved["step"]

    loader = DataLoader(
        dataset, batch_sampler=sampler, collate_fn=PretrainingCollator(dataset), num_workers=flags.workers
    )
    for taken, batch in enumerate(loader if done < flags.steps else (), 1):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step = done + taken
        print(f"step {step} loss {loss.item():.6f}", flush=True)
        if step == flags.steps:
            torch.save(
                {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "sampler": sampler.state_dict(taken),
                    "step": step,
                },
                path,
            )
            break


if __name__ == "__main__":
    main()
