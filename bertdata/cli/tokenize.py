"""`bertdata tokenize`: each line of text to a line of tokens, ids or JSON, without special tokens.

Lines end at a line feed only, so the output has as many lines as the input.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from bertdata.cli.command_line import VOCABULARY
from bertdata.errors import printable
from bertdata.io.decoding import decode_utf8
from bertdata.sources.text_encodings import BAD_FILES, OF_A_VERB, REFUSE, STDIN, open_checked, readable
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer

_BATCH_BYTES = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata tokenize` to a parser."""
    parser.add_argument(
        "texts", nargs="*", metavar="FILE", help="text files, plain, .gz, .zst, .bz2 or .xz (default: standard input)"
    )
    parser.add_argument("--vocab", required=True, metavar="PATH", help=VOCABULARY)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--ids", action="store_true", help="print ids instead of tokens")
    parser.add_argument("--encoding", default="", metavar="NAME", help=OF_A_VERB)
    parser.add_argument(
        "--bad-files",
        choices=BAD_FILES,
        default=REFUSE,
        help="files that this encoding cannot decode: refuse (default) names all of them, skip leaves them out",
    )
    form.add_argument("--json", action="store_true", help='print {"tokens": [...], "ids": [...]} for each line')


def run(arguments: argparse.Namespace) -> int:
    """Tokenise as parsed arguments say and print one line for each."""
    tokenizer = load_tokenizer(arguments.vocab)
    form = "json" if arguments.json else "ids" if arguments.ids else "tokens"
    paths, left_out = readable(arguments.texts, arguments.encoding, arguments.bad_files)
    if left_out:
        print(f"left out, not UTF-8: {', '.join(map(printable, left_out))}", file=sys.stderr)
    for path in paths if arguments.texts else [STDIN]:
        with open_checked(path, arguments.encoding) as stream:
            _print(tokenizer, stream, path if arguments.texts else "standard input", form)
    return 0


def _print(tokenizer: Tokenizer, stream: BinaryIO, path: str, form: str) -> None:
    for line in tokenize_lines(tokenizer, read_lines(stream, path, 1 if stream.isatty() else _BATCH_BYTES), form):
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


def read_lines(stream: BinaryIO, path: str, batch_bytes: int = _BATCH_BYTES) -> Iterator[list[str]]:
    r"""Yield batches of lines of about `batch_bytes`; raises InputError, with the offset, for bytes that are not UTF-8.

    >>> import io
    >>> list(read_lines(io.BytesIO(b"one\r\ntwo\n\nend"), "text"))
    [['one', 'two', '', 'end']]
    """
    batch: list[str] = []
    offset = size = 0
    for raw in stream:
        line = raw.removesuffix(b"\n").removesuffix(b"\r")
        batch.append(decode_utf8(line, path, offset))
        offset += len(raw)
        size += len(raw)
        if size >= batch_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def tokenize_lines(tokenizer: Tokenizer, batches: Iterable[list[str]], form: str = "tokens") -> Iterator[str]:
    """Yield one line of output for each line of text; `form` is tokens, ids or json.

    >>> from bertdata import WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "salt", "##y"])
    >>> list(tokenize_lines(tokenizer, [["Salty", "salt water"]]))
    ['salt ##y', 'salt [UNK]']
    >>> list(tokenize_lines(tokenizer, [["Salty"]], "json"))
    ['{"tokens": ["salt", "##y"], "ids": [5, 6]}']
    """
    for batch in batches:
        for ids in tokenizer.encode_batch(batch).to_pylist():
            tokens = [tokenizer.tokens[token_id] for token_id in ids]
            if form == "json":
                yield json.dumps({"tokens": tokens, "ids": ids}, ensure_ascii=False)
            else:
                yield " ".join(tokens if form == "tokens" else map(str, ids))
