"""What is in a directory, local or at a URL: names, and what a store says of each file."""

from __future__ import annotations

import os
from dataclasses import dataclass

from bertdata.io import remote
from bertdata.io.files import is_remote, name
from bertdata.io.os_errors import input_error


@dataclass(frozen=True)
class Entry:
    """What a listing says of a file: its bytes, and what changes when it is written again ("" if the store is silent).

    The size of a directory means nothing.
    """

    size: int
    version: str


def is_folder_marker(place: str) -> bool:
    """Tell whether an object of a store stands for a folder, as "Create folder" of its console makes one: no file.

    >>> is_folder_marker("bucket/in/"), is_folder_marker("bucket/in/a.txt")
    (True, False)
    """
    return place.endswith("/")


def entries(directory: str) -> dict[str, Entry]:
    """Return what is in a directory by its sorted names, at a URL by one request; nothing where it does not exist."""
    if is_remote(directory):
        try:
            with remote.reading(directory) as (fs, place):
                fs.invalidate_cache()
                infos = fs.ls(place, detail=True)
        except FileNotFoundError:
            return {}
        listed = {
            name(info["name"]): Entry(int(info.get("size") or 0), remote.version(info))
            for info in infos
            if not (is_folder_marker(info["name"]) and info["name"].strip("/") == place.strip("/"))
        }
        return dict(sorted(listed.items()))
    try:
        with os.scandir(directory) as items:
            status = {item.name: item.stat(follow_symlinks=False) for item in items}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise input_error(error, directory) from error
    return {
        item_name: Entry(item_status.st_size, str(item_status.st_mtime_ns))
        for item_name, item_status in sorted(status.items())
    }


def names(directory: str) -> list[str]:
    """Return the sorted names in a directory; none where it does not exist."""
    if is_remote(directory):
        return list(entries(directory))
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise input_error(error, directory) from error
