"""Check texts, given as lists of strings or Arrow string arrays, and turn them into Arrow arrays.

Tokenizers, the word counter and the segmenter accept and refuse the same texts, with the same errors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError

Texts: TypeAlias = Sequence[str] | pa.Array | pa.ChunkedArray
BATCH_BYTES = 1 << 20
READ_AHEAD = 80
"""How many bytes after a text kernels may read."""
_AT_A_TIME = 1 << 16
_STRINGS = (pa.string(), pa.large_string())


def as_strings(texts: object) -> pa.ChunkedArray:
    """Return texts as a chunked Arrow array of string or large_string, sharing the memory of Arrow input.

    Raises ConfigError where `texts` is neither a list of strings nor an Arrow string array, and InputError, naming the
    row, for a null, for something that is not a string and for a lone surrogate.
    """
    strings: Any = pa.chunked_array([texts]) if isinstance(texts, pa.Array) else texts
    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        strings = pa.chunked_array(list(arrays_of(_checked(texts))), pa.large_string())
    kind = strings.type.value_type if pa.types.is_dictionary(strings.type) else strings.type
    if kind not in (*_STRINGS, pa.string_view()):
        raise ConfigError(f"expected Arrow strings, found {strings.type}; cast the column to pa.string()")
    if strings.type not in _STRINGS:
        try:
            strings.validate(full=True)  # views, and indices of dictionaries, may point anywhere
        except pa.ArrowInvalid as error:
            raise InputError(f"the texts are not a whole Arrow array ({error}); make the array again") from error
        strings = strings.cast(pa.large_string())
    if strings.null_count:
        raise InputError(f"row {strings.is_null().index(True).as_py()} is null; drop it, or fill it with ''")
    return strings


def as_array(texts: object) -> pa.Array:
    """Return texts as one array of what `as_strings` gives, a list as an array of string.

    Raises as `as_strings`, and InputError where a list, or chunks that are not large_string, hold 2 GiB or more.
    """
    if isinstance(texts, pa.Array):
        return texts if texts.type in _STRINGS and not texts.null_count else as_strings(texts).chunk(0)
    try:
        if isinstance(texts, pa.ChunkedArray):
            strings = as_strings(texts)
            return strings.chunk(0) if strings.num_chunks == 1 else strings.combine_chunks()
        strings = _checked(texts)
        with _named_rows(strings):
            array = array_of(strings)
        return array.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise InputError(f"the texts hold 2 GiB or more together ({error}); give fewer at a time") from error


def arrays_of(texts: object, size: int = BATCH_BYTES) -> Iterator[pa.Array]:
    """Yield texts as Arrow string arrays: strings in runs of about `size` characters, each array made when asked for.

    Arrow input is returned, and errors are raised, as by `as_strings`.
    """
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        yield from as_strings(texts).chunks
        return
    strings = _checked(texts)
    with _named_rows(strings):
        ends = np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)))
        start, done = 0, 0
        while start < len(strings):
            stop = max(start + 1, int(np.searchsorted(ends, done + size, side="right")))
            yield array_of(strings[start:stop])
            start, done = stop, int(ends[stop - 1])


@contextmanager
def _named_rows(texts: Sequence[Any]) -> Iterator[None]:
    """Name the row that is not text where the work inside fails."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, UnicodeEncodeError) as error:
        _check_rows(texts)
        raise InputError(f"the texts cannot be held in an Arrow array ({error})") from error


def size_of(texts: Texts) -> int:
    """Return about how many bytes texts have, 0 where one is not a string; raises ConfigError as `as_strings`."""
    if isinstance(texts, pa.Array | pa.ChunkedArray):
        if pa.types.is_string_view(texts.type):  # older Arrow does not count bytes of slices of these
            return int(texts.get_total_buffer_size())
        return int(texts.nbytes)
    try:
        return sum(map(len, _checked(texts)))
    except TypeError:
        return 0


def _checked(texts: object) -> Sequence[Any]:
    if isinstance(texts, Sequence) and not isinstance(texts, str | bytes | bytearray | memoryview | deque):
        return texts
    remedy = "; make it a list: list(texts)" if isinstance(texts, Iterator | np.ndarray | deque | Set) else ""
    raise ConfigError(f"expected a list of strings or an Arrow string array, found {type(texts).__name__}{remedy}")


