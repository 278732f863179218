"""The private parts of Beam that bertdata uses, each with what to do where a new version changes it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

apache_beam = pytest.importorskip("apache_beam")

from bertdata.beam import internals  # noqa: E402
from tests.private_parts import Part, private_names  # noqa: E402

_HANDLERS = "apache_beam.runners.portability.fn_api_runner.worker_handlers"
_SEE = "See beam/internals.py, which alone uses it."
PARTS = {
    "parser": Part(
        "apache_beam.options.pipeline_options:_BeamArgumentParser",
        None,
        "parsing flags strictly",
        f"Without it, make an argparse parser and give it to `_add_argparse_args`. {_SEE}",
    ),
    "arguments": Part(
        "apache_beam.options.pipeline_options:PipelineOptions._add_argparse_args",
        ("parser",),
        "knowing the flags of each group of options, so that unknown ones are refused before any work",
        f"Without it, find how the groups declare flags; unknown ones must not be taken in silence. {_SEE}",
    ),
    "temporaries": Part(
        "apache_beam.pipeline:tempfile.mkdtemp",
        ("suffix", "prefix", "dir"),
        "making no folder for external transforms, which an interrupt would leave",
        f"Without it, take `new_pipeline` back to beam.Pipeline, if that makes no folder any more. {_SEE}",
    ),
    "staging": Part(
        "apache_beam.transforms.environments:tempfile.mkdtemp",
        ("suffix", "prefix", "dir"),
        "deleting the folders in which Beam gathers what it hands to a runner",
        f"Without it, see whether a job leaves a folder behind; if not, take `staging_deleted` out. {_SEE}",
    ),
    "labels": Part(
        "apache_beam.pipeline:alter_label_if_ipython",
        ("transform", "pvalueish"),
        "building in a notebook without Beam's interactive packages",
        f"Without it, build the sample in IPython; if that needs no pandas, take it out of `outside_ipython`. {_SEE}",
    ),
    "ipython": Part(
        "apache_beam.pipeline:is_in_ipython",
        (),
        "building in a notebook without Beam's interactive packages",
        f"Without it, build the sample in IPython; if that needs no pandas, take it out of `outside_ipython`. {_SEE}",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_private_part_of_beam_is_as_it_was(name: str) -> None:
    PARTS[name].check()


def test_every_private_name_that_is_used_of_beam_has_its_contract() -> None:
    used = private_names("bertdata/beam/internals.py")
    tried_below = {"_local_temp_root"}
    of_argparse = {"_option_string_actions"}
    names = {part.where.rpartition(".")[2].rpartition(":")[2] for part in PARTS.values()}
    assert tried_below <= used <= tried_below | of_argparse | names


@pytest.mark.parametrize(
    ("place", "text", "used_for"),
    [
        ("apache_beam.runners.portability.job_server", "_local_temp_root", "the folder of a job server's files"),
        (_HANDLERS, internals.READERS[0], "waiting for the thread that reads from a worker"),
        ("apache_beam.runners.worker.data_plane", internals.READERS[1], "waiting for the thread that reads data"),
        (
            "apache_beam.runners.portability.portable_runner",
            internals.READERS[2],
            "waiting for a job's last messages",
        ),
    ],
)
def test_a_name_that_beam_gives_is_in_its_source(place: str, text: str, used_for: str) -> None:
    packages = Path(inspect.getfile(apache_beam)).parents[1]
    path = packages.joinpath(*place.split(".")).with_suffix(".py")
    assert text in path.read_text(), (
        f"Beam {apache_beam.__version__}: {text} is not in {path.name} any more. It is used for {used_for}; {_SEE}"
    )


@pytest.mark.parametrize("name", ["flink", "spark", "prism"])
def test_the_runner_of_a_job_server_has_a_class_for_it(name: str) -> None:
    from apache_beam.options.pipeline_options import PipelineOptions

    server = internals.job_server(name, PipelineOptions([]), "folder")
    for method in ("start", "stop"):
        assert callable(getattr(server, method)), f"Beam {apache_beam.__version__}: see `job_server`. {_SEE}"
