"""UTF-8 from files as text, with the byte where it is none."""

from __future__ import annotations

from bertdata.errors import InputError

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def how_to_convert(start: bytes) -> str:
    """Return what to do about a file that is not UTF-8, by its first bytes.

    >>> how_to_convert(b"\\xff\\xfeS\\0")
    'it begins as UTF-16 does: convert it, as with: iconv -f utf-16 -t utf-8 FILE > NEW'
    """
    known = start[:2] in _UTF_16
    encoding, found = ("utf-16", "it begins as UTF-16 does: ") if known else ("latin1", "")
    return f"{found}convert it, as with: iconv -f {encoding} -t utf-8 FILE > NEW"


def decode_utf8(data: bytes, path: str, offset: int = 0, *, hint: str = "", encoding: str = "utf-8") -> str:
    """Return bytes of a file as text; raises InputError, with the byte, where they are not UTF-8.

    offset: the byte of the file that they begin with; hint: what to do, if not `how_to_convert`; encoding: utf-8, or
    utf-8-sig, which leaves out a byte order mark.

    >>> decode_utf8(b"Z\\xc3\\xbcrich", "a.txt")
    'Zürich'
    >>> decode_utf8(b"Z\\xfcrich", "a.txt", hint="save it anew")
    Traceback (most recent call last):
    bertdata.errors.InputError: a.txt, byte 1: is not UTF-8 (byte 0xfc); save it anew
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        place = len(data) - len(error.object) + error.start  # Python counts from behind a byte order mark
        problem = f"is not UTF-8 (byte 0x{data[place]:02x}); {hint or how_to_convert(b'' if offset else data)}"
        raise InputError(problem, path=path, offset=offset + place) from error
