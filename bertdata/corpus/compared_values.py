"""How often documents have the texts that a `--where` compares them with: a misspelt name leaves out nothing.

Shards count, for each text in a condition, the documents that have it (`COMPARED`), and, where the order of texts
decides, as in `date < '2017-01-01'`, those whose value is written in another form (`OTHER_FORM`): texts are ordered by
their characters, in which `05.03.2015` comes before `1999-12-31`. The counts are named by the place of the text in the
condition, and zeros are written as well, so that shards without such counts tell nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.where import ComparedText, Condition, parse_condition
from bertdata.engine.parts import Counts
from bertdata.io.console import counted

COMPARED = "documents_with_text_of_where_"
OTHER_FORM = "documents_of_another_form_than_text_of_where_"
_NAMED = 5
_LONGEST_FORM = 64
"""Characters of the longest text that is taken for a date or a number."""
_MOST_COUNTED = 1000
"""The texts of a condition that are counted; one with more is a list of ids, say, which the counts are not to hold."""


def count_compared(condition: Condition, columns: Mapping[str, pa.Array]) -> Counts:
    """Return how many documents have the texts of a condition, or values in another form, by the place of the text.

    columns: those that the condition reads.

    >>> columns = {"owner": pa.array(["kim", "lee", None]), "date": pa.array(["2016-01-02", "05.03.2015", None])}
    >>> count_compared(parse_condition("owner != 'Lee' and date < '2017-01-01'"), columns)
    {'documents_with_text_of_where_0': 0, 'documents_of_another_form_than_text_of_where_1': 1}
    """
    texts = condition.texts
    if len(texts) > _MOST_COUNTED:
        return {}
    counts: dict[str, int] = {}
    tallies: dict[str, dict[str, int]] = {}
    for place, text in enumerate(texts):
        values = columns[text.column]
        if pa.types.is_list(values.type):
            values = _listed_once(values)
        if not pa.types.is_string(values.type):  # no document here has a value
            counts[_name(text, place)] = 0
        elif text.ordered:
            fits = pc.match_substring_regex(_outline(values), _form(text.text)).fill_null(True)
            counts[_name(text, place)] = int(np.count_nonzero(~fits.to_numpy(zero_copy_only=False)))
        else:
            if text.column not in tallies:
                pairs = pc.value_counts(values)
                tallies[text.column] = dict(zip(pairs.field(0).to_pylist(), pairs.field(1).to_pylist(), strict=True))
            counts[_name(text, place)] = tallies[text.column].get(text.text, 0)
    return counts


def _listed_once(lists: pa.ListArray) -> pa.Array:
    """Return what lists hold, each value once for a list."""
    listed = pa.table({"row": pc.list_parent_indices(lists), "value": lists.flatten()})
    return listed.group_by(["row", "value"]).aggregate([])["value"].combine_chunks()


def _name(text: ComparedText, place: int) -> str:
    return f"{OTHER_FORM if text.ordered else COMPARED}{place}"


def _form(text: str) -> str:
    """Return what matches values of the form of a text, or of a beginning or a continuation of it; see `_outline`.

    >>> [bool(re.search(_form("2017-01"), value)) for value in ("0000", "0000-00-00a00", "000", "00.00.0000")]
    [True, True, False, False]
    """
    outline = re.sub("[A-Za-z]", "a", re.sub("[0-9]", "0", text))
    if "0" not in outline or len(outline) > _LONGEST_FORM:  # words are of one form
        return ""
    ends = [end for end in range(1, len(outline)) if outline[end - 1 : end + 1] != "00"]
    longer = re.escape(outline) + ("(?:[^0].*)?" if outline.endswith("0") else ".*")
    return rf"(?s)\A(?:{'|'.join([longer, *(re.escape(outline[:end]) for end in ends)])})$"


def _outline(values: pa.Array) -> pa.Array:
    """Return texts with 0 for each digit and a for each letter of ASCII."""
    return pc.replace_substring_regex(pc.replace_substring_regex(values, r"[0-9]", "0"), r"[A-Za-z]", "a")


def notes_of_compared(where: str) -> tuple[str, ...]:
    """Return the note on a condition with more texts than are counted.

    >>> notes_of_compared(f"id in {tuple(map(str, range(1200)))}")
    ('--where compares with 1,200 texts; of more than 1,000 it is not checked whether any document has them, so see \
that none is misspelt',)
    >>> notes_of_compared("owner != 'lee'")
    ()
    """
    number = len(parse_condition(where).texts) if where else 0
    if number <= _MOST_COUNTED:
        return ()
    return (
        f"--where compares with {counted(number, 'text')}; of more than {_MOST_COUNTED:,} it is not checked whether "
        "any document has them, so see that none is misspelt",
    )


def warnings_of_compared(where: str, counts: Counts) -> Iterator[dict[str, str | float]]:
    """Yield the warnings of texts in a condition that no document has, and of values that are in another form.

    counts: of all splits, as `count_compared` names them.

    >>> [warning] = warnings_of_compared("owner != 'Lee'", {"documents_with_text_of_where_0": 0})
    >>> warning["found"]
    '--where "owner != \\'Lee\\'" compares owner with \\'Lee\\', which no document has'
    """
    if not where:
        return
    texts = parse_condition(where).texts
    absent: dict[str, list[str]] = {}
    for place, text in enumerate(texts):
        number = counts.get(_name(text, place))
        if not text.ordered and number == 0:
            absent.setdefault(text.column, []).append(repr(text.text))
        elif text.ordered and number:
            yield {
                "about": "selection",
                "figure": float(number),
                "threshold": 0.0,
                "found": f"--where {where!r} orders {text.column} as text, and {counted(number, 'document')} "
                f"{'has' if number == 1 else 'have'} a value that is not written as {text.text!r}",
                "remedy": "texts are ordered by their characters; write dates as 2017-01-31 in all files, and numbers "
                "as numbers",
            }
    for column, names in absent.items():
        several = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield {
            "about": "selection",
            "figure": 0.0,
            "threshold": 1.0,
            "found": f"--where {where!r} compares {column} with {', '.join(names[:_NAMED])}{several}, which no "
            "document has",
            "remedy": "see how the files write it: capitals, spaces and accents count",
        }
