"""Phases: builds of several row lengths from one token store, as BERT's 128 and then 512 tokens (BERT appendix A.2).

A build of one length is in its output directory. With several lengths, each is a whole build in a folder named by its
length, which everything that reads builds can open, and the manifest.json of the output names the folders:

    corpus/manifest.json        {"phases": ["128", "512"], ...}
    corpus/128/manifest.json    and train, validation, tokenizer
    corpus/512/manifest.json
    corpus/sentences            the parameters that cut the sentences of both
    corpus/stages               documents, the one token store, the records of all shards
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata import __version__
from bertdata.engine.parts import sealed
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.card import data_files
from bertdata.shards.contents import file_digests
from bertdata.shards.schema import SPLITS

_OF_ONE_BUILD = ("dataset_dict.json", "README.md", "tokenizer", *SPLITS)


@dataclass(frozen=True)
class Phase:
    """One length of a build: its folder, the folder of its shards' records, and its settings."""

    output: str
    records: str
    examples: ExamplesConfig


def plan_phases(output: str, examples: Sequence[ExamplesConfig]) -> list[Phase]:
    """Return the phases of a build: of one length the output itself, of several a folder each.

    >>> [phase.output for phase in plan_phases("corpus", [ExamplesConfig()])]
    ['corpus']
    >>> both = [ExamplesConfig(max_seq_length=128), ExamplesConfig(max_seq_length=512)]
    >>> [phase.output for phase in plan_phases("corpus", both)]
    ['corpus/128', 'corpus/512']
    """
    records = files.join(output, "stages", "shards")
    names = [[str(settings.max_seq_length)] if len(examples) > 1 else [] for settings in examples]
    folders = [(files.join(output, *name), files.join(records, *name)) for name in names]
    return [Phase(*folder, settings) for folder, settings in zip(folders, examples, strict=True)]


def delete_other_layout(output: str, phases: Sequence[Phase]) -> None:
    """Delete the files of an earlier build with another number of lengths from the output."""
    records = files.join(output, "stages", "shards")
    if [phase.output for phase in phases] != [output]:
        for name in _OF_ONE_BUILD:
            files.remove(files.join(output, name))
        for split in SPLITS:
            files.remove(files.join(records, split))
    kept = {phase.output for phase in phases}
    for name in {*files.names(output), *files.names(records)}:
        folder = files.join(output, name)
        if name.isascii() and name.isdigit() and folder not in kept:
            if files.exists(files.join(folder, "tokenizer")):  # else it is the user's own
                files.remove(folder)
            files.remove(files.join(records, name))


def write_index(output: str, phases: Sequence[Phase]) -> None:
    """Write the manifest.json that names the phases, and a card; nothing for a build of one length.

    By the card `datasets.load_dataset` finds the shards of each length, which is the name of a configuration.
    """
    if len(phases) > 1:
        names = [files.name(phase.output) for phase in phases]
        lines = ["---", "configs:"]
        for name, phase in zip(names, phases, strict=True):
            there = files.names(phase.output)
            lines += data_files([split for split in SPLITS if split in there], name)
        lines += ["---", "", "# Pretraining examples of several lengths", ""]
        lines += [f"- [{name} tokens]({name}/README.md)" for name in names]
        files.write_bytes(files.join(output, "README.md"), "\n".join([*lines, ""]).encode())
        index = {"bertdata": __version__, "phases": names, "files": file_digests(output, {})}
        files.write_json(files.join(output, "manifest.json"), sealed(index))


def phase_names(manifest: Any) -> list[str]:
    """Return the names of the phases where a manifest.json names any; raises InputError where one is not a number.

    >>> phase_names({"bertdata": "1", "phases": ["128", "512"]}), phase_names({"splits": {}})
    (['128', '512'], [])
    """
    names = manifest.get("phases") if isinstance(manifest, Mapping) else None
    if not isinstance(names, Sequence) or isinstance(names, str):
        return []
    if other := [name for name in names if not (isinstance(name, str) and name.isascii() and name.isdigit())]:
        raise InputError(f"its manifest.json names the length {other[0]!r}; expected numbers: build again")
    return list(names)
