"""What an estimate is made from beside a sample, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bertdata.corpus.estimate import rates
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import ShardsConfig


@dataclass(frozen=True)
class Asked:
    """What a build is asked for, as far as its size depends on it.

    tokenizer: the model of the tokenizer, "tokenizers" where that package encodes; trained: whether it is trained, to
    vocab_size tokens. source_of: the name of the source of each file; jobs: the titles of the pipelines. at_url:
    whether the output is at a URL, where a worker makes several small parts at once. sampled_as: of phases whose rows
    the sample has once, the number of the one that it has (`bertdata.corpus.shared_rows.same_rows`).
    """

    phases: Sequence[PhaseConfig]
    sharding: ShardsConfig
    tokenizer: str
    trained: bool
    max_words: int
    vocab_size: int
    dedup: str
    dedup_spans: str
    template_pages: bool
    source_of: dict[str, str]
    jobs: Sequence[str]
    at_url: bool = False
    sampled_as: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """One stage: its parts, the bytes that it leaves on disk, and its processor seconds, `alone` of these in one part.

    heaviest: the processor seconds of its largest part.
    """

    title: str
    parts: int
    stored: int
    seconds: float
    heaviest: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """What a build would take from nothing; sizes in bytes. `notes` say what is not known, or is at least as much.

    parts: of all stages. ranges: of the sources; token_files: of the token store; references: from shards to these.
    driver: of the process that is started. store_seconds: the processor seconds of requests to an object store, where
    the output is at a URL.
    """

    documents: int
    text_bytes: int
    tokens: int
    examples: int
    ranges: int
    token_files: int
    shards: int
    references: int
    stages: tuple[Work, ...]
    worker_memory: int
    driver_memory: int
    requests: int
    jobs: tuple[str, ...]
    notes: tuple[str, ...] = ()
    store_seconds: float = 0.0

    @property
    def stored(self) -> int:
        """The bytes on disk of all stages."""
        return sum(work.stored for work in self.stages)

    @property
    def seconds(self) -> float:
        """The processor seconds of all stages, and of requests to an object store."""
        return sum(work.seconds for work in self.stages) + self.store_seconds

    @property
    def parts(self) -> int:
        """The parts of all stages."""
        return sum(work.parts for work in self.stages)

    def wall(self, workers: int) -> float:
        """Return the seconds that a build takes with so many free cores, each with a worker.

        A stage takes at least as long as its largest part, and its last parts leave half of the workers idle.
        """
        starts = rates.COMMAND_SECONDS + rates.KERNELS_SECONDS + (rates.START_SECONDS if workers > 1 else 0.0)
        planning = self.parts * rates.DRIVER_SECONDS_PER_PART if workers > 1 else 0.0
        stages = sum(
            max(work.heaviest, work.seconds / workers + (work.heaviest / 2 if workers > 1 else 0.0))
            for work in self.stages
        )
        return starts + planning + stages + self.store_seconds / workers
