"""How long a run is: its steps from `max_steps`, from `epochs`, from the run that is resumed, or from the default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bertdata.errors import ConfigError
from bertdata.io.console import counted
from bertdata.torch.training.checkpoint import Checkpoint
from bertdata.torch.training.phases import PhaseRows, plan_phases, split_steps
from bertdata.torch.training.settings import DEFAULT_EPOCHS, DEFAULT_STEPS, PretrainSettings

_MANY = 1 << 40
"""Steps that any shares divide."""


def with_length(
    settings: PretrainSettings, rows: Sequence[PhaseRows], resumed: Checkpoint | None
) -> tuple[PretrainSettings, str]:
    """Return settings with the steps of the run in `max_steps` and no `epochs`, and who says so, "" for `max_steps`.

    A run that is resumed ends where it was to end, unless the settings say how long it is. Raises ConfigError where the
    steps cannot be divided among the phases, and where a given number of them passes `max_epochs`.
    """
    timed, note = _with_steps(settings, rows, resumed)
    most = settings.max_epochs
    if not most or epochs_of_steps(timed.max_steps, timed, rows) <= most:
        return timed, note
    steps = steps_of_epochs(most, settings, rows)
    steps -= epochs_of_steps(steps, settings, rows) > most
    if settings.max_steps or (resumed is not None and not settings.epochs):
        raise ConfigError(
            f"{counted(timed.max_steps, 'step', 'go')} through the rows "
            f"{epochs_of_steps(timed.max_steps, timed, rows):.4g} times, more often than --max-epochs {most:g}; take "
            f"at most {counted(steps, 'step')}"
        )
    return _of_steps(settings, steps), f"--max-epochs {most:g}"


def _with_steps(
    settings: PretrainSettings, rows: Sequence[PhaseRows], resumed: Checkpoint | None
) -> tuple[PretrainSettings, str]:
    if settings.max_steps:
        return settings, ""
    if settings.epochs:
        return _of_steps(settings, steps_of_epochs(settings.epochs, settings, rows)), f"--epochs {settings.epochs:g}"
    if resumed is not None:
        return _of_steps(settings, resumed.settings["max_steps"]), "as the run that is resumed"
    steps = steps_of_epochs(DEFAULT_EPOCHS, settings, rows)
    asked = "neither --epochs nor --max-steps is given"
    if steps > DEFAULT_STEPS:
        return _of_steps(settings, DEFAULT_STEPS), f"the default of {DEFAULT_STEPS:,} steps, as {asked}"
    return _of_steps(settings, steps), f"the default of {DEFAULT_EPOCHS:g} epochs, as {asked}"


def steps_of_epochs(epochs: float, settings: PretrainSettings, rows: Sequence[PhaseRows]) -> int:
    """Return the fewest steps that go through the rows of all phases so many times, and give each phase a step."""

    def enough(steps: int) -> bool:
        try:
            return epochs_of_steps(steps, settings, rows) >= epochs
        except ConfigError:
            return False  # so few steps cannot be divided among the phases

    split_steps(_of_steps(settings, _MANY), len(rows))  # raises where no number of steps can be
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def epochs_of_steps(steps: int, settings: PretrainSettings, rows: Sequence[PhaseRows]) -> float:
    """Return how many times a run of so many steps goes through the rows, summed over the phases."""
    settings = _of_steps(settings, steps)
    phases = plan_phases(rows, settings, settings.batch_size, settings.gradient_accumulation_steps)
    return sum(phase.epochs(settings) for phase in phases)


def _of_steps(settings: PretrainSettings, steps: int) -> PretrainSettings:
    return replace(settings, max_steps=steps, epochs=0.0)
