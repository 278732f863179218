from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from bertdata.torch.training import memory
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.trackers import tagged
from tests.torch.training.small_runs import SETTINGS, SMALL, log

CPU, GIB = torch.device("cpu"), 1 << 30


@pytest.mark.costly
def test_the_resident_set_grows_by_what_is_allocated_and_the_peak_stays() -> None:
    before = memory.memory_figures(CPU)
    assert before["peak_rss_gib"] >= before["rss_gib"] * 0.99
    larger = np.ones(GIB // 2, np.uint8)
    grown = memory.memory_figures(CPU)
    assert grown["rss_gib"] - before["rss_gib"] == pytest.approx(0.5, abs=0.1)
    del larger
    after = memory.memory_figures(CPU)
    assert after["rss_gib"] < grown["rss_gib"] - 0.3
    assert after["peak_rss_gib"] >= grown["rss_gib"] * 0.99


def test_where_there_is_no_proc_the_peak_alone_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "_STATM", tmp_path / "none")
    assert list(memory.memory_figures(CPU)) == ["peak_rss_gib"]


def test_on_cuda_the_peaks_are_those_since_the_last_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dynamic_build: Path
) -> None:
    """With a stand-in for CUDA that takes one GiB more in each interval."""
    peaks = [0]
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: peaks[0] * GIB)
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda device: 2 * peaks[0] * GIB)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda device: peaks.__setitem__(0, peaks[0] + 1))
    cuda = torch.device("cuda")
    steps = "bertdata.torch.training.steps"
    monkeypatch.setattr(f"{steps}.memory_figures", lambda device: memory.memory_figures(cuda))
    monkeypatch.setattr(f"{steps}.reset_peak", lambda device: memory.reset_peak(cuda))
    pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    records = log(tmp_path)
    assert [record["cuda_allocated_gib"] for record in records] == [*range(1, 13)]
    assert [record["cuda_reserved_gib"] for record in records] == [*range(2, 26, 2)]
    assert all(0 < record["rss_gib"] <= record["peak_rss_gib"] * 1.01 for record in records)
    assert tagged(records[0])["train/cuda_allocated_gib"] == 1


def test_on_the_cpu_there_are_no_figures_of_cuda(tmp_path: Path) -> None:
    memory.reset_peak(CPU)
    assert not [name for name in memory.memory_figures(CPU) if "cuda" in name]
