"""Where the time of Spark's applications goes, by the logs of events that Spark writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HEAD = ["job", "until its first task, s", "first stage, s", "other stages, s", "a worker in tasks of these, s"]
HEAD += ["of these in Java, CPU-s", "longest task, s", "tasks tried again"]


@dataclass
class Application:
    """What an application did, in seconds: one for each job of a build.

    before: from its start to its first task, in which executors start. first: the first stage, which makes the list of
    what is to be done, and starts one worker in Python. others: the stages after it, whose tasks took `in_tasks` in a
    worker, on average; of which Java had `java` seconds of a processor, in both. again: tasks that Spark tried again.
    """

    name: str
    began: float
    before: float
    first: float
    others: float
    in_tasks: float
    java: float
    longest: float
    again: int


def event_files(folder: str) -> list[Path]:
    """Return the logs below a folder, one for each application."""
    return [file for file in Path(folder).rglob("*") if file.is_file() and not file.name.startswith(".")]


def applications(folder: str, workers: int = 2) -> list[Application]:
    """Return the applications of the logs below a folder, as they began."""
    read = (_application([json.loads(line) for line in file.open()], workers) for file in event_files(folder))
    return sorted(read, key=lambda application: application.began)


def _application(events: list[dict[str, Any]], workers: int) -> Application:
    def of(kind: str) -> Iterator[dict[str, Any]]:
        return (event for event in events if event["Event"] == f"SparkListener{kind}")

    began = next(of("ApplicationStart"))
    tasks = list(of("TaskEnd"))
    launched = min(task["Task Info"]["Launch Time"] for task in tasks)
    first = [task for task in tasks if task["Stage ID"] == 0]
    others = [task for task in tasks if task["Stage ID"] > 0]
    first_end = max(task["Task Info"]["Finish Time"] for task in first)
    lasted = [(task["Task Info"]["Finish Time"] - task["Task Info"]["Launch Time"]) / 1e3 for task in others]
    return Application(
        name=re.sub("-[0-9a-f]{8}_.*", "", began["App Name"]),
        began=began["Timestamp"] / 1e3,
        before=(launched - began["Timestamp"]) / 1e3,
        first=(first_end - launched) / 1e3,
        others=(max(task["Task Info"]["Finish Time"] for task in tasks) - first_end) / 1e3,
        in_tasks=sum(lasted) / workers,
        java=sum((task.get("Task Metrics") or {}).get("Executor CPU Time", 0) for task in others) / 1e9,
        longest=max(lasted, default=0.0),
        again=sum(task["Task Info"]["Attempt"] > 0 for task in tasks),
    )


def rows(jobs: list[Application], rounds: int) -> list[list[str]]:
    """Return a row for each job, the mean of all rounds."""
    names = dict.fromkeys(job.name for job in jobs)
    lines = []
    for name in names:
        same = [job for job in jobs if job.name == name]
        numbers = ("before", "first", "others", "in_tasks", "java", "longest")
        means = [sum(getattr(job, number) for job in same) / rounds for number in numbers]
        lines.append([name, *(f"{mean:.1f}" for mean in means), str(sum(job.again for job in same))])
    return lines
