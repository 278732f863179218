"""Pretrain with MosaicML's Composer: a callback saves where the loader is, and Composer skips no batches itself.

python examples/with_composer.py corpus/train --output runs/composer --steps 1000
"""

from __future__ import annotations

import argparse
import os
from typing import Any

import torch
from composer import Callback, ComposerModel, Event, State, Trainer
from transformers import BertConfig, BertForPreTraining

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset


class Pretraining(ComposerModel):
    """A transformers BERT and its loss."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.model = BertForPreTraining(
            BertConfig(
                vocab_size=vocab_size,
                hidden_size=64,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=128,
                hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0,
            )
        )

    def forward(self, batch: dict[str, torch.Tensor]) -> Any:
        return self.model(**batch)

    def loss(self, outputs: Any, batch: dict[str, torch.Tensor], *_: Any, **__: Any) -> torch.Tensor:
        loss: torch.Tensor = outputs.loss
        return loss


class LoaderState(Callback):
    """Where a loader is, in Composer's checkpoints; prints the losses."""

    def __init__(self, loader: ResumableLoader) -> None:
        self.loader = loader

    def state_dict(self) -> dict[str, Any]:
        return self.loader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.loader.load_state_dict(state)

    def run_event(self, event: Event, state: State, logger: Any) -> None:
        if event == Event.BATCH_END:
            print(f"step {int(state.timestamp.batch)} loss {float(state.loss):.6f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards")
    parser.add_argument("--output", required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=32, help="of each rank")
    parser.add_argument("--workers", type=int, default=0)
    flags = parser.parse_args()
    path = os.path.join(flags.output, "last.pt")

    torch.manual_seed(0)
    dataset = ShardDataset(flags.shards)
    # One long iteration: Composer counts epochs itself, and an epoch of its own would begin anew after each checkpoint.
    sampler = ResumableBatchSampler(dataset, flags.batch_size, epochs=10**6)
    loader = ResumableLoader(dataset, sampler, num_workers=flags.workers)
    model = Pretraining(dataset.info.vocab_size)
    trainer = Trainer(
        model=model,
        optimizers=torch.optim.AdamW(model.parameters(), lr=1e-3),
        train_dataloader=loader,
        max_duration=f"{flags.steps}ba",
        device_train_microbatch_size=flags.batch_size,
        callbacks=[LoaderState(loader)],
        spin_dataloaders=False,
        load_path=path if os.path.exists(path) else None,
        device="gpu" if torch.cuda.is_available() else "cpu",
        progress_bar=False,
        seed=0,
    )
    trainer.fit()
    trainer.save_checkpoint(path)
    trainer.close()


if __name__ == "__main__":
    main()
