"""Files anywhere: open them, write them whole or not at all; `patterns` finds them.

A path is local, or a URL that fsspec knows (`gs://`, `s3://`, `memory://`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO, cast

from bertdata.errors import InputError, parse_problem, shortened
from bertdata.io import listed, remote
from bertdata.io.os_errors import ReadFile, WrittenFile, input_error, output_error
from bertdata.io.paths import TEMPORARY as TEMPORARY
from bertdata.io.paths import is_below as is_below
from bertdata.io.paths import is_remote as is_remote
from bertdata.io.paths import join as join
from bertdata.io.paths import name as name
from bertdata.io.paths import path_text as path_text
from bertdata.io.removal import remove as remove
from bertdata.io.removal import remove_files as remove_files
from bertdata.io.removal import remove_temporaries as remove_temporaries
from bertdata.io.store_errors import bucket_of, is_not_implemented
from bertdata.io.store_file import StoreFile

CHUNK = 1 << 20
_BUFFER = 1 << 16


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """Raise InputError for a file that is missing or cannot be read."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _missing(path) from error
    except OSError as error:
        raise input_error(error, path) from error


def _missing(path: str) -> InputError:
    problem = remote.missing_bucket(path) if is_remote(path) else ""
    return InputError(problem or "there is no such file; check the path", path=path)


def exists(path: str) -> bool:
    """Return whether there is a file or directory at a path."""
    if is_remote(path):
        with remote.reading(path) as (fs, place):
            fs.invalidate_cache()
            return bool(fs.exists(place))
    return os.path.exists(path)


def size(path: str) -> int:
    """Return the bytes of a file; raises InputError where there is none."""
    with _reading(path):
        if is_remote(path):
            if (info := listed.info(path)) is not None:
                return _size(info["size"], path)
            with remote.reading(path) as (fs, place):
                return _size(fs.size(place), path)
        return os.stat(path).st_size


def _size(answer: int | None, path: str) -> int:
    """Return the size that a file system tells; raises InputError where it tells none."""
    if answer is None:
        raise InputError(
            "the server does not say how many bytes this file has (no Content-Length), so it cannot be read in parts; "
            "download it first and give the copy",
            path=path,
        )
    return int(answer)


def real_path(path: str) -> str:
    """Return the path that all paths to one local file share, its links followed; a URL as it is."""
    return path if is_remote(path) else os.path.realpath(path)


def real_paths(paths: Sequence[str]) -> list[str]:
    """Return `real_path` of each of some paths; the links of a folder are followed once."""
    folders: dict[str, str] = {}
    result = []
    for path in paths:
        folder, file = os.path.split(path)
        if is_remote(path) or file in ("", os.curdir, os.pardir) or os.path.islink(path):
            result.append(real_path(path))
            continue
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        result.append(os.path.join(folders[folder], file))
    return result


def identity(path: str) -> str:
    """Return a short text that changes when a file is replaced: its name, size and time or tag, not its contents."""
    if is_remote(path):
        with _reading(path), remote.reading(path) as (fs, place):
            info = listed.info(path) or fs.info(place)
            return f"{name(path)}:{info['size']}:{listed.tag(fs, info)}"
    with _reading(path):
        status = os.stat(path)
    return f"{os.path.basename(path)}:{status.st_size}:{status.st_mtime_ns}"


def open_raw(path: str, ahead: int | None = None) -> BinaryIO:
    """Open a file's own bytes for reading; raises InputError where it is missing or empty.

    ahead: how many bytes beyond those that are asked for a request to a URL may get, where not the rest of a large file
    is read; by default what its file system does (s3fs: 50 MiB).
    """
    file: io.BufferedReader[Any] | None
    with _reading(path):
        if is_remote(path):
            with remote.reading(path) as (fs, place):
                opened = fs.open(place, "rb", **({} if ahead is None else {"block_size": ahead}))
                length = getattr(opened, "size", None)
                file = io.BufferedReader(StoreFile(fs, opened, path), _BUFFER)
        else:
            length = os.stat(path).st_size
            file = io.BufferedReader(ReadFile(path), _BUFFER) if length else None
    if (size(path) if length is None else length) == 0:
        raise _empty(path)
    return cast("BinaryIO", file)


def read_part(path: str, offset: int, length: int) -> bytes:
    """Return `length` bytes of a file from an offset on, fewer where it ends, by one request at a URL.

    Raises InputError where it is missing or cannot be read.
    """
    with _reading(path):
        if is_remote(path):
            with remote.reading(path) as (fs, place):
                return bytes(fs.cat_file(place, start=offset, end=offset + length))
        with io.BufferedReader(ReadFile(path), _BUFFER) as file:
            file.seek(offset)
            return file.read(length)


def read_if_there(path: str) -> bytes | None:
    """Return the bytes of a small file, by one request at a URL; None where there is none.

    Raises InputError where it cannot be read.
    """
    try:
        if is_remote(path):
            with remote.reading(path) as (fs, place):
                return bytes(fs.cat_file(place, **remote.by_one_request(fs)))
        with io.BufferedReader(ReadFile(path), _BUFFER) as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise input_error(error, path) from error


def _empty(path: str) -> InputError:
    if not is_remote(path) and not os.path.isfile(path):
        what = "is a pipe or a device, which can be read only once; expected a file: write it to one"
        return InputError(f"{what}, or give documents by standard input (bertdata build --documents -)", path=path)
    return InputError("this file is empty; expected some content; leave it out, or write it anew", path=path)


