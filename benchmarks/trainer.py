"""The vocabulary trainer beside tokenizers' WordPieceTrainer: from text to 30,000 pieces, one core, in turns.

Run: python benchmarks/trainer.py [--texts FILE...] [--vocab-size N] [--rounds N] [--distinct N]
Before it measures, both train 2,000 pieces on the first text with the ids of all single characters pinned, which must
give the same vocabulary. Then each trains on all the texts by its own rules; tokenizers' own is `frequency`, with ids
in hash order, so the pieces that both have are counted. --distinct also trains from counts of that many made-up words,
with frequencies as Zipf has them, which only bertdata can do: seconds and the peak memory of its process. It needs the
books below BERTDATA_DATA, or ../shared/data, or --texts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

NAMES = ("bertdata likelihood", "bertdata frequency", "bertdata score", "tokenizers")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def main() -> None:
    """Check, train in turns and print one table."""
    from _harness import ROOT, Contestant, environment_of, interleaved, machine, median, table

    data = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path, nargs="+", default=sorted((data / "books").glob("*.txt")))
    parser.add_argument("--vocab-size", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--distinct", type=int, default=0, metavar="N")
    parser.add_argument("--serve", choices=NAMES, help=argparse.SUPPRESS)
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.alone:
        distinct(flags.distinct, flags.vocab_size, flags.alone)
        return
    if flags.serve:
        serve(flags.serve, flags.texts, flags.vocab_size)
        return
    if not flags.texts:
        sys.exit(f"no books below {data}; set BERTDATA_DATA, or name texts")
    python = environment_of("trainer", ["tokenizers==0.23.3"])
    size = sum(path.stat().st_size for path in flags.texts)
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "texts.txt"
        whole.write_text(
            "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in flags.texts), encoding="utf-8"
        )
        command = [__file__, "--texts", whole, "--vocab-size", flags.vocab_size, "--serve"]
        contestants = {
            name: Contestant([python if name == "tokenizers" else sys.executable, *map(str, command), name], 0)
            for name in NAMES
        }
        if contestants["bertdata frequency"].first["pinned"] != contestants["tokenizers"].first["pinned"]:
            sys.exit("with pinned ids the two vocabularies differ; no figure is worth printing")
        said = interleaved(contestants, flags.rounds)
        for contestant in contestants.values():
            contestant.end()
    theirs = set(said["tokenizers"][0]["tokens"])
    slowest = median(said["tokenizers"], "seconds")
    rows = [
        [
            "tokenizers `WordPieceTrainer`" if name == "tokenizers" else name,
            f"{len(theirs & set(said[name][0]['tokens'])) / len(theirs):.1%}",
            f"{median(said[name], 'seconds'):.2f}",
            f"{slowest / median(said[name], 'seconds'):.1f}",
            f"{median(said[name], 'peak') / 1e6:,.0f} MB",
        ]
        for name in NAMES
    ]
    print(f"{machine()}, one core, {size / 1e6:.1f} MB of text, processor seconds, {flags.rounds} rounds\n")
    print(table(["trainer", "tokens shared with tokenizers", "seconds", "times as fast", "peak memory"], rows))
    if flags.distinct:
        print(flush=True)
        for criterion in ("likelihood", "frequency"):
            arguments = ["--distinct", str(flags.distinct), "--vocab-size", str(flags.vocab_size)]
            subprocess.run([sys.executable, __file__, *arguments, "--alone", criterion], check=True)


def serve(name: str, texts: list[Path], vocab_size: int) -> None:
    """Train once for each line of input."""
    lines = "".join(path.read_text(encoding="utf-8") for path in texts).split("\n")
    library, _, criterion = name.partition(" ")
    train: Callable[[list[str], int, bool], list[str]] = theirs if library == "tokenizers" else ours(criterion)
    print(json.dumps({"pinned": train(lines[:20_000], 2000, True)}), flush=True)
    for _ in sys.stdin:
        began = time.process_time()
        tokens = train(lines, vocab_size, False)
        seconds = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"seconds": seconds, "tokens": tokens, "peak": peak}), flush=True)


def ours(criterion: str) -> Callable[[list[str], int, bool], list[str]]:
    """Return bertdata's counting and training; its ids are pinned by rule."""
    from bertdata.tokenizers.wordpiece import count_words, train_wordpiece

    def train(texts: list[str], vocab_size: int, pinned: bool) -> list[str]:
        return list(train_wordpiece(count_words(texts), vocab_size, criterion=criterion))  # type: ignore[arg-type]

    return train


def theirs(texts: list[str], vocab_size: int, pinned: bool) -> list[str]:
    """Train with `tokenizers`; the ids of single characters are pinned by passing them as special tokens."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special: list[Any] = [*SPECIAL]
    if pinned:
        cut, clean = tokenizer.pre_tokenizer.pre_tokenize_str, tokenizer.normalizer.normalize_str
        words = {word for text in texts for word, _ in cut(clean(text))}
        special += sorted({character for word in words for character in word})
        special += sorted({f"##{character}" for word in words for character in word[1:]})
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size, min_frequency=2, special_tokens=special, show_progress=False, limit_alphabet=1000
    )
    tokenizer.train_from_iterator(texts, trainer)
    vocabulary = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def made_up(number: int) -> pa.Table:
    """Return counts of so many distinct words, made of syllables: the i-th occurs a ten-millionth over i times."""
    import pyarrow as pa

    syllables = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "r", "s", "st", "ng")]
    base = len(syllables)

    def word(i: int) -> str:
        j = i * 2654435761 % base**3
        return "".join(syllables[j // base**k % base] for k in range(3)) + str(i // base**3 or "")

    words = [pa.array(map(word, range(i, min(i + 100_000, number))), pa.string()) for i in range(0, number, 100_000)]
    counts = [1 + 10_000_000 // (i + 1) for i in range(number)]
    return pa.table([pa.chunked_array(words), pa.array(counts, pa.int64())], ["word", "count"])


def distinct(number: int, vocab_size: int, criterion: str) -> None:
    """Print what training from so many distinct words takes."""
    from bertdata.tokenizers.wordpiece import train_wordpiece

    train_wordpiece({"ab": 2}, 10, criterion=criterion)  # type: ignore[arg-type]
    counts = made_up(number)
    began = time.process_time()
    tokens = train_wordpiece(counts, vocab_size, criterion=criterion)  # type: ignore[arg-type]
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    said = f"{len(counts):,} distinct words to {len(tokens):,} pieces by {criterion}"
    print(f"{said}: {seconds:.1f} s, {peak / 1e9:.2f} GB at most")


if __name__ == "__main__":
    main()
