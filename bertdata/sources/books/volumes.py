"""Files of books in groups of like size, one for each worker; large zip archives by ranges of their members."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

from bertdata.errors import ConfigError
from bertdata.io.compression import compression
from bertdata.io.files import open_raw, size


@dataclass(frozen=True)
class Volume:
    """A file of books, or a range of the members of a large zip archive, and its stored bytes."""

    path: str
    weight: int
    members: tuple[int, int] | None = None


def group_books(paths: Sequence[str], target_bytes: int) -> list[tuple[Volume, ...]]:
    """Return the sorted paths in groups of like size, about `target_bytes` of stored bytes each.

    A zip archive of more is cut into ranges of its members, so that several workers read it.
    """
    if target_bytes < 1:
        raise ConfigError(f"target_bytes is {target_bytes}; expected 1 or more")
    volumes: list[Volume] = []
    for path in sorted(paths):
        weight = size(path)
        if compression(path) == "zip" and weight > target_bytes:
            sizes = _member_sizes(path)
            ranges = [(run[0], run[-1] + 1) for run in _grouped(sizes, target_bytes)]
            if len(ranges) > 1:
                volumes += [Volume(path, sum(sizes[slice(*members)]), members) for members in ranges]
                continue
        volumes.append(Volume(path, weight))
    groups = _grouped([volume.weight for volume in volumes], target_bytes)
    return [tuple(volumes[place] for place in group) for group in groups]


def _grouped(weights: Sequence[int], target: int) -> list[list[int]]:
    """Return the places of some weights, in order, in groups of about the target and of like weight."""
    total = max(1, sum(weights))
    count = -(-total // target)
    groups: dict[int, list[int]] = {}
    before = 0
    for place, weight in enumerate(weights):
        groups.setdefault((2 * before + weight) * count // (2 * total), []).append(place)
        before += weight
    return list(groups.values())


def members_of(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the books of an archive in the order of their names."""
    books = [item for item in archive.infolist() if item.filename.lower().endswith(".txt")]
    return sorted(books, key=lambda item: item.filename)


def _member_sizes(path: str) -> list[int]:
    """Return the stored bytes of each book of a zip archive; none where it is damaged, an error when it is read."""
    with open_raw(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return [item.compress_size for item in members_of(archive)]
        except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError):
            return []
