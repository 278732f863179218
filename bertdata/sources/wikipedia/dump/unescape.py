"""The text of XML: its escapes undone once. `unescape_kernel` does the same for long texts."""

from __future__ import annotations

import re
from collections.abc import Callable

from bertdata.kernels.warmup import compiling_pays

_ENTITY = re.compile(rb"&(?:lt|gt|quot|amp|apos|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_NAMED = {b"&lt;": b"<", b"&gt;": b">", b"&quot;": b'"', b"&amp;": b"&", b"&apos;": b"'"}


def unescaper(size: int, compiled: bool | None) -> Callable[[bytes], bytes]:
    """Return `unescape`, or the compiled one where that pays."""
    if not compiling_pays(size, compiled):
        return unescape
    from bertdata.sources.wikipedia.dump.unescape_kernel import unescape_compiled

    return unescape_compiled


def unescape(data: bytes) -> bytes:
    """Undo XML's escaping once, and its line ends: a parser gives a line feed for each of them.

    >>> unescape(b"AT&amp;amp;T &lt;b&gt; &#233;").decode()
    'AT&amp;T <b> é'
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return _ENTITY.sub(_character, data) if b"&" in data else data


def _character(match: re.Match[bytes]) -> bytes:
    named = _NAMED.get(match[0])
    if named is not None:
        return named
    code = int(match[1]) if match[1] else int(match[2], 16)
    if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return "\ufffd".encode()
    return chr(code).encode()
