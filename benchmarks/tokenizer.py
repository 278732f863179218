"""Text to ids beside peers, one core, distinct documents, ids checked first: WordPiece, or any tokenizer.json.

Run: python benchmarks/tokenizer.py [--texts FILE] [--vocab FILE] [--megabytes N] [--rounds N] [--cold N]
     python benchmarks/tokenizer.py --models [FOLDER ...] [...]
With `--models`, each folder (those of real tokenizers in the data, unless named) has a row: byte-level BPE beside
`tokenizers` and gigatoken, Unigram beside `tokenizers`. Peers take the texts as their pages say, in lists; those that
know special tokens in a text are given none. Without it, WordPiece has a table beside four peers.
Each contestant is a process of its own on the same core, and the rounds alternate. Cold is the first round of a fresh
process that has encoded two words, so it has its code and its vocabulary and nothing cached: the median of `--cold`
processes of each contestant, in turns. Warm is the median of the later rounds of one process, each of documents that it
has not seen. `first call` is from a fresh process's import of the tokenizer to its first ids, by the clock; the rest is
processor time of all threads, so that other work on the machine counts for little. It needs the folder that
BERTDATA_DATA names, or ../shared/data.
Below the table: bertdata on Arrow arrays from one and from two threads, by the clock, with the processor time that the
threads took; where other work has the second core, the clock says so and the processor time does not.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PEERS = {
    "tokenizers": "tokenizers==0.23.3",
    "tokie": "tokie==0.1.4",
    "nanotoken": "nanotoken==0.1.0",
    "flash-tokenizer": "flash-tokenizer==1.2.0",
}
NAMES = ("bertdata", *PEERS)
"""The contestants of WordPiece."""
PEERS |= {"gigatoken": "gigatoken==0.10.0"}
Encode = Callable[[list[str]], Any]
Flatten = Callable[[Any], tuple[Any, Any]]


def main() -> None:
    """Check the ids, run the rounds and print the tables."""
    from _harness import ROOT, machine, table

    data = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, default=data / "wikipedia-plain" / "featured-2019.jsonl.zst")
    parser.add_argument("--vocab", type=Path, default=data / "vocab" / "bert-base-uncased.txt")
    parser.add_argument("--megabytes", type=float, default=4.0, help="text of one round (default: 4)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--cold", type=int, default=5, help="fresh processes for the cold figures (default: 5)")
    parser.add_argument("--models", type=Path, nargs="*", help="folders of tokenizer.json (default: those in the data)")
    parser.add_argument("--serve", choices=[*NAMES, "gigatoken"], help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.serve:
        serve(flags.serve, flags.texts, flags.vocab)
        return
    if not flags.texts.exists() or not flags.vocab.exists():
        sys.exit(f"no {flags.texts} or no {flags.vocab}; set BERTDATA_DATA, or name them")
    pieces = cut(flags.texts, int(flags.megabytes * 1e6), flags.rounds)
    print(f"{machine()}, one core, {len(pieces)} rounds of {flags.megabytes:g} MB from {flags.texts.name}\n")
    if flags.models is None:
        rows_measured = compared(list(NAMES), flags.vocab, pieces, flags.cold)
        head = ["tokenizer", "ids equal", "first call", "MB/s cold", "bertdata / this", "MB/s warm", "bertdata / this"]
        print(table(head, [[name, *row] for name, row in rows_measured.items()]))
        print(f"\n{threads(pieces, flags.vocab)}")
        return
    folders = flags.models or sorted(path.parent for path in (data / "tokenizers").glob("*/tokenizer.json"))
    for kind, peers in {"BPE": ["gigatoken"], "Unigram": []}.items():
        rows = []
        for folder in folders:
            if model_of(folder) == kind:
                rows_measured = compared(
                    ["bertdata", "tokenizers", *peers], folder / "tokenizer.json", pieces, flags.cold
                )
                rows += [[folder.name, name, *row] for name, row in rows_measured.items()]
        head = [kind, "", "ids equal", "first call", "MB/s cold", "bertdata / this", "MB/s warm", "bertdata / this"]
        print(table(head, rows) + "\n")


def model_of(folder: Path) -> str:
    """Return the kind of model of a tokenizer.json; BPE of old files has no type."""
    return str(json.loads((folder / "tokenizer.json").read_text())["model"].get("type", "BPE"))


def compared(names: list[str], vocabulary: Path, pieces: list[list[str]], n_cold: int) -> dict[str, list[str]]:
    """Return for each contestant whether its ids are equal, its speeds cold and warm, and how they compare."""
    from _harness import Contestant, environment_of, interleaved, median

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(pieces))
        command: list[str | Path] = [__file__, "--texts", path, "--vocab", vocabulary, "--serve"]
        python = environment_of("tokenizer", ["numpy", *PEERS.values()])
        begin = {
            name: partial(Contestant, [sys.executable if name == "bertdata" else python, *command, name], 0)
            for name in names
        }
        fresh: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        for name in names * n_cold:
            contestant = begin[name]()
            fresh[name].append(contestant.round())
            contestant.end()
        contestants = {name: begin[name]() for name in names}
        said = interleaved(contestants, len(pieces))
        for contestant in contestants.values():
            contestant.end()
    equal = {
        name: all(answer["ids"] == other["ids"] for answer, other in zip(said[name], said["tokenizers"], strict=True))
        for name in names
    }
    if not equal["bertdata"]:
        sys.exit("bertdata's ids differ from those of tokenizers; no figure is worth printing")
    cold = {name: median(fresh[name], "megabytes_per_second") for name in names}
    warm = {name: median(said[name][1:], "megabytes_per_second") for name in names}
    return {
        name: [
            "yes" if equal[name] else "no",
            f"{contestants[name].first['seconds']:.2f} s",
            f"{cold[name]:.1f}",
            f"{cold['bertdata'] / cold[name]:.2f}",
            f"{warm[name]:.1f}",
            f"{warm['bertdata'] / warm[name]:.2f}",
        ]
        for name in names
    }


def threads(pieces: list[list[str]], vocabulary: Path) -> str:
    """Return a table of how fast warm encoding of Arrow arrays is from one thread and from two, medians of rounds."""
    import pyarrow as pa
    from _harness import table

    from bertdata import WordPieceTokenizer

    os.sched_setaffinity(0, set(range(os.cpu_count() or 1)))
    tokenizer = WordPieceTokenizer.from_pretrained(vocabulary)
    arrays = [pa.array(piece, pa.large_string()) for piece in pieces]
    size = sum(len(array.buffers()[2]) for array in arrays)
    said: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for _ in range(12):
        for n, times in said.items():
            with ThreadPoolExecutor(n) as pool:
                began, spent = time.perf_counter(), time.process_time()
                for _ in pool.map(tokenizer.encode_batch, arrays):
                    pass
                times.append((time.perf_counter() - began, time.process_time() - spent))
    clock, processor = (
        {n: statistics.median(seconds[which] for seconds in times[2:]) for n, times in said.items()} for which in (0, 1)
    )
    rows = [
        [str(n), f"{size / clock[n] / 1e6:.0f}", f"{clock[1] / clock[n]:.2f}", f"{processor[n] / processor[1]:.2f}"]
        for n in said
    ]
    return table(["threads", "MB/s by the clock", "times one thread", "processor time of one thread"], rows)


def cut(path: Path, size: int, rounds: int) -> list[list[str]]:
    """Return the documents of a JSON-lines file in lists of about `size` bytes, each document once."""
    from bertdata.io import compression

    pieces: list[list[str]] = [[]]
    held = 0
    with compression.open_decompressed(str(path)) as raw:
        for line in io.TextIOWrapper(raw, encoding="utf-8"):
            text = json.loads(line)["text"]
            pieces[-1].append(text)
            held += len(text.encode())
            if held >= size:
                if len(pieces) == rounds:
                    return pieces
                pieces.append([])
                held = 0
    return pieces[:-1] or pieces


def serve(name: str, path: Path, vocabulary: Path) -> None:
    """Encode one piece of the texts for each line of input, and say how fast and what came of it."""
    import numpy as np

    pieces = json.loads(path.read_text())
    began = time.perf_counter()
    encode, flatten = CONTESTANTS[name](vocabulary)
    encode(["first words"])
    print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)
    for _, texts in zip(sys.stdin, pieces, strict=False):
        size = sum(len(text.encode()) for text in texts)
        began = time.process_time()
        output = encode(texts)
        seconds = time.process_time() - began
        ids, lengths = flatten(output)
        digest = hashlib.sha256(np.asarray(ids, np.uint32).tobytes() + np.asarray(lengths, np.int64).tobytes())
        print(json.dumps({"megabytes_per_second": size / seconds / 1e6, "ids": digest.hexdigest()}), flush=True)


def ours(vocabulary: Path) -> tuple[Encode, Flatten]:
    """A list of strings to an Arrow list array."""
    from bertdata import load_tokenizer

    tokenizer = load_tokenizer(vocabulary)
    return tokenizer.encode_batch, lambda lists: (lists.values.to_numpy(), lists.value_lengths().to_numpy())


def reference(vocabulary: Path) -> Any:
    """Return the tokenizer of a tokenizer.json in `tokenizers`, or BERT's pipeline with a vocabulary."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    if vocabulary.suffix == ".json":
        tokenizer = Tokenizer.from_file(str(vocabulary))
        tokenizer.encode_special_tokens = True
        return tokenizer
    tokens = vocabulary.read_text(encoding="utf-8").split("\n")
    ids = {token: token_id for token_id, token in enumerate(tokens) if token}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def huggingface(vocabulary: Path) -> tuple[Encode, Flatten]:
    """A list of strings to `tokenizers`' encodings without offsets."""
    encode = partial(reference(vocabulary).encode_batch_fast, add_special_tokens=False)
    return encode, lambda rows: ([i for row in rows for i in row.ids], [len(row.ids) for row in rows])


