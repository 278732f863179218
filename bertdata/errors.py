"""The errors bertdata raises on purpose; anything else that escapes is a bug.

    BertDataError
        ConfigError         a setting, or settings that contradict each other (also a ValueError)
        InputError          a source that is missing, empty, truncated, corrupt or not what it should be
        OutputError         a place that cannot be written: taken by something else, full, not reachable
        VerificationError   shards whose bytes and manifest disagree
        MissingExtraError   an optional dependency that is not installed (also an ImportError)

A message says what was found, what was expected and what to do; `path`, `offset` and `title` say where. Control
characters in names and titles, which come from outside, are shown as escapes (`printable`). Messages are written with
the flags of the command line; an error that is raised in Python names the arguments in their place (`naming_flags`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

_BIDI = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Unicode's property Bidi_Control."""
_CONTROL = [*range(32), *range(0x7F, 0xA0), 0x2028, 0x2029, *_BIDI, *range(0xD800, 0xE000)]
_ESCAPES = {point: chr(point).encode("unicode_escape").decode("ascii") for point in _CONTROL}

_PASSWORD = re.compile(r"(?<=://)([^\s/:@]*):[^\s/]+@")
"""The user and the password of a URL."""


def printable(text: str) -> str:
    """Return a name, title or other text from outside, safe to print: control characters become escapes.

    Line ends, characters that change the direction of the text and surrogates are escaped, too.

    >>> print(printable("a" + chr(27) + "[2J"))
    a\\x1b[2J
    """
    return text.translate(_ESCAPES)


def printable_lines(text: str) -> str:
    """Return a text of several lines with each line `printable`, and no password in a URL.

    >>> print(printable_lines("sftp://me:secret@host/a.txt: cannot be reached"))
    sftp://me:***@host/a.txt: cannot be reached
    """
    return without_passwords("\n".join(map(printable, text.split("\n"))))


def without_passwords(text: str) -> str:
    """Return a text with `***` in the place of each password in its URLs."""
    return _PASSWORD.sub(r"\1:***@", text)


def shortened(value: object) -> str:
    """Return the repr of a value out of a file, cut where it is long, for a message.

    >>> shortened("12"), len(shortened("1" * 1000))
    ("'12'", 63)
    """
    text = f"a whole number of {value.bit_length()} bits" if type(value) is int and abs(value) >> 200 else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def parse_problem(error: Exception) -> str:
    """Return what a parser says of a text, the same from every release of Python where the text is nested too deeply.

    >>> parse_problem(RecursionError("maximum recursion depth exceeded")), parse_problem(ValueError("no digits"))
    ('it is nested too deeply', 'no digits')
    """
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the one of some names that is most like a name which is not among them, "" where none is.

    cutoff: the least ratio of `difflib.SequenceMatcher`, 0 to 1.

    >>> nearest("robreta", ["bert-base", "roberta"]), nearest("xyz", ["bert-base", "roberta"])
    ('roberta', '')
    """
    return next(iter(get_close_matches(name, list(names), n=1, cutoff=cutoff)), "")


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the end of a message on a name that there is not, "" where no name is near.

    >>> print("there is no setting 'sed'" + did_you_mean("sed", ["seed", "pack"]))
    there is no setting 'sed', did you mean 'seed'?
    """
    near = nearest(name, names, cutoff)
    return f", did you mean {near!r}?" if near else ""


def expected_one_of(name: str, names: Iterable[str]) -> str:
    """Return the end of a message on a name that there is not, with the nearest name and all there are.

    >>> print("--dedup is 'ner'" + expected_one_of("ner", ["none", "exact", "near"]))
    --dedup is 'ner'; expected one of none, exact, near, did you mean 'near'?
    """
    names = list(names)
    return f"; expected one of {', '.join(names)}{did_you_mean(name, names)}"


def install_hint(extra: str, package: str = "") -> str:
    """Return the command that installs an extra of bertdata; of torch also the one for its build without CUDA.

    >>> install_hint("report")
    'get it with: pip install ".[report]" (in a clone of bertdata)'
    >>> print(install_hint("torch", "torch"))
    get it with: pip install ".[torch]" (in a clone of bertdata), which on Linux brings gigabytes of CUDA; \
without a GPU: `pip install uv && uv pip install --torch-backend cpu ".[torch]"`
    """
    command = f'get it with: pip install ".[{extra}]" (in a clone of bertdata)'
    if package != "torch":
        return command
    for_cpu = f'`pip install uv && uv pip install --torch-backend cpu ".[{extra}]"`'
    return f"{command}, which on Linux brings gigabytes of CUDA; without a GPU: {for_cpu}"


