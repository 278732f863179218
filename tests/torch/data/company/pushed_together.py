"""Lightning and the `Trainer` of transformers on several processes: each runs so many steps, saves, and ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from tests.torch.data.company.pulled import PULLED_TOGETHER, Segment
from tests.torch.data.company.setup import EPOCHS, Digests, Setup, digest


def lightning(**keywords: Any) -> Segment:
    """Return Lightning's loop over our loader, in DistributedDataParallel."""

    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        import lightning
        import torch.distributed as dist

        seen: Digests = []
        checkpoint, before = state or (None, 0)

        class Model(lightning.LightningModule):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def training_step(self, batch: Any, _: int) -> Any:
                seen.append(digest(batch))
                return self.layer(torch.ones(1, 1)).sum()

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), 1e-3)

        class Saving(lightning.Callback):  # type: ignore[misc]
            def on_train_batch_end(self, trainer: Any, *_: Any) -> None:
                if trainer.global_step == before + steps:
                    trainer.save_checkpoint(str(folder / "saved.ckpt"))

        lightning.Trainer(
            accelerator="cpu",
            strategy="ddp",
            devices=dist.get_world_size(),
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=False,
            callbacks=[Saving()],
            default_root_dir=str(folder),
            max_epochs=EPOCHS,
            max_steps=before + steps,
            **keywords,
        ).fit(Model(), setup.loader(), ckpt_path=checkpoint, weights_only=False)
        return seen, (str(folder / "saved.ckpt"), before + steps)

    return segment


def trainer(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
    """The `Trainer`, whose `get_train_dataloader` returns our loader."""
    import transformers

    seen: Digests = []
    checkpoint, before = state or (None, 0)
    loader = setup.loader(epochs=None)

    class Recording(transformers.Trainer):  # type: ignore[misc]
        def training_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
            seen.append(digest(inputs))
            return torch.zeros(())

        def get_train_dataloader(self) -> Any:
            return loader

    class Saving(transformers.TrainerCallback):  # type: ignore[misc]
        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                place = folder / f"checkpoint-{state.global_step}" / "loader.json"
                place.write_text(json.dumps(loader.state_dict()))

    arguments = transformers.TrainingArguments(
        str(folder),
        max_steps=before + steps,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        save_strategy="steps",
        save_steps=1,  # a resumed Trainer takes the number of its checkpoint
        logging_strategy="no",
        ignore_data_skip=True,
    )
    running = Recording(torch.nn.Linear(1, 1), arguments, callbacks=[Saving()])
    if checkpoint:
        loader.load_state_dict(json.loads((Path(checkpoint) / "loader.json").read_text()))
    running.train(resume_from_checkpoint=checkpoint)
    return seen, (str(folder / f"checkpoint-{before + steps}"), before + steps)


MANY: dict[str, Segment] = PULLED_TOGETHER | {
    "lightning": lightning(),
    "lightning, use_distributed_sampler=False": lightning(use_distributed_sampler=False),
    "trainer, our loader": trainer,
}
"""The loops on several processes."""
