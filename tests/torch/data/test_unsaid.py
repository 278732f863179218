"""Loops in which nobody says where a run goes on, or what was used, are warned of or refused."""

from __future__ import annotations

import gc
import pickle
import warnings
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset
from bertdata.torch.data import frameworks
from tests.torch.data.test_trainer import trainer_of

SIZE = 20  # the 98 rows are five batches
BEGINS_ANEW = "prepared has done 2 steps, so a run goes on"


def plain_of(build: Path, **keywords: Any) -> tuple[Any, ResumableBatchSampler]:
    dataset = ShardDataset(build)
    sampler = ResumableBatchSampler(dataset, SIZE)
    return DataLoader(dataset, batch_sampler=sampler, collate_fn=PretrainingCollator(dataset), **keywords), sampler


def ours_of(build: Path, **keywords: Any) -> ResumableLoader:
    dataset = ShardDataset(build)
    return ResumableLoader(dataset, ResumableBatchSampler(dataset, SIZE, **keywords), PretrainingCollator(dataset))


def trained(accelerator: Any, batches: Any, steps: int) -> list[Any]:
    """Prepare a model, and train it on some batches; returns their ids."""
    model, optimizer = prepared_optimizer(accelerator)
    return train(model, optimizer, batches, steps)


def train(model: Any, optimizer: Any, batches: Any, steps: int) -> list[Any]:
    seen = []
    for batch in islice(batches, steps):
        seen.append(batch["input_ids"].tolist())
        model(torch.ones(1, 1)).sum().backward()
        optimizer.step()
    return seen


def prepared_optimizer(accelerator: Any) -> tuple[Any, Any]:
    layer = torch.nn.Linear(1, 1)
    model, optimizer = accelerator.prepare(layer, torch.optim.AdamW(layer.parameters()))
    return model, optimizer


@pytest.fixture
def saved(fresh_process: Any, dynamic_build: Path, tmp_path: Path) -> Path:
    """A checkpoint of Accelerate after two steps on our loader, which is registered, in a process that has ended."""
    accelerator, loader = fresh_process(), ours_of(dynamic_build)
    accelerator.register_for_checkpointing(loader)
    trained(accelerator, loader, 2)
    accelerator.save_state(str(tmp_path / "state"))
    return tmp_path / "state"


