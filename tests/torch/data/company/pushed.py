"""Frameworks that have the loop and save by themselves: Lightning, the `Trainer` of transformers, Composer.

A run goes to its end and saves a checkpoint at the stop; another goes on from the checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.torch.data.company.setup import EPOCHS, Digests, Setup, Stop, digest

Run = Callable[[Setup, list[Stop], Path], Digests]
Fit = Callable[[Setup, Stop | None, "str | None", Path], "tuple[Digests, str]"]
"""Goes on from a checkpoint to the end of the run; returns the batches, and the checkpoint saved at a stop."""


def stopped(fit: Fit) -> Run:
    """Return a run that is gone on with from a checkpoint at each stop."""

    def run(setup: Setup, stops: list[Stop], folder: Path) -> Digests:
        seen: Digests = []
        checkpoint: str | None = None
        for number, stop in enumerate([*stops, None]):
            used, saved = fit(setup, stop, checkpoint, folder / str(number))
            seen += used[: stop.batches - len(seen)] if stop else used
            checkpoint = saved
        return seen

    return run


def _stateful(setup: Setup) -> Any:
    from torchdata.stateful_dataloader import StatefulDataLoader

    return setup.plain(StatefulDataLoader)[0]


def _lightning(epochs: int | None, make: Callable[[Setup], Any] | None = None) -> Fit:
    def fit(setup: Setup, stop: Stop | None, checkpoint: str | None, folder: Path) -> tuple[Digests, str]:
        import lightning
        from lightning.pytorch.callbacks import ModelCheckpoint

        seen: Digests = []

        class Model(lightning.LightningModule):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def train_dataloader(self) -> Any:
                return make(setup) if make else setup.loader(epochs=epochs)

            def training_step(self, batch: Any, _: int) -> Any:
                seen.append(digest(batch))
                return self.layer(torch.ones(1, 1)).sum()

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), 1e-3)

        saving: list[Any] = []
        after = stop is not None and stop.after and epochs == 1  # a run of max_steps has no end of an epoch
        if stop and after:
            saving = [ModelCheckpoint(str(folder), "saved-{epoch}", save_top_k=-1, every_n_epochs=1)]
        elif stop:
            every = {"every_n_train_steps": stop.batches, "save_on_train_epoch_end": False}
            saving = [ModelCheckpoint(str(folder), "saved-{step}", save_top_k=-1, **every)]
        steps = EPOCHS * setup.batches
        limits: dict[str, int] = {"max_epochs": EPOCHS} if epochs == 1 else {"max_epochs": -1, "max_steps": steps}
        lightning.Trainer(
            accelerator="cpu",
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            enable_checkpointing=bool(saving),
            callbacks=saving,
            default_root_dir=str(folder),
            **limits,
        ).fit(Model(), ckpt_path=checkpoint, weights_only=False)
        saved = f"epoch={stop.batches // setup.batches - 1}" if stop and after else f"step={stop and stop.batches}"
        return seen, str(folder / f"saved-{saved}.ckpt")

    return fit


def _trainer(sets_epoch: bool, ours: bool = False, skipping: bool = False, saved: bool = True) -> Fit:
    def fit(setup: Setup, stop: Stop | None, checkpoint: str | None, folder: Path) -> tuple[Digests, str]:
        import transformers

        seen: Digests = []
        dataset = setup.dataset()
        loader = setup.loader(epochs=None if saved else 1) if ours else None

        class Recording(transformers.Trainer):  # type: ignore[misc]
            def training_step(self, model: Any, inputs: Any, *_: Any, **__: Any) -> Any:
                seen.append(digest(inputs))
                return torch.zeros(())

            def get_train_dataloader(self) -> Any:
                return loader if ours else super().get_train_dataloader()

        class Saving(transformers.TrainerCallback):  # type: ignore[misc]
            def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                if loader is not None and saved:
                    place = folder / f"checkpoint-{state.global_step}" / "loader.json"
                    place.write_text(json.dumps(loader.state_dict()))

        steps = EPOCHS * setup.batches
        arguments = transformers.TrainingArguments(
            str(folder),
            max_steps=steps,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            per_device_train_batch_size=20,
            save_strategy="steps" if stop else "no",
            save_steps=1,  # a resumed Trainer takes the number of its checkpoint
            logging_strategy="no",
            ignore_data_skip=ours and not skipping,
            **{f"dataloader_{name}": value for name, value in setup.keywords.items()},
        )
        torch.manual_seed(0)
        trainer = Recording(
            torch.nn.Linear(1, 1),
            arguments,
            train_dataset=dataset,
            data_collator=setup.collator(dataset),
            callbacks=[Saving()],
        )
        if checkpoint and loader is not None and saved:
            loader.load_state_dict(json.loads((Path(checkpoint) / "loader.json").read_text()))
        if checkpoint and sets_epoch:
            dataset.set_epoch(int(json.loads((Path(checkpoint) / "trainer_state.json").read_text())["epoch"]))
        trainer.train(resume_from_checkpoint=checkpoint)
        return seen, str(folder / f"checkpoint-{stop.batches if stop else 0}")

    return fit


def _composer(ours: bool) -> Fit:
    def fit(setup: Setup, stop: Stop | None, checkpoint: str | None, folder: Path) -> tuple[Digests, str]:
        import composer

        seen: Digests = []
        loader = setup.loader(epochs=10**6) if ours else setup.loader()

        class Model(composer.ComposerModel):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def forward(self, batch: Any) -> Any:
                seen.append(digest(batch))
                return self.layer(torch.ones(1, 1))

            def loss(self, outputs: Any, batch: Any, *_: Any, **__: Any) -> Any:
                return outputs.sum()

        class LoaderState(composer.Callback):  # type: ignore[misc]
            def state_dict(self) -> dict[str, Any]:
                return loader.state_dict()

            def load_state_dict(self, state: dict[str, Any]) -> None:
                loader.load_state_dict(state)

        at_end = stop is not None and stop.after and not ours  # one long iteration has no end of an epoch
        trainer = composer.Trainer(
            model=Model(),
            train_dataloader=composer.DataSpec(  # a packed batch has tensors of several lengths, and cannot be cut
                loader, get_num_samples_in_batch=lambda _: 20, split_batch=lambda batch, _: [batch]
            ),
            max_duration=f"{EPOCHS * setup.batches}ba",
            device="cpu",
            device_train_microbatch_size=20,
            save_folder=str(folder),
            save_filename="saved-{batch}",
            save_interval="1ep" if at_end else "1ba",
            load_path=checkpoint,
            callbacks=[LoaderState()] if ours else [],
            spin_dataloaders=not ours,
            progress_bar=False,
        )
        trainer.fit()
        trainer.close()
        return seen, str(folder / f"saved-{stop.batches if stop else 0}")

    return fit


PUSHED: dict[str, Run] = {
    "lightning": stopped(_lightning(1)),
    "lightning, max_steps": stopped(_lightning(10**6)),
    "lightning, epochs=None": stopped(_lightning(None)),
    "lightning, stateful": stopped(_lightning(1, _stateful)),
    "lightning, stateful, workers": stopped(_lightning(1, _stateful)),
    "lightning, plain": stopped(_lightning(1, lambda setup: setup.plain()[0])),
    "lightning, plain, workers": stopped(_lightning(1, lambda setup: setup.plain()[0])),
    "trainer, our loader": stopped(_trainer(sets_epoch=False, ours=True)),
    "trainer, our loader, skipping": stopped(_trainer(sets_epoch=False, ours=True, skipping=True)),
    "trainer, our loader by epochs": stopped(_trainer(sets_epoch=False, ours=True, skipping=True, saved=False)),
    "trainer, told the epoch": stopped(_trainer(sets_epoch=True)),
    "trainer": stopped(_trainer(sets_epoch=False)),
    "composer, our state": stopped(_composer(ours=True)),
    "composer": stopped(_composer(ours=False)),
}
