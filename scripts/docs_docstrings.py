"""Docstrings on the site: their doctests become blocks of code (an extension of Griffe, named in mkdocs.yml)."""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?! *$).*)*", re.MULTILINE)


def fenced(docstring: str) -> str:
    """Return a docstring whose doctests stand in fences, as Markdown wants them.

    >>> print(fenced("Add.\\n\\n>>> 1 + 1\\n2").replace(">>>", "prompt"))
    Add.
    <BLANKLINE>
    ```pycon
    prompt 1 + 1
    2
    ```
    """
    return DOCTEST.sub(lambda match: f"{match['indent']}```pycon\n{match[0]}\n{match['indent']}```", docstring)


class FencedDoctests(griffe.Extension):  # type: ignore[misc]
    """Puts the doctests of all docstrings into fences."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
