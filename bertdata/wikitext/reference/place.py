"""Where a template call stands: inside a sentence, or between sentences, on its own line, glued to a word.

A call after a space or an opening mark is part of its sentence; one glued to a word or to a closing mark is a note on
it. One that begins a line, or comes after the end of a sentence, is part of a sentence only where that goes on after
it. None is in a list. `kernels/place` does the same, compiled.
"""

from __future__ import annotations

from bertdata.wikitext import rules

NOWHERE, IF_IT_GOES_ON, INSIDE = range(3)
_PASSED = frozenset(rules.PASSED_BEFORE_CALL)
_OPENING = frozenset(rules.OPENS_CALL)
_ENDS = frozenset(rules.ENDS_SENTENCE)
_LIST_MARKS = frozenset(rules.LIST_MARKS) - {"|"}
_BEFORE_LIST_MARK = _LIST_MARKS | {"", "\n"}


def place_after(before: str, *, nested: bool) -> int:
    r"""Return whether a call after this text stands inside a sentence, only if the sentence goes on, or does not.

    >>> place_after("the ''", nested=False), place_after("end. ", nested=False), place_after("end.", nested=False)
    (2, 1, 0)
    """
    gap = False
    for back in range(1, min(rules.MOST_PASSED, len(before)) + 1):
        last = before[-back]
        if last == " ":
            gap = True
        elif last not in _PASSED:
            break
    else:
        return NOWHERE
    if last in _LIST_MARKS and before[-back - 1 : -back] in _BEFORE_LIST_MARK:
        return NOWHERE
    if last == "\n":
        return IF_IT_GOES_ON
    if last in ("|", "="):
        return INSIDE if nested else NOWHERE
    if last in _OPENING:
        return INSIDE
    if not gap or last in rules.RESERVED:
        return NOWHERE
    return IF_IT_GOES_ON if last in _ENDS else INSIDE


def goes_on(after: str) -> bool:
    """Tell whether the sentence goes on after a call that begins it: in lower case, or with a comma or a hyphen.

    >>> goes_on(" won."), goes_on("'s coach"), goes_on(" The end."), goes_on("\\nand")
    (True, True, False, False)
    """
    passed = 0
    while passed < rules.MOST_PASSED and after[passed : passed + 1] and after[passed] in rules.PASSED_AFTER_CALL:
        passed += 1
    following = after[passed : passed + 1]
    if following == " ":
        following = after[passed + 1 : passed + 2]
        return "a" <= following <= "z"
    return following in rules.GOES_ON if following else False
