"""The errors of several inputs as one error, which names all of them: who mends the first knows of the others."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from bertdata.errors import InputError

_SHOWN = 20
_Plan = TypeVar("_Plan")


class SeveralInputsError(InputError):
    """Inputs that cannot be used: `errors` has that of each, the message the first 20 reasons and how many there are.

    A reason that several inputs have is said once, with the first 20 of them.
    """

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple(errors)
        paths_of: dict[str, list[str]] = {}
        for error in self.errors:
            paths_of.setdefault(str(error).removeprefix(f"{error.where}: "), []).append(error.where)
        lines = [_line(reason, paths) for reason, paths in list(paths_of.items())[:_SHOWN]]
        others = sum(len(paths) for paths in list(paths_of.values())[_SHOWN:])
        lines += [f"  and {others:,} more"] if others else []
        super().__init__("\n".join([f"{len(self.errors):,} of the inputs cannot be used:", *lines]))

    def __reduce__(self) -> tuple[type[SeveralInputsError], tuple[Sequence[InputError]]]:
        return type(self), (self.errors,)


def _line(reason: str, paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN:,} more" if len(paths) > _SHOWN else ""
    named = "; ".join(filter(None, paths[:_SHOWN])) + more
    return f"  {named}: {reason}" if named else f"  {reason}"


class Problems:
    """Collects the errors of inputs that are looked at one by one.

    >>> problems = Problems()
    >>> for name in ("a.csv", "b.csv"):
    ...     with problems.noted():
    ...         raise InputError("is empty; leave it out", path=name)
    >>> problems.raise_any()
    Traceback (most recent call last):
    bertdata.sources.problems.SeveralInputsError: 2 of the inputs cannot be used:
      a.csv; b.csv: is empty; leave it out
    """

    def __init__(self) -> None:
        self._errors: list[InputError] = []

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Keep the InputError that ends the block, and go on after it."""
        try:
            yield
        except SeveralInputsError as several:
            self._errors += several.errors
        except InputError as error:
            self._errors.append(error)

    def raise_any(self) -> None:
        """Raise what was kept: the error itself where there is one, SeveralInputsError where there are more."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise SeveralInputsError(self._errors)


def planned_or_all_problems(plan: Callable[[Sequence[Any], Any], _Plan], sources: Sequence[Any], request: Any) -> _Plan:
    """Return what `plan` gives for some files; where it fails, plan each by itself and raise the errors of all."""
    try:
        return plan(sources, request)
    except InputError:
        problems = Problems()
        for source in sources if len(sources) > 1 else ():
            with problems.noted():
                plan([source], request)
        problems.raise_any()
        raise
