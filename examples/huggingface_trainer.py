"""Pretrain with the transformers `Trainer`, which goes on from its checkpoints to the batch and the mask.

    python examples/huggingface_trainer.py corpus/train --output runs/trainer --steps 1000

The Trainer would skip batches one by one to find its place; with `ignore_data_skip` the loader goes there at once.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from transformers import (
    BertConfig,
    BertForPreTraining,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_utils import get_last_checkpoint

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset


class ShardTrainer(Trainer):
    """A Trainer whose batches come from our loader as they are: it deals them to the ranks itself."""

    loader: ResumableLoader

    def get_train_dataloader(self) -> Any:
        return self.loader


class SaveLoader(TrainerCallback):
    """Puts the loader's state into each checkpoint."""

    def __init__(self, loader: ResumableLoader) -> None:
        self.loader = loader

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.is_world_process_zero:
            folder = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
            with open(os.path.join(folder, "loader.json"), "w", encoding="utf-8") as file:
                json.dump(self.loader.state_dict(), file)

    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, logs: Any = None, **_: Any
    ) -> None:
        if "loss" in (logs or {}):
            print(f"step {state.global_step} loss {float(logs['loss']):.6f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shards")
    parser.add_argument("--output", required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=32, help="of each rank")
    parser.add_argument("--workers", type=int, default=0)
    flags = parser.parse_args()
    os.makedirs(flags.output, exist_ok=True)

    arguments = TrainingArguments(
        flags.output,
        max_steps=flags.steps,
        save_steps=flags.steps,
        logging_steps=1,
        learning_rate=1e-3,
        lr_scheduler_type="constant",
        ignore_data_skip=True,
        disable_tqdm=True,
        report_to=[],
        seed=0,
    )
    dataset = ShardDataset(flags.shards)
    sampler = ResumableBatchSampler(dataset, flags.batch_size, epochs=None)
    loader = ResumableLoader(dataset, sampler, num_workers=flags.workers)

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
    model.accepts_loss_kwargs = False  # it does not divide its loss by the tokens of all gradient accumulation steps
    trainer = ShardTrainer(model, arguments, train_dataset=dataset, callbacks=[SaveLoader(loader)])
    trainer.loader = loader
    last = get_last_checkpoint(flags.output)
    if last is not None:
        with open(os.path.join(last, "loader.json"), encoding="utf-8") as file:
            loader.load_state_dict(json.load(file))
    trainer.train(resume_from_checkpoint=last)


if __name__ == "__main__":
    main()
