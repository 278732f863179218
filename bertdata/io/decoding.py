"""UTF-8 from files as text, with the byte where it is none."""

from __future__ import annotations

from bertdata.errors import InputError

HINT = "convert it, as with: iconv -f latin1 -t utf-8"


def decode_utf8(data: bytes, path: str, offset: int = 0, *, hint: str = HINT, encoding: str = "utf-8") -> str:
    """Return bytes of a file as text; raises InputError, with the byte, where they are not UTF-8.

    offset: the byte of the file that they begin with; hint: what to do; encoding: utf-8, or utf-8-sig, which leaves out
    a byte order mark.

    >>> decode_utf8(b"Z\\xc3\\xbcrich", "a.txt")
    'Zürich'
    >>> decode_utf8(b"Z\\xfcrich", "a.txt")
    Traceback (most recent call last):
    bertdata.errors.InputError: a.txt, byte 1: is not UTF-8 (byte 0xfc); convert it, as with: iconv -f latin1 -t utf-8
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        place = len(data) - len(error.object) + error.start  # Python counts from behind a byte order mark
        problem = f"is not UTF-8 (byte 0x{data[place]:02x}); {hint}"
        raise InputError(problem, path=path, offset=offset + place) from error
