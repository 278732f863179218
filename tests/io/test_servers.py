"""Files of servers that a URL names with user and host are read as those of a folder are, and only read."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import bertdata
from bertdata.errors import BertDataError, InputError
from bertdata.io import files, unchanged
from bertdata.io.patterns import expand
from tests.io.servers import PASSWORD, ftp, sftp, webhdfs

SERVERS = [sftp, ftp, webhdfs]
Serve = Callable[[Path], AbstractContextManager[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of JSON lines, one of them compressed, one in a hidden folder."""
    for name in ("in/a.jsonl", "in/b/c.jsonl.gz", "in/.hidden/d.jsonl"):
        rows = "".join(f'{{"id": "{name}-{n}", "text": "Salt is white. It is {n} years old."}}\n' for n in range(20))
        path = tmp_path / "served" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(rows.encode()) if name.endswith(".gz") else rows.encode())
    return tmp_path / "served"


@pytest.mark.costly
@pytest.mark.parametrize("serve", SERVERS)
def test_a_build_of_a_server_is_that_of_the_folder(serve: Serve, folder: Path, tmp_path: Path) -> None:
    digests = []
    with serve(folder) as url:
        assert expand([f"{url}/in/**/*.jsonl*"], (".jsonl", ".jsonl.gz")) == [
            f"{url}/in/a.jsonl",
            f"{url}/in/b/c.jsonl.gz",
        ]
        for number, documents in enumerate([str(folder / "in"), f"{url}/in"]):
            built = bertdata.build(
                str(tmp_path / f"out{number}"),
                documents=documents,
                vocab="bertdata-30k-uncased",
                objective="full-sentences",
                quiet=True,
                workers=1,
            )
            digests.append(files.sha256(f"{built.path}/train/data-00000-of-00001.arrow"))
            kept = [path for path in Path(built.path).rglob("*") if path.is_file()]
            assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]
    assert digests[0] == digests[1]


@pytest.mark.parametrize("serve", SERVERS)
def test_a_file_of_a_server_that_is_replaced_has_another_state(serve: Serve, folder: Path) -> None:
    with serve(folder) as url:
        path = f"{url}/in/a.jsonl"
        before = unchanged.file_states([path])
        assert unchanged.changed(before) == {}
        (folder / "in" / "a.jsonl").write_text('{"text": "Another."}\n')
        assert list(unchanged.changed(before)) == [path]


@pytest.mark.costly
@pytest.mark.parametrize("serve", SERVERS)
def test_what_a_server_refuses_is_told_in_a_line_without_the_password(serve: Serve, folder: Path) -> None:
    with serve(folder) as url, pytest.raises(BertDataError) as missing:
        bertdata.build("out", documents=f"{url}/in/none.jsonl", quiet=True)
    with serve(folder) as url, pytest.raises(BertDataError) as refused:
        files.read_bytes(f"{url.replace(PASSWORD, 'wrong')}/in/a.jsonl")
    with serve(folder) as url:
        pass
    with pytest.raises(InputError) as gone:
        files.read_bytes(f"{url}/in/b.jsonl")
    for error in (missing, refused, gone):
        assert "\n" not in str(error.value)
        assert PASSWORD not in str(error.value)
