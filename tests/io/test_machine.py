"""What a process may use of its machine: the limits of its control groups, as containers and Slurm set them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bertdata.io import machine

GROUPS = {
    "version 2, as in a container": ("0::/\n", "", {}),
    "version 2, of a service": ("0::/system.slice/job.scope\n", "system.slice/job.scope", {}),
    "version 2, of a group around it": ("0::/slurm/job/step\n", "slurm/job", {}),
    "version 1": (
        "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/\n0::/\n",
        "job",
        {"cpu": "cpu", "memory": "memory"},
    ),
    "version 1, mounted in a container": (
        "5:memory:/docker/1\n4:cpu:/docker/1\n",
        "",
        {"cpu": "cpu", "memory": "memory"},
    ),
}
"""By name the text of /proc/self/cgroup, the group that has the limits, and the folders of controllers (version 1)."""


@pytest.fixture(params=GROUPS)
def limited(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Limits:
    """Let this process have eight cores, and no limits of its control groups but those that a test writes."""
    text, group, controllers = GROUPS[request.param]
    (tmp_path / "cgroup").write_text(text)
    monkeypatch.setattr(machine, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "_MOUNT", tmp_path / "mount")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    return Limits(tmp_path / "mount", group, controllers)


class Limits:
    """Writes the limits of a control group as the kernel shows them."""

    def __init__(self, mount: Path, group: str, controllers: dict[str, str]) -> None:
        self.mount, self.group, self.controllers = mount, group, controllers

    def _write(self, controller: str, name: str, text: str) -> None:
        folder = self.mount / self.controllers.get(controller, "") / self.group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")

    def cores(self, microseconds: int | None) -> None:
        """Limit processor time in 100,000 microseconds; None for no limit."""
        if self.controllers:
            self._write("cpu", "cpu.cfs_quota_us", str(-1 if microseconds is None else microseconds))
            self._write("cpu", "cpu.cfs_period_us", "100000")
        else:
            self._write("cpu", "cpu.max", f"{'max' if microseconds is None else microseconds} 100000")

    def memory(self, size: int | None) -> None:
        """Limit the bytes of memory; None for no limit."""
        if self.controllers:
            self._write("memory", "memory.limit_in_bytes", str(9223372036854771712 if size is None else size))
        else:
            self._write("memory", "memory.max", "max" if size is None else str(size))


@pytest.mark.parametrize(
    ("microseconds", "cores"), [(None, 8), (200_000, 2), (150_000, 2), (20_000, 1), (1_600_000, 8)]
)
def test_cores_are_those_of_the_affinity_and_of_the_time_allowed(
    limited: Limits, microseconds: int | None, cores: int
) -> None:
    limited.cores(microseconds)
    assert machine.cores() == cores


def test_memory_is_that_of_the_machine_or_of_the_limit(limited: Limits) -> None:
    limited.memory(None)
    installed = machine.memory()
    assert installed == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limited.memory(1 << 20)
    assert machine.memory() == 1 << 20


def test_without_control_groups_the_machine_is_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_GROUPS", tmp_path / "absent")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert machine.cores() == 2
    assert machine.memory() == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_more_workers_than_cores_are_remarked_where_the_machine_has_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_quotas", lambda: iter(()))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert "may use 1 core of the 64 here" in machine.without_cores(32)
    assert machine.without_cores(1) == machine.without_cores(0) == ""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert machine.without_cores(2) == ""
