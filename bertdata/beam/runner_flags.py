"""Which of Beam's flags go together with each other, with --workers, and with the paths of a build."""

from __future__ import annotations

import argparse
import json
import re
import uuid
from collections.abc import Sequence

from bertdata.beam import dask_cluster, flink_jobs, job_server
from bertdata.errors import BertDataError, ConfigError, MissingExtraError
from bertdata.io import files
from bertdata.io.console import counted

CLUSTERS = ("dataflow", "flink", "spark", "portable", "kafkastreams")
"""The runners, by their short names, whose workers may be on other machines."""
PORTABLE = ("flink", "spark", "portable", "prism")
"""The runners that give their jobs to a job server."""
CARRIERS = ("extra_packages", "setup_file", "requirements_file", "sdk_container_image")
"""The options by which workers that begin without bertdata get packages."""
LOCAL = ("direct", "fnapi", "switchingdirect", "bundlebaseddirect")
"""Beam's runners on this machine."""
POOL = "python -m bertdata.cli.worker_pool --service_port=50000"
_OF_DATAFLOW_ALONE = ("--num_workers", "--max_num_workers", "--autoscaling_algorithm", "--machine_type", "--region")
_LOCAL_MASTER = {"flink": r"\[(local|auto)\]", "spark": r"local(\[.+\])?"}
WORKER_SECONDS = 600.0
"""How long a portable runner's first worker may take to start, where a machine is busy or an image is fetched."""
_CACHE_MILLISECONDS = 300_000
"""How long a worker is kept: one that is older is replaced before its next bundle."""
_AGAIN = "run the same command again: what is done is kept"
_ENDED = re.compile(r"Pipeline \S+ failed in state (?P<state>[A-Z]+): (?P<words>.*)", re.DOTALL)
"""What Beam's portable runner raises where a job did not end as DONE."""
_REFUSED = re.compile(r"Connection refused|ConnectException")
_CANCELLED = re.compile(r"Master removed our application: KILLED|\.JobCancellationException: Job was cancelled")
"""What Spark and Flink say, as of a failure, of an application or a job that was ended at their page or interface."""
_OF_AN_ENGINE = re.compile(r"(?:java|javax|scala|org\.apache)\.[\w.$]+(?:Exception|Error)\b")
"""How an error of an engine in Java begins; what a worker in Python raises has its traceback."""
_JOB_NAME = 44
"""Characters of a job's name that tell its steps: of all of it, Dataflow takes 63."""


def runner_name(parsed: argparse.Namespace) -> str:
    """Return the short name of the runner that flags name, "" where they name none.

    >>> runner_name(argparse.Namespace(runner="FlinkRunner"))
    'flink'
    """
    return (parsed.runner or "").rsplit(".")[-1].lower().removesuffix("runner")


def environment_type(parsed: argparse.Namespace) -> str:
    """Return where a portable runner's workers run: LOOPBACK (this process), EXTERNAL, PROCESS or DOCKER."""
    if parsed.environment_type:
        return str(parsed.environment_type).upper()
    name = runner_name(parsed)
    master = {"flink": parsed.flink_master, "spark": parsed.spark_master_url}.get(name, "")
    loopback = name == "prism" or re.fullmatch(_LOCAL_MASTER.get(name, "$."), master or "")
    return "LOOPBACK" if loopback and not parsed.output_executable_path else "DOCKER"


def is_cluster(parsed: argparse.Namespace) -> bool:
    """Tell whether a runner's workers are elsewhere, and see no local path.

    Those of a pool, and processes that the runner starts, may share one: they are asked (`worker_check`).
    """
    if runner_name(parsed) not in CLUSTERS:
        return False
    return runner_name(parsed) == "dataflow" or (
        environment_type(parsed) not in ("LOOPBACK", "EXTERNAL", "PROCESS") and parsed.job_endpoint != "embed"
    )


