"""UTF-8 from files as text; errors name the byte that is not UTF-8."""

from __future__ import annotations

from bertdata.errors import InputError


def how_to_convert(data: bytes, *, is_start: bool = True) -> str:
    """Return what to do about a file that is not UTF-8, by some of its bytes, or its first ones.

    >>> how_to_convert(b"\\xff\\xfeS\\0")
    'it begins as utf-16 does: convert it, as with: iconv -f utf-16 -t utf-8 FILE > NEW'
    >>> how_to_convert(b"We met \\x96 late")
    'it fits cp1252: convert it, as with: iconv -f cp1252 -t utf-8 FILE > NEW'
    """
    from bertdata.io.encoding_guess import guesses
    from bertdata.io.encodings import iconv_name, of_mark  # reads files, which raise errors of this module

    if is_start and (marked := of_mark(data)) not in (None, "utf-8"):
        return f"it begins as {marked} does: convert it, as with: iconv -f {marked} -t utf-8 FILE > NEW"
    fits = next(iter(guesses(data)), None)
    if fits is None:
        return "it fits no encoding that is known: see whether it is text"
    return f"it fits {fits.encoding}: convert it, as with: iconv -f {iconv_name(fits.encoding)} -t utf-8 FILE > NEW"


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
        problem = f"is not UTF-8 (byte 0x{data[place]:02x}); {hint or how_to_convert(data, is_start=not offset)}"
        raise InputError(problem, path=path, offset=offset + place) from error
