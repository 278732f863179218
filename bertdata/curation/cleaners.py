"""Cleaners: what becomes of the text of each document, whatever its source, before filters see it.

A cleaner is one object in a registry; `--clean NAME ...` applies several one after another. A function from text to
text, named as `module:name`, is a cleaner too. A package outside bertdata adds one with `CLEANERS.add(name,
Cleaner(...))` in a module that `bertdata.registry` loads.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation import CLEANERS
from bertdata.curation.document_rules import with_rules
from bertdata.curation.of_each_text import of_each_text
from bertdata.documents import CHANGED, paragraphs
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.own_objects import digest
from bertdata.engine.parts import Counters, Task
from bertdata.errors import ConfigError
from bertdata.registry import object_of


@dataclass(frozen=True, kw_only=True)
class Cleaner:
    """One rule that changes texts.

    help: what it does, for --help. clean: returns for texts, a string array (N,), the cleaned ones, (N,) without nulls;
    a document that is "" or white space afterwards is dropped. What becomes of a text must depend on it alone, so that
    the result does not depend on how documents are grouped. revision: to be raised when it returns other texts, so that
    documents are written again; of a function the digest of its code.
    """

    help: str
    clean: Callable[[pa.StringArray], pa.StringArray]
    revision: int | str = 1


def _cleaner(name: str, plugin: object) -> Cleaner:
    """Return the cleaner that an object is, or that applies a function to each text."""
    if isinstance(plugin, Cleaner | type) or not callable(plugin):
        return object_of("cleaner", name, plugin, Cleaner)
    return Cleaner(
        help=f"what {name} returns for each text",
        clean=lambda texts: of_each_text(f"the cleaner {name}", plugin, texts, str),
        revision=digest(plugin),
    )


def with_cleaners(tasks: Sequence[Task], cleaners: Sequence[str]) -> list[Task]:
    """Return tasks that write documents with cleaners to apply; their fingerprints change if there are any."""
    if not cleaners:
        return list(tasks)
    values = [[name, CLEANERS[name].revision] for name in cleaners]
    return [
        with_rules(task, fingerprint(task.fingerprint, "cleaners", values), cleaners=tuple(cleaners)) for task in tasks
    ]


def cleaned(texts: pa.StringArray, cleaners: Sequence[str], counters: Counters) -> tuple[pa.StringArray, pa.Array]:
    """Return what cleaners, one after another, make of texts, and why each is dropped, null where it is kept.

    A text that is changed has paragraphs as a row of a table has (`bertdata.documents.paragraphs`). Counts the texts
    that each cleaner changed. Raises ConfigError where one does not return a text for each.

    >>> texts = pa.array(["Cafe\\u0301.", "Tea."])
    >>> cleaned(texts, ["nfc"], counters := Counters())[0].to_pylist(), counters.counts
    (['Café.', 'Tea.'], {'changed by nfc': 1})
    """
    reasons = pa.nulls(len(texts), pa.string())
    for name in cleaners:
        cleaned_texts = CLEANERS[name].clean(texts)
        if (
            not isinstance(cleaned_texts, pa.StringArray)
            or len(cleaned_texts) != len(texts)
            or cleaned_texts.null_count
        ):
            kind, number, nulls = (getattr(cleaned_texts, key, "no") for key in ("type", "__len__", "null_count"))
            number = number() if callable(number) else number
            raise ConfigError(
                f"the cleaner {name} returned {number} values of type {kind}, {nulls} of them null, for {len(texts)} "
                "texts; expected a string for each"
            )
        changed = pc.not_equal(texts, cleaned_texts)
        new = pa.array(map(paragraphs, cleaned_texts.filter(changed).to_pylist()), pa.string())
        counters.add(CHANGED + name, len(new))
        texts = pc.replace_with_mask(texts, changed, new)
        emptied = pc.and_(pc.is_null(reasons), pc.equal(texts, ""))
        reasons = pc.if_else(emptied, f"emptied by {name}", reasons)
    return texts, reasons


NFC = Cleaner(
    help="Unicode's composed form (NFC): a letter and its accent become one character",
    clean=lambda texts: of_each_text("nfc", partial(unicodedata.normalize, "NFC"), texts, str),
)
