"""A stage keeps what is done, makes the rest, and deletes what belongs to no task any more."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import fsspec
import pytest

from bertdata.beam.runner import Runner
from bertdata.engine.parts import Counters, PartMetadata, PartResult, Task, load, part_name, run_once
from bertdata.engine.records import load_all
from bertdata.engine.run_stages import State, delete_stale, finished, make_parts, run_stages, stage_states
from bertdata.engine.stages import BuildState, Grouping, Plan, Stage, Step, all_together, require_documents
from bertdata.errors import BertDataError, InputError
from bertdata.io import files
from tests.beam.jobs import make, note_process, tasks

HERE = Runner(1, quiet=True)


@dataclass(frozen=True)
class Alone:
    """A stage of one step, whose parts lie in one folder."""

    tasks: list[Task]
    title = "note"
    first = True

    def plan(self, build_state: BuildState) -> Plan:
        return Plan(
            [Step("note", note_process, self.tasks)],
            lambda done: replace(build_state, documents=(*build_state.documents, *done[0])),
            folders=[self.tasks[0].directory],
        )


def letters_of(task: Task, record: PartMetadata) -> list[tuple[str, str]]:
    return [(record.details["letter"], task.path)]


def write_letter(task: Task, file: BinaryIO) -> Counters:
    file.write(task.payload.encode())
    return Counters({"parts": 1}, {}, {"letter": task.payload[0]})


def letter_task(folder: str, letter: str, paths: Iterable[str]) -> list[Task]:
    ordered = sorted(paths)
    made_from = [Path(path).read_text() for path in ordered]
    return [Task(folder, letter, ".txt", "+".join(made_from), 1, made_from)]


def join_words(task: Task, file: BinaryIO) -> Counters:
    file.write(" ".join(task.payload).encode())
    return Counters({"words": len(task.payload)})


def sum_task(folder: str, _: None, parts: Iterable[PartResult]) -> list[Task]:
    counts = {task.name: record.counts["words"] for task, record in parts}
    return [Task(folder, "sum", ".txt", str(sorted(counts.items())), 1, counts)]


def write_sum(task: Task, file: BinaryIO) -> Counters:
    file.write(str(dict(sorted(task.payload.items()))).encode())
    return Counters()


@dataclass(frozen=True)
class ByLetter:
    """A stage of three steps: words, one file each; one file for each first letter; and one with their numbers."""

    folder: str
    words: tuple[str, ...]
    title = "by letter"
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        words, letters, total = (f"{self.folder}/{name}" for name in ("words", "letters", "sum"))
        tasks = [
            Task(words, part_name("words", number), ".arrow", word, 1, word) for number, word in enumerate(self.words)
        ]
        return Plan(
            [
                Step("words", write_letter, tasks),
                Step("letters", join_words, grouping=Grouping("abc", letters_of, partial(letter_task, letters))),
                Step("letters", write_sum, grouping=Grouping((None,), all_together, partial(sum_task, total))),
            ],
            lambda done: replace(build_state, account={"sum": Path(done[2][0][0].path).read_text()}),
            folders=[words, letters],
        )


@pytest.mark.parametrize("workers", [1, 2])
def test_the_steps_of_a_stage_feed_each_other_by_reference(workers: int, tmp_path: Path) -> None:
    stage = ByLetter(str(tmp_path), ("apple", "bread", "ash"))
    build_state = run_stages([stage], Runner(workers, quiet=True))
    assert build_state.account == {"sum": "{'a': 2, 'b': 1, 'c': 0}"}
    assert (tmp_path / "letters" / "a.txt").read_text() == "apple ash"
    assert (tmp_path / "letters" / "c.txt").read_text() == ""


def test_a_stage_makes_again_what_changed_and_what_follows_from_it(tmp_path: Path) -> None:
    run_stages([ByLetter(str(tmp_path), ("apple", "bread", "ash"))], HERE)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    run_stages([ByLetter(str(tmp_path), ("apple", "bread", "ash"))], HERE)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    build_state = run_stages([ByLetter(str(tmp_path), ("apple", "corn"))], HERE)
    assert build_state.account == {"sum": "{'a': 1, 'b': 0, 'c': 1}"}
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    kept = {path.name for path in after if before.get(path) == after[path]}
    assert kept == {"words-00000.arrow", "words-00000.json"}
    assert not list(tmp_path.glob("words/words-00002*"))


def test_a_look_says_how_far_each_step_is_and_does_nothing(tmp_path: Path) -> None:
    first = Alone(tasks(tmp_path / "notes", 3))
    stages: list[Stage] = [first, ByLetter(str(tmp_path), ("apple", "bread")), Alone(tasks(tmp_path / "more", 1))]
    assert list(stage_states(stages)) == [
        State("note", "B", 0, 0, 3),
        State("by letter"),
        State("note", "B", 0, 0, 1),
    ]
    assert not any(tmp_path.iterdir())
    run_stages(stages[:2], HERE)
    done(replace(first.tasks[0], fingerprint="other"))
    states = list(stage_states([stages[1], first]))
    assert states[0] == State("words", "B", 2, 0, 0)
    assert states[1] == State("letters", "B", 3, 0, 0)
    assert states[3] == State("note", "B", 2, 1, 0)


class Nothing:
    """A stage with a step that has nothing to do."""

    title = "nothing"
    first = True

    def plan(self, build_state: BuildState) -> Plan:
        return Plan([Step("nothing", note_process, [])], lambda done: build_state)


def test_a_step_without_tasks_is_done_and_those_after_it_are_looked_at(tmp_path: Path) -> None:
    stages: list[Stage] = [ByLetter(str(tmp_path), ("apple", "bread"))]
    run_stages(stages, HERE)
    assert list(stage_states([Nothing(), *stages])) == list(stage_states(stages))
    assert len(list(stage_states(stages))) == 3


def test_a_folder_without_a_part_of_the_stage_is_removed(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "part-00000.arrow").write_bytes(b"of another run")

    @dataclass(frozen=True)
    class Nothing:
        title = "nothing"
        first = True

        def plan(self, build_state: BuildState) -> Plan:
            return Plan((), lambda done: build_state, folders=[str(tmp_path / "gone")], notes=["a note"])

    assert run_stages([Nothing()], HERE) == BuildState()
    assert not (tmp_path / "gone").exists()


def done(task: Task) -> Task:
    run_once(task, note_process)
    return task


def test_records_that_fit_no_more_are_forgotten_and_their_tasks_come_heaviest_first(tmp_path: Path) -> None:
    some = tasks(tmp_path, 5)
    done(some[1])
    changed = done(replace(some[2], fingerprint="other"))
    damaged = done(some[3])
    Path(damaged.path).write_bytes(b"cut")
    assert [task.name[-1] for task in delete_stale(some, load_all(some))] == ["4", "3", "2", "0"]
    assert load(some[1]) is not None
    assert not any(os.path.exists(task.record_path) for task in (changed, damaged))


def flip(path: str, place: int = -3) -> None:
    """Flip a bit of a file, which keeps its size."""
    data = bytearray(Path(path).read_bytes())
    data[place] ^= 1
    Path(path).write_bytes(data)


def test_a_part_with_a_flipped_bit_is_made_again_and_told(tmp_path: Path) -> None:
    some = [done(task) for task in tasks(tmp_path, 3)]
    whole = Path(some[1].path).read_bytes()
    flip(some[1].path)
    messages: list[str] = []
    assert delete_stale(some, load_all(some), messages.append) == [some[1]]
    [line] = messages
    assert line.startswith(f"{some[1].path}: its SHA-256 is ")
    assert line.endswith("damaged, so it is made again")
    assert Path(done(some[1]).path).read_bytes() == whole
    assert delete_stale(some, load_all(some), messages.append) == []
    assert len(messages) == 1


def test_a_part_or_a_record_that_is_cut_is_told_and_one_of_other_settings_is_not(tmp_path: Path) -> None:
    some = [done(task) for task in tasks(tmp_path, 3)]
    done(replace(some[0], fingerprint="other"))
    Path(some[1].path).write_bytes(b"cut")
    os.truncate(some[2].record_path, 9)
    messages: list[str] = []
    more = [*some, *tasks(tmp_path / "more", 1)]
    assert delete_stale(more, load_all(more), messages.append)
    assert messages == [
        f"{some[1].path}: is missing or has another size than its record says: it is made again",
        f"{some[2].path}: its record is damaged: it is made again",
    ]


def test_a_record_with_a_flipped_bit_is_no_record(tmp_path: Path) -> None:
    [task] = [done(task) for task in tasks(tmp_path, 1)]
    data = Path(task.record_path).read_bytes()
    for place in range(0, len(data), 7):
        flip(task.record_path, place)
        assert load(task) is None or json.loads(data) == json.loads(Path(task.record_path).read_bytes())
        Path(task.record_path).write_bytes(data)
    assert load(task) is not None


def test_a_damaged_part_at_a_url_is_made_again_by_the_worker_that_gets_it(caplog: pytest.LogCaptureFixture) -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    task = done(Task(folder, "part-00000", ".txt", "f", 1, None))
    fs = fsspec.filesystem("memory")
    place = task.path.removeprefix("memory:/")
    whole = fs.cat_file(place)
    fs.pipe_file(place, bytes([whole[0] ^ 1]) + whole[1:])
    assert delete_stale([task], load_all([task])) == []
    done(task)
    assert fs.cat_file(place) == whole
    assert f"{task.path} is damaged: it is made again" in caplog.text
    fs.rm(folder, recursive=True)


def test_tasks_of_one_weight_come_by_name(tmp_path: Path) -> None:
    some = [replace(task, weight=1) for task in tasks(tmp_path, 4)]
    assert delete_stale(some[::-1], load_all(some[::-1])) == some


def test_every_finished_task_gives_its_record_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    some = tasks(tmp_path, 3)
    for task in some[::-1]:
        done(task)
    assert [(task, record.name) for task, record in finished(some)] == [(task, task.name) for task in some]


def test_a_part_that_the_runner_left_out_is_named(tmp_path: Path) -> None:
    some = tasks(tmp_path, 2)
    done(some[0])
    with pytest.raises(BertDataError, match=r"part-00001\.arrow.*run the same command again"):
        finished(some)


def test_only_what_is_not_done_is_made_and_other_parts_go(tmp_path: Path) -> None:
    some = tasks(tmp_path, 4)
    for task in [*some[:2], *tasks(tmp_path, 6)[4:]]:
        done(task)
    Path(tmp_path / "notes.txt").write_text("mine")
    before = [os.stat(task.path).st_mtime_ns for task in some[:2]]
    build_state = run_stages([Alone(some)], HERE)
    assert [task for task, _ in build_state.documents] == some
    assert [os.stat(task.path).st_mtime_ns for task in some[:2]] == before
    names = {name for task in some for name in (files.name(task.path), files.name(task.record_path))}
    assert set(os.listdir(tmp_path)) == names | {"notes.txt"}


def test_a_finished_stage_starts_no_pipeline(tmp_path: Path) -> None:
    some = [done(task) for task in tasks(tmp_path, 2)]
    assert len(make(Runner(1, ("--no_such_flag",), quiet=True), some, note_process)) == 2


def test_no_tasks_are_no_work(tmp_path: Path) -> None:
    assert make(HERE, [], note_process) == []
    assert os.listdir(tmp_path) == []


def record(documents: int, drops: dict[str, int]) -> PartMetadata:
    return PartMetadata("a", "f", 1, "s", 0.0, {"documents": documents} if documents else {}, drops)


def test_sources_without_a_document_are_refused_with_what_was_dropped(tmp_path: Path) -> None:
    [task] = tasks(tmp_path, 1)
    require_documents([(task, record(0, {"redirect": 3})), (task, record(1, {}))])
    with pytest.raises(InputError, match=r"dropped: redirect: 2,003, too short: 1\)"):
        require_documents([(task, record(0, {"redirect": 3})), (task, record(0, {"redirect": 2000, "too short": 1}))])
    with pytest.raises(InputError, match="dropped: nothing"):
        require_documents([])


@dataclass
class Noting(Runner):
    """A runner that notes what each pipeline was made of."""

    pipelines: list[list[str]] = field(default_factory=list)
    announced: list[str] = field(default_factory=list)

    def announce(self, jobs: Sequence[str]) -> None:
        self.announced += jobs

    def run(self, steps: Any, begin: Any, paths: Any) -> None:
        self.pipelines.append([f"{step.title}: {len(tasks)}" for step, tasks in steps])
        super().run(steps, begin, paths)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_stages_that_need_no_other_run_as_one_pipeline(workers: int, tmp_path: Path) -> None:
    stages: list[Stage] = [
        Alone(tasks(tmp_path / "a", 2)),
        Alone(tasks(tmp_path / "b", 3)),
        ByLetter(str(tmp_path), ("apple", "bread")),
    ]
    runner = Noting(workers, quiet=True)
    build_state = run_stages(stages, runner)
    assert runner.pipelines == [["note: 2", "note: 3"], ["words: 2", "letters: 3", "letters: 1"]]
    assert runner.announced == ["note and note", "by letter"]
    assert [Path(task.path).parent.name for task, _ in build_state.documents] == ["a", "a", "b", "b", "b"]
    (tmp_path / "b" / "part-00001.json").unlink()
    again = Noting(workers, quiet=True)
    assert [task for task, _ in run_stages(stages, again).documents] == [task for task, _ in build_state.documents]
    assert again.pipelines == [["note: 3"]]


def test_a_step_with_a_grouping_follows_the_stage_before_it_in_a_pipeline_of_several(tmp_path: Path) -> None:
    by_letter = ByLetter(str(tmp_path), ("apple", "bread", "ash")).plan(BuildState())
    alone = Alone(tasks(tmp_path / "a", 2)).plan(BuildState())
    done = make_parts([alone.steps, by_letter.steps, alone.steps[:0]], HERE)
    assert [[len(parts) for parts in stage] for stage in done] == [[2], [3, 3, 1], []]
    assert (tmp_path / "sum" / "sum.txt").read_text() == "{'a': 2, 'b': 1, 'c': 0}"