def array_of(texts: Sequence[Any]) -> pa.Array:
    """Return strings as an Arrow array of large_string, with room after the last one for kernels to read.

    They are encoded here, some at a time, into memory that Arrow keeps and uses again: what is touched for the first
    time costs more than what is written to it. `pa.array` would keep their UTF-8 in each string, and import pandas.
    """
    size = sum(map(len, texts))
    at_a_time = max(1, len(texts) * _AT_A_TIME // max(1, size))
    buffer = pa.allocate_buffer(size + size // 16 + READ_AHEAD, resizable=True)
    data = memoryview(buffer).cast("B")
    lengths: list[int] = []
    end = 0
    for row in range(0, len(texts), at_a_time):
        encoded = list(map(str.encode, texts[row : row + at_a_time]))
        lengths.extend(map(len, encoded))
        joined = b"".join(encoded)
        start, end = end, end + len(joined)
        if end + READ_AHEAD > len(data):
            data.release()
            buffer.resize(2 * end + READ_AHEAD)
            data = memoryview(buffer).cast("B")
        data[start:end] = joined
    data[end : end + READ_AHEAD] = bytes(READ_AHEAD)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return pa.Array.from_buffers(pa.large_string(), len(texts), [None, pa.py_buffer(offsets), buffer])


def _check_rows(texts: Sequence[object]) -> None:
    for row, text in enumerate(texts):
        if text is None:
            raise InputError(f"row {row} is null; drop it, or fill it with ''")
        if not isinstance(text, str):
            raise InputError(f"row {row} is {type(text).__name__}; expected a string")
        check_text(text, f"row {row}")


def check_text(text: str, where: str) -> None:
    """Raise InputError where a string holds a lone surrogate, so has no UTF-8 form."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where} holds a lone surrogate (U+{ord(text[error.start]):04X} at character {error.start}); "
            "it is not a character: decode the source with errors='replace'"
        ) from error


def offsets_of(array: pa.Array) -> NDArray[np.int64]:
    """Return where in its data buffer each string of an array begins, and the last one ends: int64, one more than rows.

    Raises InputError where they run backwards or out of the buffer.
    """
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(len(array) + 1, np.int64)
    size = np.dtype(width).itemsize
    fits = buffer.size >= (array.offset + len(array) + 1) * size
    offsets = np.frombuffer(buffer, width, (len(array) + 1) * fits, array.offset * size * fits).astype(np.int64)
    if not fits or offsets[0] < 0 or offsets[-1] > len(text_of(array)) or (np.diff(offsets) < 0).any():
        raise InputError("the offsets of an Arrow string array do not fit its data; see pyarrow's Array.validate")
    return offsets


def lists_of(ends: NDArray[np.int64], values: NDArray[Any]) -> pa.ListArray:
    """Return lists of numbers or of booleans, of which `ends` has a 0 and where each ends; numbers are not copied.

    Raises ConfigError where they are too many. Arrow would ask pandas of each array of numpy, and import it for that.

    >>> lists_of(np.array([0, 2, 3]), np.array([5, 6, 7], np.uint16)).to_pylist()
    [[5, 6], [7]]
    """
    if len(values) > np.iinfo(np.int32).max:
        raise ConfigError(f"the batch gives {len(values)} ids, over the {2**31 - 1} of one list array; split it")
    flat, borders = column_of(values), pa.py_buffer(ends.astype(np.int32))
    return pa.ListArray.from_buffers(pa.list_(flat.type), len(ends) - 1, [None, borders], children=[flat])


def numbers_of(column: pa.Array) -> NDArray[Any]:
    """Return the whole numbers of an Arrow array without nulls; they are not copied. `to_numpy` would import pandas."""
    kind = np.dtype(str(column.type))
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def column_of(values: NDArray[Any]) -> pa.Array:
    """Return numbers or booleans as an Arrow array; numbers are not copied."""
    data = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(data)])


def text_of(array: pa.Array) -> NDArray[np.uint8]:
    """Return the data buffer of a string array, shared: uint8."""
    buffer = array.buffers()[2]
    return np.zeros(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)


def check_utf8(strings: pa.ChunkedArray) -> None:
    """Raise InputError, naming the row, where the bytes of a string are not UTF-8."""
    row = 0
    for array in strings.chunks:
        check_bytes(array, row)
        row += len(array)


def utf8_arrays(texts: object) -> Iterator[pa.Array]:
    """Yield what `arrays_of` does; raises InputError too, naming the row, for bytes that are not UTF-8.

    What is made of a list of strings is UTF-8.
    """
    row = 0
    for array in arrays_of(texts):
        if isinstance(texts, pa.Array | pa.ChunkedArray):
            check_bytes(array, row)
        yield array
        row += len(array)


def check_bytes(array: pa.Array, first_row: int) -> None:
    """Raise InputError where the bytes of a string are not UTF-8, naming its row, counted from `first_row`."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise utf8_error(text_of(array), offsets_of(array), 0, first_row) from None


def utf8_error(text: NDArray[np.uint8], offsets: NDArray[np.int64], row: int, first_row: int) -> InputError:
    """Return the error that names the first row from `row` on that is not UTF-8; rows count from `first_row`."""
    for number in range(row, len(offsets) - 1):
        try:
            text[offsets[number] : offsets[number + 1]].tobytes().decode("utf-8")
        except UnicodeDecodeError as error:
            return InputError(
                f"row {first_row + number} is not UTF-8 (byte 0x{error.object[error.start]:02x} at byte {error.start} "
                "of the row); build the array from decoded text"
            )
    return InputError(f"rows from {first_row + row} on are not UTF-8; build the array from decoded text")
