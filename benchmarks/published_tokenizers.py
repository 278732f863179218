"""Tokenizers as encoders are published with: by which path each is encoded, whether ids are equal, and how fast it is.

Run: python benchmarks/published_tokenizers.py [--only TEXT ...] [--texts FILE] [--megabytes N] [--rounds N]
Each configuration (`_published_tokenizers.py`) is a folder that `load_tokenizer` opens. Ids are those of
`tokenizers` with `encode_special_tokens = True`, on hostile texts that spell none of its special tokens, on lines of
the data in many languages, and on the texts of the timing; rows are those of three pairs with the file's own template;
saved: whether `AutoTokenizer` gives the same ids for what `save_pretrained` writes (a hyphen: without transformers).
Speeds are by processor time in one process, on one core, in turns: the median of rounds on documents that were not seen
before, after `--warm` rounds on others, bertdata over Arrow arrays, `tokenizers` over lists by `encode_batch_fast`. It
needs the folder that BERTDATA_DATA names, or ../shared/data, and npm for some real files, once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error"}

_PAIRS = [("Is it salt?", "It is."), ("", "a"), ("don't", "2024 \u2014 caf\u00e9")]
HARD = [
    *"aIZ019.,!'\"`_-/()[]<>|@#", " ", "  ", "\n", "\r\n", "\t", "\x0b", "\x1c", "\x85", "\xa0", "\u1680", "\u2003",
    "\u3000", "\u200b", "\u200d", "\xad", "\x00", "'s", "'S", "'re", "'LL", "'\u017f", "''", "``", "\u00e9", "e\u0301",
    "\u0301", "\u0323\u0301", "\u00df", "\u0130", "\u01c5", "\ufb01", "\uff21", "\uff76\uff9e", "\u0416", "\u4e2d",
    "\u56fd", "\ud55c", "\u1100\u1161", "\u0915\u094d\u0937", "\u0e33", "\u0663", "\u00b2", "\u00bd", "\u2167",
    "\U0001f600", "\U0001f468\u200d\U0001f469", "\U0001f1ec\U0001f1e7", "\u2026", "\u2014", "\u2019", "\u2581",
    "\u0600", "[MASK]", "<s>", "</s>", "covid-19", "[Q] ", "<<ENT>>", "@USER", "CamelCase", "hello", " world", "The",
]  # fmt: skip
"""What hostile texts are put together of."""


def hostile(count: int, seed: int = 0) -> list[str]:
    """Return so many texts that are hard to cut into words."""
    draw = random.Random(seed)
    return ["".join(draw.choices(HARD, k=draw.randrange(40))) for _ in range(count)]


def main() -> None:
    """Print the table, and below it how many configurations kernels encode."""
    from _harness import DATA, machine, table
    from _published_tokenizers import configurations, folder_of
    from tokenizer import cut

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="parts of the names of configurations")
    parser.add_argument("--texts", type=Path, default=DATA / "wikipedia-plain" / "featured-2019.jsonl.zst")
    parser.add_argument("--megabytes", type=float, default=1.0, help="text of one round (default: 1)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=8, help="rounds before those that are timed (default: 8)")
    flags = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pieces = cut(flags.texts, int(flags.megabytes * 1e6), flags.warm + flags.rounds)
    texts = [*hostile(500), "", " ", *lines_of_languages(DATA)]
    rows = []
    for name, configuration in configurations():
        if flags.only and not any(part in name for part in flags.only):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = folder_of(name, configuration, Path(scratch) / "tokenizer")
            rows.append([name, configuration.source, *row_of(folder, texts, pieces, flags.warm)])
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    head = ["configuration", "", "path", "ids", "rows", "saved", "MB/s", "tokenizers MB/s", "times"]
    print(f"{machine()}, one core, {flags.rounds} rounds of {flags.megabytes:g} MB from {flags.texts.name}\n")
    print(table(head, rows))
    by_kernels = sum(row[2] == "kernel" for row in rows)
    fast = sum(row[2] == "kernel" and float(row[-1]) >= 30 for row in rows)
    print(f"\n{by_kernels} of {len(rows)} by kernels, {fast} of these at least 30 times as fast as `tokenizers`.")


def row_of(folder: Path, texts: Sequence[str], pieces: Sequence[list[str]], warm: int) -> list[str]:
    """Return path, ids, rows, saved and speeds of the tokenizer in a folder."""
    import pyarrow as pa
    from tokenizers import Tokenizer

    from bertdata import load_tokenizer
    from bertdata.errors import BertDataError

    try:
        tokenizer = load_tokenizer(folder)
    except BertDataError as error:
        return [f"refused: {error}", "", "", "", "", "", ""]
    reference = reference_of(folder)
    path = getattr(tokenizer, "slow_because", None)
    timed = pieces[warm:]
    for piece in pieces[:warm] if path is None else pieces[:1]:
        tokenizer.encode_batch(pa.array(piece, pa.large_string()))
    reference.encode_batch_fast(pieces[0][:5], add_special_tokens=False)
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    same = True
    for piece in timed:
        array = pa.array(piece, pa.large_string())
        began = time.process_time()
        encoded = tokenizer.encode_batch(array)
        between = time.process_time()
        expected = reference.encode_batch_fast(piece, add_special_tokens=False)
        seconds["ours"].append(between - began)
        seconds["theirs"].append(time.process_time() - between)
        same = same and encoded.to_pylist() == [encoding.ids for encoding in expected]
    texts = [text for text in texts if not any(token in text for token in tokenizer.special_tokens)]
    expected = reference.encode_batch(texts, add_special_tokens=False)
    encoded = tokenizer.encode_batch(texts).to_pylist()
    differ = sum(encoding.ids != ids for encoding, ids in zip(expected, encoded, strict=True))
    size = sum(len(text.encode()) for text in timed[0])
    ours, theirs = (size / statistics.median(seconds[who]) / 1e6 for who in ("ours", "theirs"))
    data = json.loads((folder / "tokenizer.json").read_text())
    data["model"].pop("dropout", None)
    whole = Tokenizer.from_str(json.dumps(data))
    ids = "equal" if same and not differ else f"{differ} of {len(texts)} differ" + ("" if same else ", and timed texts")
    path = "kernel" if path is None else f"`tokenizers`: {path}"
    return [
        path,
        ids,
        rows_like(tokenizer, whole),
        saved_like(tokenizer),
        f"{ours:.1f}",
        f"{theirs:.2f}",
        f"{ours / theirs:.1f}",
    ]


def reference_of(folder: Path) -> Any:
    """Return the `tokenizers.Tokenizer` of a folder, for which special tokens in texts are text; without dropout."""
    from bertdata import load_tokenizer
    from bertdata.tokenizers.json_tokenizer import JsonTokenizer
    from bertdata.tokenizers.late_model import open_reference
    from bertdata.tokenizers.literal_special import kind_of

    data = json.loads((folder / "tokenizer.json").read_text())
    data["model"].pop("dropout", None)
    if kind_of(data["model"]) == "Unigram":
        tokenizer = load_tokenizer(folder)  # special tokens are pieces, which a text can spell
        assert isinstance(tokenizer, JsonTokenizer)
        return tokenizer.reference
    return open_reference(data)


def rows_like(tokenizer: Any, whole: Any) -> str:
    """Return whether calls give the rows of the file's template."""
    whole.no_truncation()
    whole.no_padding()
    first, second = map(list, zip(*_PAIRS, strict=True))
    expected = [encoding.ids for encoding in whole.encode_batch(_PAIRS)]
    return "equal" if tokenizer(first, second)["input_ids"] == expected else "differ"


