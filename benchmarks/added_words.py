"""Words added to a byte-level BPE: how fast it opens and encodes with more and more of them, beside `tokenizers`.

Run: python benchmarks/added_words.py [--model FOLDER] [--texts FILE] [--megabytes N] [--rounds N] [--words N ...]
The words are of 9 random letters, and 3 of 100 words of the texts are some of them. The ids are compared first. Speeds
are by processor time in one process, rounds in turns, the least time of each, warm; `tokenizers` encodes an eighth of
the text. Opening is from the parsed JSON to the first ids of a text. It needs the folder that BERTDATA_DATA names, or
../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import string
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ["TOKENIZERS_PARALLELISM"] = "false"


def main() -> None:
    """Print a table with a row for each number of words."""
    from _harness import DATA, machine, table
    from tokenizer import cut

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=DATA / "tokenizers" / "roberta")
    parser.add_argument("--texts", type=Path, default=DATA / "wikipedia-plain" / "featured-2019.jsonl.zst")
    parser.add_argument("--megabytes", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--words", type=int, nargs="*", default=[0, 1000, 2000, 4000, 16_000, 200_000, 1_000_000])
    flags = parser.parse_args()
    [documents] = cut(flags.texts, int(flags.megabytes * 1e6), 1)
    data = json.loads((flags.model / "tokenizer.json").read_text())
    some = [row for number in flags.words for row in [compared(data, number, documents, flags.rounds)]]
    print(f"{machine()}, {flags.model.name}, {flags.megabytes:g} MB from {flags.texts.name}\n")
    head = ["added words", "bertdata opens", "tokenizers opens", "MB/s", "tokenizers MB/s", "bertdata / this"]
    print(table(head, [[*row, f"{float(row[3]) / float(row[4]):.1f}"] for row in some]))


def compared(data: dict[str, Any], number: int, documents: Sequence[str], rounds: int) -> list[str]:
    """Return a row of the table; ends the process where ids differ."""
    from tokenizers import Tokenizer

    from bertdata.tokenizers.json_tokenizer import JsonTokenizer

    draw = random.Random(1)
    words = sorted({"".join(draw.choices(string.ascii_lowercase, k=9)) for _ in range(max(number, 1000))})
    texts = [
        " ".join(draw.choice(words) if draw.random() < 0.03 else word for word in document.split(" "))
        for document in documents
    ]
    first = max([len(data["model"]["vocab"]), *(entry["id"] + 1 for entry in data["added_tokens"])])
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False) | {"normalized": True}
    entries = [{"id": first + place, "content": word} | plain for place, word in enumerate(words[:number])]
    file = {**data, "added_tokens": [*data["added_tokens"], *entries]}
    text = json.dumps(file)

    def ours() -> Any:
        tokenizer = JsonTokenizer(file, {})
        tokenizer.encode_batch(["first words"])
        return tokenizer

    ours()  # compiled kernels
    own_opens, tokenizer = timed(ours)
    their_opens, reference = timed(lambda: Tokenizer.from_str(text))
    reference.encode_special_tokens = True
    part = texts[: max(1, len(texts) // 8)]
    expected = [row.ids for row in reference.encode_batch_fast(part, add_special_tokens=False)]
    if tokenizer.slow_because or tokenizer.encode_batch(part).to_pylist() != expected:
        sys.exit(f"with {number} words bertdata's ids differ from those of tokenizers, or no kernel gives them")
    own, their = [], []
    for _ in range(rounds):
        own.append(timed(lambda: tokenizer.encode_batch(texts))[0])
        their.append(timed(lambda: reference.encode_batch_fast(part, add_special_tokens=False))[0])
    sizes = [sum(len(document.encode()) for document in some) / 1e6 for some in (texts, part)]
    speeds = [f"{sizes[0] / min(own):.1f}", f"{sizes[1] / min(their):.1f}"]
    return [f"{number:,}", f"{own_opens:.2f} s", f"{their_opens:.2f} s", *speeds]


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds of a call, and what it returns."""
    began = time.process_time()
    answer = run()
    return time.process_time() - began, answer


if __name__ == "__main__":
    main()