def test_a_run_that_accelerate_loaded_and_whose_order_begins_again_is_warned_of(
    fresh_process: Any, dynamic_build: Path, saved: Path
) -> None:
    for make in (ours_of, lambda build: plain_of(build)[0]):
        (saved / "custom_checkpoint_0.pkl").unlink(missing_ok=True)
        accelerator = fresh_process()
        loader, other = make(dynamic_build), ours_of(dynamic_build)
        if make is not ours_of:
            loader = accelerator.prepare(loader)
        model, optimizer = prepared_optimizer(accelerator)
        accelerator.load_state(str(saved))
        with pytest.warns(UserWarning, match=BEGINS_ANEW):
            train(model, optimizer, loader, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            next(iter(other))  # an evaluation, after a step


def test_nobody_is_warned_where_a_state_was_loaded_or_an_epoch_said_or_nothing_trained(
    fresh_process: Any, dynamic_build: Path, saved: Path
) -> None:
    whole = [batch["input_ids"].tolist() for batch in ours_of(dynamic_build)]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*so a run goes on")
        accelerator, loader, evaluated = fresh_process(), ours_of(dynamic_build), ours_of(dynamic_build)
        accelerator.register_for_checkpointing(loader)
        model, optimizer = prepared_optimizer(accelerator)
        accelerator.load_state(str(saved))
        next(iter(evaluated))
        assert train(model, optimizer, loader, 9) == whole[2:]

        (saved / "custom_checkpoint_0.pkl").unlink()
        accelerator = fresh_process()
        prepared = accelerator.prepare(plain_of(dynamic_build)[0])
        model, optimizer = prepared_optimizer(accelerator)
        accelerator.load_state(str(saved))
        from accelerate import skip_first_batches

        prepared.set_epoch(0)
        assert train(model, optimizer, skip_first_batches(prepared, 2), 9) == whole[2:]

        accelerator = fresh_process()
        assert trained(accelerator, accelerator.prepare(plain_of(dynamic_build)[0]), 9) == whole
        next(iter(ours_of(dynamic_build)))


@pytest.mark.slow
def test_a_stateful_loader_that_accelerate_loaded_is_not_warned_of(
    fresh_process: Any, dynamic_build: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torchdata")
    from accelerate.utils import DataLoaderConfiguration

    settings = {"dataloader_config": DataLoaderConfiguration(use_stateful_dataloader=True)}
    whole = [batch["input_ids"].tolist() for batch in ours_of(dynamic_build)]
    for resumed in (False, True):
        accelerator = fresh_process(**settings)
        prepared = accelerator.prepare(plain_of(dynamic_build)[0])
        model, optimizer = prepared_optimizer(accelerator)
        if resumed:
            accelerator.load_state(str(tmp_path))
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*so a run goes on")
            assert train(model, optimizer, prepared, 3 if resumed else 2) == whole[2:] if resumed else whole[:2]
        accelerator.save_state(str(tmp_path))


def test_a_number_of_batches_that_came_out_of_order_is_refused(dynamic_build: Path) -> None:
    loader, sampler = plain_of(dynamic_build, num_workers=2, in_order=False)
    state = sampler.state_dict()
    assert state["position"] == 0
    list(islice(loader, 2))
    del loader  # which changes nothing of what it took
    for batches in (2, None):
        with pytest.raises(ConfigError, match="with in_order=False reads this sampler"):
            sampler.state_dict(batches)
    sampler.load_state_dict(state)
    assert sampler.state_dict(2)["position"] == 2 * SIZE
    loader, sampler = plain_of(dynamic_build, in_order=False)  # there are no workers
    list(islice(loader, 2))
    assert sampler.state_dict(2)["position"] == 2 * SIZE


def test_a_state_looks_for_no_reader(dynamic_build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which reader it is has been seen when the iteration began; a search visits all objects of the process."""
    ours, (plain, sampler) = ours_of(dynamic_build), plain_of(dynamic_build)
    batches = [islice(loader, 2) for loader in (ours, plain)]
    assert [len(list(taken)) for taken in batches] == [2, 2]
    monkeypatch.setattr(gc, "get_referrers", None)
    monkeypatch.setattr(gc, "get_objects", None)
    assert sampler.state_dict(2) == ours.state_dict() == ours.state_dict(2)


def test_batches_out_of_order_are_not_skipped(fresh_process: Any, dynamic_build: Path) -> None:
    accelerator = fresh_process()
    from accelerate import skip_first_batches

    prepared = accelerator.prepare(plain_of(dynamic_build, num_workers=2, in_order=False)[0])
    with pytest.raises(ConfigError, match="with in_order=False reads this sampler"):
        next(iter(skip_first_batches(prepared, 2)))


@pytest.mark.parametrize("epochs", [1, None])
@pytest.mark.parametrize("batches", [1, 4])
def test_a_run_that_went_on_does_not_go_back_to_before_its_state_where_a_framework_counts(
    fresh_process: Any, dynamic_build: Path, epochs: int | None, batches: int
) -> None:
    """As a Trainer does that begins again after an error of memory, here in the same epoch or in the next one."""
    first, second = ours_of(dynamic_build, epochs=epochs), ours_of(dynamic_build, epochs=epochs)
    list(islice(first, 2))
    state = first.state_dict()
    for framework in (False, True):
        second.load_state_dict(state)
        second.set_epoch(0)
        taken = 0
        while taken < batches:
            taken += len(list(islice(second, batches - taken)))
        if framework:
            fresh_process()
            with pytest.raises(ConfigError, match=r"set_epoch\(0\) would go back to before it: .* loaded once more"):
                second.set_epoch(0)
        else:  # the user says so
            second.set_epoch(0)
    second.load_state_dict(state)
    second.set_epoch(0)
    assert next(iter(second))["input_ids"].equal(next(iter(first))["input_ids"])


def resumed_trainer(
    build: Path, folder: Path, saved: int, later: Mapping[str, Any] = MappingProxyType({}), **arguments: Any
) -> Any:
    """Train for two epochs, and return a new trainer that is to go on after so many steps, and the checkpoint.

    later: arguments of the new one alone.
    """
    for number in range(2):
        dataset = ShardDataset(build)
        dataset.set_epoch(0)
        trainer = trainer_of(
            dataset,
            folder,
            collator=PretrainingCollator(dataset),
            num_train_epochs=2,
            save_strategy="steps",
            save_steps=saved,
            **arguments | (dict(later) if number else {}),
        )
        if not number:
            trainer.train()
    return trainer, str(folder / f"checkpoint-{saved}")


LOST = "goes on from a checkpoint, and"


GROUPED = {"train_sampling_strategy": "group_by_length"}


HALF, AS_MANY = {"per_device_train_batch_size": 8}, {"gradient_accumulation_steps": 2}


@pytest.mark.parametrize(
    ("saved", "arguments", "later", "reason"),
    [
        (3, GROUPED, {}, "with group_by_length it draws the order of that epoch anew"),
        pytest.param(
            3,
            {"accelerator_config": {"use_seedable_sampler": False}},
            {},
            "with use_seedable_sampler=False it draws",
            marks=pytest.mark.slow,
        ),
        pytest.param(3, GROUPED | {"dataloader_num_workers": 1}, {}, "with group_by_length it", marks=pytest.mark.slow),
        pytest.param(
            3, {}, HALF, "it begins after 3 batches of epoch 0, while .* at epoch 0.42", marks=pytest.mark.slow
        ),
        (7, {}, HALF, "it begins after 7 batches of epoch 0, while .* at epoch 1:"),
        pytest.param(
            7, {}, AS_MANY, "it begins after 6 batches of epoch 1, while .* at epoch 1:", marks=pytest.mark.slow
        ),
    ],
)
def test_a_trainer_that_has_not_the_rest_of_the_rows_of_a_resumed_epoch_is_warned_of(
    dynamic_build: Path,
    tmp_path: Path,
    saved: int,
    arguments: dict[str, Any],
    later: dict[str, Any],
    reason: str,
) -> None:
    """Here the warning is an error, so that it comes out of a worker as well."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=f".*{LOST} {reason}")
        trainer, checkpoint = resumed_trainer(dynamic_build, tmp_path, saved, later, **arguments)
        with pytest.raises(UserWarning, match=f"{LOST} {reason}"):
            trainer.train(resume_from_checkpoint=checkpoint)


@pytest.mark.slow
@pytest.mark.parametrize("ours", [False, True])
def test_a_trainer_that_begins_again_with_smaller_batches_is_warned_of_or_refused(
    dynamic_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: bool
) -> None:
    """With auto_find_batch_size, after an error of memory in a run that went on within an epoch."""
    settings: dict[str, Any] = {"auto_find_batch_size": True, "ignore_data_skip": ours}
    trainer, checkpoint = resumed_trainer(dynamic_build, tmp_path, 3, **settings)
    steps, step = [0], trainer.training_step

    def failing(*given: Any, **keywords: Any) -> Any:
        steps[0] += 1
        if steps[0] == 3:
            raise RuntimeError("CUDA out of memory.")
        return step(*given, **keywords)

    monkeypatch.setattr(trainer, "training_step", failing)
    if not ours:
        with pytest.warns(
            UserWarning, match="begins after 3 batches of epoch 0, while the checkpoint was saved at epoch 0.428571"
        ):
            trainer.train(resume_from_checkpoint=checkpoint)
        return
    loader, whole = ours_of(dynamic_build), ours_of(dynamic_build)
    list(islice(whole, 3))
    loader.load_state_dict(whole.state_dict())
    monkeypatch.setattr(trainer, "get_train_dataloader", lambda: loader)
    with pytest.raises(ConfigError, match="this state has to be loaded once more as well"):
        trainer.train(resume_from_checkpoint=checkpoint)


@pytest.mark.parametrize(
    ("saved", "arguments", "later"),
    [
        (7, GROUPED, {}),
        pytest.param(3, {}, {}, marks=pytest.mark.slow),
        pytest.param(2, AS_MANY, HALF | {"gradient_accumulation_steps": 4}, marks=pytest.mark.slow),
    ],
)
def test_a_trainer_that_goes_on_with_the_rest_of_the_rows_is_not_warned_of(
    dynamic_build: Path, tmp_path: Path, saved: int, arguments: dict[str, Any], later: dict[str, Any]
) -> None:
    """98 rows are seven batches of 16: an epoch. Half as large, twice as many make the same steps."""
    trainer, checkpoint = resumed_trainer(dynamic_build, tmp_path, saved, later, **arguments)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        trainer.train(resume_from_checkpoint=checkpoint)
    assert not [warning for warning in warned if LOST in str(warning.message)]


def test_a_collator_for_workers_that_are_spawned_leaves_the_trainer_behind(dynamic_build: Path, tmp_path: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset)
    trainer = trainer_of(dataset, tmp_path, collator=collator)
    rows = dataset.__getitems__([(0, 1), (0, 2)])
    batch = collator(rows)
    assert trainer.data_collator is collator
    assert pickle.loads(pickle.dumps(collator))(rows)["labels"].equal(batch["labels"])


class StandIn:
    """What a collator takes for the Trainer of transformers: it has a collator, and goes on from nowhere."""

    def __init__(self, collator: object) -> None:
        self.data_collator, self.args = collator, SimpleNamespace(ignore_data_skip=True)


class Divided(StandIn):
    """That of transformers 4, which does not say where it began, at a step.

    rows, size: those of an epoch, and of a batch now and before; batches: those of an epoch on each process.
    """

    def __init__(self, step: int, epoch: float, batches: int, rows: int = 1424, size: tuple[int, int] = (100, 100)):
        super().__init__(None)
        config = SimpleNamespace(use_seedable_sampler=False)
        self.args = SimpleNamespace(ignore_data_skip=False, gradient_accumulation_steps=1, accelerator_config=config)
        self.state = SimpleNamespace(global_step=step, epoch=epoch, train_batch_size=size[1])
        self._train_batch_size = size[0]
        loader: Any = DataLoader(range(rows), batch_size=-(-rows // batches))  # type: ignore[arg-type]
        self.callback_handler = SimpleNamespace(train_dataloader=loader)


@pytest.mark.parametrize(
    ("step", "epoch", "batches", "processes", "where"),
    [
        (3, 3 / 8, 8, 2, ""),
        (6, 3 / 8, 15, 1, ""),  # on two processes before, with twice the gradients accumulated now
        (3, 3 / 8, 15, 1, "after 3 batches of epoch 0, while the checkpoint was saved at epoch 0.375"),
        (8, 1.0, 15, 1, "after 8 batches of epoch 0, while the checkpoint was saved at epoch 1"),
        (4, 4 / 15, 5, 3, "after 4 batches of epoch 0, while the checkpoint was saved at epoch 0.266667"),
        (15, 1.0, 5, 3, "after 0 batches of epoch 3, while the checkpoint was saved at epoch 1"),
    ],
)
def test_a_trainer_on_another_number_of_processes_goes_on_elsewhere_unless_steps_have_as_many_rows(
    monkeypatch: pytest.MonkeyPatch, step: int, epoch: float, batches: int, processes: int, where: str
) -> None:
    monkeypatch.setattr(frameworks, "accelerate_processes", lambda: processes)
    reason = frameworks._elsewhere(Divided(step, epoch, batches))
    assert where in reason if where else not reason


def test_of_a_trainer_that_does_not_say_where_it_began_the_first_step_that_is_seen_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frameworks, "_TRAINER", (__name__, "Divided"))
    trainer, trainers, anew = Divided(0, 0.0, 15), frameworks.Trainers(), "use_seedable_sampler=False it draws"
    for step in (0, 0, 1, 2, 3):  # a run from the beginning
        trainer.state.global_step, trainer.state.epoch = step, step / 15
        assert trainers.lost_order(None) == ""
    for step, goes_on in ((9, True), (9, True), (10, False)):
        trainer.state.global_step, trainer.state.epoch = step, step / 15
        assert (anew in trainers.lost_order(None)) == goes_on


def test_collators_look_for_a_trainer_once_until_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    search, searches = gc.get_referrers, []

    def counted(*objects: object) -> list[object]:
        searches.append(len(objects))
        return search(*objects)

    monkeypatch.setattr(frameworks, "_TRAINER", (__name__, "StandIn"))
    monkeypatch.setattr(gc, "get_referrers", counted)
    for _ in range(3):
        assert frameworks.Trainers().lost_order(object()) == ""
    assert len(searches) == 1
    collator = object()
    trainer = StandIn(collator)
    trainers = frameworks.Trainers()
    assert trainers.lost_order(collator) == trainers.lost_order(collator) == ""
    assert len(searches) == 2
    assert [reference() for reference in trainers._known or ()] == [trainer]
    assert frameworks.objects_of(__name__, "StandIn") == [trainer]
    assert len(searches) == 2
    other = StandIn(collator)
    assert sorted(frameworks.objects_of(__name__, "StandIn"), key=id) == sorted([trainer, other], key=id)
    del other
    assert frameworks.objects_of(__name__, "StandIn") == [trainer]
    assert len(searches) == 4