def saved_like(tokenizer: Any) -> str:
    """Return whether AutoTokenizer gives the same ids for what is saved; a hyphen without transformers."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        return "-"
    texts = [text for text in hostile(200, seed=1) if not any(token in text for token in tokenizer.special_tokens)][:20]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        opened = AutoTokenizer.from_pretrained(folder)
    expected = tokenizer.encode_batch(texts).to_pylist()
    differ = sum(
        opened.encode(text, add_special_tokens=False) != ids for text, ids in zip(texts, expected, strict=True)
    )
    return "equal" if not differ else f"{differ} of {len(texts)} differ"


def lines_of_languages(data: Path, most: int = 1500) -> list[str]:
    """Return lines of texts in the languages of the data, about as many of each file."""
    paths = sorted([path for path in data.glob("*/*") if path.suffix in (".jsonl", ".txt", ".xml", ".bz2")])
    lines: list[str] = []
    for path in paths[:: max(1, len(paths) // 60)]:
        lines += _lines(path)[: max(1, most // 60)]
    return lines


def _lines(path: Path) -> list[str]:
    from bertdata.io import compression

    with compression.open_decompressed(str(path)) as file:
        text = file.read(1 << 18).decode("utf-8", "ignore")
    return [line for line in text.split("\n") if len(line) > 30][20:]


if __name__ == "__main__":
    main()