def job_name(parsed: argparse.Namespace, titles: Sequence[str]) -> list[str]:
    """Return the flag that names the job of some steps, for a runner that lists jobs, unless flags name it already.

    It ends in random digits, since Dataflow takes no name that a running job has.

    >>> job_name(argparse.Namespace(runner="FlinkRunner", job_name=None), ["clean wikipedia", "clean books"])
    ... # doctest: +ELLIPSIS
    ['--job_name=bertdata-clean-wikipedia-clean-books-...']
    """
    if not parsed.runner or runner_name(parsed) in LOCAL or parsed.job_name:
        return []
    steps = re.sub("[^a-z0-9]+", "-", " ".join(titles).lower())[:_JOB_NAME]
    return [f"--job_name=bertdata-{steps.strip('-')}-{uuid.uuid4().hex[:8]}"]


def defaults(parsed: argparse.Namespace) -> list[str]:
    """Return flags of portable runners that Beam leaves otherwise, but for those that flags name already.

    No list of this environment's packages is sent, which pip makes for each job. Flink and Spark keep a worker for the
    tasks that follow in its job: without, Spark starts one for each bundle, which takes longer than most of them.
    """
    if runner_name(parsed) not in PORTABLE:
        return []
    flags = ["--experiments=disable_logging_submission_environment"]
    if runner_name(parsed) in ("flink", "spark") and not parsed.environment_cache_millis:
        flags.append(f"--environment_cache_millis={_CACHE_MILLISECONDS}")
    return flags


def of_check(parsed: argparse.Namespace) -> list[str]:
    """Return the flags of the job that asks a worker: on Flink one slot, since one worker has the question.

    With more, Beam's own pool may stop that worker in the place of those that have none (`bertdata.beam.worker_pool`).

    >>> of_check(argparse.Namespace(runner="FlinkRunner", parallelism=8))
    ['--parallelism=1']
    """
    return ["--parallelism=1"] if runner_name(parsed) == "flink" or parsed.parallelism > 0 else []


def starts_job_server(parsed: argparse.Namespace) -> bool:
    """Tell whether a runner starts a job server on this machine."""
    uber_jar = parsed.flink_submit_uber_jar or parsed.spark_submit_uber_jar
    return runner_name(parsed) in job_server.JARS and not parsed.job_endpoint and not uber_jar


def check(parsed: argparse.Namespace, workers: int, paths: Sequence[str]) -> None:
    """Refuse numbers of workers without effect, a cluster with local paths, workers that get no bertdata."""
    if workers and (parsed.runner or parsed.mode_is_named):
        raise ConfigError("--workers is for local runs; a runner or mode named after -- takes its own flag there")
    for flag, name in parsed.others.items():
        if not _is_read(flag.partition("=")[0], name.lower().removesuffix("runner"), runner_name(parsed)):
            where = f"--runner={parsed.runner} was given" if parsed.runner else "no runner was given"
            raise ConfigError(f"{flag} is for {name}, and {where}; add --runner={name}, or leave {flag} out")
    if parsed.dry_run and runner_name(parsed) != "dataflow":
        raise ConfigError("--dry_run is for Dataflow; bertdata's own --dry-run comes before the --")
    if parsed.num_workers and not is_cluster(parsed):
        raise ConfigError("--num_workers is for Dataflow; local runs take --workers, before the --")
    if parsed.direct_num_workers != 1 and not parsed.mode_is_named:
        raise ConfigError("--direct_num_workers needs --direct_running_mode; local runs take --workers, before the --")
    if runner_name(parsed) == "portable" and not parsed.job_endpoint:
        raise ConfigError("PortableRunner needs the address of a job server; add --job_endpoint=HOST:PORT")
    if is_cluster(parsed):
        for path in paths:
            if not files.is_remote(path):
                raise ConfigError("a cluster cannot see a local path; give a URL such as gs://bucket/folder", path=path)
    if runner_name(parsed) == "dataflow":
        _check_dataflow(parsed)
    if runner_name(parsed) in PORTABLE:
        _check_portable(parsed)


