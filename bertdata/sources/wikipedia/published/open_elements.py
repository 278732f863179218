"""The elements of HTML that are open at a tag, and the formatting elements that a parser would open again.

Rules of the HTML standard: https://html.spec.whatwg.org/multipage/parsing.html#the-stack-of-open-elements and
https://html.spec.whatwg.org/multipage/parsing.html#the-list-of-active-formatting-elements.
"""

from __future__ import annotations

from collections import defaultdict

from bertdata.sources.wikipedia.published.html_elements import SCOPE, SPECIAL

MOST_OPEN = 2000
"""The most elements open at once: a parser goes through them for each tag."""
_REOPENED, _REOPENED_SHARE = 10_000, 4
"""A page of n characters may have so many elements opened again, and n divided by this more."""
_COPIED, _COPIED_TIMES = 100_000, 4
"""So many characters of their attributes may be copied, and n times this more."""
_WALKED, _WALKED_TIMES = 100_000, 20
"""So many open elements may be gone through to find those that tags close, and n times this more."""
TOO_DEEP, TOO_MANY_OPEN = "nested too deep", "too many unclosed elements"


class ExcessError(Exception):
    """Raised for a page that is not to be parsed, with the reason."""


class Element:
    """An open element, or a formatting element that would be opened again.

    `space` is math or svg, with which the name begins then, or "" for HTML.
    """

    __slots__ = ("attributes", "is_open", "name", "space")

    def __init__(self, name: str, space: str, attributes: str) -> None:
        self.name = f"{space} {name}" if space else name
        self.space, self.attributes = space, attributes
        self.is_open = True


