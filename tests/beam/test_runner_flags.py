"""Flags of Beam that do not go together, or not with the paths of a build, are refused before any work."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bertdata.beam import internals, runner_flags
from bertdata.beam.quiet_import import import_beam
from bertdata.beam.runner import Runner
from bertdata.cli import command_line
from bertdata.errors import ConfigError, MissingExtraError
from tests.beam.jobs import make, note_process, tasks

ROOT = Path(__file__).resolve().parents[2]
DATAFLOW = (
    "--runner=DataflowRunner",
    "--project=my-project",
    "--region=us-central1",
    "--temp_location=gs://bucket/tmp",
)


@pytest.fixture(autouse=True)
def the_checkout_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--no_such_flag=1"], "Beam knows no --no_such_flag=1; .*bertdata's own come before it"),
        (["--project_name", "x"], "Beam knows no --project_name"),
        (["stray"], "Beam knows no stray"),
        (["--direct_num_workers=many"], "does not take --direct_num_workers: invalid int value: 'many'"),
        (["--direct_running_mode=mult"], "does not take --direct_running_mode: invalid choice"),
        (["--runner"], "does not take --runner: expected one argument"),
        (["--runner=Dataflw"], "refuses these flags: Unexpected pipeline runner: Dataflw"),
        (["--runner=no.such.Runner"], "refuses these flags: No module named 'no'"),
        (["--num_workers=4"], "--num_workers is for Dataflow; local runs take `workers`"),
        (["--dry_run=True"], "--dry_run is for Dataflow; bertdata's own `dry_run` comes before the --"),
        (["--runner=FnApiRunner", "--num_workers=4"], "--num_workers is for Dataflow"),
        (["--direct_num_workers=4"], "--direct_num_workers needs --direct_running_mode; local runs take `workers`"),
    ],
)
def test_flags_that_beam_would_only_warn_of_or_crash_on_are_refused(
    flags: list[str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=words):
        make(Runner(0, tuple(flags), quiet=True), tasks(tmp_path, 1), note_process)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--project=p"], "--project=p is for DataflowRunner, and no runner was given; add --runner=DataflowRunner"),
        (["--flink_master=x"], "for FlinkRunner, and no runner was given"),
        (["--runner=FlinkRunner", "--num_workers=4"], "4 is for DataflowRunner, and --runner=FlinkRunner was given"),
        (["--runner=FlinkRunner", "--spark_master_url=x"], "for SparkRunner, and --runner=FlinkRunner was given"),
        (["--runner=SparkRunner", "--dask_client_address=x"], "for DaskRunner, and --runner=SparkRunner was given"),
        (["--runner=DirectRunner", "--region=r"], "for DataflowRunner, and --runner=DirectRunner was given"),
        (["--runner=bertdata.no.such.Runner"], "refuses these flags: No module named 'bertdata.no'"),
        (["--runner=bertdata.beam.runner.NoRunner"], "refuses these flags: .*has no attribute 'NoRunner'"),
        (["--runner=FlinkRunner", "--job_server_java_launcher=no-java", "--environment_type=LOOPBACK"], "install Java"),
        (["--runner=SparkRunner", "--output_executable_path=/data/x.jar"], "cannot see a local path"),
    ],
)
def test_a_runner_that_cannot_work_is_refused_before_any_work(flags: list[str], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        Runner(0, tuple(flags), quiet=True).check(str(tmp_path / "out"), [])


@pytest.mark.parametrize("flag", ["--runner=FnApiRunner", "--direct_running_mode=multi_processing"])
def test_workers_of_ours_and_a_runner_of_beams_are_one_too_many(flag: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`workers` is for local runs"):
        make(Runner(2, (flag,)), tasks(tmp_path, 1), note_process)


@pytest.mark.parametrize(
    "flags",
    [
        ["--runner=DataflowRunner"],
        ["--runner=dataflow"],
        ["--runner=FlinkRunner", "--flink_master=host:8081"],
        ["--runner=flink", "--flink_master=host:8081"],
        ["--runner=SparkRunner", "--spark_master_url=spark://host:7077"],
    ],
)
def test_a_cluster_cannot_write_to_a_local_path(flags: list[str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot see a local path; give a URL") as caught:
        make(Runner(0, tuple(flags), quiet=True), tasks(tmp_path, 1), note_process)
    assert str(caught.value).startswith(str(tmp_path))


def test_a_cluster_cannot_read_from_a_local_path() -> None:
    inputs = ["gs://bucket/a.xml.bz2", "/data/b.xml.bz2"]
    with pytest.raises(ConfigError, match=r"/data/b\.xml\.bz2: a cluster cannot see"):
        make(
            Runner(0, ("--runner=FlinkRunner", "--flink_master=host:1"), quiet=True),
            tasks("memory://out", 1),
            note_process,
            inputs,
        )


@pytest.mark.parametrize(
    "flags",
    [
        ("--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=LOOPBACK"),
        ("--runner", "PortableRunner", "--job_endpoint", "embed", "--environment_type", "LOOPBACK"),
        ("--runner=FlinkRunner",),
        ("--runner=FlinkRunner", "--environment_type=LOOPBACK"),
        ("--runner=FnApiRunner",),
        (),
    ],
)
def test_a_runner_on_this_machine_sees_local_paths(flags: tuple[str, ...]) -> None:
    import_beam()
    runner_flags.check(internals.parse_flags(flags), 0, ["/data/out"])


def test_a_runner_whose_name_says_cluster_elsewhere_is_still_one() -> None:
    import_beam()
    with pytest.raises(ConfigError, match="cannot see a local path"):
        runner_flags.check(internals.parse_flags([*DATAFLOW, "--job_name=loopback"]), 0, ["/data/out"])


def test_dataflow_without_its_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import_beam()
    monkeypatch.setitem(sys.modules, "apache_beam.runners.dataflow.internal.apiclient", None)
    with pytest.raises(MissingExtraError, match=r'pip install "\.\[gcp\]"'):
        runner_flags.check(internals.parse_flags(DATAFLOW), 0, ["gs://bucket/out"])


@pytest.fixture
def dataflow_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Dataflow's client be found, which is not installed here."""
    import_beam()
    client = "apache_beam.runners.dataflow.internal.apiclient"
    monkeypatch.setitem(sys.modules, client, ModuleType(client))
    monkeypatch.setattr(client, sys.modules[client], raising=False)
    from apache_beam.options.pipeline_options import GoogleCloudOptions

    monkeypatch.setattr(GoogleCloudOptions, "_warn_if_soft_delete_policy_enabled", lambda *_: None)  # asks the bucket