@contextlib.contextmanager
def atomic_write(path: str, *, synced: bool = True) -> Iterator[BinaryIO]:
    """Yield a binary file that takes its final name only when the block ends without an error.

    A local file is written beside its final place and renamed, once the disk has it if it is to be `synced`; a remote
    one is written locally and put whole. Raises OutputError where it cannot be written; other errors of the block pass
    through.
    """
    local = not is_remote(path)
    temporary, inside = "", False
    try:
        if local:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(
            prefix=TEMPORARY, suffix=f"-{os.path.basename(path)}", dir=os.path.dirname(path) or "." if local else None
        )
        with io.BufferedWriter(WrittenFile(descriptor, path)) as file:
            inside = True
            yield cast("BinaryIO", file)
            inside = False
            file.flush()
            if local and synced:
                os.fsync(file.fileno())
        if local:
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        else:
            with remote.writing(path) as (fs, place):
                _in_its_folder(path, fs, place, partial(fs.put_file, temporary, place))
            os.unlink(temporary)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and not inside:
            raise output_error(error, path) from error
        raise


def _in_its_folder(url: str, fs: Any, place: str, write: Callable[[], Any]) -> None:
    """Write a file, and first make its folder where the file system has folders and this one is not there.

    Stores have none: there it is the bucket that is missing, which is not made.
    """
    try:
        write()
    except FileNotFoundError:
        if bucket_of(url):
            raise
        fs.makedirs(place.rpartition("/")[0], exist_ok=True)
        write()


def move(path: str, to: str) -> None:
    """Give a file another name, in the place of what has that; a local one keeps its time."""
    if is_remote(path):
        with remote.writing(path) as (fs, place):
            fs.mv(place, remote.file_system(to)[1])
    else:
        os.replace(path, to)


def link(path: str, to: str) -> None:
    """Let `to` be the same file as `path`, in the place of what is there: a hard link, else a copy.

    At a URL the store copies it. Raises OutputError where it cannot be written.
    """
    if is_remote(to):
        with remote.writing(to) as (fs, place):
            fs.cp_file(remote.file_system(path)[1], place)
        return
    if os.path.exists(to) and os.path.samefile(path, to):
        return
    temporary = os.path.join(os.path.dirname(to), f"{TEMPORARY}{os.getpid()}-{os.path.basename(to)}")
    try:
        os.makedirs(os.path.dirname(to), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        try:
            os.link(path, temporary)
        except OSError:
            shutil.copyfile(path, temporary)
        os.replace(temporary, to)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise output_error(error, to) from error


def sha256(path: str) -> str:
    """Return the SHA-256 of a file, which may be empty, as 64 hexadecimal digits."""
    with _reading(path):
        if not is_remote(path):
            with io.BufferedReader(ReadFile(path), _BUFFER) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        with remote.reading(path) as (fs, place), fs.open(place, "rb") as file:
            digest: str = hashlib.file_digest(file, "sha256").hexdigest()
            return digest


def create(url: str, data: bytes) -> None:
    """Write a small file at a URL; raises FileExistsError if there is one, also where the store learns it only then.

    S3 and Google Cloud Storage refuse to create what another writer has created; other file systems may look first. So
    is it done where a store that speaks S3's protocol answers that it does not know conditional writes.
    """
    with remote.writing(url) as (fs, place):
        try:
            _in_its_folder(url, fs, place, partial(fs.pipe_file, place, data, mode="create"))
        except FileExistsError:
            raise
        except Exception as error:
            if not is_not_implemented(error):
                raise
            fs.invalidate_cache()
            if fs.exists(place):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), url) from error
            fs.pipe_file(place, data)


def write_bytes(path: str, data: bytes, *, synced: bool = True) -> None:
    """Write a whole small file atomically (see `atomic_write`)."""
    with atomic_write(path, synced=synced) as file:
        file.write(data)


def write_json(path: str, value: Any, *, indent: int | None = 1, synced: bool = True) -> None:
    """Write a JSON file atomically: sorted keys, one trailing newline, the same bytes for the same value.

    Without `indent` it is one line, which is written much faster.
    """
    text = json.dumps(value, indent=indent, sort_keys=True, ensure_ascii=False) + "\n"
    write_bytes(path, text.encode("utf-8", "backslashreplace"), synced=synced)


def read_bytes(path: str) -> bytes:
    """Return the bytes of a small file; raises InputError where it is missing or cannot be read."""
    data = read_if_there(path)
    if data is None:
        raise _missing(path)
    return data


def read_json(path: str) -> Any:
    """Read a JSON file; raises InputError where it is missing or is not JSON."""
    return parse_json(read_bytes(path), path)


def read_json_object(path: str) -> dict[str, Any]:
    """Read a JSON file that holds an object; raises InputError as `read_json`, and where it holds something else."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(f"is {shortened(value)}; expected a JSON object, as {{...}}", path=path)
    return value


def read_json_if_there(path: str) -> Any:
    """Read a JSON file, None where there is none; raises InputError where it is not JSON."""
    data = read_if_there(path)
    return None if data is None else parse_json(data, path)


def parse_json(data: bytes, path: str) -> Any:
    """Return the value that the bytes of a JSON file hold; raises InputError, which names it, where they hold none."""
    if not data:
        raise _empty(path)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"is not valid JSON ({parse_problem(error)}); correct it, or delete it and run what wrote it again",
            path=path,
        ) from error
