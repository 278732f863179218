"""Phases: builds with settings of their own from one token store, as BERT's of 128 and then 512 tokens (BERT appendix
A.2), or those of encoders since 2024, which also have other sources, selections and mask rates.

A build of one phase is in its output directory. With several, each is a whole build in a folder of its name, which
everything that reads builds can open, and the manifest.json of the output names the folders in the order of training:

    corpus/manifest.json        {"phases": ["128", "512"], ...}
    corpus/128/manifest.json    and train, validation, tokenizer
    corpus/512/manifest.json
    corpus/sentences            the parameters that cut the sentences of both
    corpus/stages               documents, the one token store, the records of all shards
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from bertdata import __version__
from bertdata.engine.fingerprints import sealed
from bertdata.errors import ConfigError, InputError, did_you_mean
from bertdata.io import files, listing
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.mixing import check_mix
from bertdata.objectives.settings import ExamplesConfig, MixingConfig
from bertdata.options.option import stored_values
from bertdata.shards.card import ARROW, data_files
from bertdata.shards.contents import file_digests
from bertdata.shards.pretraining_info import check_masking
from bertdata.shards.schema import SPLITS
from bertdata.shards.settings import SelectionConfig

_OF_ONE_BUILD = ("dataset_dict.json", "README.md", "tokenizer", "similar_words", "token_counts", "accounts", *SPLITS)
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_TAKEN = frozenset({*SPLITS, "tokenizer", "sentences", "stages", "manifest.json", "dataset_dict.json"})


@dataclass(frozen=True)
class PhaseConfig:
    """The settings of a phase: which documents, how much of each source, how rows are made, how they are masked.

    name: its folder, where there are several phases; that of the row length if it is "". Raises ConfigError for a name
    that is not a folder of its own.
    """

    examples: ExamplesConfig = field(default_factory=ExamplesConfig)
    masking: MaskingConfig = field(default_factory=MaskingConfig)
    mixing: MixingConfig = field(default_factory=MixingConfig)
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    name: str = ""

    def __post_init__(self) -> None:
        check_masking(self.examples, self.masking)
        if self.name and not is_name(self.name):
            raise ConfigError(
                f"the phase {self.name!r} cannot have this name; expected a to z, digits, . _ and -, and none of "
                f"{', '.join(sorted(_TAKEN))}"
            )

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.name or str(self.examples.max_seq_length)

    @property
    def counts_tokens(self) -> bool:
        """Whether its mixture depends on how many tokens it selects of each source."""
        mixing = self.mixing
        return bool(
            mixing.mix_temperature
            or mixing.train_tokens
            or (mixing.mix and (self.selection.where or self.selection.source_where or self.selection.sample))
        )

    def check_sources(self, names: Sequence[str], *, complete: bool = True) -> None:
        """Raise ConfigError where the phase takes or weights a source that the build does not have.

        complete: whether the build has all of the sources `names`, so that none may lack a weight.
        """
        chosen, weights, names = self.selection.sources, self.mixing.weights, self.selection.names(names)
        if unknown := [name for name in chosen if name not in names]:
            raise ConfigError(
                f"--sources names {', '.join(unknown)}, but the sources of this build are: {', '.join(names)}"
                f"{did_you_mean(unknown[0], names)}"
            )
        if unknown := [name for name in self.selection.shares if name and name not in names]:
            raise ConfigError(
                f"--sample names {', '.join(unknown)}, but the sources of this build are: {', '.join(names)}"
                f"{did_you_mean(unknown[0], names)}"
            )
        check_mix(weights if complete else {weight: 1.0 for weight in weights if weight not in names}, chosen or names)


def stored_phases(phases: Sequence[PhaseConfig]) -> dict[str, Any]:
    """Return the settings of phases as fingerprints and origins hold them: a list where they differ.

    >>> both = [PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (128, 512)]
    >>> stored = stored_phases(both)["examples"]
    >>> stored["objective"], stored["max_seq_length"]
    ('nsp', [128, 512])
    """
    stored: dict[str, Any] = {}
    for group in fields(PhaseConfig):
        if group.name != "name":
            each = [stored_values(getattr(phase, group.name)) for phase in phases]
            names = dict.fromkeys(name for values in each for name in values)
            lists = {name: [values.get(name) for values in each] for name in names}
            stored[group.name] = {
                name: values[0] if all(value == values[0] for value in values) else values
                for name, values in lists.items()
            }
    return stored


@dataclass(frozen=True)
class Phase:
    """One phase of a build: its folder, the folder of its shards' records, and its settings."""

    output: str
    records: str
    config: PhaseConfig


