"""Messages count by `counted`, which says "1 document": no number stands directly before a noun in the plural."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bertdata

PACKAGE = Path(bertdata.__file__).parent
PACKAGES = ("cli", "corpus", "finetune", "inspect", "sources")
"""What speaks of a user's own files, of which there may be one."""
NOUNS = "batch|book|column|document|example|field|file|id|kernel|label|line|model|page|position|reason|row|sample|"
NOUNS += "sentence|set|shard|source|text|token|value|word"
_PLURAL = re.compile(rf" (?:(?:smaller|other|distinct|special|example|rarest) )?(?:{NOUNS})e?s\b")
SEVERAL = re.compile(r"vocab_size|[A-Z]{3}|max_seq_length|shown\.py|limit|token_store\.py")
"""Numbers that are never 1: sizes of vocabularies, bounds, what an estimate says of a whole build."""


def plurals(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, number and noun) of each f-string of a module in which a number stands before a plural noun.

    >>> list(plurals('text = f"{len(rows)} rows"')), list(plurals('text = f"{size:,} bytes in {name} shards"'))
    ([(1, 'len(rows) rows')], [])
    """
    for node in ast.walk(ast.parse(source)):
        for value, after in zip(node.values, node.values[1:], strict=False) if isinstance(node, ast.JoinedStr) else ():
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            is_length = ast.unparse(value.value).startswith(("len(", "sum(")) and value.format_spec is None
            has_commas = value.format_spec is not None and ast.unparse(value.format_spec) == "f','"
            if (is_length or has_commas) and (noun := _PLURAL.match(str(after.value))):
                yield value.lineno, f"{ast.unparse(value.value)}{noun[0]}"


@pytest.mark.parametrize("package", PACKAGES)
def test_each_number_of_a_users_things_is_counted(package: str) -> None:
    several = [
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted((PACKAGE / package).rglob("*.py"))
        for line, text in plurals(path.read_text(encoding="utf-8"))
        if not SEVERAL.search(f"{path.name} {text}")
    ]
    assert not several, "write {counted(number, 'noun')} of bertdata.io.console"


def test_a_number_before_a_plural_is_noticed() -> None:
    assert list(plurals('text = f"of {len(rows)} rows, {number:,} special tokens"')) == [
        (1, "len(rows) rows"),
        (1, "number special tokens"),
    ]
    assert not list(plurals("text = f\"{counted(len(rows), 'row')} {size:,} bytes, {share:.1%} of rows\""))
