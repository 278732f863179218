"""The settings of a build: everything that decides its bytes, apart from its sources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

from bertdata.corpus.advice import Choices
from bertdata.curation.languages import SOURCE
from bertdata.curation.settings import AccountsConfig, DecontaminationConfig, DedupConfig, DedupSpansConfig
from bertdata.curation.where import OF_ALL, Condition, parse_condition
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig, MixingConfig
from bertdata.options.option import require, stored_values
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.phases import PhaseConfig, stored_phases
from bertdata.shards.settings import SelectionConfig, ShardsConfig
from bertdata.sources.kinds import formats_at
from bertdata.sources.names import KINDS
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig

OF_A_PHASE: dict[str, type[Any]] = {
    "examples": ExamplesConfig,
    "masking": MaskingConfig,
    "mixing": MixingConfig,
    "selection": SelectionConfig,
}
"""The classes of settings that a phase has of its own, by their fields of `PhaseConfig`."""


GROUPS: dict[str, type[Any]] = {
    "vocabulary": VocabularyConfig,
    "sentences": SentencesConfig,
    **OF_A_PHASE,
    "sharding": ShardsConfig,
    "cleaning": CleaningConfig,
    "dedup": DedupConfig,
    "dedup_spans": DedupSpansConfig,
    "decontamination": DecontaminationConfig,
    "accounts": AccountsConfig,
}
"""The classes of settings by their fields of `Settings` or of `PhaseConfig`, in the order of the help."""


@dataclass(frozen=True)
class Settings:
    """Everything that decides the bytes of a build, apart from its sources."""

    cleaning: CleaningConfig
    vocabulary: VocabularyConfig
    sharding: ShardsConfig
    phases: tuple[PhaseConfig, ...] = (PhaseConfig(),)
    vocab: str | None = None
    dedup: DedupConfig = field(default_factory=DedupConfig)
    dedup_spans: DedupSpansConfig = field(default_factory=DedupSpansConfig)
    decontamination: DecontaminationConfig = field(default_factory=DecontaminationConfig)
    sentences: SentencesConfig = field(default_factory=SentencesConfig)
    accounts: AccountsConfig = field(default_factory=AccountsConfig)

    def __post_init__(self) -> None:
        """Take the languages that sources say, where sentences go by language and no model is named."""
        if self.sentences.goes_by_language and not self.cleaning.language_model:
            object.__setattr__(self, "cleaning", replace(self.cleaning, language_model=SOURCE))

    def stored(self) -> dict[str, Any]:
        """Return the values as fingerprints and origins hold them: of the phases, once where all have the same."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "phases"}
        stored = {name: stored_values(value) if is_dataclass(value) else value for name, value in values.items()}
        for name in ("dedup_spans", "decontamination", "accounts"):
            if not stored[name]:
                del stored[name]
        names = [phase.folder for phase in self.phases]
        return stored | stored_phases(self.phases) | ({"phases": names} if len(names) > 1 else {})


def choices_of(
    settings: Settings, by_kind: Mapping[str, Iterable[str]] = MappingProxyType({}), formats: Sequence[str] = ()
) -> Choices:
    """Return what the advice of warnings goes by, as far as it is not of a phase.

    by_kind: the files of each kind of sources; formats: those of --documents that are not registered.
    """
    cleaning, documents = settings.cleaning, by_kind.get("documents", ())
    return Choices(
        dedup=settings.dedup.dedup,
        language_model=cleaning.language_model,
        split_chapters=cleaning.split_chapters,
        whole_files=cleaning.whole_files,
        reads=tuple(kind for kind in KINDS if by_kind.get(kind)),
        plain_text="plain-text" in formats_at(documents, "documents", formats).values(),
    )


def setting_names() -> list[str]:
    """Return the names of the settings that a phase has of its own."""
    return [setting.name for kind in OF_A_PHASE.values() for setting in fields(kind)]


def columns_of(phases: Sequence[PhaseConfig], accounts: AccountsConfig) -> tuple[str, ...]:
    """Return the columns of tables that the selections of phases and accounts read, without those that are made."""
    selected = {name for phase in phases for name in phase.selection.columns} - {*accounts.made}
    return tuple(sorted(selected | {*accounts.columns}))


def conditions_of(phases: Sequence[PhaseConfig], names: Sequence[str]) -> dict[str, tuple[Condition, ...]]:
    """Return the conditions of --where by the sources whose documents they choose, `names` being all of them.

    None of a phase whose documents change their sources by --source-where.
    """
    by_source: dict[str, dict[str, Condition]] = {}
    for phase in phases:
        selection = phase.selection
        if selection.where and not selection.source_where:
            for name in selection.sources or names:
                by_source.setdefault(name, {})[selection.where] = parse_condition(selection.where)
    return {name: tuple(conditions.values()) for name, conditions in by_source.items()}


def require_columns(columns: Sequence[str], tables: Collection[str]) -> None:
    """Raise ConfigError where there are columns to be read and no tables."""
    require(
        not columns or bool(tables),
        f"--where, --source-where, --keep or --account names the column {', '.join(map(repr, columns))}, and only "
        "--documents "
        f"have such; expected some of {', '.join(OF_ALL)}",
    )