def is_name(name: Any) -> bool:
    """Return whether a phase can have this name.

    >>> is_name("long-1024"), is_name("train"), is_name("../x")
    (True, False, False)
    """
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and name not in _TAKEN


def check_names(phases: Sequence[PhaseConfig]) -> None:
    """Raise ConfigError where two phases have one name."""
    names = [phase.folder for phase in phases]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ConfigError(f"two phases have the name {twice!r}; give each a `name` of its own")


def plan_phases(output: str, phases: Sequence[PhaseConfig]) -> list[Phase]:
    """Return the phases of a build: a single one in the output itself, of several a folder each.

    Raises ConfigError where two have one name.

    >>> [phase.output for phase in plan_phases("corpus", [PhaseConfig()])]
    ['corpus']
    >>> both = [PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (128, 512)]
    >>> [phase.output for phase in plan_phases("corpus", both)]
    ['corpus/128', 'corpus/512']
    """
    check_names(phases)
    records = files.join(output, "stages", "shards")
    below = [[phase.folder] if len(phases) > 1 else [] for phase in phases]
    folders = [(files.join(output, *name), files.join(records, *name)) for name in below]
    return [Phase(*folder, config) for folder, config in zip(folders, phases, strict=True)]


def delete_other_layout(output: str, phases: Sequence[Phase]) -> None:
    """Delete the manifest of the output, and the files of an earlier build with other phases."""
    records, before = files.join(output, "stages", "shards"), _phases_before(output)
    files.remove_files([files.join(output, "manifest.json")])
    if [phase.output for phase in phases] != [output]:
        for name in _OF_ONE_BUILD:
            files.remove(files.join(output, name))
        for split in SPLITS:
            files.remove(files.join(records, split))
    outputs = {phase.output for phase in phases}
    for name in {*before, *listing.names(records)} - {*SPLITS}:
        folder = files.join(output, name)
        if is_name(name) and folder not in outputs:
            if files.exists(files.join(folder, "tokenizer")):  # else it is the user's own
                files.remove(folder)
            files.remove(files.join(records, name))


def _phases_before(output: str) -> list[str]:
    """Return the phases that the manifest of the output names."""
    manifest = files.join(output, "manifest.json")
    try:
        return phase_names(files.read_json_if_there(manifest))
    except InputError:
        return []


def write_index(output: str, phases: Sequence[Phase]) -> None:
    """Write the manifest.json that names the phases, and a card; nothing for a build of one phase.

    By the card `datasets.load_dataset` finds the shards of each phase, whose name is that of a configuration.
    """
    if len(phases) > 1:
        names = [files.name(phase.output) for phase in phases]
        splits, lengths = {}, {}
        for name, phase in zip(names, phases, strict=True):
            there = listing.names(phase.output)
            splits[name] = [split for split in SPLITS if split in there]
            lengths[name] = phase.config.examples.max_seq_length
        files.write_bytes(files.join(output, "README.md"), index_card(splits, lengths).encode())
        index = {"bertdata": __version__, "phases": names, "files": file_digests(output, {})}
        files.write_json(files.join(output, "manifest.json"), sealed(index))


def index_card(
    splits: Mapping[str, Sequence[str]],
    lengths: Mapping[str, int],
    metadata: Sequence[str] = (),
    names: str = ARROW,
) -> str:
    """Return the card of several phases: the splits of each, and the tokens of its rows.

    metadata: lines before `configs`; names: what the files of a split are called, as a glob.
    """
    lines = ["---", *metadata, "configs:"]
    for name, there in splits.items():
        lines += data_files(there, name, names)
    lines += ["---", "", "# Pretraining examples in several phases", ""]
    lines += [f"- [{name}]({name}/README.md): {length} tokens a row" for name, length in lengths.items()]
    return "\n".join([*lines, ""])


def phase_names(manifest: Any) -> list[str]:
    """Return the names of the phases where a manifest.json names any; raises InputError where one is not a name.

    >>> phase_names({"bertdata": "1", "phases": ["128", "512"]}), phase_names({"splits": {}})
    (['128', '512'], [])
    """
    names = manifest.get("phases") if isinstance(manifest, Mapping) else None
    if not isinstance(names, Sequence) or isinstance(names, str):
        return []
    if other := [name for name in names if not is_name(name)]:
        raise InputError(f"its manifest.json names the phase {other[0]!r}; expected the name of a folder: build again")
    return list(names)
