"""What one worker does of a dump: a range of it, and how its pages are cleaned."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.sources.wikipedia.dump.ranges import DumpRange


@dataclass(frozen=True)
class CleaningTask:
    """One range of a dump, and how its pages are cleaned; `rejects` is where the dropped ones are named, or "".

    `span` is the first file of a page whose revisions are in several, `more` are the others. `compiled` says whether by
    compiled kernels: this changes only the speed, and is not in the task's fingerprint. `table` is that of the dumps'
    template pages, "" where these are not read; `language`, if it is not "", is taken for that in the head of the dump.
    """

    span: DumpRange
    min_words: int
    templates: str
    rejects: str
    compiled: bool
    more: tuple[DumpRange, ...] = ()
    table: str = ""
    table_sha256: str = ""
    language: str = ""
    variant: str = ""
    keep_lists: bool = False
    format = "wikipedia"

    @property
    def path(self) -> str:
        """The dump."""
        return self.span.path
