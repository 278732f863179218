"""States of a run as a few integers: what they hold, and what is compared before a run goes on from one.

A state has a position in the order of each bin, and what the order is of: the data set, the seed, the bins and
weights, and the length of the run where masks follow a schedule. A state of which nobody said how many batches were
used has the positions at which the iteration began, and `asked`: how many batches of it were asked for. No run goes on
from it, also where a checkpoint keeps only the names that another state has, as that of torch.distributed does: the
version is another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.counter_rng import text_bits
from bertdata.loader.batch_plan import BatchPlan
from bertdata.options.option import require

Positions = tuple[int, ...]

_NAMES = ("version", "position", "examples", "data", "seed", "order")
_VERSION = 3
_VERSION_UNCOUNTED = -3
ASKED = "asked"
_STEPS = "steps"


@dataclass(frozen=True)
class RunState:
    """What the states of a run have in common.

    examples: those of an epoch; data: the fingerprint of the data set; order: a hash of the bins and weights, 0
    without; run: the length of the run in examples, 0 where no mask depends on it; bins: their number; reader: the name
    of the class whose states they are.
    """

    examples: int
    data: int
    seed: int
    order: int
    run: int
    bins: int
    reader: str

    def at(self, positions: Positions) -> dict[str, int]:
        """Return the state at some positions."""
        state = (_VERSION, sum(positions), self.examples, self.data, self.seed, self.order)
        several = {f"bin_{number}": position for number, position in enumerate(positions) if self.bins > 1}
        return dict(zip(_NAMES, state, strict=True)) | several | ({"run": self.run} if self.run else {})

    def asked(self, begin: Positions, batches: int, plan: BatchPlan) -> dict[str, int]:
        """Return the state of an iteration that began at some positions, of which nobody says what was used."""
        return self.at(begin) | {"version": _VERSION_UNCOUNTED, ASKED: batches, _STEPS: steps_of(plan)}

    def positions(self, state: Mapping[str, Any]) -> Positions:
        """Return the positions of a state; raises ConfigError for one of another run, or that is not a state."""
        integers = [name for name in _NAMES if type(state.get(name)) is int]
        require(
            "version" in integers,
            f"this is not a state of {self.reader}; expected the integers {', '.join(_NAMES)}, "
            f"found {', '.join(map(str, sorted(state))) or 'nothing'}",
        )
        require(
            state["version"] in (_VERSION, _VERSION_UNCOUNTED),
            f"the state has version {state['version']}; this bertdata reads {_VERSION}: continue the run with the "
            "bertdata that began it, or start again",
        )
        missing = [name for name in _NAMES if name not in integers]
        require(not missing, f"the state has no whole number for {', '.join(missing)}; take another checkpoint")
        require(
            state["examples"] == self.examples and state["data"] == self.data,
            f"the state is of another data set: {state['examples']} examples with the fingerprint {state['data']:016x} "
            f"in the state, {self.examples} with {self.data:016x} here; resume with the shards it was made with",
        )
        require(
            state["seed"] == self.seed, f"the state is of seed {state['seed']}, this run's is {self.seed}; use the same"
        )
        names = ["position"] if self.bins == 1 else [f"bin_{number}" for number in range(self.bins)]
        require(
            state["order"] == self.order and all(type(state.get(name)) is int for name in names),
            "the state is of a run with other length bins or weights, another shuffle_window, or other distinct texts, "
            "for which batch_size and the number of ranks count as well; use the same",
        )
        require(
            state.get("run", 0) == self.run,
            f"the state is of a run of {self._length_text(state.get('run', 0))}, this one is of "
            f"{self._length_text(self.run)}, and the masks follow a schedule over the run; give the same run_epochs, "
            "or start again",
        )
        positions = tuple(int(state[name]) for name in names)
        require(
            min(positions) >= 0 and sum(positions) == state["position"],
            f"the state has position {state['position']}, its bins {', '.join(map(str, positions))}; "
            "expected numbers of 0 or more that add up: take another checkpoint",
        )
        return positions

    def _length_text(self, run: Any) -> str:
        if not run or type(run) is not int:
            return "no given length"
        return f"{run / self.examples:g} epochs ({run} examples)"


_WHO_COUNTS = (
    "A DataLoader with workers, and loaders that Accelerate prepared, ask for batches before they hand them out, and "
    "do not tell the sampler how many were used."
)
COUNT_THEM = (
    "use ResumableLoader, which counts what it hands out and goes on right after it; or call sampler.set_epoch(epoch) "
    "before each iteration"
)
_GO_ON = "sampler.load_state_dict(sampler.state_dict(batches))"


@dataclass(frozen=True)
class Uncounted:
    """A state that does not say how many of the batches that were asked for were used.

    left: whether it is that of an iteration of this process which was left, and was not loaded.
    """

    state: Mapping[str, Any]
    left: bool = False

    @staticmethod
    def of(state: Mapping[str, Any]) -> Uncounted | None:
        """Return what a state leaves open, None for a state that says what was used."""
        return Uncounted(dict(state)) if ASKED in state or state["version"] == _VERSION_UNCOUNTED else None

    def refusal(self) -> str:
        """Return why no run goes on from the state, and what to do."""
        if self.left:
            return (
                f"an iteration of this sampler was left after {self.state[ASKED]} batches had been asked for, so where "
                f"the next one begins is not known. {_WHO_COUNTS} Either {COUNT_THEM}. To go on after so many batches "
                f"of that iteration: {_GO_ON}"
            )
        return (
            f"this state was taken when {self.state.get(ASKED, 'some')} batches had been asked for, and nobody had "
            f"told the sampler how many of them were used. {_WHO_COUNTS} If you know how many were used in that "
            f"iteration, call {_GO_ON}; else begin an epoch: do not load the state, and call "
            "sampler.set_epoch(epoch). For the next run take the state of a ResumableLoader or of torchdata's "
            "StatefulDataLoader, or sampler.state_dict(batches)"
        )

    def check(self, batches: int, plan: BatchPlan) -> None:
        """Raise ConfigError where so many batches of such steps cannot have been used."""
        require(
            ASKED in self.state,
            "the checkpoint did not keep how many batches had been asked for; begin an epoch: do not load the state, "
            "and call sampler.set_epoch(epoch)",
        )
        require(
            batches <= self.state[ASKED],
            f"{batches} batches were used, it is said, but the state is of a run that had asked for "
            f"{self.state[ASKED]}; give the number since the beginning of the iteration",
        )
        require(
            self.state.get(_STEPS) == steps_of(plan),
            "the state counts batches of another size, or of another number of ranks; count them with a sampler of the "
            "same batch_size or max_tokens, world_size, epochs and drop_last, and load what it returns here",
        )


def steps_of(plan: BatchPlan) -> int:
    """Return 63 bits that identify the steps of an iteration: sizes of batches, ranks, epochs."""
    sizes: Sequence[int] = [length_bin.batch for length_bin in plan.bins]
    return text_bits(json.dumps([sizes, plan.world_size, plan.epochs, plan.drop_last])) >> 1