_FLAG = re.compile(r"(?<![\w-])--(?!(?:runner|region|project)\b)(no-)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![\w=-])")


def arguments_for_flags(message: str) -> str:
    """Return a message with the names of arguments in Python in the place of flags, those of quoted commands aside.

    >>> print(arguments_for_flags("--max-seq-length is 4; expected 8, as by `bertdata build --max-seq-length 8`"))
    `max_seq_length` is 4; expected 8, as by `bertdata build --max-seq-length 8`
    >>> print(arguments_for_flags("--no-pack has no effect"))
    `pack=False` has no effect

    Beam's flags, which `bertdata.build` takes as they are, stay:

    >>> print(arguments_for_flags("--runner is given; local runs take --workers"))
    --runner is given; local runs take `workers`
    """

    def argument(flag: re.Match[str]) -> str:
        return flag[2].replace("-", "_") + ("=False" if flag[1] else "")

    quoted = message.split("`")
    for place, text in enumerate(quoted):
        if not place % 2:
            quoted[place] = _FLAG.sub(lambda flag: f"`{argument(flag)}`", text)
        elif " " not in text:
            quoted[place] = _FLAG.sub(argument, text)
    return "`".join(quoted)


@contextlib.contextmanager
def naming_flags() -> Iterator[None]:
    """Let the errors that are raised in a block, in any thread, name flags: the command line was used.

    Elsewhere they name arguments of Python.

    >>> with naming_flags():
    ...     print(ConfigError("--batch-size is 0; expected 1 or more"))
    --batch-size is 0; expected 1 or more
    >>> print(ConfigError("--batch-size is 0; expected 1 or more"))
    `batch_size` is 0; expected 1 or more
    """
    before = names_flags()
    set_naming_flags(True)
    try:
        yield
    finally:
        set_naming_flags(before)


def names_flags() -> bool:
    """Return whether errors name flags."""
    return _naming["flags"]


def set_naming_flags(on: bool) -> None:
    """Let the errors of this process name flags, or arguments: a worker does as the process that started it."""
    _naming["flags"] = on


_naming = {"flags": False}


class BertDataError(Exception):
    """Base of every error that bertdata raises on purpose.

    `path` is a file or directory, `offset` a byte offset in it, `title` a page or document title; each
    that is given is put in front of the message. `where` is what is put there, "" for nothing.

    >>> str(InputError("the bz2 stream is corrupt; download the file again", path="wiki.xml.bz2", offset=4096))
    'wiki.xml.bz2, byte 4096: the bz2 stream is corrupt; download the file again'
    """

    def __init__(
        self, message: str, *, path: str | None = None, offset: int | None = None, title: str | None = None
    ) -> None:
        where = [] if path is None else [printable(path)]
        where += [] if offset is None else [f"byte {offset}"]
        where += [] if title is None else [f"page {title!r}"]
        text = message if names_flags() else arguments_for_flags(message)
        self.where = ", ".join(where)
        super().__init__(printable_lines(": ".join([*filter(None, [self.where]), text])))


class ConfigError(BertDataError, ValueError):
    """A setting, or settings that contradict each other."""


class InputError(BertDataError):
    """A source that is missing, empty, truncated, corrupt or not what it should be."""


class OutputError(BertDataError):
    """A place that cannot be written: taken by something else, full, or not reachable."""


class VerificationError(BertDataError):
    """Shards whose bytes and manifest disagree."""


class JobNotRun(BertDataError):  # noqa: N818
    """A job that was made and, as the flags of its runner ask, not run; commands end with it as a success."""


class MissingExtraError(BertDataError, ImportError):
    """An optional dependency that is not installed, or that lacks what it needs itself, as its cause says."""

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(f"{package} is not installed; {install_hint(extra, package)}")

    def __str__(self) -> str:
        cause, package = self.__cause__, self.package.partition("[")[0]
        module = package.replace("-", "_")
        if isinstance(cause, ImportError) and not (cause.name and module.startswith(cause.name.partition(".")[0])):
            from importlib import metadata  # read only for this message

            with contextlib.suppress(metadata.PackageNotFoundError):
                problem = f"{package} {metadata.version(package)} is installed, but importing it fails"
                return f"{problem}: {cause}; {install_hint(self.extra)}"
        return super().__str__()

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.package, self.extra)


def error_of(kind: str, message: str) -> BertDataError:
    """Return the error that another process raised, by the name of its class and its message.

    >>> error_of("InputError", "a.txt: is empty")
    InputError('a.txt: is empty')
    """
    kinds = (ConfigError, InputError, OutputError, VerificationError)
    return {each.__name__: each for each in kinds}.get(kind, BertDataError)(message)
