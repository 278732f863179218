"""A transform does each task once, whatever the runner does, and writes its error beside the record."""

from __future__ import annotations

import json
import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from bertdata.beam.runner import Runner
from bertdata.beam.transforms import MakePart
from bertdata.engine.parts import BYTES_AT_ONCE, Counters, Task, load, run_once
from bertdata.engine.stages import BuildState, Grouping, Step, all_together
from bertdata.engine.versions import versions
from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from tests.beam.jobs import fail, make, note_overlap, note_process, overlaps, tasks


def test_a_task_gives_itself_with_its_record_and_is_done_once(tmp_path: Path) -> None:
    from bertdata.beam.transforms import MakePart

    [task] = tasks(tmp_path, 1)
    [first] = MakePart(note_process).process(task)
    [again] = MakePart(fail).process(task)
    assert first == again == (task, load(task))


def test_what_is_done_is_counted_for_the_engine(tmp_path: Path) -> None:
    import apache_beam
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    from bertdata.beam.transforms import COUNTERS, construct

    pipeline = apache_beam.Pipeline(runner=FnApiRunner())
    to_do = tasks(tmp_path, 3)
    construct(pipeline, [Step("test", note_process, to_do)], [to_do], {})
    result = pipeline.run()
    result.wait_until_finish()
    counters = result.metrics().query()["counters"]
    counts = {c.key.metric.name: c.committed for c in counters if c.key.metric.namespace == COUNTERS}
    assert counts == {"parts": 3, "bytes_read": 33, "bytes_written": sum(len(task.name) for task in to_do)}


def test_a_failure_is_told_in_a_file_and_raised(tmp_path: Path) -> None:
    from bertdata.beam.transforms import MakePart

    [task] = tasks(tmp_path, 1, "InputError")
    with pytest.raises(InputError) as caught:
        list(MakePart(fail).process(task))
    failure = json.loads(Path(task.failure_path).read_text())
    assert failure == {"kind": "InputError", "message": str(caught.value)}
    assert [path.name for path in tmp_path.iterdir()] == [Path(task.failure_path).name]


def test_bundles_that_are_run_again_change_nothing(tmp_path: Path) -> None:
    plain = make(Runner(1, quiet=True), tasks(tmp_path / "a", 3), note_process)
    repeated = Runner(1, ("--direct_runner_bundle_repeat=2",), quiet=True)
    again = make(repeated, tasks(tmp_path / "b", 3), note_process)
    assert [record.sha256 for _, record in plain] == [record.sha256 for _, record in again]
    before = [Path(task.path).stat().st_mtime_ns for task, _ in again]
    assert [run_once(task, fail) for task, _ in again] == [record for _, record in again]
    assert [Path(task.path).stat().st_mtime_ns for task, _ in again] == before


def test_a_worker_of_another_version_than_the_process_that_sent_the_work_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bertdata.beam import transforms

    sent = transforms.MakePart.__init__

    def sent_by_another(self: transforms.MakePart, *arguments: Any) -> None:
        sent(self, *arguments)
        self._versions = versions() | {"tokenizers": "0.0.9"}

    monkeypatch.setattr(transforms.MakePart, "__init__", sent_by_another)
    with pytest.raises(
        ConfigError, match=r"a worker has other versions than .*: tokenizers \d.* \(here 0\.0\.9\); install the same"
    ):
        make(Runner(0, ("--direct_running_mode=in_memory",), quiet=True), tasks(tmp_path, 1), note_process)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.costly
def test_the_job_graph_of_2780_ranges_is_small(tmp_path: Path) -> None:
    from apache_beam import Pipeline

    from bertdata.beam.transforms import construct

    dump, number, range_bytes = tmp_path / "enwiki.xml", 2_780, 8 << 20
    with dump.open("wb") as file:
        file.write(b"<mediawiki>")
        file.truncate(number * range_bytes)  # a sparse file: the plan is made of its size
    stage = ReadSource("wikipedia", {str(dump): "wikipedia"}, "gs://bucket/a", CleaningConfig(range_bytes=range_bytes))
    [step] = stage.plan(BuildState()).steps
    assert len(step.tasks) == number
    pipeline = Pipeline()
    construct(pipeline, [step], [step.tasks], {})
    assert pipeline.to_runner_api().ByteSize() < 350_000  # Dataflow takes 10 MB


