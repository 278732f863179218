"""What docs/scale.md says that memory is bounded by holds where the address space is limited to it."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.address_space import peak_of, run_limited

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and RLIMIT_AS")
MEGA = 1 << 20

READ = """
from bertdata.documents import read_batches
with open(sys.argv[2], "rb") as raw:
    print(sum(len(text) for batch in read_batches(raw, sys.argv[2]) for text in batch["text"].to_pylist()))
"""
COUNT = """
from bertdata.tokenizers.wordpiece.train.counting import count_words
print(count_words(["so it is " + "acgt" * int(sys.argv[2])]).num_rows)
"""
COMMAND = """
from bertdata.__main__ import main
sys.argv[1:] = sys.argv[2:]
main()
"""


def parquet(path: Path, texts: list[str]) -> str:
    pq.write_table(pa.table({"text": texts}), path, compression="zstd")
    return str(path)


def test_equal_rows_of_parquet_take_the_memory_of_some_of_them(tmp_path: Path) -> None:
    text = "It rained. " * (MEGA // 11)
    small, large = parquet(tmp_path / "small.parquet", ["text"]), parquet(tmp_path / "large.parquet", [text] * 400)
    bound = 192 * MEGA  # the 400 rows have 400 MB
    done = run_limited(READ, peak_of(READ, small) + bound, large)
    assert (done.returncode, done.stdout) == (0, f"{400 * len(text)}\n"), done.stderr


@pytest.mark.slow
def test_an_endless_word_takes_some_bytes_for_each_of_its_own() -> None:
    size = 4 * MEGA
    done = run_limited(COUNT, peak_of(COUNT, "10") + 20 * size, str(size // 4))
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


@pytest.mark.parametrize("limit", [96 * MEGA, 200 * MEGA])
def test_a_command_without_the_memory_to_start_says_how_much_it_needs(limit: int) -> None:
    done = run_limited(COMMAND, limit, "recipes")
    assert done.returncode == 1
    assert done.stderr == (
        f"error: the address space is limited to {limit // MEGA} MiB (ulimit -v); a command needs at least 256 MiB to "
        "start, and a build at least 2,200 MiB, and more for its data\n"
    )


IN_PROCESS = """
from bertdata.cli.main import main
assert main(sys.argv[2:]) == 0
"""
PROSE = "It rained all day in the town. Nobody went out. The clock in the hall struck nine. "


def test_a_command_whose_text_does_not_fit_into_memory_says_so(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text(PROSE * (64 * MEGA // len(PROSE)))
    arguments = ["stats", str(tmp_path / "large.txt"), "--vocab", "bertdata-30k-uncased"]
    done = run_limited(COMMAND, 420 * MEGA, *arguments)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "error: there is not enough memory; give it more (ulimit -v says what it may use), or use fewer --workers"
    )


@pytest.mark.slow
def test_a_build_of_one_long_document_takes_eight_times_its_bytes(tmp_path: Path) -> None:
    size = 48 * MEGA
    (tmp_path / "small.txt").write_text(PROSE * 500)
    (tmp_path / "large.txt").write_text(PROSE * (size // len(PROSE)))
    build = ["build", "--vocab", "bertdata-30k-uncased", "--objective", "full-sentences", "--workers", "1", "--quiet"]
    build += ["--validation-fraction", "0"]
    peaks = {}
    for name in ("small", "large"):
        arguments = [*build, "--documents", str(tmp_path / f"{name}.txt"), "--output", str(tmp_path / name)]
        peaks[name] = peak_of(IN_PROCESS, *arguments)
    assert peaks["large"] < peaks["small"] + 8 * size
