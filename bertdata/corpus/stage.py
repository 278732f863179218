"""The parts of the last stage of a build, `bertdata.corpus.write_shards`: token files and shards."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import BinaryIO
from weakref import WeakValueDictionary

import numpy as np

from bertdata.corpus.plan import ShardPlan
from bertdata.corpus.selection import select
from bertdata.corpus.token_slices import TokenFile, TokenSlices, by_shard
from bertdata.corpus.token_store import TokenSlice, compiling_sentences_pays, load_documents, write_tokens
from bertdata.corpus.writer import PlannedCopy, plan_copies, write_shard
from bertdata.curation.scores import parse_score
from bertdata.documents import DocumentRange, range_tasks, read_range
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, Counts, PartMetadata, Task
from bertdata.engine.stages import Grouping
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.mixing import number_of_copies
from bertdata.sentences.by_language import Segmenter, load_saved
from bertdata.shards.columns import WORD_STARTS
from bertdata.shards.pieces import PIECES, PIECES_FROM, PieceDigests
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import SelectionConfig
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer

TOKENS_REVISION = 5
"""Of the token store and the counts in its records: 5 has other ids where words were added to a Unigram model, or in a
form that the normalizer changes."""
SHARDS_REVISION = 4
"""Of the shards: 4 has other masks of words, n-grams and spans in short rows, and other NSP pairs where documents are
few."""
SELECTION_REVISION = 1
"""Of the counts of what a selection leaves out: 1 counts them by source."""

MASKS = "masks"
"""The detail of a shard's record that identifies the dynamic masks of its counts, absent for those of the defaults."""


@dataclass(frozen=True)
class TokensSpec:
    """What all token files of a build have in common; `tokenizer` and `segmenter` are fingerprints.

    word_starts: whether the files say where words begin, as an id alone does not; columns: those of the documents that
    the files keep, for selections; sentences_of: the languages that have sentence parameters of their own, each with
    whether marks end sentences too (`SentencesByLanguage.saved`); scores: those of the columns that are made of texts,
    each as `parse_score` takes it; made_from: what the values of columns depend on beside the documents, as JSON text;
    ids_of: the keys of the tokenizers whose ids documents keep (`stored_ids`).
    """

    tokenizer_path: str
    tokenizer: str
    sentences: str
    segmenter: str
    shard_ends: tuple[int, ...]
    attach_citations: bool = False
    word_starts: bool = False
    columns: tuple[str, ...] = ()
    sentence_marks: bool = False
    sentences_of: tuple[tuple[str, bool], ...] = ()
    scores: tuple[str, ...] = ()
    made_from: str = ""
    ids_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShardsSpec:
    """What all shards of a phase have in common.

    records: the folder of their records, if not in its own stages; columns: whether the token store has columns of the
    documents.
    """

    output: str
    plan: ShardPlan
    info: PretrainingInfo
    tokenizer_path: str
    records: str = ""
    columns: bool = False


_written: WeakValueDictionary[str, Tokenizer] = WeakValueDictionary()
"""The tokenizers of builds that this process has begun, by fingerprint, as long as these builds have them."""


def share(tokenizer: Tokenizer) -> None:
    """Let parts that this process makes use a tokenizer that it wrote for them: XLM-R's takes 1.7 s to load."""
    _written[tokenizer.fingerprint] = tokenizer


def _tokenizer(path: str, fingerprint: str) -> Tokenizer:
    """Return the tokenizer of a fingerprint, from the folder where it was written if this process does not have it."""
    tokenizer = _written.get(fingerprint)
    return _loaded(path, fingerprint) if tokenizer is None else tokenizer


@lru_cache(maxsize=2)
def _loaded(path: str, fingerprint: str) -> Tokenizer:
    tokenizer = load_tokenizer(path)
    if tokenizer.fingerprint != fingerprint:
        raise ConfigError(f"the tokenizer in {path} changed while the build was running; build again")
    return tokenizer


@lru_cache(maxsize=2)
def _segmenter(
    name: str, fingerprint: str, attach_citations: bool, sentence_marks: bool, of: tuple[tuple[str, bool], ...]
) -> Segmenter:
    segmenter = load_saved(name, attach_citations, sentence_marks, of)
    if segmenter.fingerprint != fingerprint:
        raise ConfigError(f"the sentence parameters {name} changed while the build was running; build again")
    return segmenter


