"""The job of a launch of a Flex template: one worker, which runs the build as a process of its own."""

from __future__ import annotations

import logging

import pytest

from bertdata.beam import flex_job
from bertdata.beam.quiet_import import import_beam
from bertdata.errors import BertDataError

FLAGS = [
    "--runner=DataflowRunner",
    "--project=my-project",
    "--region=us-central1",
    "--temp_location=gs://bucket/tmp",
    "--service_account_email=me@project",
    "--sdk_container_image=an-image",
    "--num_workers=8",
    "--max_num_workers",
    "64",
    "--machine_type=n2-highmem-2",
    "--job_name=wiki",
    "--template_location=gs://bucket/job",
]


def test_the_jobs_of_the_build_have_place_account_image_and_workers_of_the_launch_and_its_name() -> None:
    *flags, name = flex_job.flags_of_build(FLAGS)
    assert flags == FLAGS[:10]
    assert name.startswith("--job_name=wiki-build-")


def test_builds_that_are_started_again_have_jobs_of_another_name() -> None:
    assert flex_job.flags_of_build(FLAGS)[-1] != flex_job.flags_of_build(FLAGS)[-1]


def test_a_name_that_is_a_word_of_its_own_is_found() -> None:
    assert flex_job.flags_of_build(["--job_name", "wiki"])[0].startswith("--job_name=wiki-build-")


def test_the_job_of_the_launch_has_one_worker_with_one_thread_on_a_machine_of_its_own() -> None:
    assert flex_job.flags_of_launch(FLAGS, "a-machine") == [
        *FLAGS[:6],
        *FLAGS[10:],
        "--num_workers=1",
        "--max_num_workers=1",
        "--number_of_worker_harness_threads=1",
        "--machine_type=a-machine",
    ]


def test_flags_of_a_launcher_that_beam_does_not_know_are_left_out_and_told(caplog: pytest.LogCaptureFixture) -> None:
    import_beam()
    flags = ["--runner=FnApiRunner", "--of_a_later_launcher", "value", "--job_name=wiki"]
    assert flex_job.known_flags(flags) == ["--runner=FnApiRunner", "--job_name=wiki"]
    assert "--of_a_later_launcher is left out" in caplog.text


def test_what_the_process_prints_is_logged_line_by_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "bertdata")
    import_beam()
    flex_job.start(["-c", "import sys; print('one'); print('two', file=sys.stderr)"], [])
    assert sorted(record.getMessage() for record in caplog.records) == ["one", "two"]


def test_a_process_that_fails_fails_the_job_with_what_it_said_last() -> None:
    import_beam()
    with pytest.raises(BertDataError, match=r"(?s)ended with code 3; start the template again.*last words"):
        flex_job.start(["-c", "import sys; print('last words'); sys.exit(3)"], [])
