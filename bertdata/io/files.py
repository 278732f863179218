"""Files anywhere: find them, open them, write them whole or not at all.

A path is local, or a URL that fsspec knows (`gs://`, `s3://`, `memory://`). Nothing here knows what the files
hold; `compression` reads compressed ones.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, cast

from bertdata.errors import BertDataError, ConfigError, InputError, install_hint
from bertdata.io.matching import local_matches, remote_matches
from bertdata.io.raw_files import ReadFile, WrittenFile, input_error, output_error

CHUNK = 1 << 20
_BUFFER = 1 << 16
TEMPORARY = ".bertdata-tmp-"


def is_remote(path: str) -> bool:
    """Tell a URL from a local path.

    >>> is_remote("gs://bucket/x"), is_remote("/data/x")
    (True, False)
    """
    return "://" in path


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text; raises ConfigError for bytes, None and whatever else is not a path.

    >>> from pathlib import Path
    >>> path_text(Path("corpus") / "train"), path_text("gs://bucket/corpus")
    ('corpus/train', 'gs://bucket/corpus')
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(text, str):
        raise ConfigError(f"expected a path as text or a pathlib.Path, found {type(path).__name__}")
    if "\0" in text:
        raise ConfigError(f"the path {text!r} has a NUL character in it; no file has such a name")
    return text


@contextlib.contextmanager
def _reaching(path: str) -> Iterator[None]:
    """Tell whatever a remote file system raises in one line: each has errors of its own.

    FileNotFoundError passes: whoever looks for a file says what was expected.
    """
    try:
        yield
    except (BertDataError, FileNotFoundError):
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"cannot be reached ({type(error).__name__}: {reason}); check the address, the network and the credentials",
            path=path,
        ) from error


def _remote(path: str) -> tuple[Any, str]:
    import fsspec

    try:
        return cast("tuple[Any, str]", fsspec.core.url_to_fs(path))
    except (ImportError, ValueError) as error:
        scheme = path.split("://", 1)[0]
        extra = {"gs": "gcp", "gcs": "gcp", "s3": "aws"}.get(scheme)
        hint = f"; {install_hint(extra)}" if extra else ""
        raise ConfigError(f"no file system for {scheme}:// paths is installed{hint}", path=path) from error


def join(directory: str, *names: str) -> str:
    """Join path parts; URLs keep their slashes.

    >>> join("gs://b/out", "train", "x.arrow")
    'gs://b/out/train/x.arrow'
    """
    return "/".join([directory.rstrip("/") or "/", *names]) if is_remote(directory) else os.path.join(directory, *names)


def name(path: str) -> str:
    """Return the last part of a path or URL.

    >>> name("gs://bucket/dumps/enwiki.xml.bz2")
    'enwiki.xml.bz2'
    """
    return path.rstrip("/").rsplit("/", 1)[-1]


def exists(path: str) -> bool:
    """Tell whether a file or directory is there."""
    if is_remote(path):
        fs, place = _remote(path)
        with _reaching(path):
            return bool(fs.exists(place))
    return os.path.exists(path)


def size(path: str) -> int:
    """Return the bytes of a file; raises InputError where there is none."""
    try:
        if is_remote(path):
            fs, place = _remote(path)
            with _reaching(path):
                return int(fs.size(place))
        return os.stat(path).st_size
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError("there is no such file; check the path", path=path) from error
    except OSError as error:
        raise input_error(error, path) from error


def real_path(path: str) -> str:
    """Return what two paths to one file have in common: a local one with its links followed, a URL as it is."""
    return path if is_remote(path) else os.path.realpath(path)


def identity(path: str) -> str:
    """Return a short text that changes when a file is replaced: its name, size and time or tag, not its contents."""
    if is_remote(path):
        fs, place = _remote(path)
        return f"{os.path.basename(path)}:{size(path)}:{fs.ukey(place)}"
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError("there is no such file; check the path", path=path) from error
    except OSError as error:
        raise input_error(error, path) from error
    return f"{os.path.basename(path)}:{status.st_size}:{status.st_mtime_ns}"


def names(directory: str) -> list[str]:
    """Return the sorted names in a directory, none where it does not exist."""
    if is_remote(directory):
        fs, place = _remote(directory)
        with _reaching(directory):
            fs.invalidate_cache()
            found = fs.ls(place, detail=False) if fs.exists(place) else []
        return sorted(os.path.basename(entry.rstrip("/")) for entry in found)
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise input_error(error, directory) from error


def expand(patterns: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return the files that paths, folders and globs name, sorted, each once.

    A folder gives every file below it whose name ends in one of `suffixes` (a `*` in one stands for anything), hidden
    ones left out. Raises InputError where a pattern matches nothing.
    """
    found: dict[str, str] = {}
    for pattern in patterns:
        if is_remote(pattern):
            fs, place = _remote(pattern)
            with _reaching(pattern):
                matches = remote_matches(fs, place, suffixes)
        else:
            matches = local_matches(pattern, suffixes)
        if not matches:
            isdir = not is_remote(pattern) and os.path.isdir(pattern)
            raise InputError(
                f"this folder holds no file ending in {', '.join(suffixes)}"
                if isdir
                else "this path matches nothing; expected a file, a folder or a glob (quote globs)",
                path=pattern,
            )
        for match in matches:
            found.setdefault(real_path(match), match)
    return sorted(found.values())