@dataclass(frozen=True)
class SourcedRange:
    """A range of documents, the number of its source, and whether compiled code finds its sentences."""

    documents: DocumentRange
    source: int = 0
    compiled: bool = True


@dataclass(frozen=True)
class BinnedSlices:
    """The slices of a shard, which of its length bins is written, and the numbers of its phase and of the shard."""

    slices: TokenSlices
    length_bin: int
    mixed: bool
    phase: int
    shard: int

    @property
    def split(self) -> str:
        """The split of the shard: those of validation have each document once."""
        return "train" if self.mixed else "validation"


def plan_tokens(
    ranges: Sequence[DocumentRange],
    directory: str,
    spec: TokensSpec,
    source_of: Mapping[str, int] | None = None,
    segmenter_of: Mapping[str, str] | None = None,
) -> list[Task]:
    """Return one tokenizing task for each range of documents.

    source_of: the number of the source of each path; segmenter_of: the fingerprint of what cuts its sentences, by path,
    where that is not all of `spec.segmenter`.
    """
    optional = [*([WORD_STARTS] if spec.word_starts else []), *([spec.columns] if spec.columns else [])]
    optional += [spec.made_from] if spec.made_from else []
    optional += [["ids", *spec.ids_of]] if spec.ids_of else []
    compiled = compiling_sentences_pays(ranges)

    cut_by = [(segmenter_of or {}).get(documents.path, spec.segmenter) for documents in ranges]
    tasks = {
        segmenter: range_tasks(
            ranges, directory, "tokenize", TOKENS_REVISION, [spec.tokenizer, segmenter, spec.shard_ends, *optional]
        )
        for segmenter in dict.fromkeys(cut_by)
    }
    return [
        replace(task, payload=SourcedRange(task.payload, (source_of or {}).get(task.payload.path, 0), compiled))
        for task in (tasks[segmenter][number] for number, segmenter in enumerate(cut_by))
    ]


def tokens_part(spec: TokensSpec, task: Task, file: BinaryIO) -> Counters:
    """Write the token file of one range of documents."""
    part: SourcedRange = task.payload
    tokenizer = _tokenizer(spec.tokenizer_path, spec.tokenizer)
    marks = spec.sentence_marks
    segmenter = _segmenter(spec.sentences, spec.segmenter, spec.attach_citations, marks, spec.sentences_of)
    tables = read_range(part.documents, columns=bool(spec.columns or spec.sentences_of or spec.ids_of))
    scores = [parse_score(score) for score in spec.scores]
    return write_tokens(
        tables,
        tokenizer,
        segmenter,
        spec.shard_ends,
        file,
        compiled=part.compiled,
        columns=spec.columns,
        scores=scores,
        ids_of=spec.ids_of,
    )


def shard_task(spec: ShardsSpec, shard: int, slices: Iterable[TokenSlice], length_bin: int = 0, phase: int = 0) -> Task:
    """Return the task of one shard, or of one of its length bins; it does not depend on the order of the slices."""
    ordered = sorted(slices, key=lambda part: (part.path, part.offset))
    return _shard_task(spec, shard, made_of(ordered), TokenSlices.of(ordered), length_bin, phase)


def made_of(slices: Iterable[TokenSlice]) -> list[list[str | int]]:
    """Return what fingerprints have of slices: the SHA-256 of the file, offset, length and source."""
    return [[token_slice.sha256, token_slice.offset, token_slice.length, token_slice.source] for token_slice in slices]


def _shard_task(
    spec: ShardsSpec, shard: int, parts: list[list[str | int]], slices: TokenSlices, length_bin: int, phase: int
) -> Task:
    info, bins, mixed = spec.info, len(spec.info.examples.bins), spec.plan.split(shard) == "train"
    epochs = mixed and info.epochs
    selects = [["left out by source", SELECTION_REVISION]] if info.selection != SelectionConfig() else []
    made_from = fingerprint(
        "shard", SHARDS_REVISION, info.of_rows().values(), parts, length_bin, epochs, *selects, *info.raised_revisions()
    )
    folder, name = spec.plan.file(shard, length_bin, bins).split("/")
    weight = int(slices.rows.array[:, 1].sum(dtype=np.int64)) // bins
    records = files.join(spec.records or files.join(spec.output, "stages", "shards"), folder)
    place, stem = files.join(spec.output, folder), name.removesuffix(".arrow")
    return Task(
        place, stem, ".arrow", made_from, weight, BinnedSlices(slices, length_bin, mixed, phase, shard), records
    )


