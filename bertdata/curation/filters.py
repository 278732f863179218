"""Filters: which documents are kept, decided from the text of each alone where documents are written.

A filter is one object in a registry. `--filter NAME[=ARGUMENT]` applies it; of several, a document is counted under the
first that drops it. A package outside bertdata adds one with `FILTERS.add(name, Filter(...))` in a module that
`bertdata.registry` loads. A function of one text, named as `module:name`, is a filter without an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation import FILTERS
from bertdata.curation.document_rules import with_rules
from bertdata.curation.of_each_text import of_each_text
from bertdata.documents import CHANGED, MEASURED, paragraphs
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.own_objects import digest
from bertdata.engine.parts import Counters, Task
from bertdata.errors import ConfigError
from bertdata.registry import object_of

JUDGED, DROPPED_BY = "judged by ", "dropped by "
"""What the counts of documents begin with that a filter saw, and that it dropped."""
BYTES_JUDGED, BYTES_DROPPED_BY = "bytes judged by ", "bytes dropped by "
"""What the counts of their bytes of text begin with."""


@dataclass(frozen=True)
class Judgement:
    """What a filter of several rules makes of texts, string (N,).

    reasons: why each is dropped, null where it is kept, string (N,). texts: what becomes of them, string (N,) without
    nulls, where the filter leaves lines out. counts: what was left out, by name, for the ledger.
    """

    reasons: pa.StringArray
    texts: pa.StringArray | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Filter:
    """One rule that keeps or drops documents, or several with reasons of their own.

    help: what it drops, for --help.
    keep: returns for texts, a string array (N,), and the argument which of them are kept, a boolean array (N,) without
    nulls. It must decide on each text alone, so that the result does not depend on how documents are grouped.
    judge: in place of `keep`, returns a `Judgement`, which has the reason of each text and may change texts.
    parse: makes the argument of the text after NAME=; its ValueError says what was expected.
    measure: returns for one text, the argument and the reason of the drop what was measured and the threshold, as
    `words 12, at least 50 expected (min_words)`; "" where there is nothing to measure.
    Only samples of dropped texts are measured.
    default: the argument where none is given; None: it must be given.
    only_drops: whether a `judge` changes no text, as no `keep` does, so that texts need not be stored.
    revision: to be raised when what it keeps changes, so that documents are written again; of a function the digest of
    its code.
    """

    help: str
    parse: Callable[[str], Any]
    keep: Callable[[pa.StringArray, Any], pa.BooleanArray] | None = None
    judge: Callable[[pa.StringArray, Any], Judgement] | None = None
    measure: Callable[[str, Any, str], str] | None = None
    default: str | None = None
    revision: int | str = 1
    only_drops: bool = False

    def __post_init__(self) -> None:
        if (self.keep is None) == (self.judge is None):
            raise ConfigError(f"a filter that {self.help} has both keep and judge, or neither; expected one of them")


def _filter(name: str, plugin: object) -> Filter:
    """Return the filter that an object is, or that keeps the texts for which a function returns true."""
    if isinstance(plugin, Filter | type) or not callable(plugin):
        return object_of("filter", name, plugin, Filter)
    return Filter(
        help=f"drops documents for which {name} does not return true",
        keep=lambda texts, argument: of_each_text(f"the filter {name}", plugin, texts, bool),
        parse=partial(_no_argument, name),
        default="",
        revision=digest(plugin),
    )


def _no_argument(name: str, text: str) -> str:
    if text:
        raise ValueError(f"{name} is a function of a text alone; expected no argument")
    return text


def parse_filter(text: str) -> tuple[Filter, Any]:
    """Return the filter and the argument that NAME or NAME=ARGUMENT stands for; raises ConfigError for neither.

    >>> parse_filter("min-characters=200")[1], parse_filter("max-symbol-ratio")[1]
    (200, 0.1)
    """
    name, _, given = text.partition("=")
    chosen = FILTERS[name]
    argument = given or chosen.default
    if argument is None:
        raise ConfigError(f"--filter {text} needs an argument: write --filter {name}=ARGUMENT; it {chosen.help}")
    try:
        return chosen, chosen.parse(argument)
    except ValueError as error:
        raise ConfigError(f"--filter {text}: {error}") from error


def leave_texts(filters: Sequence[str]) -> bool:
    """Tell whether filters leave the texts as they are that they keep.

    >>> leave_texts(["min-characters=200", "gopher-quality"]), leave_texts(["c4-quality"])
    (True, False)
    """
    chosen = [parse_filter(text)[0] for text in filters]
    return all(each.keep is not None or each.only_drops for each in chosen)


def with_filters(tasks: Sequence[Task], filters: Sequence[str]) -> list[Task]:
    """Return tasks that write documents with filters to keep them by; their fingerprints change if there are any."""
    if not filters:
        return list(tasks)
    values = [[text, parse_filter(text)[0].revision] for text in filters]
    return [
        with_rules(task, fingerprint(task.fingerprint, "filters", values), filters=tuple(filters)) for task in tasks
    ]


def drop_reasons(texts: pa.StringArray, filters: Sequence[str]) -> pa.StringArray:
    """Return for each text why it is dropped, null where it is kept; the first of the filters that drops it counts.

    >>> drop_reasons(pa.array(["Salt.", "Water #### ..."]), ["min-characters=6", "max-symbol-ratio"]).to_pylist()
    ['filter min-characters=6', 'filter max-symbol-ratio']
    """
    return filtered(texts, filters, Counters())[1]


def filtered(
    texts: pa.StringArray, filters: Sequence[str], counters: Counters
) -> tuple[pa.StringArray, pa.StringArray]:
    """Return what filters, one after another, leave of texts, and why each is dropped, null where it is kept.

    A filter sees the texts that those before it kept. Counts the texts that a filter changed, and what it left out.
    Raises ConfigError where one does not decide on each text.
    """
    reasons = pa.nulls(len(texts), pa.string())
    for text in filters:
        not_dropped = pc.is_null(reasons)
        # texts are copied only where some of them are left out
        all_remain = reasons.null_count == len(reasons)
        remaining = texts if all_remain else texts.filter(not_dropped)
        if not len(remaining):
            break
        judged = _judged(text, remaining)
        counters.add(JUDGED + text, len(remaining))
        counters.add(DROPPED_BY + text, len(remaining) - judged.reasons.null_count)
        sizes = pc.binary_length(remaining)
        counters.add(BYTES_JUDGED + text, pc.sum(sizes, min_count=0).as_py())
        counters.add(BYTES_DROPPED_BY + text, pc.sum(sizes.filter(judged.reasons.is_valid()), min_count=0).as_py())
        reasons = judged.reasons if all_remain else pc.replace_with_mask(reasons, not_dropped, judged.reasons)
        for name, number in judged.counts.items():
            counters.add(name, number)
        if judged.texts is not None:
            if parse_filter(text)[0].only_drops:
                raise ConfigError(f"the filter {text} changes texts and says that it only drops some; correct either")
            changed = pc.and_(pc.not_equal(remaining, judged.texts), pc.is_null(judged.reasons))
            counters.add(CHANGED + text.partition("=")[0], pc.sum(changed).as_py() or 0)
            new = pa.array(map(paragraphs, judged.texts.filter(changed).to_pylist()), pa.string())
            texts = pc.replace_with_mask(texts, not_dropped, pc.replace_with_mask(remaining, changed, new))
    return texts, reasons


def measured(text: str, reason: str, filters: Sequence[str]) -> str:
    """Return what the filter that dropped a text measured of it, "" where the filter does not say.

    >>> measured("Salt.", "filter min-characters=6", ["min-characters=6"])
    'characters 5, at least 6 expected (min-characters)'
    """
    for name in filters:
        chosen, argument = parse_filter(name)
        if chosen.measure is None or (reason.startswith("filter ") and reason != f"filter {name}"):
            continue
        if len(text) > MEASURED:
            return f"a text of over {MEASURED:,} characters, which is not measured again"
        if figures := chosen.measure(text, argument, reason):
            return figures
    return ""


def figure_text(name: str, value: float, threshold: float) -> str:
    """Return a measured figure beside its threshold, and the name by which the threshold is set, min_... or max_....

    >>> figure_text("max_hashes", 0.12345, 0.1), figure_text("min_words", 49.99999, 50)
    ('hashes 0.1235, at most 0.1 expected (max_hashes)', 'words 49.99999, at least 50 expected (min_words)')
    """
    rounded = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
    shown = rounded if rounded != f"{threshold:g}" else repr(value)
    side = {"min": "at least", "max": "at most"}[name[:3]]
    return f"{name[4:].replace('_', ' ').replace('-', ' ')} {shown}, {side} {threshold:g} expected ({name})"


def _judged(text: str, texts: pa.StringArray) -> Judgement:
    """Return what one filter makes of texts; raises ConfigError where it does not decide on each."""
    chosen, argument = parse_filter(text)
    if chosen.judge is not None:
        judged = chosen.judge(texts, argument)
        for values in (judged.reasons, texts if judged.texts is None else judged.texts):
            if values.type != pa.string() or len(values) != len(texts):
                raise ConfigError(
                    f"the filter {text} returned {len(values)} values of type {values.type} for {len(texts)} texts; "
                    "expected a string, or null, for each"
                )
        return judged
    assert chosen.keep is not None
    flags = chosen.keep(texts, argument)
    if flags.type != pa.bool_() or len(flags) != len(texts) or flags.null_count:
        raise ConfigError(
            f"the filter {text} returned {len(flags)} values of type {flags.type}, {flags.null_count} of them null, "
            f"for {len(texts)} texts; expected true or false for each"
        )
    return Judgement(pc.if_else(flags, pa.scalar(None, pa.string()), f"filter {text}"))


def _positive_int(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError("expected a whole number of 1 or more, as 200")
    return int(text)


def parse_share(text: str) -> float:
    """Return the argument of a filter as a number from 0 to 1; raises ValueError for another."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError("expected a number from 0 to 1, as 0.1")
    return number


