"""What a build in an object store takes outside of its pipelines: requests and seconds, with a pause for each request.

Run: python benchmarks/store.py [--pause 0.03] [--range-bytes 8000]; it needs s3fs and moto[server,s3].
The sample corpus is built in a local S3 whose server answers each request after the pause: first as it is, without a
pause, then again unchanged, with another --seed, and with another --seed after all indexes of records are deleted.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import fsspec
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from bertdata.corpus.settings import Settings
from bertdata.curation.settings import DedupConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig

OUTPUT = "s3://corpora/sample"
_TITLES = ("unchanged", "another --seed", "another --seed, no indexes of records")


@dataclass
class Store:
    """A WSGI application that counts the requests of another one, and answers each after `pause` seconds."""

    app: Callable[..., Iterable[bytes]]
    pause: float = 0.0
    requests: Counter[str] = field(default_factory=Counter)
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        with self.lock:
            self.requests[environ["REQUEST_METHOD"]] += 1
        time.sleep(self.pause)
        return self.app(environ, start)


@dataclass
class CountingRunner(Runner):
    """A runner that counts the requests of its pipelines; `store` is set before it runs."""

    store: Store | None = None
    requests: int = 0

    def run(self, *arguments: Any) -> None:
        """Run a pipeline."""
        assert self.store is not None
        before = self.store.requests.total()
        super().run(*arguments)
        self.requests += self.store.requests.total() - before


def main() -> None:
    """Build, build again in each way, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pause", type=float, default=0.03, help="seconds that each request takes")
    parser.add_argument("--range-bytes", type=int, default=8000, help="fewer make more parts")
    flags = parser.parse_args()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ[name] = "anything"
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    store = Store(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, store, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    fsspec.config.conf["s3"] = {"endpoint_url": f"http://127.0.0.1:{server.server_port}"}
    fs = fsspec.filesystem("s3")
    fs.mkdir("corpora")
    settings = Settings(
        CleaningConfig(range_bytes=flags.range_bytes),
        VocabularyConfig(vocab_size=2000),
        ShardsConfig(shard_bytes=300_000, validation_fraction=0.1),
        dedup=DedupConfig(dedup="near"),
    )
    build(settings, store)
    parts = [path for path in fs.find(f"{OUTPUT}/stages") if path.endswith(".json")]
    print(f"{len(parts)} parts, {flags.pause * 1000:.0f} ms a request\n")
    print("| a build that is finished, built again | requests outside of pipelines | seconds outside of pipelines |")
    print("|---|---:|---:|")
    store.pause = flags.pause
    for number, title in enumerate(_TITLES):
        if number == 2:
            for path in fs.find(f"{OUTPUT}/stages"):
                if path.endswith(".jsonl"):
                    fs.rm_file(path)
        phase = PhaseConfig(examples=ExamplesConfig(seed=number))
        requests, seconds = build(replace(settings, phases=(phase,)), store)
        print(f"| {title} | {requests} | {seconds:.1f} |", flush=True)
    server.shutdown()


def build(settings: Settings, store: Store) -> tuple[int, float]:
    """Build the sample; returns the requests and the seconds outside of pipelines."""
    store.requests.clear()
    runner = CountingRunner(1, quiet=True, store=store)
    began = time.perf_counter()
    build_corpus(Sources((SAMPLE_DUMP,), (SAMPLE_BOOKS,)), OUTPUT, settings, runner)
    seconds = time.perf_counter() - began - sum(seconds for _, seconds in runner.seconds)
    return store.requests.total() - runner.requests, seconds


if __name__ == "__main__":
    main()
