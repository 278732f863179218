"""Books as a source format: one group of books to one part of documents.

How a file is read and cleaned is in `read`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, BinaryIO

from bertdata.curation.languages import add_languages
from bertdata.curation.text_rules import text_rules
from bertdata.documents import BYTES_LEFT_OUT, DocumentWriter
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, Task, part_name
from bertdata.io import files
from bertdata.io.compression import endings
from bertdata.io.console import byte_size
from bertdata.io.encodings import GUESS
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.books.volumes import Volume, group_books
from bertdata.sources.formats import Request, SourceFile, SourceFormat, text_bytes
from bertdata.sources.names import InputCount
from bertdata.sources.text_encodings import DOUBTFUL, READ_AS, parse_encodings

REVISION = 26


@dataclass(frozen=True)
class BookGroup:
    """Files that one worker takes together, and the label that begins the ids of each one's books.

    `compiled` says whether compiled kernels clean them, as in `CleaningTask`.
    """

    volumes: tuple[Volume, ...]
    labels: tuple[str, ...]
    split_chapters: bool
    compiled: bool
    encoding: str = ""
    format = "books"

    @property
    def path(self) -> str:
        """The first of its files, all of which are of one source."""
        return self.volumes[0].path


class BooksFormat(SourceFormat):
    """Plain-text books; a part is a group of books of like size, all of one source."""

    kind = "books"
    suffixes = (*endings(".txt"), ".zip")
    described = ".txt, also .gz, .zst, .bz2 or .xz, or .zip of these"
    settings = ("split_chapters", "encoding")

    def plan(self, sources: Sequence[SourceFile], request: Request) -> tuple[list[Task], list[str]]:
        """Return one task for each group of books."""
        compiled = compiling_pays(text_bytes(sources), None)
        label_of = {source.path: source.label for source in sources}
        paths_by_source: dict[str, list[str]] = {}
        for source in sources:
            paths_by_source.setdefault(source.source, []).append(source.path)
        tasks, asked = [], parse_encodings(request.config.encoding)
        for name, paths in paths_by_source.items():
            for number, volumes in enumerate(group_books(paths, request.target_bytes)):
                labels = tuple(label_of[volume.path] for volume in volumes)
                encoding = asked.get(name, asked.get("", ""))
                group = BookGroup(volumes, labels, request.config.split_chapters, compiled, encoding)
                identities = [files.identity(volume.path) for volume in volumes]
                ranges: list[Any] = [volume.members for volume in volumes if volume.members]
                ranges += [["encoding", encoding]] if encoding not in ("", GUESS) else []
                made_from = fingerprint("clean_books", REVISION, identities, labels, group.split_chapters, *ranges)
                weight = sum(volume.weight for volume in volumes)
                tasks.append(Task(request.directory, part_name(name, number), ".parquet", made_from, weight, group))
        return tasks, []

    def write(self, task: Task, file: BinaryIO) -> Counters:
        """Write the documents of one group of books: a book, or a chapter, is a document.

        Its id begins with its file's label; the number of the chapter follows the book's id.
        """
        # what cleans books takes long to import, and a build of other sources loads this module too
        from bertdata.sources.books.read import Book, clean_book, clean_chapters, read_books

        group: BookGroup = task.payload
        counters = Counters()
        broken: list[dict[str, Any]] = []
        drops: Counter[str] = Counter()
        encodings: Counter[str] = Counter()
        left_out: Counter[str] = Counter()
        doubtful: list[list[str]] = []
        with DocumentWriter(file, counters, text_rules(task), add_languages=add_languages(task)) as writer:
            for volume, label in zip(group.volumes, group.labels, strict=True):
                path = volume.path
                for book in read_books(path, notes=encodings, members=volume.members, encoding=group.encoding):
                    counters.add(InputCount.BOOKS)
                    counters.add(InputCount.BOOK_BYTES, book.bytes)
                    if not isinstance(book, Book):
                        broken.append({"path": path, "title": book.title, "reason": book.reason})
                        drops[f"broken: {book.reason}"] += 1
                        left_out[f"broken: {book.reason}"] += book.bytes
                        continue
                    if book.doubt:
                        doubtful.append([book.id, book.encoding, book.doubt])
                    rules: dict[str, Any] = {"drops": drops, "compiled": group.compiled, "cut": book.cut}
                    rules["left_out"] = left_out
                    if group.split_chapters:
                        chapters = clean_chapters(book.text, **rules)
                        counters.add(InputCount.BOOKS_IN_CHAPTERS, int(bool(chapters)))
                        counters.add(InputCount.CHAPTERS, len(chapters))
                        for number, chapter in enumerate(chapters, 1):
                            title = f"{book.title}: {chapter.title}" if chapter.title else book.title
                            writer.add(f"{label}:{book.id}:{number}", "books", title, "", chapter.text)
                        continue
                    text = clean_book(book.text, **rules)
                    if text is not None:
                        writer.add(f"{label}:{book.id}", "books", book.title, "", text)
        for encoding, number in sorted(encodings.items()):
            counters.add(f"{READ_AS}{encoding}", number)
        for reason, number in sorted(left_out.items()):
            if number:
                counters.add(f"{BYTES_LEFT_OUT}{reason}", number)
        for reason, number in drops.items():
            counters.drop(reason, number)
        counters.details["broken"] = broken
        if doubtful:
            counters.details[DOUBTFUL] = doubtful
        return counters

    def files_of(self, task: Task) -> list[str]:
        """Return the files of a group."""
        return list(dict.fromkeys(volume.path for volume in task.payload.volumes))

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return the task of the first books, if the first alone is not over 16 times the size."""
        group: BookGroup = task.payload
        ends = accumulate(volume.weight for volume in group.volumes)
        weight, number = next(
            ((end, n) for n, end in enumerate(ends, 1) if end >= size), (task.weight, len(group.labels))
        )
        first = replace(
            group,
            volumes=group.volumes[:number],
            labels=group.labels[:number],
            compiled=compiling_pays(weight, None),
        )
        if weight > 16 * size:
            name, least = files.name(first.volumes[-1].path), byte_size(first.volumes[-1].weight)
            return f"{name} has {least} and is read whole, and a sample has at most {byte_size(16 * size)}"
        return replace(task, weight=weight, payload=first)


BOOKS = BooksFormat()