def tokie(vocabulary: Path) -> tuple[Encode, Flatten]:
    """A list of strings to tokie's flat ids and lengths."""
    from tokie import Tokenizer  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "tokenizer.json")
        reference(vocabulary).save(path)
        tokenizer = Tokenizer.from_json(path)
    return partial(tokenizer.encode_batch_flat, add_special_tokens=False), lambda flat: flat


def nanotoken(vocabulary: Path) -> tuple[Encode, Flatten]:
    """A list of strings to nanotoken's ragged ids, on the calling thread."""
    import numpy as np
    from nanotoken import Tokenizer  # type: ignore[import-not-found]

    tokenizer = Tokenizer.from_vocab(str(vocabulary))
    encode = partial(tokenizer.encode_batch, add_special_tokens=False, parallel=False)
    return encode, lambda batch: (batch.ids, np.diff(batch.offsets))


def flash(vocabulary: Path) -> tuple[Encode, Flatten]:
    """A list of strings to flash-tokenizer's lists of ids, in one process; it always puts [CLS] and [SEP] around."""
    from flash_tokenizer import BertTokenizerFlash  # type: ignore[import-not-found]

    batch_encode = BertTokenizerFlash(str(vocabulary)).tokenizer.batch_encode
    return (
        lambda texts: batch_encode(texts, "longest", 1 << 30, False),
        lambda rows: ([i for row in rows for i in row[1:-1]], [len(row) - 2 for row in rows]),
    )


def gigatoken(vocabulary: Path) -> tuple[Encode, Flatten]:
    """A list of strings to gigatoken's lists of ids."""
    import gigatoken as peer  # type: ignore[import-not-found]

    encode = peer.Tokenizer(str(vocabulary)).encode_batch
    return encode, lambda rows: ([int(i) for row in rows for i in row], [len(row) for row in rows])


CONTESTANTS = {
    "bertdata": ours,
    "tokenizers": huggingface,
    "tokie": tokie,
    "nanotoken": nanotoken,
    "flash-tokenizer": flash,
    "gigatoken": gigatoken,
}

if __name__ == "__main__":
    main()
