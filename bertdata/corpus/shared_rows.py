"""Phases that have the same rows: these are written once, and the folders of the others have the same files.

On a local disk they are hard links, so that the bytes are there once, and each folder is whole for whoever reads,
copies or verifies it. A file is never changed in place, so what happens in one folder does not reach the other. At a
URL, and on a disk without links, they are copies; an object store makes them without sending the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bertdata.engine.parts import Task, delete_orphans
from bertdata.io import files, remote
from bertdata.masking.settings import MaskingConfig
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.schema import SPLITS


def same_rows(phases: Sequence[PhaseConfig]) -> dict[int, int]:
    """Return the numbers of phases whose rows an earlier one has, each with the first of these.

    Masks that a loader draws are not in the rows.

    >>> same_rows([PhaseConfig(name="a"), PhaseConfig(name="b")])
    {1: 0}
    """
    first: dict[PhaseConfig, int] = {}
    numbers = [first.setdefault(_rows_of(phase), number) for number, phase in enumerate(phases)]
    return {number: earlier for number, earlier in enumerate(numbers) if earlier != number}


def _rows_of(phase: PhaseConfig) -> PhaseConfig:
    """Return the phase without what is not in its rows: its name, and masks that a loader draws.

    A setting that phases get later counts as one of the rows until it is taken out here.
    """
    masks = phase.masking if phase.examples.masking == "static" else MaskingConfig()
    return replace(phase, name="", masking=masks)


def shared_notes(phases: Sequence[PhaseConfig]) -> list[str]:
    """Return a note on the phases that have the same rows.

    >>> shared_notes([PhaseConfig(name="a"), PhaseConfig(name="b")])
    ['the phase b has the rows of a, which are on disk once; --phase a builds that alone']
    """
    notes = []
    for first in dict.fromkeys(same_rows(phases).values()):
        others = [phases[number].folder for number, earlier in same_rows(phases).items() if earlier == first]
        name, has = phases[first].folder, "has" if len(others) == 1 else "have"
        what = f"the phase{'' if len(others) == 1 else 's'} {', '.join(others)} {has} the rows of {name}"
        notes.append(f"{what}, which are on disk once; --phase {name} builds that alone")
    return notes


def link_shards(tasks: Sequence[Task], output: str) -> None:
    """Give the shards of tasks to another phase as well, whose folder is `output`, and delete others there."""
    by_split = {split: [task for task in tasks if task.payload.split == split] for split in SPLITS}
    for split, of_split in by_split.items():
        folder = files.join(output, split)
        if of_split:
            delete_orphans(folder, of_split)
        else:
            files.remove(folder)
    remote.at_once(partial(_link, output), tasks)


def _link(output: str, task: Task) -> None:
    files.link(task.path, files.join(output, task.payload.split, files.name(task.path)))
