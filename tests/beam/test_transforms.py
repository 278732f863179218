"""A transform does each task once, whatever the runner does, and writes its error beside the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata.beam.runner import Runner
from bertdata.engine.parts import load, run_once
from bertdata.engine.stages import Grouping, Standing, all_together
from bertdata.errors import ConfigError, InputError
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from tests.beam.jobs import fail, make, note_process, tasks


def test_a_task_gives_itself_with_its_record_and_is_done_once(tmp_path: Path) -> None:
    from bertdata.beam.transforms import MakePart

    [task] = tasks(tmp_path, 1)
    [first] = MakePart(note_process).process(task)
    [again] = MakePart(fail).process(task)
    assert first == again == (task, load(task))


def test_a_failure_is_told_in_a_file_and_raised(tmp_path: Path) -> None:
    from bertdata.beam.transforms import MakePart

    [task] = tasks(tmp_path, 1, "InputError")
    with pytest.raises(InputError) as caught:
        list(MakePart(fail).process(task))
    told = json.loads(Path(task.failure_path).read_text())
    assert told == {"kind": "InputError", "message": str(caught.value)}
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
        self._version = "0.0.9"

    monkeypatch.setattr(transforms.MakePart, "__init__", sent_by_another)
    with pytest.raises(
        ConfigError, match=r"a worker has bertdata \d.*, and the process that started the build 0\.0\.9"
    ):
        make(Runner(1, quiet=True), tasks(tmp_path, 1), note_process)
    assert list(tmp_path.iterdir()) == []


def test_the_job_graph_of_2780_ranges_is_small(tmp_path: Path) -> None:
    from apache_beam import Pipeline

    from bertdata.beam.transforms import construct

    dump, number, range_bytes = tmp_path / "enwiki.xml", 2_780, 8 << 20
    with dump.open("wb") as file:
        file.write(b"<mediawiki>")
        file.truncate(number * range_bytes)  # a sparse file: the plan is made of its size
    stage = ReadSource("wikipedia", {str(dump): "wikipedia"}, "gs://bucket/a", CleaningConfig(range_bytes=range_bytes))
    [step] = stage.plan(Standing()).steps
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
    assert [one for one, before in zip(lasts, ["", *lasts], strict=False) if one != before] == list(
        dict.fromkeys(lasts)
    )
