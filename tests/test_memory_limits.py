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
ROWS = """
import os
import bertdata.kernels.simd  # numba, which small files do without
from bertdata.sources.formats import write_documents
from tests.sources.planned import plan_documents
with open(os.devnull, "wb") as file:
    print(sum(write_documents(task, file).counts["documents"] for task in plan_documents(sys.argv[2:], "out", 4 << 20)))
"""
PLAN = """
sys.path.insert(0, "benchmarks")
import memory
simulated = memory.simulate(memory.CORPORA["wikipedia-books"].divided(int(sys.argv[2])))
print(sum(bound for *_, bound in simulated))
"""
COMMAND = """
from bertdata.__main__ import main
sys.argv[1:] = sys.argv[2:]
main()
"""
IN_PROCESS = """
from bertdata.cli.main import main
assert main(sys.argv[2:]) == 0
"""
PROSE = "It rained all day in the town. Nobody went out. The clock in the hall struck nine. "


def parquet(path: Path, texts: list[str]) -> str:
    pq.write_table(pa.table({"text": texts}), path, compression="zstd")
    return str(path)


@pytest.mark.costly
def test_equal_rows_of_parquet_take_the_memory_of_some_of_them(tmp_path: Path) -> None:
    text = "It rained. " * (MEGA // 11)
    small, large = parquet(tmp_path / "small.parquet", ["text"]), parquet(tmp_path / "large.parquet", [text] * 400)
    bound = 192 * MEGA  # the 400 rows have 400 MB
    done = run_limited(READ, peak_of(READ, small) + bound, large)
    assert (done.returncode, done.stdout) == (0, f"{400 * len(text)}\n"), done.stderr


@pytest.mark.slow
def test_a_row_over_256_mb_is_an_error_that_names_it_and_is_not_made(tmp_path: Path) -> None:
    small = parquet(tmp_path / "small.parquet", ["text"])
    large = parquet(tmp_path / "large.parquet", [PROSE, "It rained. " * (272 * MEGA // 11)])
    done = run_limited(READ, peak_of(READ, small) + 4 * 272 * MEGA, large)
    assert done.returncode == 1
    assert "large.parquet" in done.stderr.splitlines()[-1]
    assert "row" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_a_page_of_parquet_takes_at_most_twice_its_bytes(tmp_path: Path) -> None:
    rows = ["".join(map(chr, range(97 + number % 9, 123))) * (MEGA // 26) for number in range(64)]
    small, large = parquet(tmp_path / "small.parquet", ["text"]), tmp_path / "large.parquet"
    pq.write_table(pa.table({"text": rows}), large, compression="zstd", use_dictionary=False, data_page_size=1 << 30)
    size = sum(map(len, rows))
    done = run_limited(READ, peak_of(READ, small) + 2 * size + 64 * MEGA, str(large))
    assert (done.returncode, done.stdout) == (0, f"{size}\n"), done.stderr


@pytest.mark.slow
def test_json_lines_of_any_size_take_the_memory_of_a_range_and_a_line(tmp_path: Path) -> None:
    peaks: dict[str, int] = {}
    for name, count in (("small", 200), ("large", 800)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(f'{{"text": "{PROSE * 3000}"}}\n' * count)
        done = run_limited(ROWS, peaks["small"] + 64 * MEGA if peaks else None, str(path))
        assert (done.returncode, done.stdout) == (0, f"{count}\n"), done.stderr
        peaks[name] = peak_of(ROWS, str(path))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_driver_plans_a_corpus_in_the_memory_that_is_said(tmp_path: Path) -> None:
    few = run_limited(PLAN, None, "2000")
    assert few.returncode == 0, few.stderr
    many = run_limited(PLAN, None, "8")
    bound = int(many.stdout)
    done = run_limited(PLAN, peak_of(PLAN, "2000") + bound + 16 * MEGA, "8")
    assert (done.returncode, done.stdout) == (0, many.stdout), done.stderr


@pytest.mark.slow
def test_a_build_needs_no_more_address_space_than_its_message_says(tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(PROSE * 500)
    build = ["build", "--documents", str(tmp_path / "prose.txt"), "--vocab", "bertdata-30k-uncased", "--quiet"]
    build += ["--objective", "full-sentences", "--workers", "1", "--validation-fraction", "0"]
    done = run_limited(IN_PROCESS, 2200 * MEGA, *build, "--output", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    done = run_limited(COMMAND, 2100 * MEGA, *build, "--output", str(tmp_path / "other"))
    assert done.returncode == 1
    assert "the address space is limited to 2,100 MiB (ulimit -v)" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_an_endless_word_takes_some_bytes_for_each_of_its_own() -> None:
    size = 4 * MEGA
    done = run_limited(COUNT, peak_of(COUNT, "10") + 20 * size, str(size // 4))
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr


@pytest.mark.parametrize("limit", [96 * MEGA, 287 * MEGA])
def test_a_command_without_the_memory_to_start_says_how_much_it_needs(limit: int) -> None:
    done = run_limited(COMMAND, limit, "recipes")
    assert done.returncode == 1
    assert done.stderr == (
        f"error: the address space is limited to {limit // MEGA} MiB (ulimit -v); a command needs at least 288 MiB to "
        "start, and a build at least 2,200 MiB, and more for its data\n"
    )


@pytest.mark.costly
@pytest.mark.parametrize("limit", [288 * MEGA, 300 * MEGA])
def test_a_build_with_the_memory_to_start_alone_is_not_told_as_interrupted(limit: int, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(PROSE * 500)
    build = ["build", "--documents", str(tmp_path / "prose.txt"), "--vocab", "bertdata-30k-uncased"]
    done = run_limited(COMMAND, limit, *build, "--output", str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.startswith("error: there is not enough memory")


@pytest.mark.costly
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_build_and_its_dry_run_say_how_much_memory_a_pipeline_takes(more: list[str], tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(PROSE * 500)
    build = ["build", "--documents", str(tmp_path / "prose.txt"), "--vocab", "bertdata-30k-uncased", *more]
    done = run_limited(COMMAND, 1500 * MEGA, *build, "--output", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: there is not enough memory: the address space is limited to 1,500 MiB (ulimit -v), and a pipeline "
        "takes at least 2,200 MiB; raise the limit, or set none\n"
    )


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