@pytest.mark.usefixtures("dataflow_client")
@pytest.mark.parametrize("flag", ["--dry_run=True", "--template_location=memory://t"])
def test_a_job_that_is_made_and_not_run_is_a_success_that_says_so(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--runner=tests.beam.jobs.DataflowRunner", "--sdk_container_image=i", *DATAFLOW[1:], flag)

    def work() -> int:
        make(Runner(0, flags, quiet=True), tasks("memory://not-run", 1), note_process)
        return 1

    assert command_line.run(work) == 0
    assert "the job of test was made" in capsys.readouterr().out


@pytest.mark.usefixtures("dataflow_client")
def test_dataflow_without_a_way_to_get_bertdata_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"workers have no bertdata; add --extra_package=WHEEL, which scripts/build"):
        runner_flags.check(internals.parse_flags(DATAFLOW), 0, ["gs://bucket/out"])
    for flag in ("--extra_package=a.whl", "--sdk_container_image=i", "--setup_file=s"):
        runner_flags.check(internals.parse_flags([*DATAFLOW, flag]), 0, ["gs://bucket/out"])


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["--runner=FlinkRunner"], ["--experiments", "--environment_cache_millis"]),
        (["--runner=SparkRunner"], ["--experiments", "--environment_cache_millis"]),
        (["--runner=SparkRunner", "--environment_cache_millis=9"], ["--experiments"]),
        (["--runner=PrismRunner"], ["--experiments"]),
        (["--runner=DataflowRunner"], []),
        ([], []),
    ],
)
def test_workers_of_flink_and_spark_are_kept_and_no_list_of_packages_is_sent(
    flags: list[str], names: list[str]
) -> None:
    import_beam()
    added = runner_flags.defaults(internals.parse_flags(flags))
    assert [flag.partition("=")[0] for flag in added] == names
    internals.parse_flags([*flags, *added])
