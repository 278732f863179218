"""The token store of a build as it is planned, and what the shards of all phases that are made from it need."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from bertdata.corpus.plan import ShardPlan, plan_shards
from bertdata.corpus.selection import STORED
from bertdata.corpus.stage import ShardsSpec, TokensSpec, plan_tokens, share, tokens_part
from bertdata.corpus.stored_ids import keys_of
from bertdata.curation.accounts import WORDS
from bertdata.curation.languages import LANGUAGE
from bertdata.curation.settings import AccountsConfig
from bertdata.documents import DOCUMENT_LANGUAGES, cut_ranges
from bertdata.engine.parts import PartFunction, PartMetadata, Task
from bertdata.io import files, remote
from bertdata.sentences.by_language import Segmenter, SentencesByLanguage, default_of
from bertdata.shards.accounts import save_accounts
from bertdata.shards.contents import saved_languages
from bertdata.shards.mask_tables import save
from bertdata.shards.phases import PhaseConfig, delete_other_layout, plan_phases
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.similar_words import FOLDER as SIMILAR_WORDS
from bertdata.shards.similar_words import Fingerprinted, with_fingerprint
from bertdata.shards.token_counts import FOLDER as TOKEN_COUNTS
from bertdata.shards.token_counts import TokenCounts
from bertdata.sources.inputs import SourcePart
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import replace_saved


@dataclass(frozen=True)
class TokenPlan:
    """The token store below `output`: its parts of documents with their sources, which `names` numbers.

    counts: of each phase, how often each token is in train, None where its masks do not need it. accounts: what
    documents are counted by, and scored. source_tokenizers: those whose ids documents keep.
    """

    output: str
    parts: Sequence[SourcePart]
    names: Sequence[str]
    tokenizer: Tokenizer
    segmenter: Segmenter
    phases: Sequence[PhaseConfig]
    sharding: ShardsConfig
    counts: Sequence[TokenCounts | None]
    accounts: AccountsConfig = field(default_factory=AccountsConfig)
    source_tokenizers: Sequence[str] = ()

    @property
    def folder(self) -> str:
        """The folder of its files."""
        return files.join(self.output, "stages", "tokens")

    @cached_property
    def plan(self) -> ShardPlan:
        """How documents are assigned to shards, of all phases alike."""
        return plan_shards([record for _, (_, record) in self.parts], self.sharding)

    @cached_property
    def masks(self) -> list[Fingerprinted]:
        """The masking settings of each phase with their tables of similar words and the counts of these."""
        return [with_fingerprint(phase.masking, self.tokenizer) for phase in self.phases]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of documents that the store keeps for selections and accounts."""
        says_languages = any(DOCUMENT_LANGUAGES in record.details for _, (_, record) in self.parts)
        reads = {name for phase in self.phases for name in phase.selection.reads}
        reads |= {account.name for account in self.accounts.accounts} | {*self.accounts.made}
        counted = {WORDS} if self.accounts != AccountsConfig() else set()
        return tuple(sorted((reads | counted | ({LANGUAGE} if says_languages else set())) - {*STORED}))

    @cached_property
    def cutting(self) -> Segmenter:
        """What cuts its sentences: of the parameters for languages, those of languages that the documents are in."""
        return _chosen(self.segmenter, [record for _, (_, record) in self.parts])

    @property
    def spec(self) -> TokensSpec:
        """What its files have in common."""
        cutting = self.cutting
        default = default_of(cutting)
        return TokensSpec(
            files.join(plan_phases(self.output, self.phases)[0].output, "tokenizer"),
            self.tokenizer.fingerprint,
            files.join(self.output, "sentences"),
            cutting.fingerprint,
            self.plan.ends,
            default.attach_citations,
            self.tokenizer.continuation is None,
            self.columns,
            default.sentence_marks,
            cutting.saved if isinstance(cutting, SentencesByLanguage) else (),
            self.accounts.score,
            json.dumps(identity) if (identity := self.accounts.identity) else "",
            keys_of(self.source_tokenizers, self.tokenizer),
        )

    @property
    def make(self) -> PartFunction:
        """What writes one of its files."""
        return partial(tokens_part, self.spec)

    @property
    def tasks(self) -> list[Task]:
        """The tasks of its files."""
        source_of = {task.path: list(self.names).index(name) for name, (task, _) in self.parts}
        ranges = cut_ranges([(task.path, record) for _, (task, record) in self.parts])
        segmenter_of = {task.path: _chosen(self.segmenter, [record]).fingerprint for _, (task, record) in self.parts}
        return plan_tokens(ranges, self.folder, self.spec, source_of, segmenter_of)

    def specs(self, epochs: Sequence[Sequence[float]] = ()) -> list[ShardsSpec]:
        """Return what the shards of each phase have in common; `epochs` of the sources in each."""
        return [
            ShardsSpec(
                phase.output,
                self.plan,
                PretrainingInfo.of(
                    self.tokenizer,
                    examples=phase.config.examples,
                    masking=masking,
                    sources=tuple(phase.config.selection.names(self.names)),
                    epochs=tuple(epochs[number]) if epochs else (),
                    selection=phase.config.selection,
                    token_counts=counts.fingerprint if counts else "",
                ),
                files.join(phase.output, "tokenizer"),
                phase.records,
                columns=bool(self.columns),
            )
            for number, (phase, (masking, _, _), counts) in enumerate(
                zip(plan_phases(self.output, self.phases), self.masks, self.counts, strict=True)
            )
        ]

    def prepare(self) -> None:
        """Write the tokenizer, tables of masks and sentence parameters; remove the manifests of what will change."""
        phases = plan_phases(self.output, self.phases)
        delete_other_layout(self.output, phases)
        longest = max(phase.config.examples.max_seq_length for phase in phases)
        others = [phase.output for phase in phases if phase.output != self.output]
        files.remove_files(files.join(output, "manifest.json") for output in others)
        place = files.join(self.output, "sentences")
        saved = dict(self.cutting.saved) if isinstance(self.cutting, SentencesByLanguage) else {}
        for code in saved_languages(place):
            if code not in saved:
                files.remove(files.join(place, code))
        writes: list[Callable[[], None]] = [partial(self.cutting.save_pretrained, place)]
        for phase, (_, table, _), counts in zip(phases, self.masks, self.counts, strict=True):
            writes.append(partial(replace_saved, self.tokenizer, files.join(phase.output, "tokenizer"), longest))
            writes.append(partial(save, table, phase.output, SIMILAR_WORDS))
            writes.append(partial(save, counts, phase.output, TOKEN_COUNTS))
            writes.append(partial(save_accounts, None, phase.output))
        remote.at_once(lambda write: write(), writes)
        share(self.tokenizer)


def _chosen(segmenter: Segmenter, records: Sequence[PartMetadata]) -> Segmenter:
    """Return what cuts the sentences of parts, all where one does not say what languages its documents are in."""
    languages: list[dict[str, list[int]] | None] = [record.details.get(DOCUMENT_LANGUAGES) for record in records]
    if not isinstance(segmenter, SentencesByLanguage) or None in languages:
        return segmenter
    return segmenter.for_codes({code for by_code in languages for code in by_code or ()})
