"""Lines of fastText: `__label__a __label__b text of the line`, the labels anywhere among the words.

fastText has no ending of its own for such files (.txt, .train, .valid, .ft ...), so they are known by their first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bertdata.errors import InputError
from bertdata.io import compression, files
from bertdata.io.bounded_lines import bounded_lines

ENDINGS = (".txt", ".train", ".valid", ".test", ".ft", ".fasttext")
PREFIX = "__label__"
_WORD = re.compile(r"[^ \t\r\n\v\f\0]+")
"""A word as fastText reads it: what is between these characters."""
_SPACE = " \t\r\n\v\f\0"


def is_labelled(path: str) -> bool:
    """Tell whether a file has an ending of fastText's files and a label in its first line that is not blank."""
    name = files.name(path).lower()
    plain = name.rsplit(".", 1)[0] if compression.compression(name) else name
    if not plain.endswith(ENDINGS):
        return False
    with compression.open_decompressed(path) as file:
        first = next((line for line in bounded_lines(file, path, "text in lines") if line.strip()), b"")
    return any(word.startswith(PREFIX.encode()) for word in first.removeprefix(b"\xef\xbb\xbf").split())


def labelled_row(line: str, number: int, path: str) -> dict[str, Any]:
    """Return the text and the labels of a line, in the columns `text` and `label`.

    Raises InputError for a label without a name.

    >>> labelled_row("__label__sauce __label__cheese How much  cheese?", 1, "cooking.train")
    {'text': 'How much  cheese?', 'label': ['sauce', 'cheese']}
    """
    labels: list[str] = []
    pieces: list[str] = []
    after = 0
    for match in _WORD.finditer(line):
        if match[0].startswith(PREFIX):
            if match[0] == PREFIX:
                raise InputError(f"line {number} has {PREFIX} without a name; expected the name of a label", path=path)
            labels.append(match[0].removeprefix(PREFIX))
            pieces.append(line[after : match.start()])
            after = match.end()
    pieces.append(line[after:])
    return {"text": "".join(_joined(pieces)).strip(_SPACE), "label": labels}


def _joined(pieces: list[str]) -> Iterator[str]:
    """Yield the pieces of a line between its labels, without the space before a label where one follows it."""
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        yield piece.rstrip(_SPACE) if following[:1] in {*_SPACE} else piece
