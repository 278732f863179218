"""A checkpoint of the `Trainer` of transformers inside a step: no batch of the step is lost, and none comes twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset

pytestmark = pytest.mark.filterwarnings("ignore")

SIZE = 20  # the 98 rows are five batches, in steps of two, two and one
NEVER = "", -1


class Model(torch.nn.Module):
    """A model of one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, input_ids: Any, labels: Any, **_: Any) -> dict[str, torch.Tensor]:
        return {"loss": self.weight.sum(), "logits": self.weight}


class Trainer(transformers.Trainer):  # type: ignore[misc]
    """A trainer that keeps its batches, and the state of its loader when it saves a checkpoint."""

    loader: ResumableLoader
    seen: list[Any]
    state_of_loader: dict[str, int]

    def get_train_dataloader(self) -> Any:
        return self.loader

    def training_step(self, model: Any, inputs: Any, *rest: Any, **keywords: Any) -> Any:
        self.seen.append((inputs["input_ids"].tolist(), inputs["labels"].tolist()))
        return super().training_step(model, inputs, *rest, **keywords)

    def _save_checkpoint(self, *arguments: Any, **keywords: Any) -> None:
        super()._save_checkpoint(*arguments, **keywords)
        self.state_of_loader = self.loader.state_dict()


class Stop(transformers.TrainerCallback):  # type: ignore[misc]
    """Saves a checkpoint at an event after some steps, and ends the run, as `enable_jit_checkpoint` does at a signal.

    trained: the batches of the steps that were done.
    """

    def __init__(self, trainer: Trainer, event: str, steps: int) -> None:
        self.trainer, self.event, self.steps, self.trained = trainer, event, steps, 0

    def at(self, event: str, state: Any, control: Any) -> None:
        if (event, state.global_step) == (self.event, self.steps) and not control.should_training_stop:
            control.should_training_stop = True
            self.trainer._save_checkpoint(self.trainer.model, trial=None)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.at("begin", state, control)

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.at("inside", state, control)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if not control.should_training_stop:
            self.trained = len(self.trainer.seen)
        self.at("end", state, control)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.at("epoch", state, control)


def train(
    build: Path, folder: Path, stop: tuple[str, int] = NEVER, epochs: int | None = 1, state: Any = None
) -> tuple[list[Any], dict[str, int]]:
    """Train two epochs; return the batches of the steps that were done at a stop, or all, and the loader's state."""
    pytest.importorskip("accelerate")
    settings = transformers.TrainingArguments(
        str(folder),
        gradient_accumulation_steps=2,
        ignore_data_skip=True,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        save_strategy="no",
        **({"num_train_epochs": 2} if epochs else {"max_steps": 6}),
    )
    trainer = Trainer(Model(), settings)
    stopping = Stop(trainer, *stop)
    trainer.add_callback(stopping)
    dataset = ShardDataset(build)
    trainer.loader, trainer.seen = ResumableLoader(dataset, ResumableBatchSampler(dataset, SIZE, epochs=epochs)), []
    if state is not None:
        trainer.loader.load_state_dict(state)
    checkpoint = max(map(str, folder.glob("checkpoint-*")), default=None)
    trainer.train(resume_from_checkpoint=checkpoint)
    if stop == NEVER:
        return trainer.seen, trainer.loader.state_dict()
    return trainer.seen[: stopping.trained], trainer.state_of_loader


@pytest.mark.parametrize(("epochs", "stops"), [
    (1, [("begin", 1), ("begin", 2)]),  # the second in the last step of an epoch
    (1, [("inside", 4)]),
    (None, [("begin", 4), ("end", 5)]),
    (None, [("inside", 2)]),
])  # fmt: skip
def test_a_run_goes_on_with_the_batches_of_the_step_that_was_not_done(
    dynamic_build: Path, tmp_path: Path, epochs: int | None, stops: list[tuple[str, int]]
) -> None:
    whole, end = train(dynamic_build, tmp_path / "whole", epochs=epochs)
    trained: list[Any] = []
    state = None
    for stop in stops:
        batches, state = train(dynamic_build, tmp_path / "stopped", stop, epochs, state)
        assert batches
        trained += batches
    rest, _ = train(dynamic_build, tmp_path / "stopped", epochs=epochs, state=state)
    assert rest
    assert trained + rest == whole
    assert end["position"] == (2 * 98 if epochs else 12 * SIZE)