def test_tasks_of_one_key_that_belong_together_are_made_in_turn_and_all_are_made(tmp_path: Path) -> None:
    import apache_beam as beam

    from bertdata.beam.transforms import group_tasks

    grouping = Grouping((None,), all_together, lambda key, parts: made, together=lambda task: task.name[-1])
    made = tasks(tmp_path / "made", 12)
    begun = [(task, run_once(task, note_process)) for task in tasks(tmp_path / "begun", 3)]
    seen: list[str] = []
    with beam.Pipeline(runner="BundleBasedDirectRunner") as pipeline:
        parts = pipeline | beam.Create(begun, reshuffle=False)
        names = parts | group_tasks(grouping) | beam.Map(lambda task: (None, task.name)) | beam.GroupByKey()
        names | beam.Map(lambda pair: Path(tmp_path / "names").write_text("\n".join(pair[1])))
    seen = (tmp_path / "names").read_text().split("\n")
    assert sorted(seen) == sorted(task.name for task in made)
    lasts = [name[-1] for name in seen]
    assert [label for label, before in zip(lasts, ["", *lasts], strict=False) if label != before] == list(
        dict.fromkeys(lasts)
    )


def _made(part: MakePart, some: list[Task]) -> list[str]:
    """Return the names of the tasks of a bundle, as they are given out."""
    part.start_bundle()
    during = [task.name for element in some for task, _ in part.process(element)]
    return during + [done.value[0].name for done in part.finish_bundle()]


def test_parts_at_a_url_are_made_at_once_after_the_first_and_given_out_in_order() -> None:
    together = threading.Barrier(3)
    alone: list[int] = []

    def wait(task: Task, file: BinaryIO) -> Counters:
        if task.name.endswith("0"):
            alone.append(together.n_waiting)
        else:
            together.wait(10)
        return note_process(task, file)

    some = tasks(f"memory://{uuid.uuid4().hex}", 7)
    assert _made(MakePart(wait, at_once=3), some) == [task.name for task in some]
    assert alone == [0]
    assert all(load(task) for task in some)


@pytest.mark.parametrize("where", ["a local folder", "large", "one at once"])
def test_parts_are_made_one_after_the_other(where: str, tmp_path: Path) -> None:
    working: list[str] = []

    def work(task: Task, file: BinaryIO) -> Counters:
        working.append(task.name)
        time.sleep(0.02)
        assert working == [task.name]
        working.clear()
        return note_process(task, file)

    some = tasks(str(tmp_path) if where == "a local folder" else f"memory://{uuid.uuid4().hex}", 4)
    if where == "large":
        some = [replace(task, weight=BYTES_AT_ONCE // 2 + 1) for task in some]
    assert len(_made(MakePart(work, at_once=1 if where == "one at once" else 8), some)) == 4


def test_an_error_of_parts_made_at_once_is_raised_when_none_is_being_made_any_more() -> None:
    some = tasks(f"memory://{uuid.uuid4().hex}", 6)
    ended: list[str] = []

    def work(task: Task, file: BinaryIO) -> Counters:
        if task.name.endswith("1"):
            raise InputError("found this")
        time.sleep(0.1)
        ended.append(task.name)
        return note_process(task, file)

    with pytest.raises(InputError, match="found this"):
        _made(MakePart(work, at_once=4), some)
    then = list(ended)
    time.sleep(0.3)
    assert ended == then
    assert files.read_json(some[1].failure_path)["kind"] == "InputError"


def test_a_pipeline_makes_parts_at_a_url_at_once() -> None:
    some = tasks(f"memory://{uuid.uuid4().hex}", 9)
    overlaps.clear()
    done = make(Runner(1, quiet=True), some, note_overlap)
    assert overlaps
    assert sorted(task.name for task, _ in done) == sorted(task.name for task in some)
