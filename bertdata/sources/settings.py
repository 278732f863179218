"""How sources become documents: settings, checked when made."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bertdata.curation import CLEANERS, FILTERS
from bertdata.curation.filters import parse_filter
from bertdata.curation.languages import check_model
from bertdata.io.separated_lines import CHECKED, QUOTES
from bertdata.options.option import MIB, Settings, option, require
from bertdata.sources.names import named
from bertdata.sources.text_encodings import BAD_FILES, REFUSE, parse_encodings

_CODE = re.compile(r"[A-Za-z]{2,}([-_][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class CleaningConfig(Settings):
    """How sources become documents."""

    range_bytes: int = option(
        0,
        "stored bytes one worker takes at a time; 0: a 64th of the input, at least 1 MiB, or 4 MiB of documents, and "
        "at most 16 MiB",
        at_least=0,
    )
    split_chapters: bool = option(False, "make a document of each chapter of a book, not of each book")
    min_words: int = option(0, "drop articles with fewer words; 0 keeps all", at_least=0)
    templates: str = option(
        "", "file of lines `name, name = text with {1}`: templates of your wiki that carry text (see own_templates)"
    )
    template_pages: bool = option(
        False, "read the dumps' template pages first, and write the text of the simple ones", later=True
    )
    filter: tuple[str, ...] = option(
        (),
        "rules that drop documents, in this order: NAME or NAME=ARGUMENT",
        metavar="NAME",
        items=FILTERS,
        later=True,
    )
    clean: tuple[str, ...] = option(
        (),
        "what changes the text of each document before filters, in this order",
        metavar="NAME",
        items=CLEANERS,
        later=True,
    )
    whole_files: bool = option(
        False,
        "each .txt file of --documents is one document, with paragraphs between blank lines; without, a line is a "
        "sentence and a blank line ends a document",
        later=True,
    )
    csv_quotes: str = option(
        CHECKED,
        "double quotes in .csv and .tsv: checked: fields may stand in them, and hold line breaks but not rows of the "
        "table; unchecked: whatever is in them; none: quotes are part of the text",
        QUOTES,
        later=True,
    )
    encoding: tuple[str, ...] = option(
        (),
        "encoding of the text files that are not UTF-8: NAME, as cp1252, SOURCE=NAME for those of one source, or "
        "guess: for each file the likeliest",
        metavar="NAME",
        later=True,
    )
    bad_files: str = option(
        REFUSE,
        "text files that are not UTF-8, nor of --encoding: refuse names all of them and stops, skip leaves them out "
        "and counts them",
        BAD_FILES,
        later=True,
    )
    source_tokenizer: tuple[str, ...] = option(
        (),
        "the tokenizer of the ids in MDS files of --documents, a folder with its tokenizer.json: FOLDER, or "
        "SOURCE=FOLDER for one source; if it is the tokenizer of --vocab, documents keep their ids",
        metavar="FOLDER",
        later=True,
    )
    language_model: str = option(
        "",
        "keep the language of each document, for --where, --source-where and the manifest: source (what the source "
        "says), py3langid, lingua, or a file of fastText, as lid.176.bin; models decide where the source says nothing",
        metavar="NAME",
        later=True,
        code=True,
    )
    language: tuple[str, ...] = option(
        (),
        "the language of the dumps where their header is wrong: a code, as de, or SOURCE=CODE for those of a source",
        metavar="CODE",
        later=True,
    )
    variant: str = option(
        "",
        "for Wikipedias in several scripts: which text of -{zh-hans:a;zh-hant:b}- to keep, as zh-hant (default: "
        "the text that the wiki shows)",
        metavar="CODE",
        later=True,
    )
    keep_lists: bool = option(
        False,
        "keep the prose of Wikipedia's lists: pages with such a title whose text is mostly in lists or tables",
        later=True,
    )
    rejects: str = option("", "folder that gets, for each part, a .jsonl file of the pages dropped and the reasons")

    def __post_init__(self) -> None:
        super().__post_init__()
        for text in self.filter:
            parse_filter(text)
        for name in self.clean:
            CLEANERS[name]  # raises ConfigError for an unknown one
        check_model(self.language_model)
        parse_encodings(self.encoding)
        sources = []
        for text in self.language:
            source, _, code = text.rpartition("=")
            require(
                bool(_CODE.fullmatch(code)),
                f"--language has {text!r}; expected the code of a language, as de, or SOURCE=CODE, as wiki=de",
            )
            sources.append(source)
        twice = sorted({repeated for repeated in sources if sources.count(repeated) > 1})
        require(not twice, f"--language names {', '.join(twice) or 'all dumps'} twice; give one language for each")

    def language_of(self, source: str) -> str:
        """Return the language that --language gives to the dumps of a source, "" where their headers say it.

        >>> CleaningConfig(language=("de", "small=als")).language_of("small"), CleaningConfig().language_of("small")
        ('als', '')
        """
        named = dict(text.rpartition("=")[::2] for text in self.language)
        return named.get(source) or named.get("", "")

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """The folders of the tokenizers of ids."""
        return tuple(named(text, "")[1] for text in self.source_tokenizer)

    def tokenizer_of(self, source: str) -> str:
        """Return the tokenizer of the ids of a source, "" where none is named.

        >>> CleaningConfig(source_tokenizer=("gemma", "ettin=modernbert")).tokenizer_of("ettin")
        'modernbert'
        """
        folders = dict(named(text, "") for text in self.source_tokenizer)
        return folders.get(source) or folders.get("", "")

    def target_bytes(self, total: int, kind: str) -> int:
        """Return the bytes of one range for an input of `total` bytes of one kind; a function of the input alone.

        Rows of documents are read so fast that smaller ranges cost more than what they hold.

        >>> [CleaningConfig().target_bytes(size << 20, "wikipedia") >> 20 for size in (5, 22_000)]
        [1, 16]
        >>> [CleaningConfig().target_bytes(size << 20, "documents") >> 20 for size in (5, 22_000)]
        [4, 16]
        """
        least = 4 * MIB if kind == "documents" else MIB
        return self.range_bytes or min(16 * MIB, max(least, total // 64))
