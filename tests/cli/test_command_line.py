"""What every command line shares: what a machine runs out of is one line, and a mistake of ours stays a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from bertdata.corpus.requests import request_of
from bertdata.io import files
from bertdata.io.os_errors import limit_of
from bertdata.masking.settings import MaskingConfig
from bertdata.options.request import settings_from

LIMITS = [
    ("OSError(24, 'Too many open files')", "too many files are open"),
    ("OSError(12, 'Cannot allocate memory')", "not enough memory"),
    ("MemoryError()", "not enough memory"),
    ('RuntimeError("can\'t start new thread")', "not enough memory"),
    ("OSError(28, 'No space left on device')", "no space left"),
    ("OSError(5, 'Input/output error')", "the disk or the network drive failed"),
]


def run(body: str) -> subprocess.CompletedProcess[str]:
    script = f"from bertdata.cli import command_line\ndef main():\n    {body}\nraise SystemExit(command_line.run(main))"
    root = Path(files.__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", script], cwd=root, env=os.environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("error", "message"), LIMITS)
def test_what_the_machine_runs_out_of_is_told_in_one_line(error: str, message: str) -> None:
    done = run(f"raise {error}")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr


def test_a_mistake_of_ours_keeps_its_traceback() -> None:
    for error in ("KeyError('x')", "OSError(2, 'No such file')"):
        done = run(f"raise {error}")
        assert done.returncode == 1
        assert "Traceback" in done.stderr


def test_a_limit_behind_another_error_is_found_and_a_circle_of_causes_ends() -> None:
    outer, inner = ValueError("the step failed"), pa.ArrowMemoryError("malloc of size 64 failed")
    outer.__cause__ = inner
    assert "memory" in str(limit_of(outer))
    inner.__cause__ = outer
    assert limit_of(ValueError("x")) is None
    loop = ValueError("x")
    loop.__context__ = other = KeyError("y")
    other.__context__ = loop
    assert limit_of(loop) is None
    assert limit_of(OSError(errno.ENOENT, "No such file")) is None


def test_an_extension_that_fails_without_a_reason_lacks_memory_where_memory_is_limited() -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31)); "
    error = "raise SystemError('error return without exception set')"
    done = run(limit + error)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("error: there is not enough memory")
    assert "Traceback" in run(error).stderr


def test_a_library_that_memory_does_not_hold_is_not_told_as_missing() -> None:
    done = run(
        "from bertdata.errors import MissingExtraError; "
        "raise MissingExtraError('h5py', 'hdf5') from ImportError('x.so: failed to map segment from shared object')"
    )
    assert done.stderr.startswith("error: there is not enough memory")


def test_a_setting_of_several_values_takes_numbers_paths_and_text(tmp_path: Path) -> None:
    request = request_of({"ngram_weights": (40, 30.5, "20"), "similar_words": tmp_path, "mask_unit": "ngram"})
    masking = settings_from(request, MaskingConfig)
    assert masking.ngram_weights == ("40", "30.5", "20")
    assert masking.similar_words == str(tmp_path)
