"""What is left of a build that was estimated as a whole, where its output has some of its parts already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bertdata.corpus.estimate.figures import Estimate, Work
from bertdata.corpus.mask_counts import TITLE as COUNT_PREDICTIONS
from bertdata.engine.run_stages import State

_JOINED = " and "
_SHARDS = "write shards"


@dataclass(frozen=True)
class Left:
    """The parts of a step that are to be made, of how many."""

    parts: int
    whole: int

    @property
    def share(self) -> float:
        """The share of the parts, 0 of a step without any."""
        return self.parts / self.whole if self.whole else 0.0


def left_parts(states: Iterable[State]) -> dict[str, Left]:
    """Return what is left of each step that can be planned already, by its title.

    >>> left_parts([State("tokenize", "B", done=3, missing=1), State("write shards")])
    {'tokenize': Left(parts=1, whole=4)}
    """
    parts: dict[str, Left] = {}
    unknown = set()
    for state in states:
        if not state.is_known:
            unknown.add(state.title)
        before, missing = parts.get(state.title, Left(0, 0)), state.stale + state.missing
        parts[state.title] = Left(before.parts + missing, before.whole + state.done + missing)
    return {title: part for title, part in parts.items() if title not in unknown}


def left_of(whole: Estimate, parts: Mapping[str, Left]) -> Estimate | None:
    """Return the estimate of what is left, None where that is all of it; a step that is not in `parts` is left whole.

    What predictions are counted in shards that are kept takes at most what writing these would.
    """
    if not any(part.parts < part.whole for part in parts.values()):
        return None
    stages = [_scaled(work, parts[work.title].share) if work.title in parts else work for work in whole.stages]
    if (counted := parts.get(COUNT_PREDICTIONS)) and counted.parts:
        writing = next(work for work in whole.stages if work.title == _SHARDS)
        stages.append(replace(_scaled(writing, counted.share), title=COUNT_PREDICTIONS, parts=counted.parts, stored=0))
    share = sum(work.parts for work in stages) / max(1, whole.parts)
    titles = {_SHARDS if work.title == COUNT_PREDICTIONS else work.title for work in stages if work.parts}
    return replace(
        whole,
        stages=tuple(stages),
        requests=round(whole.requests * min(1.0, share)),
        store_seconds=whole.store_seconds * min(1.0, share),
        jobs=tuple(job for job in whole.jobs if titles & {*job.split(_JOINED)} or _is_unknown(job, whole)),
    )


def _scaled(work: Work, share: float) -> Work:
    """Return a share of a stage; its heaviest part stays, if any part does."""
    parts = round(work.parts * share) or (1 if share else 0)
    seconds = work.seconds * share
    return replace(
        work, parts=parts, stored=round(work.stored * share), seconds=seconds, heaviest=min(work.heaviest, seconds)
    )


def _is_unknown(job: str, whole: Estimate) -> bool:
    """Tell whether none of the steps of a job is estimated by its title."""
    return not {work.title for work in whole.stages} & {*job.split(_JOINED)}
