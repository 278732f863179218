"""A file system whose URLs name a host, as those of FTP and SFTP, and whose files are fsspec's own."""

from __future__ import annotations

from typing import Any, ClassVar

from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile
from fsspec.utils import infer_storage_options


class HostedFile(AbstractBufferedFile):  # type: ignore[misc]
    """The bytes of a file of a host, by ranges."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        return bytes(self.fs.cat_file(self.path, start=start, end=end))


class HostedFileSystem(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory by host: `hosted://HOST/PATH`; it cannot be made without a host."""

    protocol = "hosted"
    root_marker = "/"
    cachable = False
    hosts: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(self, host: str, **options: Any) -> None:
        super().__init__(**options)
        self.store = self.hosts.setdefault(host, {})
        self.pseudo_dirs = [""]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        place = str(infer_storage_options(path)["path"]) if "://" in path else path
        return f"/{place.strip('/')}".rstrip("/")

    @staticmethod
    def _get_kwargs_from_urls(path: str) -> dict[str, Any]:
        return {"host": infer_storage_options(path)["host"]}

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "rb":
            return HostedFile(self, path, mode, block_size=64, size=self.info(path)["size"])
        return super()._open(path, mode, **options)
