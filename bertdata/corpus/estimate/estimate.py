"""An estimate of a build from a sample of it: a function of what the sample's parts counted and of the settings.

What the whole would count is what the sample counted, times stored bytes of the whole by stored bytes of the sample, by
kind of source. Parts, ranges of documents and shards are then planned by the functions that plan a build.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from bertdata.corpus.estimate import memory, rates
from bertdata.corpus.estimate.figures import Asked, Estimate, Work
from bertdata.corpus.estimate.sample import FINISHED, Group, Sample
from bertdata.corpus.plan import LARGEST_SHARD, plan_shards
from bertdata.corpus.shared_rows import same_rows
from bertdata.curation.dedup import planning as duplicates
from bertdata.curation.dedup.spans.store import REWRITE_TITLE, TITLE, partitions_for
from bertdata.documents import RANGE_BYTES, ROW_GROUP_BYTES, SLOTS, cut_ranges
from bertdata.engine.parts import BYTES_AT_ONCE, TASKS_AT_ONCE, PartMetadata
from bertdata.errors import ConfigError
from bertdata.io.compression import compression
from bertdata.io.console import counted
from bertdata.objectives.mixing import plan_shares
from bertdata.shards.phases import PhaseConfig
from bertdata.sources.stage import KIND_TITLES

_MEGABYTE = 1e6
_REFERENCE_STORED = 20
"""Bytes of a record for each of its references."""


@dataclass(frozen=True)
class _Kind:
    """One kind of source, scaled up: its group, what its samples are multiplied by, and what the whole then has."""

    group: Group
    factor: float
    documents: float
    text: float
    tokens: float
    stored: float


class _Estimator:
    """The steps of an estimate; each is computed once, from the sample and what is asked for."""

    def __init__(self, sample: Sample, asked: Asked) -> None:
        self.sample, self.asked = sample, asked

    @cached_property
    def kinds(self) -> dict[str, _Kind]:
        """The kinds of sources that have any file."""
        return {kind: self._kind(kind, group) for kind, group in self.sample.groups.items() if group.tasks}

    def _kind(self, kind: str, group: Group) -> _Kind:
        factor = group.weight / group.sampled if group.sampled else 0.0
        parts = [part for part in self.sample.made if self.sample.kind_of.get(part.task.path) == kind]
        documents = sum(part.record.counts.get("documents", 0) for part in parts)
        text = group.sampled if kind == FINISHED else sum(part.record.counts.get("text_bytes", 0) for part in parts)
        stored = sum(part.stored for part in parts)
        encoded = [
            part
            for part in self.sample.parts("tokenize")
            if self.sample.kind_of[part.task.payload.documents.path] == kind
        ]
        tokens = sum(part.record.counts.get("tokens", 0) for part in encoded)
        document_number = factor * documents if group.documents is None else group.documents
        return _Kind(group, factor, document_number, *(factor * figure for figure in (text, tokens, stored)))

    @cached_property
    def documents(self) -> float:
        return sum(kind.documents for kind in self.kinds.values())

    @cached_property
    def text(self) -> float:
        return sum(kind.text for kind in self.kinds.values())

    @cached_property
    def tokens(self) -> float:
        return sum(kind.tokens for kind in self.kinds.values())

    @cached_property
    def sampled_text(self) -> float:
        return sum(kind.text / kind.factor for kind in self.kinds.values() if kind.factor)

    @cached_property
    def growth(self) -> float:
        """The text of the whole by that of the sample."""
        return self.text / self.sampled_text

    @cached_property
    def token_files(self) -> int:
        """The ranges of documents, as they are cut of parts with even row groups."""
        parts = []
        for kind in self.kinds.values():
            share = kind.text / kind.group.weight if kind.group.weight else 0.0
            for task in kind.group.tasks:
                text = int(task.weight * share)
                sizes = [ROW_GROUP_BYTES] * (text // ROW_GROUP_BYTES)
                sizes += [rest] if (rest := text % ROW_GROUP_BYTES) or not sizes else []
                groups = [[1, size] for size in sizes]
                parts.append((task.path, PartMetadata("", "", 0, "", 0.0, {}, {}, {"row_groups": groups})))
        return len(cut_ranges(parts))

    @cached_property
    def shards(self) -> int:
        """The shards of a phase without length bins, as they are planned of evenly spread documents."""
        documents, text = round(self.documents), round(self.text)
        counts = [documents * (n + 1) // SLOTS - documents * n // SLOTS for n in range(SLOTS)]
        each = text / max(1, documents)
        slots = [[number, count, int(count * each)] for number, count in enumerate(counts) if count]
        plan = plan_shards([PartMetadata("", "", 0, "", 0.0, {}, {}, {"slots": slots})], self.asked.sharding)
        return len(plan.ends)

    def copies(self, number: int, phase: PhaseConfig) -> float:
        """Return how often a phase has the text that it selects."""
        if not phase.mixing.is_mixed:
            return float(phase.examples.dupe_factor)
        sizes: dict[str, float] = {}
        for kind in self.kinds.values():
            for name, weight in kind.group.by_source(self.asked.source_of).items():
                sizes[name] = sizes.get(name, 0.0) + kind.tokens * weight / kind.group.weight
        sizes = {name: size for name, size in sizes.items() if name in (phase.selection.sources or sizes)}
        shares = plan_shares(phase.mixing, {name: int(size) for name, size in sizes.items()}, 1)
        total = sum(sizes.values())
        return sum(sizes[name] * share.epochs for name, share in shares.items()) / total if total else 0.0

    def read(self) -> list[Work]:
        """Return the work of reading each kind of source."""
        works = []
        for name, kind in self.kinds.items():
            title, seconds, tasks = KIND_TITLES.get(name, ""), self._read_seconds(kind), kind.group.tasks
            heaviest = seconds * max(task.weight for task in tasks) / max(1, kind.group.weight)
            if name == "wikipedia" and self.asked.template_pages:
                read = seconds * rates.TEMPLATE_PAGES
                stored = round(self.sample.stored("read templates", "gather templates") * kind.factor)
                works.append(Work("read templates", len(tasks) + 1, stored, read, heaviest))
            if title:
                works.append(Work(title, len(tasks), round(kind.stored), seconds, heaviest))
        return works

    def _read_seconds(self, kind: _Kind) -> float:
        form = kind.group.format
        if form != "wikipedia":
            return rates.READ.get(form, rates.OTHER_FORMAT) * kind.text / _MEGABYTE
        total = 0.0
        for task in kind.group.tasks:
            how = compression(task.payload.path)
            rates_of_dumps = rates.READ if getattr(task.payload, "compiled", True) else rates.READ_SMALL
            rate = rates_of_dumps["wikipedia, bz2"] if how == "bz2" else rates_of_dumps["wikipedia"] * (4 if how else 1)
            total += rate * task.weight / _MEGABYTE
        return total

    def duplicates(self) -> list[Work]:
        """Return the work of finding duplicates."""
        if self.asked.dedup == "none":
            return []
        seconds = rates.SIGN[self.asked.dedup] * self.text / _MEGABYTE
        parts = self.token_files + duplicates.parts_for(round(self.documents))
        stored = round(self.sample.stored(duplicates.SIGN_TITLE, duplicates.TITLE) * self.growth)
        return [Work(duplicates.TITLE, parts, stored, seconds, seconds / max(1, self.token_files))]

    def repeated(self) -> list[Work]:
        """Return the work of finding repeated text, and of writing all documents anew without it: at most as much."""
        if self.asked.dedup_spans == "none":
            return []
        files = max(1, self.token_files)
        signing = rates.SPANS[self.asked.dedup_spans] * self.text / _MEGABYTE
        stored = round(self.sample.stored(TITLE) * self.growth)
        parts = sum(len(kind.group.tasks) for kind in self.kinds.values())
        anew, documents = rates.REWRITE * self.text / _MEGABYTE, sum(kind.stored for kind in self.kinds.values())
        return [
            Work(TITLE, self.token_files + partitions_for(round(self.text)), stored, signing, signing / files),
            Work(REWRITE_TITLE, parts, round(documents), anew, anew / max(1, parts)),
        ]

    @cached_property
    def distinct_words(self) -> float:
        """The distinct words of all documents."""
        distinct = [part.record.counts["distinct_words"] for part in self.sample.parts("train vocabulary")]
        growth: float = self.growth ** rates.HEAPS[self.asked.tokenizer]
        return max(distinct, default=0) * growth

    def vocabulary(self) -> list[Work]:
        """Return the work of training a vocabulary."""
        if not self.asked.trained:
            return []
        counted = self.sample.parts("count words")
        each, here = self.text / max(1, self.token_files), self.sampled_text / max(1, len(counted))
        heaps = rates.HEAPS[self.asked.tokenizer]
        words = self.sample.stored("count words") / max(1, len(counted)) * (each / here) ** heaps * self.token_files
        merged = self.sample.stored("train vocabulary") * self.growth**heaps
        counting = self.of_text(rates.COUNT_WORDS[self.asked.tokenizer])
        rate = rates.train_seconds(self.asked.tokenizer, self.asked.vocab_size)
        training = rate * min(self.distinct_words, self.asked.max_words) / _MEGABYTE
        parts = len(self.sample.parts("train vocabulary"))
        return [
            Work("count words", self.token_files, round(words), counting, counting / max(1, self.token_files)),
            Work("train vocabulary", parts, round(merged), training, training),
        ]

    def tokenize(self) -> Work:
        """Return the work of the token store."""
        encoded = self.sample.counts("tokenize").get("tokens", 0)
        share = self.tokens / encoded if encoded else 0.0
        stored = self.sample.stored("tokenize") * share + self.references * _REFERENCE_STORED
        seconds = self.of_text(rates.TOKENIZE.get(self.asked.tokenizer, rates.TOKENIZE["bpe"]))
        return Work("tokenize", self.token_files, round(stored), seconds, seconds / max(1, self.token_files))

    def of_text(self, rate: float) -> float:
        """Return the seconds of a step that makes a part of each range of documents."""
        return rate * self.text / _MEGABYTE + rates.PART_SECONDS * self.token_files

    @cached_property
    def references(self) -> int:
        """References from the shards of one phase to token files: each shard has some of each file's documents."""
        files = max(1, self.token_files)
        each = self.documents / files
        shards = self.shards
        return round(files * shards * (1 - (1 - 1 / shards) ** each)) if shards else 0

    @property
    def grouped_earlier(self) -> int:
        """References to counted words and to signatures: one of each partition to each file.

        Of documents that share a key, those of each piece to each block.
        """
        words = len(self.sample.parts("train vocabulary")) - 1 if self.asked.trained else 0
        keys = duplicates.pieces_for(round(self.documents)) if self.asked.dedup != "none" else 0
        spans = partitions_for(round(self.text)) if self.asked.dedup_spans != "none" else 0
        return self.token_files * (words + keys + spans) + keys * (keys + 2)

    def rows(self) -> tuple[Work, float]:
        """Return the work of writing shards, and the number of examples."""
        stored = examples = seconds = 0.0
        encoded = self.sample.counts("tokenize").get("tokens", 0)
        parts, shared = 0, same_rows(self.asked.phases)
        for number, phase in enumerate(self.asked.phases):
            sampled = self.asked.sampled_as.get(number, number)
            made = [part for part in self.sample.parts("write shards") if part.task.payload.phase == sampled]
            share = self.tokens / encoded if encoded else 0.0
            copies = self.copies(number, phase)
            examples += sum(part.record.counts.get("examples", 0) for part in made) * share * copies
            if number in shared:
                continue
            stored += sum(part.stored for part in made) * share * copies
            tokens = sum(part.record.counts.get("row_tokens", 0) for part in made) * share * copies
            seconds += rates.ROWS[phase.examples.masking] * tokens / _MEGABYTE
            parts += self.shards * len(phase.examples.bins)
        return Work("write shards", parts, round(stored), seconds, seconds / max(1, parts)), examples

    def notes(self) -> list[str]:
        """Return what is not known, or is at least or at most as much."""
        notes = []
        for name, kind in self.kinds.items():
            if unread := kind.group.unread:
                notes.append(f"{counted(len(unread), 'sample')} of {name} could not be taken: {unread[0]}")
            if not kind.group.taken or not kind.text:
                notes.append(f"{name}: its text is not known, so all figures are at least as much")
        if self.asked.dedup != "none":
            notes.append("duplicates are not known: figures are those without any")
        if self.asked.dedup_spans != "none":
            notes.append("repeated text is not known: figures are those without any, all documents written anew")
        if self.asked.trained and self.growth > 1:
            notes.append("tokens are those of a vocabulary trained on the samples")
        if any(phase.selection.where or phase.selection.source_where for phase in self.asked.phases):
            notes.append("what the conditions of a selection take is that of the samples")
        return notes

    def planning_bytes(self, parts: int, shards: int) -> int:
        """Return what planning and grouping take in the process that was started."""
        phases, documents = len(self.asked.phases), round(self.documents)
        of_a_phase = -(-shards // phases)
        of_driver = memory.driver_bytes(documents, parts, self.token_files, of_a_phase, phases)
        return of_driver + memory.shuffle_bytes(documents, self.token_files, of_a_phase, phases)

    def store_seconds(self, stages: Sequence[Work], requests: int) -> float:
        """Return the processor seconds of requests, and of the bytes of sources read and of parts written and read."""
        read = sum(kind.group.weight for kind in self.kinds.values())
        again = sum(kind.stored for kind in self.kinds.values()) if self.asked.trained else 0.0
        moved = read + again + 2 * sum(work.stored for work in stages)
        return rates.REQUEST_SECONDS * requests + rates.TRANSFER_SECONDS * moved / _MEGABYTE

    def at_once(self, part: float) -> float:
        """Return how many bytes of text a worker has in hand, where a part has so many."""
        return max(part, min(TASKS_AT_ONCE * part, BYTES_AT_ONCE)) if self.asked.at_url else part

    def estimate(self) -> Estimate:
        """Put it all together."""
        shards, examples = self.rows()
        stages = [*self.read(), *self.duplicates(), *self.repeated(), *self.vocabulary(), self.tokenize(), shards]
        phases = len(self.asked.phases)
        references = self.references * phases
        parts = sum(work.parts for work in stages)
        largest = max(self.asked.sharding.shard_bytes, 1)
        shard = min(self.text / max(1, self.shards), LARGEST_SHARD * largest)
        words = min(self.distinct_words, self.asked.max_words) if self.asked.trained else 0.0
        text_held = max(
            rates.RANGE_MEMORY * self.at_once(min(RANGE_BYTES + ROW_GROUP_BYTES, self.text / max(1, self.token_files))),
            rates.SHARD_MEMORY * self.at_once(shard),
            rates.WORD_BYTES * words,
            memory.duplicates_bytes(round(self.documents)) if self.asked.dedup == "near" else 0.0,
        )
        requests = (
            rates.REQUESTS
            + rates.REQUESTS_PER_PART * parts
            + rates.REQUESTS_PER_REFERENCE * (references + self.grouped_earlier)
        )
        return Estimate(
            documents=round(self.documents),
            text_bytes=round(self.text),
            tokens=round(self.tokens),
            examples=round(examples),
            ranges=sum(len(kind.group.tasks) for kind in self.kinds.values()),
            token_files=self.token_files,
            shards=shards.parts,
            references=references,
            stages=tuple(stages),
            worker_memory=round(rates.PROCESS_BYTES + text_held),
            driver_memory=rates.DRIVER_BYTES + self.planning_bytes(parts, shards.parts),
            requests=requests,
            jobs=tuple(self.asked.jobs),
            notes=tuple(self.notes()),
            store_seconds=self.store_seconds(stages, requests) if self.asked.at_url else 0.0,
        )


def estimate(sample: Sample, asked: Asked) -> Estimate:
    """Return what a build would take; raises ConfigError where a mixture cannot be had, or the samples have no text."""
    estimator = _Estimator(sample, asked)
    if not estimator.tokens:
        unread = [why for group in sample.groups.values() for why in group.unread]
        dropped = ", ".join(f"{reason} {number:,}" for reason, number in sorted(sample.drops().items()))
        raise ConfigError(
            "; ".join(dict.fromkeys(unread))
            or f"the samples of the sources have no text that is kept{dropped and f' (left out: {dropped})'}"
        )
    return estimator.estimate()
