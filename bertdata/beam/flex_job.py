"""A job with one element, which runs Python as a process in its worker: how a Flex template starts a build.

A launch of a template makes one job, and a build makes several, one after another. So the job of the launch does no
work of a build: its worker is the process that plans, and makes the jobs of the build with the flags that the job
itself has, on machines of their own.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain

from bertdata.beam import internals, runner_flags
from bertdata.errors import BertDataError

OF_THE_LAUNCH = ("--template_location", "--job_name", "--save_main_session")
"""Beam's flags that are for the job of a launch alone."""
OF_THE_BUILD = (
    "--num_workers",
    "--max_num_workers",
    "--autoscaling_algorithm",
    "--number_of_worker_harness_threads",
    "--machine_type",
    "--worker_machine_type",
    "--disk_size_gb",
)
"""Beam's flags that are for the jobs of the build: the job of a launch has one worker with one thread."""
MACHINE = "e2-standard-4"
"""The machine of the job of a launch: the driver of a build, with 16 GB of memory (see docs/scale.md)."""
_LAST_LINES = 20


def _options(flags: Sequence[str]) -> Iterator[list[str]]:
    """Yield each flag with its values.

    >>> list(_options(["--project=p", "--region", "us-central1", "--no_auth"]))
    [['--project=p'], ['--region', 'us-central1'], ['--no_auth']]
    """
    option: list[str] = []
    for word in flags:
        if word.startswith("--") and option:
            yield option
            option = []
        option.append(word)
    if option:
        yield option


def _without(flags: Sequence[str], names: Sequence[str]) -> list[str]:
    return [*chain(*(option for option in _options(flags) if option[0].partition("=")[0] not in names))]


def flags_of_launch(flags: Sequence[str], machine: str = MACHINE) -> list[str]:
    """Return Beam's flags for the job of a launch: one worker with one thread.

    >>> flags_of_launch(["--runner=DataflowRunner", "--max_num_workers=64"])[:3]
    ['--runner=DataflowRunner', '--num_workers=1', '--max_num_workers=1']
    """
    of_launch = [
        "--num_workers=1",
        "--max_num_workers=1",
        "--number_of_worker_harness_threads=1",
        f"--machine_type={machine}",
    ]
    return [*_without(flags, OF_THE_BUILD), *of_launch]


def flags_of_build(flags: Sequence[str]) -> list[str]:
    """Return Beam's flags for the jobs of the build, which are named after that of the launch.

    >>> flags_of_build(["--job_name=wiki", "--region=us-central1", "--template_location=gs://bucket/job"])
    ... # doctest: +ELLIPSIS
    ['--region=us-central1', '--job_name=wiki-build-...']
    """
    names = [option for option in _options(flags) if option[0].partition("=")[0] == "--job_name"]
    name = names[-1][0].partition("=")[2] or names[-1][-1] if names else "bertdata"
    return [*_without(flags, OF_THE_LAUNCH), f"--job_name={name}-build-{uuid.uuid4().hex[:8]}"]


def known_flags(flags: Sequence[str]) -> list[str]:
    """Return the flags that Beam knows; says in the log which others the launcher gave, as a later one may."""
    names = internals.flag_names(flags)
    options = list(_options(flags))
    for option in options:
        if (name := option[0].partition("=")[0]) not in names:
            logging.getLogger("bertdata").warning("%s is left out: this version of Beam does not know it", name)
    return [*chain(*(option for option in options if option[0].partition("=")[0] in names))]


def run_python(arguments: Sequence[str]) -> None:
    """Run Python with arguments, and log each line that it prints.

    Raises BertDataError, with its last lines, where it fails.
    """
    log = logging.getLogger("bertdata")
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            log.info("%s", line.rstrip())
            last.append(line.rstrip())
    if process.returncode:
        raise BertDataError(
            f"the build ended with code {process.returncode}; start the template again with the same output, and it "
            "goes on from there. It said last:\n" + "\n".join(last)
        )


def start(arguments: Sequence[str], flags: Sequence[str]) -> None:
    """Start a job that runs Python with arguments in its worker; without a runner that is here, until it has ended."""
    import apache_beam
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    parsed = internals.parse_flags(flags)
    is_local = not parsed.runner or runner_flags.runner_name(parsed) in runner_flags.LOCAL
    try:
        pipeline = internals.new_pipeline(FnApiRunner() if is_local else None, PipelineOptions(list(flags)))
    except (ValueError, ImportError) as error:
        raise runner_flags.refused(error) from error
    words = pipeline | apache_beam.Create([tuple(arguments)], reshuffle=False)
    _ = words | "bertdata build" >> apache_beam.Map(run_python)
    result = pipeline.run()
    if is_local:  # the launcher of Dataflow starts the job once its program has ended
        result.wait_until_finish()
