"""Batches of streamed shards wherever their cache is and whoever shares it: the same, or one line that says why not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.errors import BertDataError
from bertdata.io import files
from bertdata.loader import ShardExamples
from bertdata.shards.streaming import CacheFolder
from tests.loader.streamed import batches_of, digests
from tests.many_shards import bytes_in, cut
from tests.torch.build import write_build

ROOT = Path(__file__).resolve().parents[2]
WINDOW = 3


@pytest.fixture(scope="module")
def local(corpus: Path) -> list[str]:
    return digests(batches_of(ShardExamples(corpus / "train"), shuffle_window=WINDOW))


def test_a_folder_and_a_link_to_it_are_one_cache(
    corpus: Path, local: list[str], shard_bytes: int, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    room = 2 * WINDOW * shard_bytes
    names = ("link", "real")
    sets = [ShardExamples(corpus / "train", cache=tmp_path / name, cache_bytes=room) for name in names]
    both: list[Any] = [iter(batches_of(examples, shuffle_window=WINDOW)) for examples in sets]
    seen: list[list[str]] = [[], []]
    for _ in local:
        for number, batches in enumerate(both):
            seen[number] += digests([next(batches)])
            assert bytes_in(tmp_path / "real") <= room
    assert seen == [local, local]
    [folder, other] = [CacheFolder(str(tmp_path / name), room) for name in names]
    assert folder.directory == other.directory


def test_two_corpora_share_a_cache(corpus: Path, local: list[str], shard_bytes: int, tmp_path: Path) -> None:
    other = cut(write_build(tmp_path / "build", documents=40, seed=7), tmp_path / "other", rows=12)
    whole = digests(batches_of(ShardExamples(other / "train"), shuffle_window=WINDOW))
    room = 4 * WINDOW * shard_bytes
    opened = [ShardExamples(folder / "train", cache=tmp_path / "cache", cache_bytes=room) for folder in (corpus, other)]
    both = [iter(batches_of(examples, shuffle_window=WINDOW)) for examples in opened]
    seen: list[list[str]] = [[], []]
    for number in (number for _ in range(max(len(local), len(whole))) for number in (0, 1)):
        seen[number] += digests([batch for batch in [next(both[number], None)] if batch is not None])
        assert bytes_in(tmp_path / "cache") <= room
    assert seen == [local, whole]


def test_shards_without_rows_are_passed_over(corpus: Path, local: list[str], tmp_path: Path) -> None:
    copy = tmp_path / "corpus"
    shutil.copytree(corpus, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    entries = manifest["splits"]["train"]["shards"]
    schema = pa.ipc.open_stream(copy / entries[0]["file"]).schema
    for place in (0, 4, len(entries) + 2):
        name = f"train/empty-{place}.arrow"
        with pa.OSFile(str(copy / name), "wb") as file, pa.ipc.new_stream(file, schema):
            pass
        counts = {"examples": 0}
        entry = {"file": name, "bytes": files.size(str(copy / name)), "sha256": files.sha256(str(copy / name))}
        entries.insert(place, entry | {"counts": counts})
    (copy / "manifest.json").write_text(json.dumps(manifest))
    streamed = ShardExamples(copy / "train", cache=tmp_path / "cache", cache_bytes=1e9)
    expected = digests(batches_of(ShardExamples(copy / "train"), shuffle_window=WINDOW))
    assert digests(batches_of(streamed, shuffle_window=WINDOW)) == expected
    assert len(expected) == len(local)
    assert [len(example["input_ids"]) for example in streamed] == [
        len(row["input_ids"]) for row in ShardExamples(corpus)
    ]


MOUNTED = """
import sys
from bertdata.errors import BertDataError
from bertdata.loader import ShardExamples
from tests.loader.streamed import batches_of, digests
try:
    examples = ShardExamples(sys.argv[1], cache=sys.argv[2], cache_bytes=1e9)
    print(len(digests(batches_of(examples, shuffle_window=3))))
except BertDataError as error:
    print(error)
"""


@pytest.fixture
def filled(corpus: Path, tmp_path: Path) -> Path:
    """A cache that has all shards."""
    examples = ShardExamples(corpus / "train", cache=tmp_path / "cache", cache_bytes=1e9)
    digests(batches_of(examples))
    return tmp_path / "cache"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("mount", "problem"),
    [
        ('mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"', "Read-only file system"),
        ('mount -t tmpfs -o size=4k none "$1"', "No space left on device"),
    ],
)
def test_a_cache_that_cannot_be_written_is_named(mount: str, problem: str, corpus: Path, filled: Path) -> None:
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("needs root, to mount a disk")
    shell = f'{mount} && exec "$0" -c "$2" "$3" "$1"'
    command = ["unshare", "--mount", "sh", "-c", shell, sys.executable, str(filled), MOUNTED, str(corpus / "train")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        f"{filled}: the cache cannot be written ({problem}); make room on its disk, or choose another folder"
    ], done.stderr[-2000:]


def test_a_file_where_the_cache_should_be_is_named(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(BertDataError, match=r"file: the cache cannot be written \(.*\); make room"):
        ShardExamples(corpus / "train", cache=tmp_path / "file", cache_bytes=1e9)


def test_a_clock_that_was_set_back_changes_no_batch(
    corpus: Path, local: list[str], shard_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = iter(range(10**18, 0, -(10**15)))
    monkeypatch.setattr("bertdata.shards.stamps.time.time_ns", lambda: next(moment))
    streamed = ShardExamples(corpus / "train", cache=tmp_path, cache_bytes=2 * WINDOW * shard_bytes)
    assert digests(batches_of(streamed, shuffle_window=WINDOW)) == local
