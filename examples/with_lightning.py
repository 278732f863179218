"""Pretrain with Lightning, whose checkpoints hold where the loader is, because the loader has a `state_dict`.

python examples/with_lightning.py corpus/train --output runs/lightning --steps 1000
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import lightning
import torch
from transformers import BertConfig, BertForPreTraining

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset


class Pretraining(lightning.LightningModule):
    """A transformers BERT, its loss, and our batches."""

    def __init__(self, flags: argparse.Namespace) -> None:
        super().__init__()
        self.flags = flags
        self.dataset = ShardDataset(flags.shards)
        config = BertConfig(
            vocab_size=self.dataset.info.vocab_size,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=128,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.model = BertForPreTraining(config)

    def train_dataloader(self) -> ResumableLoader:
        sampler = ResumableBatchSampler(
            self.dataset,
            self.flags.batch_size,
            epochs=10**6,  # a number, so that Lightning knows the length and does not fetch a batch ahead
            rank=self.trainer.global_rank,
            world_size=self.trainer.world_size,
        )
        return ResumableLoader(self.dataset, sampler, num_workers=self.flags.workers)

    def training_step(self, batch: dict[str, torch.Tensor], _: int) -> Any:
        loss = self.model(**batch).loss
        print(f"step {self.global_step + 1} loss {loss.item():.6f}", flush=True)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards")
    parser.add_argument("--output", required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=32, help="of each rank")
    parser.add_argument("--workers", type=int, default=0)
    flags = parser.parse_args()
    path = os.path.join(flags.output, "last.ckpt")

    lightning.seed_everything(0, verbose=False)
    trainer = lightning.Trainer(
        max_steps=flags.steps,
        default_root_dir=flags.output,
        use_distributed_sampler=False,  # the sampler deals to the ranks itself
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        logger=False,
    )
    trainer.fit(Pretraining(flags), ckpt_path=path if os.path.exists(path) else None, weights_only=True)
    trainer.save_checkpoint(path)


if __name__ == "__main__":
    main()
