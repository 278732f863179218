"""Builds away from this machine's disk: at URLs through fsspec, and as the job graph that Dataflow would get."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from bertdata import ConfigError, open_shards
from bertdata.beam.runner import Runner
from bertdata.cli.main import run_verb
from bertdata.corpus.build import build_corpus
from bertdata.errors import JobNotRun
from bertdata.io import files
from bertdata.sample import SAMPLE_DUMP
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from tests.pipelines.builds import SETTINGS, build, with_examples

WITH_BEAM = True

DATAFLOW = (
    "--runner=DataflowRunner",
    "--dry_run=True",
    "--no_auth",
    "--sdk_location=container",
    "--project=my-project",
    "--region=us-central1",
    "--temp_location=gs://bucket/tmp",
    "--sdk_container_image=an-image",
)
NO_CLIENT = "Dataflow's client is not installed: pip install '.[gcp]'"


@pytest.fixture
def memory() -> Iterator[str]:
    folder = f"memory://{uuid.uuid4().hex}"
    yield folder
    memory = fsspec.filesystem("memory")
    if memory.exists(folder):
        memory.rm(folder, recursive=True)


def below(folder: str) -> dict[str, str]:
    """Return the SHA-256 of every file below a URL by its path there."""
    fs, place = fsspec.core.url_to_fs(folder)
    return {
        path.removeprefix(place).lstrip("/"): hashlib.sha256(fs.cat_file(path)).hexdigest() for path in fs.find(place)
    }


def shards(digests: dict[str, str]) -> dict[str, str]:
    return {path: digest for path, digest in digests.items() if path.endswith(".arrow") and "stages" not in path}


@pytest.mark.costly
def test_a_build_at_a_url_gives_the_same_shards_and_goes_on_there(memory: str, tmp_path: Path) -> None:
    dump, output = f"{memory}/in/{files.name(SAMPLE_DUMP)}", f"{memory}/out"
    files.write_bytes(dump, Path(SAMPLE_DUMP).read_bytes())
    runner = Runner(1, quiet=True)
    manifest, worked = build_corpus(Sources((dump,)), output, SETTINGS, runner)
    assert worked
    first = below(output)
    local = build(tmp_path / "local", sources=Sources((SAMPLE_DUMP,)))
    assert manifest == local
    assert shards(first) == {
        str(path.relative_to(tmp_path / "local")): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (tmp_path / "local").glob("*/data-*.arrow")
    }
    assert len(open_shards(output)) == len(open_shards(tmp_path / "local"))

    assert build_corpus(Sources((dump,)), output, SETTINGS, runner) == (manifest, False)
    build_corpus(Sources((dump,)), output, with_examples(seed=1), runner)
    changed = below(output)
    kept = (
        "stages/wikipedia/",
        "stages/words/",
        "stages/merged-words/",
        "stages/vocabulary/",
        "stages/tokens/",
        "tokenizer/",
    )
    assert {path for path in changed if first.get(path) != changed[path]} >= set(shards(first))
    assert all(changed[path] == first[path] for path in first if path.startswith(kept))
    assert not [path for path in changed if files.TEMPORARY in path]


def test_a_cluster_is_refused_local_documents_for_a_build_at_a_url(sample_build: Path, memory: str) -> None:
    arguments = ["--documents", str(sample_build / "stages" / "wikipedia"), "--output", f"{memory}/out"]
    arguments += ["--vocab", str(sample_build / "tokenizer"), "--", "--runner=FlinkRunner", "--flink_master=host:8081"]
    with pytest.raises(ConfigError, match=r"stages/wikipedia/.*parquet: a cluster cannot see a local path"):
        run_verb("build-shards", arguments)


class Bucket(MemoryFileSystem):  # type: ignore[misc]
    """Google Cloud Storage without a network."""

    protocol = ("gs",)
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("gs://").strip("/")


@pytest.fixture
def dataflow(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let gs:// be memory; returns the job graphs that Dataflow would have got."""
    pytest.importorskip("apache_beam.runners.dataflow.internal.apiclient", reason=NO_CLIENT, exc_type=ImportError)
    from apache_beam.runners.dataflow.dataflow_runner import DataflowRunner

    graphs: list[Any] = []
    plain = DataflowRunner.run_pipeline

    def run_pipeline(self: Any, *arguments: Any, **options: Any) -> Any:
        result = plain(self, *arguments, **options)
        graphs.append(self.proto_pipeline)
        return result

    monkeypatch.setattr(DataflowRunner, "run_pipeline", run_pipeline)
    monkeypatch.setitem(import_module("fsspec.registry")._registry, "gs", Bucket)
    Bucket.store.clear()
    return graphs


def transforms(graph: Any) -> dict[str, str]:
    """Return the kind of each transform of a graph that has one, by its name."""
    return {
        transform.unique_name: transform.spec.urn
        for transform in graph.components.transforms.values()
        if not transform.subtransforms
    }


def grouped(graph: Any) -> list[str]:
    """Return the names of the transforms that group, sorted."""
    return sorted(name for name, urn in transforms(graph).items() if urn.endswith(":group_by_key:v1"))


def test_dataflow_gets_small_graphs_that_group_only_references(dataflow: list[Any]) -> None:
    files.write_bytes("gs://bucket/in/wiki.xml.bz2", Path(SAMPLE_DUMP).read_bytes())
    settings = replace(SETTINGS, cleaning=CleaningConfig(range_bytes=8_000))
    sources = Sources(("gs://bucket/in/wiki.xml.bz2",))
    with pytest.raises(JobNotRun, match="was made, and not run, as the flags of the runner ask"):
        build_corpus(sources, "gs://bucket/out", settings, Runner(0, DATAFLOW, quiet=True))
    [cleaning] = dataflow
    kinds = transforms(cleaning)
    assert kinds["0 clean wikipedia"].endswith(":pardo:v1")
    assert grouped(cleaning) == ["Assign"]
    assert cleaning.ByteSize() < 100_000
    # With what a later stage reads in place, its graph can be seen too.
    for folder in ("words", "tokens"):
        build_corpus(sources, "gs://bucket/out", settings, Runner(1, quiet=True))
        files.remove(f"gs://bucket/out/stages/{folder}")
        files.remove("gs://bucket/out/.bertdata-finished.json")
        with pytest.raises(JobNotRun, match="was made, and not run, as the flags of the runner ask"):
            build_corpus(sources, "gs://bucket/out", settings, Runner(0, DATAFLOW, quiet=True))
    _, training, sharding = dataflow
    assert grouped(training) == ["1 references/GroupByKey", "2 references/GroupByKey", "Assign"]
    assert grouped(sharding) == ["1 references/GroupByKey", "1 references/Spread", "Assign"]
    assert all(graph.ByteSize() < 200_000 for graph in dataflow)


def test_dataflow_without_a_project_is_told_what_is_missing() -> None:
    pytest.importorskip("apache_beam.runners.dataflow.internal.apiclient", reason=NO_CLIENT, exc_type=ImportError)
    flags = [flag for flag in DATAFLOW if not flag.startswith("--project")]
    with pytest.raises(ConfigError, match=r"refuses these flags: .*Missing required option: project"):
        Runner(0, tuple(flags), quiet=True).run([], [], ["gs://bucket/out"])
