"""An object store in memory that counts its requests, as s3fs sends them, and answers each after a pause.

URLs begin with `counted://`. A look at a name is a HEAD, and a LIST if no object has it; a listing is a LIST for each
thousand names; a file that is opened is a HEAD and a GET.
"""

from __future__ import annotations

import hashlib
import io
import threading
import time
from collections import Counter
from typing import Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

_PAGE = 1000


class _Opened(io.BytesIO):
    """A file of its own for each who reads it: a memory file has one position for all."""

    @property
    def size(self) -> int:
        return len(self.getbuffer())


class CountedStore(MemoryFileSystem):  # type: ignore[misc]
    """A store whose `requests` are counted by kind; `pause` is the seconds that each takes."""

    protocol = "counted"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    requests: ClassVar[Counter[str]] = Counter()
    pause: ClassVar[float] = 0.0
    _inside = threading.local()
    _lock = threading.Lock()

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        return super()._strip_protocol(str(path).removeprefix("counted://"))

    @classmethod
    def clear(cls) -> None:
        """Delete everything, and count from zero."""
        cls.store.clear()
        cls.pseudo_dirs[:] = [""]
        cls.requests.clear()
        cls.pause = 0.0

    def _ask(self, *kinds: str) -> None:
        with self._lock:
            self.requests.update(kinds)
        time.sleep(self.pause * len(kinds))

    def _pages(self, listed: Any) -> Any:
        self._ask(*["LIST"] * max(1, -(-len(listed) // _PAGE)))
        return listed

    def info(self, path: str, **kwargs: Any) -> Any:
        self._ask("HEAD", *([] if self._strip_protocol(path) in self.store else ["LIST"]))
        return self._tagged(super().info(path, **kwargs))

    def _tagged(self, info: dict[str, Any]) -> dict[str, Any]:
        data = self.store.get(info["name"])
        return info | ({} if data is None else {"ETag": hashlib.md5(data.getvalue()).hexdigest()})

    def isfile(self, path: str) -> bool:
        try:
            return bool(self.info(path)["type"] == "file")
        except FileNotFoundError:
            return False

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        try:
            listed = self._pages(super().ls(path, detail=detail, **kwargs))
            return [self._tagged(info) for info in listed] if detail else listed
        except FileNotFoundError:
            self._ask("LIST")
            raise

    def find(self, path: str, *args: Any, **kwargs: Any) -> Any:
        listed = self._pages(super().find(path, *args, **kwargs))
        return {name: self._tagged(info) for name, info in listed.items()} if isinstance(listed, dict) else listed

    def cat_file(self, path: str, *args: Any, **kwargs: Any) -> Any:
        self._ask("GET")
        return super().cat_file(path, *args, **kwargs)

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        self._ask(*(["HEAD", "GET"] if mode == "rb" else ["PUT"]))
        place = self._strip_protocol(path)
        if mode == "rb":
            if place not in self.store:
                raise FileNotFoundError(path)
            return _Opened(self.store[place].getvalue())
        return MemoryFileSystem._open(_quiet(), place, mode, **kwargs)

    def put_file(self, lpath: str, rpath: str, *args: Any, **kwargs: Any) -> None:
        self._ask("PUT")
        with open(lpath, "rb") as file:
            _quiet().pipe_file(self._strip_protocol(rpath), file.read())

    def rm_file(self, path: str) -> None:
        self._ask("DELETE")
        self._rm(path)

    def rm(self, path: str, recursive: bool = False, maxdepth: int | None = None) -> None:
        self._ask(*(["HEAD", "LIST"] if recursive else []), "DELETE")
        _quiet().rm(self._strip_protocol(path), recursive=recursive, maxdepth=maxdepth)


def _quiet() -> MemoryFileSystem:
    """Return the same store without requests."""
    fs = MemoryFileSystem(skip_instance_cache=True)
    fs.store, fs.pseudo_dirs = CountedStore.store, CountedStore.pseudo_dirs
    return fs


fsspec.register_implementation("counted", CountedStore, clobber=True)
