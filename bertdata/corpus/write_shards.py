"""The last stages of a build: a check of the documents, and the shards with the files beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pyarrow.compute as pc

from bertdata.corpus import mask_counts
from bertdata.corpus.advice import Choices
from bertdata.corpus.manifest import build_manifest, pieces_of, source_entry, write_dataset_files
from bertdata.corpus.shared_rows import link_shards, same_rows, shared_notes
from bertdata.corpus.stage import ShardsSpec, shard_part, sharded
from bertdata.corpus.token_plan import TokenPlan
from bertdata.corpus.token_store import CUT_BY, compiling_sentences_pays, cut_sentences
from bertdata.curation.filters import JUDGED
from bertdata.curation.settings import AccountsConfig
from bertdata.documents import DOCUMENT_LANGUAGES, cut_ranges, read_range
from bertdata.engine.parts import PartMetadata, PartResult, add_counts
from bertdata.engine.stages import BuildState, Plan, Step, require_documents
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.mixing import SourceShare, plan_shares
from bertdata.objectives.objective import find_objective
from bertdata.sentences.by_language import DEFAULT, Segmenter, SentencesByLanguage, default_of, not_served
from bertdata.sentences.languages import language_of
from bertdata.shards.accounts import save_accounts
from bertdata.shards.phases import PhaseConfig, plan_phases, write_index
from bertdata.shards.pieces import save_pieces
from bertdata.shards.schema import SPLITS
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.similar_words import FOLDER, note
from bertdata.sources.inputs import DocumentSources
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.stage import account_of, trained_tokenizer

_TEXTS_AT_ONCE = 256
_NAMED = 5


@dataclass(frozen=True)
class CheckDocuments:
    """A stage without parts, which checks that each source has documents and that they suit the objectives.

    When it finishes it raises InputError where no document is left, of all or of a source that no filter has seen, and
    ConfigError where an objective needs other documents. A source of which filters leave nothing is a warning of the
    build.
    """

    sources: DocumentSources
    objectives: Sequence[str]
    segmenter: Segmenter
    title = ""
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        """Plan the check."""
        return Plan((), partial(self._finish, build_state))

    def _finish(self, build_state: BuildState, done: Sequence[Sequence[PartResult]]) -> BuildState:
        require_documents(build_state.documents)
        parts = self.sources.named(build_state.documents)
        for name in self.sources.names(parts):
            of_source = [part for source, part in parts if source == name]
            if not any(
                count.startswith(JUDGED) for _, record in of_source for count in record.counts
            ):  # else a warning
                require_documents(of_source, name)
        documents = [(task.path, record) for _, (task, record) in parts]
        for objective in dict.fromkeys(self.objectives):
            require_documents_for(objective, documents, self.segmenter)
        return build_state


@dataclass(frozen=True)
class WriteShards:
    """The stage that writes the shards of the documents in `output`, and last the manifest.

    Ranges of documents are tokenized into the token store, one file for each range, its rows grouped by shard. Then
    references to the rows are grouped by shard, and each shard becomes one file, or one for each of its length bins.
    All phases of a build (`bertdata.shards.phases`) are made from one store. The store numbers the sources and does not
    name them, so a source can be renamed without tokenizing again.

    tokenizer  None for the vocabulary that was trained by `vocabulary`
    choices    settings of other stages that the advice of warnings goes by
    accounts   what documents are counted by, and scored
    source_tokenizers  those whose ids documents keep
    """

    output: str
    sources: DocumentSources
    sharding: ShardsConfig
    phases: Sequence[PhaseConfig]
    segmenter: Segmenter
    vocabulary: VocabularyConfig = field(default_factory=VocabularyConfig)
    tokenizer: Tokenizer | None = None
    choices: Choices = field(default_factory=Choices)
    accounts: AccountsConfig = field(default_factory=AccountsConfig)
    source_tokenizers: Sequence[str] = ()
    title = "write shards"
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        """Plan the token store and the shards; raises ConfigError where the mix does not suit the sources."""
        store = self.token_plan(build_state)
        shares = [self._shares(number, build_state, store) for number in range(len(self.phases))]
        epochs = [
            tuple(share[name].epochs if name in share else 0.0 for name in phase.selection.names(store.names))
            for phase, share in zip(self.phases, shares, strict=True)
        ]
        specs = store.specs([each if share else () for share, each in zip(shares, epochs, strict=True)])
        shared = same_rows(self.phases)
        places = [
            *(spec.output for number, spec in enumerate(specs) if number not in shared),
            *(spec.records for spec in specs),
        ]
        counts = [token_counts for _, _, token_counts in store.masks]
        return Plan(
            [
                Step("tokenize", store.make, store.tasks),
                Step("write shards", partial(shard_part, specs), grouping=sharded(specs, shared), unit="shard"),
                *mask_counts.counting(specs, mask_counts.folder_of(self.output), shared),
            ],
            partial(self._finish, build_state, specs, store, shares),
            store.prepare,
            inputs=[task.path for task, _ in build_state.documents],
            folders=[
                store.folder,
                mask_counts.folder_of(self.output),
                *(files.join(place, split) for place in places for split in SPLITS),
            ],
            notes=[
                *store.plan.notes,
                *shared_notes(self.phases),
                *_not_served(self.segmenter, [record for _, record in build_state.documents]),
                *dict.fromkeys(note(count) for count in counts if count),
                *(
                    warnings
                    for phase, share in zip(self.phases, shares, strict=True)
                    for warnings in self._empty(phase, share)
                ),
            ],
        )

    def token_plan(self, build_state: BuildState) -> TokenPlan:
        """Plan the token store of the documents."""
        parts = self.sources.named(build_state.documents)
        tokenizer = self.tokenizer
        if tokenizer is None:
            assert build_state.vocabulary is not None
            tokenizer = trained_tokenizer(build_state.vocabulary[0], self.vocabulary)
        names = self.sources.names(parts)
        return TokenPlan(
            *(self.output, parts, names, tokenizer, self.segmenter, self.phases, self.sharding),
            build_state.token_counts or (None,) * len(self.phases),
            self.accounts,
            self.source_tokenizers,
        )

    def _shares(self, number: int, build_state: BuildState, store: TokenPlan) -> dict[str, SourceShare]:
        """Return the share of each source that a phase takes, none without a mixture."""
        phase, names = self.phases[number], store.names
        phase.check_sources(names)
        if not phase.mixing.is_mixed:
            return {}
        sizes = dict.fromkeys(phase.selection.sources or phase.selection.names(names), 0)
        if phase.counts_tokens:
            sizes = {name: build_state.sizes[number][name] for name in sizes}
        else:
            for name, (_, record) in store.parts:
                if name in sizes:
                    sizes[name] += record.counts.get("text_bytes", 0)
        return plan_shares(phase.mixing, sizes, phase.examples.dupe_factor)

    def _empty(self, phase: PhaseConfig, shares: Mapping[str, SourceShare]) -> Iterator[str]:
        """Yield a note on each source that has a weight in a phase, and no text that the phase takes."""
        where = f"phase {phase.folder}: " if len(self.phases) > 1 else ""
        for name, weight in phase.mixing.weights.items():
            if name not in shares:
                yield (
                    f"{where}--mix gives {name} the weight {weight:g}, and the selection takes no document of it: the "
                    "others have its share"
                )

    def _finish(
        self,
        build_state: BuildState,
        specs: Sequence[ShardsSpec],
        store: TokenPlan,
        shares: Sequence[Mapping[str, SourceShare]],
        done: Sequence[Sequence[PartResult]],
    ) -> BuildState:
        """Write the files beside the shards, the manifest last; that of several phases holds theirs by name."""
        tokens, parts = [record for _, record in done[0]], store.parts
        sources_of_tokens = [store.names[task.payload.source] for task, _ in done[0]]
        vocabulary: dict[str, Any] = {}
        if self.tokenizer is not None:
            vocabulary = {"pieces": self.tokenizer.vocab_size}
        elif build_state.vocabulary is not None:
            vocabulary = account_of(build_state.vocabulary[1], self.vocabulary)
        sources = {}
        for name in store.names:
            inputs, taken = self.sources.files_of(name, parts)
            sources[name] = source_entry(inputs, [record for source, (_, record) in parts if source == name], taken)
        origins: dict[str, dict[str, Any]] = {
            "sources": sources,
            "vocabulary": vocabulary,
            "sentences": sentences_entry(self.segmenter, tokens, [record for _, (_, record) in parts]),
        }
        for name in ("dedup_spans", "decontamination"):
            if account := getattr(build_state, name):
                origins[name] = account
        shared = same_rows(self.phases)
        manifests: dict[str, dict[str, Any]] = {}
        for number, (spec, share, (_, _, counts)) in enumerate(zip(specs, shares, store.masks, strict=True)):
            first = shared.get(number, number)
            of_first = [(task, record) for task, record in done[1] if task.payload.phase == first]
            shards = mask_counts.recounted(of_first, done[2] if len(done) > 2 else [], number)
            if first != number:
                link_shards([task for task, _ in of_first], spec.output)
            require_examples(spec, shards)
            table = {FOLDER: {"counts": dict(counts)}} if counts else {}
            mix = {name: of_source.values() for name, of_source in share.items()}
            manifest = build_manifest(
                origins | table, tokens, spec.plan, spec.info, shards, mix, self.choices, sources_of_tokens
            )
            account = build_state.accounts[number] if build_state.accounts else None
            if account is not None:
                save_accounts(account, spec.output)
                manifest["accounts"] = [*self.accounts.made, *(account.name for account in self.accounts.accounts)]
            save_pieces(spec.output, pieces_of(spec.plan, spec.info, shards))
            manifests[files.name(spec.output)] = write_dataset_files(spec.output, manifest, spec.info, account)
        write_index(self.output, plan_phases(self.output, self.phases))
        [account] = manifests.values() if len(specs) == 1 else [{"phases": manifests}]
        return replace(build_state, account=account)


def sentences_entry(
    segmenter: Segmenter, tokens: Sequence[PartMetadata], documents: Sequence[PartMetadata]
) -> dict[str, Any]:
    """Return what the manifest says of the sentence parameters.

    Where they go by language, `by_language` has the parameters of each one that cut documents, and how many it cut, and
    `not_served` the documents that the default ones cut for want of others, by language.
    """
    default = default_of(segmenter)
    entry: dict[str, Any] = {
        "parameters": default.parameters.fingerprint,
        "join_references": default.attach_citations,
        **({"sentence_marks": True} if default.sentence_marks else {}),
        "language": language_of(default.parameters),
    }
    if not isinstance(segmenter, SentencesByLanguage):
        return entry
    counts = add_counts(record.details.get(CUT_BY) or {DEFAULT: record.counts.get("documents", 0)} for record in tokens)
    by_language = {}
    for code, number in counts.items():
        chosen = segmenter.by_code.get(code, default)
        marks = {"sentence_marks": True} if chosen.sentence_marks else {}
        by_language[code] = {"parameters": chosen.parameters.fingerprint, **marks, "documents": number}
    return entry | {"by_language": by_language, "not_served": not_served(segmenter, told_languages(documents))}


def _not_served(segmenter: Segmenter, documents: Sequence[PartMetadata]) -> Iterator[str]:
    """Yield a note on the documents in languages without sentence parameters."""
    if others := not_served(segmenter, told_languages(documents)):
        named, more = list(others.items())[:_NAMED], len(others) - _NAMED
        yield (
            f"{counted(sum(others.values()), 'document')} in languages without sentence parameters "
            f"({', '.join(f'{code} {number:,}' for code, number in named)}{f' and {more} more' if more > 0 else ''}): "
            "those of --sentences cut them; --sentences-of LANGUAGE=PARAMETERS gives others"
        )


def told_languages(documents: Iterable[PartMetadata]) -> dict[str, int]:
    """Return the documents of parts by language, also of none that is known, where they say it."""
    by_code: Iterable[dict[str, list[int]]] = (record.details.get(DOCUMENT_LANGUAGES, {}) for record in documents)
    return add_counts({code: number for code, (number, _) in numbers.items()} for numbers in by_code)


def require_examples(spec: ShardsSpec, shards: Sequence[PartMetadata]) -> None:
    """Raise ConfigError where the shards of a phase hold no example to train on."""
    first = spec.plan.validation * len(spec.info.examples.bins)
    if not any(record.counts["examples"] for record in shards[first:]):
        selection = spec.info.selection
        selects = selection.where or selection.sources or selection.sample
        if selects and not any(record.counts["documents"] for record in shards[first:]):
            chosen = " and ".join(
                [f"--where {selection.where!r}"] * bool(selection.where)
                + [f"--sources {' '.join(selection.sources)}"] * bool(selection.sources)
                + [f"--sample {' '.join(selection.sample)}"] * bool(selection.sample)
            )
            raise ConfigError(f"no document of train is left by {chosen}; take a wider selection, or add documents")
        sharing = sum(record.counts["documents_sharing_id"] for record in shards)
        raise ConfigError(
            f"the documents give no example to train on: for --objective {spec.info.examples.objective} there are too "
            f"few with {'two words' if spec.info.label else 'tokens'} of this vocabulary"
            + (f", and {sharing:,} have the id of another, so give each an `id` of its own" if sharing else "")
            + "; add documents, or choose another objective"
        )


def require_documents_for(name: str, parts: Sequence[tuple[str, PartMetadata]], segmenter: Segmenter) -> None:
    """Raise ConfigError where the documents of parts (path, record) do not suit the objective of a name.

    NSP takes B from another document, so it needs two documents; pairs of sentences need a document with two sentences.
    Documents are read until one is found.
    """
    objective, total = find_objective(name), sum(record.counts.get("documents", 0) for _, record in parts)
    if total < objective.min_documents:
        others = [other for other in OBJECTIVES if find_objective(other).min_documents <= total]
        raise ConfigError(
            f"--objective {name} takes B from another document, so it needs {objective.min_documents} documents at "
            f"least, and the corpus has {total}; add documents, or choose --objective {' or '.join(others)}"
        )
    if objective.sentence_pairs and total and not _has_two_sentences(parts, segmenter):
        others = [other for other in OBJECTIVES if not find_objective(other).label]
        raise ConfigError(
            f"--objective {name} makes pairs of the sentences of a document, and none of the "
            f"{counted(total, 'document')} has two; give documents of several sentences, other --sentences parameters "
            f"if these do not find their ends, or choose --objective {' or '.join(others)}"
        )


def _has_two_sentences(parts: Sequence[tuple[str, PartMetadata]], segmenter: Segmenter) -> bool:
    ranges = cut_ranges(parts)
    compiled = compiling_sentences_pays(ranges)
    for documents in ranges:
        for table in read_range(documents, columns=isinstance(segmenter, SentencesByLanguage)):
            for begin in range(0, table.num_rows, _TEXTS_AT_ONCE):
                sentences = cut_sentences(table.slice(begin, _TEXTS_AT_ONCE), segmenter, compiled=compiled)
                if (pc.max(pc.list_value_length(sentences)).as_py() or 0) > 1:
                    return True
    return False