def _is_read(flag: str, of: str, runner: str) -> bool:
    """Tell whether a flag of the runner `of` means something to another one; Google's are of use for its storage."""
    if not runner or runner in LOCAL:
        return flag == "--num_workers"  # which has a message of its own
    if of == "dataflow":
        return runner == of or flag not in _OF_DATAFLOW_ALONE
    return runner in (of, "portable")


def _check_dataflow(parsed: argparse.Namespace) -> None:
    try:
        import apache_beam.runners.dataflow.internal.apiclient  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("apache-beam[gcp]", "gcp") from error
    if not any(getattr(parsed, name) for name in CARRIERS):
        raise ConfigError(
            "Dataflow's workers have no bertdata; add --extra_package=WHEEL, which scripts/build makes, or "
            "--sdk_container_image=IMAGE of the Dockerfile"
        )


def _check_portable(parsed: argparse.Namespace) -> None:
    environment, config = environment_type(parsed), parsed.environment_config
    if environment == "PROCESS" and parsed.job_endpoint == "embed":
        raise ConfigError(
            "Beam's embedded job server starts no processes; leave the runner out, for processes on this machine, or "
            f"use --environment_type=EXTERNAL --environment_config=localhost:50000 after `{POOL}`"
        )
    if environment == "PROCESS" and not _process_command(parsed):
        raise ConfigError(
            "--environment_type=PROCESS needs the program that starts a worker on the machines of the cluster; add "
            """--environment_config='{"command": "PATH"}', with the path of Beam's boot program"""
        )
    if environment == "EXTERNAL" and not config:
        raise ConfigError(
            f"--environment_type=EXTERNAL needs the address of a worker pool; start `{POOL}`, and add "
            "--environment_config=localhost:50000"
        )
    if environment == "DOCKER" and not config and not any(getattr(parsed, name) for name in CARRIERS):
        raise ConfigError(
            f"--runner={parsed.runner} starts workers in Beam's own image, which has no bertdata; add "
            "--sdk_container_image=IMAGE of the Dockerfile, or --environment_type=LOOPBACK for workers in this process"
        )


def _process_command(parsed: argparse.Namespace) -> str:
    """Return the program that flags name for PROCESS, "" where they name none."""
    options = dict(option.partition("=")[::2] for option in parsed.environment_options or ())
    if not parsed.environment_config:
        return str(options.get("process_command", ""))
    try:
        command = json.loads(parsed.environment_config).get("command")
    except (ValueError, AttributeError):
        return ""
    return command if isinstance(command, str) else ""


def check_runner(parsed: argparse.Namespace) -> None:
    """Raise ConfigError for a runner, or a program of its, that is not there; MissingExtraError for its packages."""
    from apache_beam.runners import create_runner

    try:
        create_runner(dask_cluster.RUNNER if dask_cluster.is_named(parsed.runner) else parsed.runner)
    except (ValueError, ImportError, AttributeError, TypeError) as error:
        raise refused(error) from error
    if starts_job_server(parsed):
        job_server.require_program(runner_name(parsed), parsed)
        job_server.require_cluster(runner_name(parsed), parsed)


def refused(error: Exception) -> ConfigError:
    """Return the error for flags that Beam itself refuses."""
    return ConfigError(f"Beam refuses these flags: {' '.join(str(error).split())}")


def silence(parsed: argparse.Namespace) -> str:
    """Return what to do where a portable runner's workers do not begin to work."""
    names = flink_jobs.others(parsed)
    if names:
        return (
            f"these jobs are on Flink, and may hold its slots: {', '.join(names)}; wait for them, or cancel those of a "
            "build that was killed"
        )
    return _silence(parsed)


