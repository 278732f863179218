"""Install each extra alone and try commands: those it is for work, the others say in one line what to install.

Run: python scripts/try_extras.py [EXTRA ...] [--corpus FOLDER] [--with PACKAGE ...]

Each extra is tried in a virtual environment, made by uv, with exactly what it declares; `base` has none. In `base`
every command is tried, in the others those that need an extra. Where an extra declares all that the one before it
does, and more, what is missing is added to that environment, and what worked there is not tried again. Without names
these are tried: beam, html, aws, base, hdf5, torch, finetune and lora; dask takes a minute, gcp, tracking and examples
install hundreds of megabytes, and must be named. `--with` names packages to install beside torch's extra, such as the
version of torch that has a CPU build. `--corpus` is a finished build to read, by default one made without an extra; it
should be small, since kernels run as plain Python here. No environment may contain pandas, which no extra declares.
The exit code is 1 if a command fails, or does not name the right extra.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
USUAL = ("beam", "html", "aws", "base", "hdf5", "torch", "finetune", "lora")
HOLDS = {
    "base": set[str](),
    "beam": {"beam"},
    "html": {"html"},
    "dask": {"beam", "dask"},
    "hdf5": {"hdf5"},
    "report": {"report"},
    "hub": {"hub"},
    "languages": {"languages"},
    "lingua": {"lingua"},
    "fasttext": {"fasttext"},
    "aws": {"aws"},
    "torch": {"torch"},
    "finetune": {"torch", "finetune"},
    "lora": {"torch", "finetune", "lora"},
    "gcp": {"beam", "gcp"},
    "tracking": {"torch", "tracking"},
    "examples": {"torch"},
}
"""What each extra is tried with; examples brings accelerate, lightning and transformers, which no verb needs."""
CONLL = "".join(f"{word} {label}\n" for word, label in [("Ann", "B-PER"), ("slept", "O"), (".", "O")]) + "\n"


def verbs(corpus: str, out: str) -> list[tuple[str, list[str]]]:
    """Return the verbs to try, in order, each with the extra that it needs ("" for none)."""
    text, conll, book, pages = f"{out}/a.txt", f"{out}/a.conll", f"{out}/books/a.txt", f"{out}/a.ndjson"
    Path(f"{out}/books").mkdir(parents=True)
    Path(text).write_text("It rained all day. Nobody went out.\n")
    Path(book).write_text("It rained all day in the town.\n\nNobody went out of the house.\n")
    Path(conll).write_text(CONLL * 40)
    body = {"html": "<p>It rained all day in the town. Nobody went out.</p>"}
    Path(pages).write_text(json.dumps({"name": "Rain", "identifier": 1, "article_body": body}) + "\n")
    vocabulary = f"{corpus}/tokenizer"
    task = ["encode-task", "--task", "token-classification"]
    tiny = ["--config", "tiny", "--max-steps", "2", "--batch-size", "4", "--device", "cpu"]
    exports = [(need, ["export", corpus, "--to", to, "--output", f"{out}/{to}"]) for to, need in EXPORTS.items()]
    return [
        ("", ["--version"]),
        ("", ["verify", corpus]),
        ("", ["show", corpus]),
        ("", ["stats", corpus]),
        ("", ["report", corpus, "--output", f"{out}/report.html"]),
        ("", ["tokenize", "--vocab", vocabulary, text]),
        ("", ["bench", "loader", corpus, "--seconds", "0.2"]),
        *exports,
        ("", ["import", f"{out}/tfrecord/train", "--vocab", vocabulary, "--output", f"{out}/imported"]),
        ("", ["clean-books", f"{out}/books", "--output", f"{out}/documents"]),
        ("", ["build", "--books", f"{out}/books", *ONE_BOOK, "--vocab", vocabulary, "--output", f"{out}/build"]),
        (
            "",
            [
                *("build", "--books", f"{out}/books", *ONE_BOOK, "--vocab", vocabulary, "--output", f"{out}/spans"),
                *("--dedup", "near", "--dedup-spans", "sentences"),
            ],
        ),
        (
            "beam",
            [
                *("build", "--books", f"{out}/books", *ONE_BOOK, "--vocab", vocabulary, "--output", f"{out}/by-beam"),
                *("--", "--direct_running_mode=in_memory"),
            ],
        ),
        ("html", ["build", "--documents", pages, *ONE_BOOK, "--vocab", vocabulary, "--output", f"{out}/pages"]),
        (
            "dask",
            [
                *("build", "--books", f"{out}/books", *ONE_BOOK, "--vocab", vocabulary, "--output", f"{out}/by-dask"),
                *("--", "--runner=dask"),
            ],
        ),
        ("aws", ["show", "s3://no-such-bucket.invalid/corpus"]),
        ("gcp", ["show", "gs://no-such-bucket.invalid/corpus"]),
        ("torch", ["pretrain", corpus, *tiny, "--output", f"{out}/model"]),
        ("tracking", ["pretrain", corpus, *tiny, "--output", f"{out}/tracked", "--report-to", "tensorboard"]),
        (
            "",
            [*task, "--train", conll, "--validation", conll, "--vocab", vocabulary, "--output", f"{out}/task"],
        ),
        (
            "finetune",
            ["finetune", f"{out}/task", "--model", f"{out}/model", "--epochs", "1", "--output", f"{out}/tagger"],
        ),
        (
            "lora",
            ["finetune", f"{out}/task", "--model", f"{out}/model", "--lora", "4", "--output", f"{out}/adapters"],
        ),
    ]


ONE_BOOK = ("--objective", "doc-sentences")
EXPORTS = {"parquet": "", "jsonl": "", "hf": "", "mds": "", "tfrecord": "", "hdf5": "hdf5"}
REMOTE = ("aws", "gcp")


NOWHERE = "http://127.0.0.1:9"
ENVIRONMENT = {
    "NUMBA_DISABLE_JIT": "1",
    "AWS_ENDPOINT_URL": NOWHERE,
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_MAX_ATTEMPTS": "1",
    "STORAGE_EMULATOR_HOST": NOWHERE,
}
"""No kernel is compiled, and nobody is asked for a bucket but a port of this machine where nothing listens."""


def run(command: Sequence[str]) -> tuple[int, str]:
    """Run a command; returns its code and what it said."""
    done = subprocess.run(
        command, env=os.environ | ENVIRONMENT, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace")


def small_build(folder: Path) -> list[str]:
    """Write a few short books and return the flags that build a corpus of them."""
    books = folder / "books"
    books.mkdir()
    for number in range(6):
        lines = [f"It rained all day in town {number} and {other}.\n" for other in range(60)]
        (books / f"{number}.txt").write_text("\n".join(lines))
    return ["--books", str(books), "--vocab-size", "200", "--max-seq-length", "64", "--validation-fraction", "0.3"]


def wheel(folder: Path) -> str:
    """Make a wheel of these sources; returns its path."""
    with open(Path(tempfile.gettempdir(), "bertdata-install.lock"), "w") as lock:  # that of scripts/environment.sh
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)], check=True, cwd="/")
    [made] = folder.glob("*.whl")
    return str(made)


def environment(folder: Path, made: str, extra: str, beside: Sequence[str], *, clear: bool = True) -> str:
    """Make a virtual environment with the wheel and what one extra declares; returns the folder of its programs.

    clear: without it, what is missing is added to the environment that is there.
    """
    python = str(folder / "bin" / "python")
    source = f"{made}[{','.join(sorted(HOLDS[extra] | {extra}))}]" if extra != "base" else made
    if clear:
        subprocess.run(
            ["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], check=True, cwd="/"
        )
    packages = [source, *(beside if "torch" in HOLDS[extra] else [])]
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", python, *packages], check=True, cwd="/")
    return str(folder / "bin")


def judged(verb: Sequence[str], need: str, held: set[str], code: int, printed: str) -> str:
    """Return what is wrong with what a verb did, "" where nothing is."""
    if "Traceback (most recent call last)" in printed:
        return "a traceback"
    asks = [extra for extra in HOLDS if f'".[{extra}]"' in printed]
    if need in REMOTE and need in held:
        return f"asks for {asks}" if asks or not code else ""  # there is no such bucket
    if not need or need in held:
        return f"ends with {code}" if code else ""
    wanted = {need} | {
        "finetune": {"torch"},
        "lora": {"torch", "finetune"},
        "tracking": {"torch"},
        "dask": {"beam"},
    }.get(need, set())
    line = [text for text in printed.splitlines() if text.startswith("error: ")]
    if code != 1 or len(line) != 1 or not wanted & set(asks):
        return f"ends with {code} and should ask for {need}"
    return ""


def attempt(extra: str, bin_folder: str, verbs_left: list[tuple[str, list[str]]]) -> int:
    """Try verbs in an environment and print each; returns how many went wrong.

    verbs_left: those to try, from which each that works is taken.
    """
    code, _ = run([f"{bin_folder}/python", "-c", "import pandas"])
    faults = int(code == 0 and extra not in ("examples", "gcp"))
    if faults:
        print("FAULT pandas is installed, which no extra declares")
    for need, verb in verbs_left.copy():
        if not need and extra != "base" and verb[0] != "encode-task":  # what finetune reads
            continue
        began = time.monotonic()
        code, printed = run([f"{bin_folder}/bertdata", *verb])
        wrong = judged(verb, need, HOLDS[extra], code, printed)
        faults += bool(wrong)
        if code == 0 and not wrong:
            verbs_left.remove((need, verb))
        state = "FAULT" if wrong else "works" if code == 0 else "asks "
        print(f"{extra:8} {state} {time.monotonic() - began:5.1f} s  {' '.join(verb)[:70]} {wrong}", flush=True)
        if wrong:
            print(printed[-1500:], flush=True)
    return faults


def main() -> int:
    """Try extras one after another; returns 1 where a verb went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", nargs="*", metavar="EXTRA", help=f"of {', '.join(HOLDS)}")
    parser.add_argument("--corpus", metavar="FOLDER", help="a finished build of the sample corpus")
    parser.add_argument("--with", nargs="+", default=[], dest="beside", metavar="PACKAGE")
    flags = parser.parse_args()
    if unknown := set(flags.extras) - set(HOLDS):
        parser.error(f"there is no extra {', '.join(sorted(unknown))}; expected some of {', '.join(HOLDS)}")
    if not shutil.which("uv"):
        sys.exit('uv is not installed, which makes the environments: pip install uv, or pip install -e ".[dev]"')
    faults, work = 0, Path(tempfile.mkdtemp(prefix="bertdata-extras-"))
    try:
        made = wheel(work / "wheel")
        corpus = flags.corpus and os.path.abspath(flags.corpus)
        if not corpus:
            corpus = str(work / "corpus")
            programs = environment(work / "environment", made, "base", flags.beside)
            code, printed = run([f"{programs}/bertdata", "build", *small_build(work), "--output", corpus])
            if code:
                sys.exit(f"no corpus could be built:\n{printed}")
        verbs_left: list[tuple[str, list[str]]] = []
        before = None
        for extra in flags.extras or USUAL:
            began = time.monotonic()
            adds = before is not None and HOLDS[before] <= HOLDS[extra]
            if not adds:
                verbs_left = verbs(corpus, str(work / f"out-{extra}"))
            programs = environment(work / "environment", made, extra, flags.beside, clear=not adds)
            print(f"{extra:8} installed in {time.monotonic() - began:.0f} s", flush=True)
            faults += attempt(extra, programs, verbs_left)
            before = extra
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
