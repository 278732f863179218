"""Lightning's own counts beside the state of a loader: a run that goes on has the same batches."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from bertdata.errors import ConfigError
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.costly]

SIZE = 20  # the 98 rows are five batches
Make = Callable[[Path], Any]


class StoppedError(Exception):
    """An error, or a signal, inside a step."""


def loader_of(build: Path, size: int = SIZE, **settings: Any) -> ResumableLoader:
    dataset = ShardDataset(build)
    sampler = ResumableBatchSampler(dataset, size, seed=5, **settings)
    return ResumableLoader(dataset, sampler, PretrainingCollator(dataset))


def two_of(mode: str) -> Make:
    """Return what combines a loader of five batches with one of three."""

    def make(build: Path) -> Any:
        from lightning.pytorch.utilities import CombinedLoader

        return CombinedLoader({"long": loader_of(build), "short": loader_of(build, 40)}, mode)

    return make


def read(batch: Any) -> Any:
    """Return the ids and labels of a batch, or of several."""
    if isinstance(batch, Mapping) and "input_ids" not in batch:
        return {name: part and read(part) for name, part in batch.items()}
    return batch["input_ids"].tolist(), batch["labels"].tolist()


def trained(
    build: Path, folder: Path, make: Make = loader_of, stop: int = -1, checkpoint: Path | None = None, **keywords: Any
) -> list[Any]:
    """Train three epochs, or until a step ends with an error; checkpoints are saved by `saving`, and at the error."""
    lightning = pytest.importorskip("lightning")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    seen: list[Any] = []

    class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)

        def training_step(self, batch: Any, _: int) -> Any:
            if len(seen) == stop:
                raise StoppedError
            seen.append(read(batch))
            return self.layer(torch.ones(1, 1)).sum()

        def validation_step(self, batch: Any, _: int) -> None:
            pass

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 1e-3)

    class AtTheError(lightning.Callback):  # type: ignore[misc, name-defined]
        def on_exception(self, trainer: Any, *_: Any) -> None:
            trainer.save_checkpoint(str(folder / "error.ckpt"))

    saving = keywords.pop("saving", None)
    settings = {"max_epochs": 3, **keywords}
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=saving is not None,
        callbacks=[AtTheError(), *([saving] if saving else [])],
        default_root_dir=str(folder),
        **settings,
    )
    evaluated: Any = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(4, 1)), batch_size=2)
    with contextlib.suppress(StoppedError):
        trainer.fit(Model(), make(build), evaluated, ckpt_path=checkpoint, weights_only=False)
    return seen


@pytest.mark.parametrize(
    ("make", "stop", "keywords"),
    [
        (loader_of, 3, {}),
        (loader_of, 5, {}),
        (loader_of, 7, {"accumulate_grad_batches": 3, "val_check_interval": 2}),
        (loader_of, 4, {"limit_train_batches": 3, "reload_dataloaders_every_n_epochs": 1}),
        (
            lambda build: loader_of(build, epochs=10**6),
            8,
            {"max_steps": 12, "max_epochs": -1, "limit_train_batches": 5},
        ),
        (two_of("max_size"), 1, {}),
        (two_of("max_size"), 8, {}),
        (two_of("max_size_cycle"), 8, {}),
        (two_of("max_size_cycle"), 3, {}),
        (two_of("min_size"), 4, {}),
    ],
)
def test_a_step_that_an_error_ended_is_done_once_more_with_its_batch(
    make: Make, stop: int, keywords: dict[str, Any], dynamic_build: Path, tmp_path: Path
) -> None:
    whole = trained(dynamic_build, tmp_path, make, **keywords)
    before = trained(dynamic_build, tmp_path, make, stop, **keywords)
    after = trained(dynamic_build, tmp_path, make, checkpoint=tmp_path / "error.ckpt", **keywords)
    assert before + after == whole


@pytest.mark.parametrize(
    ("make", "keywords", "epoch"),
    [
        (loader_of, {}, 5),
        (loader_of, {"reload_dataloaders_every_n_epochs": 1}, 5),
        (lambda build: loader_of(build, epochs=2), {"limit_train_batches": 4}, 4),
        (loader_of, {"limit_train_batches": 3}, 3),
        (loader_of, {"overfit_batches": 2}, 2),
        (two_of("max_size_cycle"), {}, 5),
    ],
)
@pytest.mark.parametrize("by_steps", [False, True])
def test_a_checkpoint_of_the_last_step_of_an_epoch_goes_on_with_the_next_epoch(
    make: Make, keywords: dict[str, Any], epoch: int, by_steps: bool, dynamic_build: Path, tmp_path: Path
) -> None:
    callbacks = pytest.importorskip("lightning.pytorch.callbacks")
    every = {"every_n_train_steps": epoch} if by_steps else {}  # else where the validation at the end of an epoch ends
    saving = callbacks.ModelCheckpoint(tmp_path, "{step}", save_top_k=-1, save_on_train_epoch_end=False, **every)
    whole = trained(dynamic_build, tmp_path, make, saving=saving, **keywords)
    assert len(whole) == 3 * epoch
    for number in (1, 2):
        checkpoint = tmp_path / f"step={number * epoch}.ckpt"
        after = trained(dynamic_build, tmp_path, make, checkpoint=checkpoint, **keywords)
        assert after == whole[number * epoch :]


@pytest.mark.parametrize("keywords", [{}, {"limit_train_batches": 3}])
def test_the_last_step_of_an_epoch_that_an_error_ended_is_left_out_by_lightning_with_a_warning(
    keywords: dict[str, Any], dynamic_build: Path, tmp_path: Path
) -> None:
    whole = trained(dynamic_build, tmp_path, **keywords)
    last = len(whole) // 3 - 1
    trained(dynamic_build, tmp_path, stop=last, **keywords)
    with pytest.warns(UserWarning, match="its batch is left out of the epoch"):
        after = trained(dynamic_build, tmp_path, checkpoint=tmp_path / "error.ckpt", **keywords)
    assert after == whole[last + 1 :]


@pytest.mark.parametrize("epochs", [1, 10**6])
def test_overfit_batches_are_the_same_in_each_epoch(epochs: int, dynamic_build: Path, tmp_path: Path) -> None:
    whole = trained(dynamic_build, tmp_path, lambda build: loader_of(build, epochs=epochs), overfit_batches=2)
    assert whole == whole[:2] * 3
    assert whole[0] != whole[1]


def test_larger_batches_inside_an_epoch_that_lightning_would_end_too_early_are_refused(
    dynamic_build: Path, tmp_path: Path
) -> None:
    trained(dynamic_build, tmp_path, stop=2)  # of batches of 20, and 58 rows are left
    smaller = trained(dynamic_build, tmp_path, lambda build: loader_of(build, 10), checkpoint=tmp_path / "error.ckpt")
    assert len(smaller) == 6 + 10 + 10
    with pytest.raises(ConfigError, match=r"2 batches of this epoch behind it and 3 in all, .* has 2 batches left"):
        trained(dynamic_build, tmp_path, lambda build: loader_of(build, 36), checkpoint=tmp_path / "error.ckpt")