def too_few_slots(parsed: argparse.Namespace) -> str:
    """Return which jobs leave Flink fewer free slots than --parallelism asks for, "" where none do."""
    cluster, names = flink_jobs.address(parsed), flink_jobs.others(parsed)
    try:
        free = flink_jobs.free_slots(cluster) if cluster and names else parsed.parallelism
    except (OSError, ValueError, KeyError):
        return ""
    if free >= parsed.parallelism:
        return ""
    return f"Flink has {counted(free, 'free slot')}, and --parallelism asks for {parsed.parallelism}: {silence(parsed)}"


def _silence(parsed: argparse.Namespace) -> str:
    environment, config = environment_type(parsed), parsed.environment_config
    if environment == "EXTERNAL":
        return (
            f"look at what the worker pool at {config} prints, and start it in the environment of this process: {POOL}"
        )
    if environment == "LOOPBACK":
        return "the job server must reach this machine as localhost; look at what it prints"
    if environment == "PROCESS":
        return (
            f"look at the logs of the cluster, and run {_process_command(parsed)} there: it must exist, and start a "
            "worker with this version of bertdata"
        )
    return "look at the logs of the cluster: it may have no free slot, or not get the image"


def explained(failure: BaseException, parsed: argparse.Namespace) -> BertDataError | None:
    """Return what a failure of a portable runner means for its user, None where that is not known."""
    text = f"{type(failure).__name__}: {failure}"
    if "update_compatibility_version" in text and "dill" in text:
        return ConfigError(
            "Beam refuses these flags: an --update_compatibility_version before 2.68.0 needs dill==0.3.1.1; name "
            "2.68.0 or later, or leave it out: no job of a build is updated"
        )
    if "No module named 'bertdata'" in text:
        return ConfigError(
            "a worker has no bertdata; install this version there, or start it in the environment of this process"
        )
    if runner_name(parsed) not in PORTABLE:
        return None
    if "beam:env:process:v1" in text:
        return ConfigError(
            f"the job server at {parsed.job_endpoint} starts no processes; use --environment_type=LOOPBACK, or EXTERNAL"
        )
    if "'docker'" in text:
        return ConfigError(
            "the job server starts workers with Docker, which does not run on its machine, or does not get the image; "
            f"try `docker run --rm IMAGE --version` there, or use --environment_type=LOOPBACK ({_last_line(text)})"
        )
    words = ""
    if ended := _ENDED.search(text):
        state, words = ended["state"], ended["words"].strip().partition("\n")[0]
        if state == "CANCELLED" or _CANCELLED.search(words):
            return BertDataError(f"the job was cancelled at the engine, not by this process; {_AGAIN}")
        if "SDK worker disconnected" in words:
            return BertDataError(
                f"a worker has ended while it worked, killed or for want of memory, and the engine gave the job up; "
                f"{_AGAIN} ({words})"
            )
    unreachable = "StatusCode.UNAVAILABLE" in text
    of_pool = environment_type(parsed) == "EXTERNAL" and (unreachable or _REFUSED.search(text))
    if of_pool and not job_server.is_listening(_pool_address(parsed)):
        return ConfigError(
            f"the worker pool at {_pool_address(parsed)} does not answer; start it, or correct "
            f"--environment_config: {POOL}"
        )
    if unreachable:
        where = f" at {parsed.job_endpoint}" if parsed.job_endpoint else ""
        return BertDataError(f"the job server of {parsed.runner}{where} is gone; see that it runs, and {_AGAIN}")
    if ended and _OF_AN_ENGINE.match(words):
        return BertDataError(f"the engine gave the job up ({words}); its logs say why; {_AGAIN}")
    return None


def _pool_address(parsed: argparse.Namespace) -> str:
    """Return the address of the worker pool that --environment_config names, alone or as the url of a JSON object."""
    config = parsed.environment_config or ""
    try:
        return str(json.loads(config)["url"])
    except (ValueError, KeyError, TypeError):
        return config


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1]