def sharded(specs: Sequence[ShardsSpec], shared: Collection[int] = ()) -> Grouping:
    """Return how token files lead to the shards of all phases but `shared`, by one reference to each file.

    One worker makes the tasks of all shards; the length bins of a shard are then written by one worker.
    """
    return Grouping((None,), _token_file, partial(_shard_tasks, specs, frozenset(shared)), _phase_and_shard)


def _token_file(task: Task, record: PartMetadata) -> list[tuple[None, TokenFile]]:
    return [(None, TokenFile.of(task, record))]


def _phase_and_shard(task: Task) -> tuple[int, int]:
    return task.payload.phase, task.payload.shard


def _shard_tasks(
    specs: Sequence[ShardsSpec], shared: frozenset[int], key: None, token_files: Iterable[TokenFile]
) -> list[Task]:
    """Return the tasks of all shards, phase by phase: one of a shard, or one for each length bin."""
    tasks: list[list[Task]] = [[] for _ in specs]
    for shard, slices in by_shard(token_files, len(specs[0].plan.ends)):
        parts, packed = made_of(slices), TokenSlices.of(slices)
        for phase, spec in enumerate(specs):
            if phase in shared:
                continue
            for number in range(len(spec.info.examples.bins)):
                tasks[phase].append(_shard_task(spec, shard, parts, packed, number, phase))
    return [task for each in tasks for task in each]


def tokenizer_of(spec: ShardsSpec) -> Tokenizer:
    """Return the tokenizer of shards, loaded once in a process."""
    return _tokenizer(spec.tokenizer_path, spec.info.tokenizer)


def shard_part(specs: Sequence[ShardsSpec], task: Task, file: BinaryIO) -> Counters:
    """Write one shard of a phase, or one length bin of it, from its slices of the token store."""
    shard: BinnedSlices = task.payload
    spec = specs[shard.phase]
    tokenizer = _tokenizer(spec.tokenizer_path, spec.info.tokenizer)
    copies: Iterable[PlannedCopy]
    if len(spec.info.examples.bins) > 1:
        block, left_out, copies = _planned(spec, shard.slices, shard.mixed)
    else:
        block, left_out = _selected(spec, shard.slices)
        copies = plan_copies(block, spec.info, mixed=shard.mixed)
    masker = spec.info.masker(tokenizer, split=shard.split, build=spec.output)
    digests = PieceDigests() if _may_have_pieces(spec, task, mixed=shard.mixed) else None
    counters = write_shard(block, spec.info, masker, file, copies=copies, length_bin=shard.length_bin, pieces=digests)
    if digests is not None and file.tell() > PIECES_FROM:
        counters.details[PIECES] = digests.entries()
    counters.add_all(**left_out if shard.length_bin == 0 else {})
    if spec.info.draws_masks and (masks := spec.info.masks_of(shard.split)):
        counters.details[MASKS] = masks
    return counters


def _may_have_pieces(spec: ShardsSpec, task: Task, *, mixed: bool) -> bool:
    """Tell whether a shard may be so large that digests of its pieces are wanted, which take time."""
    copies = number_of_copies(spec.info.epochs if mixed else (), spec.info.examples.dupe_factor)
    return 2 * task.weight * copies > PIECES_FROM


@lru_cache(maxsize=1)
def _planned(spec: ShardsSpec, slices: TokenSlices, mixed: bool) -> tuple[TokenBlock, Counts, list[PlannedCopy]]:
    """Return the block of a shard, what the selection left out of it, and its copies.

    They are cached while the length bins of the shard are written one after another.
    """
    block, left_out = _selected(spec, slices)
    return block, left_out, list(plan_copies(block, spec.info, mixed=mixed))


def _selected(spec: ShardsSpec, slices: TokenSlices) -> tuple[TokenBlock, Counts]:
    """Return the documents of a shard that the phase takes, and counts of the others."""
    tokenizer = _tokenizer(spec.tokenizer_path, spec.info.tokenizer)
    block, columns = load_documents(slices, tokenizer, spec.info.examples.seed, columns=spec.columns)
    return select(block, columns, spec.info)