def long_enough(texts: pa.StringArray, characters: int) -> pa.BooleanArray:
    """Return which texts have at least `characters` code points of Unicode.

    >>> long_enough(pa.array(["Seen", "Öl"]), 3).to_pylist()
    [True, False]
    """
    return pc.greater_equal(pc.utf8_length(texts), characters)


def few_symbols(texts: pa.StringArray, ratio: float) -> pa.BooleanArray:
    """Return which texts have at most `ratio` hash signs a word, and as few ellipses.

    Gopher's rule (Rae et al., 2021, "Scaling Language Models", appendix A.1.1, there 0.1). Words are what white space
    separates; "..." and "…" are ellipses.

    >>> few_symbols(pa.array(["one # in ten words " * 2, "# # words", "Well ... and … so"]), 0.2).to_pylist()
    [True, False, False]
    """
    symbols, words = _symbols_and_words(texts)
    return pc.less_equal(symbols, pc.multiply(words, ratio))


def _symbols_and_words(texts: pa.StringArray) -> tuple[pa.DoubleArray, pa.DoubleArray]:
    """Return the hash signs or the ellipses of texts, whichever are more, and their words."""
    words = pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts)))
    hashes = pc.count_substring(texts, "#")
    ellipses = pc.add(pc.count_substring(texts, "..."), pc.count_substring(texts, "…"))
    symbols = pc.max_element_wise(hashes, ellipses)
    return pc.cast(symbols, pa.float64()), pc.cast(words, pa.float64())


def _measured_symbols(text: str, ratio: float, reason: str) -> str:
    symbols, words = (column[0].as_py() for column in _symbols_and_words(pa.array([text])))
    return figure_text("max-symbol-ratio", symbols / words, ratio) if words else ""


MIN_CHARACTERS = Filter(
    help="drops documents with fewer characters than the argument",
    keep=long_enough,
    parse=_positive_int,
    measure=lambda text, characters, reason: figure_text("min-characters", len(text), characters),
)
MAX_SYMBOL_RATIO = Filter(
    help="drops documents with more hash signs or more ellipses a word than the argument, 0.1 unless given",
    keep=few_symbols,
    parse=parse_share,
    measure=_measured_symbols,
    default="0.1",
)