def open_raw(path: str) -> BinaryIO:
    """Open a file's own bytes for reading; raises InputError where it is missing or empty."""
    if size(path) == 0:
        raise InputError("this file is empty; get it again, or leave it out", path=path)
    try:
        if is_remote(path):
            fs, place = _remote(path)
            with _reaching(path):
                return cast("BinaryIO", fs.open(place, "rb"))
        return cast("BinaryIO", io.BufferedReader(ReadFile(path), _BUFFER))
    except OSError as error:
        raise input_error(error, path) from error


@contextlib.contextmanager
def atomic_write(path: str) -> Iterator[BinaryIO]:
    """Give a binary file that takes its final name only when the block ends well; raises OutputError.

    A local file is written beside its final place and renamed; a remote one is written locally and put whole. What
    else fails in the block passes through as it is, so that a source that cannot be read is not told as this file.
    """
    remote = is_remote(path)
    temporary, inside = "", False
    try:
        if not remote:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(
            prefix=TEMPORARY, suffix=f"-{os.path.basename(path)}", dir=None if remote else os.path.dirname(path) or "."
        )
        with io.BufferedWriter(WrittenFile(descriptor, path)) as file:
            inside = True
            yield cast("BinaryIO", file)
            inside = False
            file.flush()
            if not remote:
                os.fsync(file.fileno())
        if remote:
            fs, place = _remote(path)
            fs.put_file(temporary, place)
            os.unlink(temporary)
        else:
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and not inside:
            raise output_error(error, path) from error
        raise


def remove_temporaries(directory: str) -> int:
    """Delete what an interrupted `atomic_write` left below a local directory; returns how many files."""
    removed = 0
    if not is_remote(directory):
        for folder, _, files in os.walk(directory):
            for name in files:
                if name.startswith(TEMPORARY):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(os.path.join(folder, name))
                        removed += 1
    return removed


def remove(path: str) -> None:
    """Delete a file or a whole directory, if it is there."""
    if is_remote(path):
        fs, place = _remote(path)
        if fs.exists(place):
            fs.rm(place, recursive=True)
    elif os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def sha256(path: str) -> str:
    """Return the SHA-256 of a file's bytes, of which there may be none, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    if size(path) == 0:
        return digest.hexdigest()
    with open_raw(path) as file:
        while data := file.read(CHUNK):
            digest.update(data)
    return digest.hexdigest()


def write_bytes(path: str, data: bytes) -> None:
    """Write a whole small file atomically."""
    with atomic_write(path) as file:
        file.write(data)


def write_json(path: str, value: Any, *, indent: int | None = 1) -> None:
    """Write a JSON file atomically: sorted keys, one trailing newline, the same bytes for the same value.

    Without `indent` it is one line, which is written much faster.
    """
    text = json.dumps(value, indent=indent, sort_keys=True, ensure_ascii=False) + "\n"
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def read_json(path: str) -> Any:
    """Read a JSON file; raises InputError where it is missing or is not JSON."""
    with open_raw(path) as file:
        data = file.read()
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"is not valid JSON ({error}); get it again, or delete it and build again", path=path
        ) from error
