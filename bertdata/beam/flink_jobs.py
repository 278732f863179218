"""List the running jobs of a Flink cluster through its REST interface, and cancel one that a build has given up.

On a cluster of its own a job goes on when its job server ends, and keeps the slots that the next one needs.
"""

from __future__ import annotations

import argparse
import json
import re
import urllib.request
from typing import Any

SECONDS = 5.0
"""How long each answer of the cluster may take."""
CHECK = "check workers"
"""The title of the job by which a worker is asked what it has."""
_OVER = ("FINISHED", "CANCELED", "FAILED", "SUSPENDED")


def address(parsed: argparse.Namespace) -> str | None:
    """Return the URL of the cluster that Beam's flags name with --flink_master, None where they name none.

    >>> address(argparse.Namespace(runner="FlinkRunner", flink_master="localhost:8081"))
    'http://localhost:8081'
    """
    master = getattr(parsed, "flink_master", None) or ""
    if "flink" not in (parsed.runner or "").lower() or not re.fullmatch(r"(https?://)?[^\[\]/]+:\d+/?", master):
        return None
    return (master if "://" in master else f"http://{master}").rstrip("/")


def active(cluster: str) -> dict[str, str]:
    """Return the names of the jobs of a cluster that have not ended, by their ids; raises OSError or ValueError."""
    return {job["jid"]: job["name"] for job in _answer(f"{cluster}/jobs/overview")["jobs"] if job["state"] not in _OVER}


def others(parsed: argparse.Namespace) -> list[str]:
    """Return the names of the active jobs on the cluster that Beam's flags name, but for questions to workers."""
    cluster = address(parsed)
    try:
        names = active(cluster).values() if cluster else ()
    except (OSError, ValueError):
        return []
    return sorted(name for name in names if CHECK.replace(" ", "-") not in name)


def free_slots(cluster: str) -> int:
    """Return how many slots of a cluster run no task; raises OSError, ValueError or KeyError."""
    return int(_answer(f"{cluster}/overview")["slots-available"])


def cancel(cluster: str, name: str) -> None:
    """Cancel the active jobs of a name; raises OSError or ValueError."""
    for job, its_name in active(cluster).items():
        if its_name == name:
            _answer(f"{cluster}/jobs/{job}?mode=cancel", method="PATCH")


def _answer(url: str, method: str = "GET") -> Any:
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=SECONDS) as answer:
        return json.loads(answer.read() or b"null")