class OpenElements:
    """The stack of open elements, the outermost first, and the list of formatting elements, in which None is a marker.

    Methods raise ExcessError where a page of `size` characters has more of them than a parser should be given.
    """

    def __init__(self, size: int) -> None:
        self.stack: list[Element] = []
        self.count: defaultdict[str, int] = defaultdict(int)
        self.formatting: list[Element | None] = []
        self._may_reopen = _REOPENED + size // _REOPENED_SHARE
        self._may_copy = _COPIED + size * _COPIED_TIMES
        self._may_walk = _WALKED + size * _WALKED_TIMES

    def push(self, name: str, space: str = "", attributes: str = "") -> Element:
        """Open an element in the innermost."""
        element = Element(name, space, attributes)
        self.stack.append(element)
        if len(self.stack) > MOST_OPEN:
            raise ExcessError(TOO_DEEP)
        self.count[element.name] += 1
        return element

    def pop_to(self, index: int) -> None:
        """Close the open elements from an index on."""
        for element in self.stack[index:]:
            element.is_open = False
            self.count[element.name] -= 1
        del self.stack[index:]

    def pop(self) -> None:
        """Close the innermost element."""
        self.pop_to(len(self.stack) - 1)

    def remove(self, element: Element) -> None:
        """Close an element; those in it stay open."""
        self.walked(len(self.stack))
        self.stack.remove(element)
        element.is_open = False
        self.count[element.name] -= 1

    def walked(self, elements: int, reason: str = TOO_DEEP) -> None:
        """Count open elements that a tag goes through; `reason` is raised where they are too many."""
        self._may_walk -= elements
        if self._may_walk < 0:
            raise ExcessError(reason)

    def innermost(self) -> str:
        """Return the name of the innermost element, "" where none is open."""
        return self.stack[-1].name if self.stack else ""

    def find(self, names: frozenset[str], barriers: frozenset[str]) -> int:
        """Return the index of the innermost element of these names, -1 where there is none, or a barrier before it."""
        for index in range(len(self.stack) - 1, -1, -1):
            element = self.stack[index]
            if element.name in names:
                self.walked(len(self.stack) - index)
                return index
            if element.name in barriers:
                self.walked(len(self.stack) - index)
                return -1
        self.walked(len(self.stack))
        return -1

    def has(self, name: str, barriers: frozenset[str]) -> bool:
        """Tell whether an element of this name is open, with no barrier before it."""
        return self.count[name] > 0 and self.find(frozenset([name]), barriers) >= 0

    def close(self, name: str, barriers: frozenset[str]) -> bool:
        """Close the innermost element of a name and all in it; returns whether there is one before a barrier."""
        index = self.find(frozenset([name]), barriers) if self.count[name] else -1
        if index >= 0:
            self.pop_to(index)
        return index >= 0

    def end_other(self, name: str) -> None:
        """Close the innermost element of a name and all elements in it, unless a special element is among them."""
        for index in range(len(self.stack) - 1, -1, -1) if self.count[name] else ():
            element = self.stack[index]
            if element.name == name:
                self.walked(len(self.stack) - index)
                self.pop_to(index)
                return
            if element.name in SPECIAL:
                self.walked(len(self.stack) - index)
                return

    def mark_formatting(self) -> None:
        """Put a marker after the formatting elements: those before it are not opened in what begins here."""
        self.formatting.append(None)

    def clear_formatting(self) -> None:
        """Forget the formatting elements since the last marker, and the marker."""
        while self.formatting and self.formatting.pop() is not None:
            pass

    def since_marker(self) -> list[int]:
        """Return the indices of the formatting elements since the last marker, the last first."""
        indices = []
        for index in range(len(self.formatting) - 1, -1, -1):
            if self.formatting[index] is None:
                break
            indices.append(index)
        self.walked(len(indices), TOO_MANY_OPEN)
        return indices

    def reopen(self) -> None:
        """Open the formatting elements again that were closed with what they were in."""
        first = len(self.formatting)
        while first and (element := self.formatting[first - 1]) is not None and not element.is_open:
            first -= 1
        for index in range(first, len(self.formatting)):
            if closed := self.formatting[index]:
                self._copied(closed)
                self.formatting[index] = self.push(closed.name, "", closed.attributes)

    def _copied(self, element: Element) -> None:
        self._may_reopen -= 1
        self._may_copy -= len(element.attributes)
        if self._may_reopen < 0 or self._may_copy < 0:
            raise ExcessError(TOO_MANY_OPEN)

    def start_formatting(self, name: str, attributes: str) -> None:
        """Open a formatting element; of more than three that are the same, the first is forgotten."""
        same = [
            index
            for index in self.since_marker()
            if (other := self.formatting[index]) and other.name == name and other.attributes == attributes
        ]
        if len(same) >= 3:
            del self.formatting[same[-1]]
        self.formatting.append(self.push(name, "", attributes))

    def forget(self, element: Element) -> None:
        """Remove a formatting element from the list and from the open elements."""
        if element in self.formatting:
            self.formatting.remove(element)
        if element.is_open:
            self.remove(element)

    def end_formatting(self, name: str) -> None:
        """Close a formatting element, and open it again in the blocks in it: the adoption agency algorithm."""
        top = self.stack[-1] if self.stack else None
        if top and top.name == name and top not in self.formatting:
            self.pop()
            return
        for _ in range(8):
            element = next((e for i in self.since_marker() if (e := self.formatting[i]) and e.name == name), None)
            if element is None:
                self.end_other(name)
                return
            if not element.is_open:
                self.formatting.remove(element)
                return
            place = self._place_in_scope(element)
            if place < 0:
                return
            block = next((i for i in range(place, len(self.stack)) if self.stack[i].name in SPECIAL), -1)
            if block < 0:
                self.pop_to(place)
                self.formatting.remove(element)
                return
            self._reopen_in(element, place, block)

    def _place_in_scope(self, element: Element) -> int:
        """Return the index of an open element, -1 where something else ends the search for it."""
        for index in range(len(self.stack) - 1, -1, -1):
            other = self.stack[index]
            if other is element:
                self.walked(len(self.stack) - index)
                return index
            if other.name in SCOPE:
                self.walked(len(self.stack) - index)
                break
        return -1

    def _reopen_in(self, element: Element, place: int, block: int) -> None:
        """Close a formatting element, and open it again as the innermost that is in a block."""
        between, bookmark = self.stack[place + 1 : block], self.formatting.index(element)
        self.walked(len(between) + len(self.formatting))
        staying: list[Element] = []
        for number, inner in enumerate(reversed(between), 1):
            index = self.formatting.index(inner) if inner in self.formatting else -1
            if index >= 0 and number <= 3:
                self._copied(inner)
                copy = Element(inner.name, "", inner.attributes)
                self.formatting[index] = copy
                bookmark = index + 1 if not staying else bookmark
                staying.append(copy)
                inner.is_open = False
                continue
            if index >= 0:
                del self.formatting[index]
                bookmark -= index < bookmark
            inner.is_open = False
            self.count[inner.name] -= 1
        self._copied(element)
        copy = Element(element.name, "", element.attributes)
        index = self.formatting.index(element)
        del self.formatting[index]
        self.formatting.insert(bookmark - (index < bookmark), copy)
        element.is_open = False
        self.stack[place : block + 1] = [*reversed(staying), self.stack[block], copy]
