"""Damages a finished build in many ways, runs what a user would run next, and prints the outcomes.

    python scripts/damage.py [--number 500] [--seed 0] [--only N ...]

Each damage is a flipped bit, a cut, two files of one kind swapped, a deleted file or a block of zeros, in the stages,
the shards, the manifest, the tokenizer, the sentence parameters, a checkpoint, or the notes by which a build knows its
folder. What follows is a build with the same settings or others, `bertdata verify`, the loader, `show`, `stats`, or a
pretraining resumed. What came of it:

    detected     an error of bertdata's
    repaired     made again, and said so: the same bytes as without the damage
    harmless     the same bytes, or the same rows, as without the damage
    SILENT       another result without an error
    TRACEBACK    an error that is not bertdata's

It ends with 1 where anything was silent or a traceback. Which damage has which number depends on the seed alone.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bertdata.beam.runner import Runner  # noqa: E402
from bertdata.cli.main import dispatch  # noqa: E402
from bertdata.corpus.build import build_corpus  # noqa: E402
from bertdata.corpus.settings import Settings  # noqa: E402
from bertdata.curation.settings import DecontaminationConfig, DedupConfig, DedupSpansConfig  # noqa: E402
from bertdata.errors import BertDataError  # noqa: E402
from bertdata.loader import ShardExamples  # noqa: E402
from bertdata.objectives.settings import ExamplesConfig  # noqa: E402
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP  # noqa: E402
from bertdata.sentences.settings import SentencesConfig  # noqa: E402
from bertdata.shards.phases import PhaseConfig  # noqa: E402
from bertdata.shards.settings import ShardsConfig  # noqa: E402
from bertdata.sources.inputs import Sources  # noqa: E402
from bertdata.sources.settings import CleaningConfig  # noqa: E402
from bertdata.tokenizers.settings import VocabularyConfig  # noqa: E402
from bertdata.verify.build import verify  # noqa: E402

TEST_DATA = "The ninth was cracked and rang hollow.\n"  # a sentence of the sample corpus


def sources_in(folder: Path) -> Sources:
    """Return the sources of the builds: the sample corpus, and rows of JSON, a book each, written into `folder`."""
    rows = folder / "rows.jsonl"
    if not rows.exists():
        paths = sorted(Path(SAMPLE_BOOKS).glob("*.txt"))
        texts = [{"id": f"row {path.stem}", "text": path.read_text()[-20_000:]} for path in paths]
        rows.write_text("".join(json.dumps(text) + "\n" for text in texts))
    return Sources((SAMPLE_DUMP,), (SAMPLE_BOOKS,), (str(rows),))


def settings_in(folder: Path) -> dict[str, Settings]:
    """Return the settings of the builds: those which are damaged, of all stages, and others by what they change.

    What the others reread: the token store; word counts and documents; signatures and documents; repeated text; the
    n-grams of test data, which are written into `folder`.
    """
    test_data = folder / "test-data.txt"
    test_data.write_text(TEST_DATA)
    build = Settings(
        CleaningConfig(range_bytes=60_000, template_pages=True, clean=("nfc",), filter=("gopher-repetition",)),
        VocabularyConfig(vocab_size=1500),
        ShardsConfig(shard_bytes=120_000, validation_fraction=0.1),
        (PhaseConfig(ExamplesConfig(max_seq_length=64)),),
        dedup=DedupConfig("near"),
        dedup_spans=DedupSpansConfig("sentences", dedup_spans_min_words=3),
        decontamination=DecontaminationConfig((str(test_data),), 5, "cut"),
        sentences=SentencesConfig("auto"),
    )
    return {
        "build": build,
        "phases": replace(build, phases=tuple(PhaseConfig(ExamplesConfig(max_seq_length=n)) for n in (32, 64))),
        "other seed": replace(build, phases=(PhaseConfig(ExamplesConfig(max_seq_length=64, seed=7)),)),
        "other vocabulary": replace(build, vocabulary=replace(build.vocabulary, vocab_size=1400)),
        "other threshold": replace(build, dedup=DedupConfig("near", dedup_threshold=0.7)),
        "other spans": replace(build, dedup_spans=DedupSpansConfig("sentences", dedup_spans_min_words=4)),
        "other n-grams": replace(build, decontamination=replace(build.decontamination, decontaminate_ngram=4)),
    }


STEPS = 6


def quietly(work: Callable[[], object]) -> str:
    """Do something and return what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed):
        work()
    return printed.getvalue()


def build(sources: Sources, output: Path, settings: Settings) -> str:
    """Build in this process; returns what was said."""
    return quietly(lambda: build_corpus(sources, str(output), settings, Runner(1)))


def tree(output: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a build but its stages."""
    paths = [path for path in sorted(output.rglob("*")) if path.is_file()]
    named = {str(path.relative_to(output)): path for path in paths}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in named.items()
        if not name.startswith(("stages/", "."))
    }


def rows(output: Path) -> str:
    """Return a digest of all that the loader gives of a build."""
    digest = hashlib.sha256()
    for split in ("train", "validation"):
        examples = ShardExamples(str(output), split)
        examples.sets[0].tokenizer()
        for example in examples.__getitems__(list(range(len(examples)))):
            for name, value in sorted(example.items()):
                digest.update(f"{name}{value.tolist() if hasattr(value, 'tolist') else value}".encode())
        digest.update(f"{examples.sets[0].tokenizer().replacement_ids.tolist()}".encode())
    return digest.hexdigest()


def pretrain(output: Path, shards: Path, *, stop: bool = False) -> str:
    """Pretrain a very small model, as far as its checkpoint if `stop`; returns a digest of its weights."""
    from bertdata.torch import BertConfig
    from bertdata.torch.training.pretrain import pretrain as run
    from bertdata.torch.training.settings import PretrainSettings

    config = BertConfig(
        vocab_size=1500,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    settings = PretrainSettings(
        max_steps=STEPS, batch_size=4, warmup_ratio=0.2, save_steps=4, logging_steps=1, num_workers=0, device="cpu"
    )

    def report(record: object) -> None:
        if stop and isinstance(record, dict) and record["step"] == STEPS - 1:
            raise KeyboardInterrupt

    printed = io.StringIO()
    with contextlib.suppress(KeyboardInterrupt), contextlib.redirect_stderr(printed):
        run(shards, config, output, settings, report=report)
    return "" if stop else hashlib.sha256((output / "model.safetensors").read_bytes()).hexdigest()


@dataclass(frozen=True)
class Damage:
    """One damage: its number, what is damaged and how, and what is done then."""

    number: int
    area: str
    kind: str
    action: str


AREAS = {
    "stages": (8, ("other seed", "other vocabulary", "other threshold", "other spans", "other n-grams")),
    "shards": (5, ("load", "verify", "build", "stats")),
    "manifest": (3, ("load", "verify", "build", "show", "stats")),
    "tokenizer": (2, ("load", "verify", "build", "show")),
    "sentences": (2, ("verify", "build")),
    "checkpoints": (4, ("resume",)),
    "notes": (1, ("build",)),
    "phases": (3, ("phases", "verify", "stats")),
}
"""Of each area how often it is damaged, in comparison, and what is done then."""
KINDS = ("flip", "flip", "cut", "zeros", "swap", "delete")


def plan(number: int, seed: int) -> list[Damage]:
    """Return the damages of a run."""
    draws = random.Random(seed)
    weights = [weight for weight, _ in AREAS.values()]
    chosen = []
    for index in range(number):
        [area] = draws.choices(list(AREAS), weights)
        chosen.append(Damage(index, area, draws.choice(KINDS), draws.choice(AREAS[area][1])))
    return chosen


def files_of(area: str, place: Path) -> list[Path]:
    """Return the files of an area of a build, or of a pretraining's output."""
    every = [path for path in sorted(place.rglob("*")) if path.is_file() and path.stat().st_size]
    parts = {path: path.relative_to(place).parts for path in every}
    if area == "shards":
        return [path for path, part in parts.items() if part[0] in ("train", "validation")]
    if area == "phases":
        return [
            path for path, part in parts.items() if not part[0].startswith((".", "stages")) and part[-1] != "README.md"
        ]
    if area == "notes":
        return [path for path, part in parts.items() if part[0].startswith(".bertdata")]
    if area == "manifest":
        return [path for path, part in parts.items() if part[0] in ("manifest.json", "dataset_dict.json")]
    return [path for path, part in parts.items() if part[0] == area]


def write_anew(path: Path, data: bytes) -> None:
    """Write a file that may be a hard link to that of the undamaged build."""
    path.unlink()
    path.write_bytes(data)


def do_damage(damage: Damage, place: Path, draws: random.Random) -> str:
    """Damage one file below a place; returns which and how."""
    paths = files_of(damage.area, place)
    folder = draws.choice(sorted({path.parent for path in paths}))
    path = draws.choice([path for path in paths if path.parent == folder])
    shown, data = str(path.relative_to(place)), path.read_bytes()
    alike = [other for other in paths if other.suffix == path.suffix and other != path and other.read_bytes() != data]
    if damage.kind == "swap" and alike:
        other = draws.choice(alike)
        theirs = other.read_bytes()
        write_anew(path, theirs)
        write_anew(other, data)
        return f"{shown} and {other.relative_to(place)} swapped"
    if damage.kind == "delete":
        path.unlink()
        return f"{shown} deleted"
    at = draws.randrange(len(data))
    if damage.kind == "cut":
        write_anew(path, data[:at])
        return f"{shown} cut at byte {at} of {len(data)}"
    if damage.kind == "zeros":
        changed = data[:at] + bytes(len(data[at : at + 64])) + data[at + 64 :]
        if changed != data:
            write_anew(path, changed)
            return f"{shown} zeroed from byte {at}"
    bit = draws.randrange(8)
    write_anew(path, data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
    return f"{shown} flipped in bit {bit} of byte {at}"


class Expected:
    """What the undamaged build gives, made once."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.base, self.phased, self.run = folder, folder / "build", folder / "phases", folder / "run"
        self.sources, self.settings = sources_in(folder), settings_in(folder)
        self.trees: dict[str, dict[str, str]] = {}
        for name, settings in self.settings.items():
            build(self.sources, folder / name, settings)
            self.trees[name] = tree(folder / name)
            if name not in ("build", "phases"):
                shutil.rmtree(folder / name)
        self.rows = rows(self.base)
        commands = (("show", self.base), ("stats", self.base), ("stats", self.phased))
        self.command("show", self.base)  # the first may say that kernels are compiled
        self.printed = {(name, place): self.command(name, place) for name, place in commands}
        pretrain(self.run, self.base, stop=True)
        self.weights = pretrain(folder / "whole", self.base)

    def source(self, area: str) -> Path:
        """Return the folder whose copy is damaged."""
        return {"checkpoints": self.run, "phases": self.phased}.get(area, self.base)

    def command(self, name: str, place: Path) -> str:
        """Return what a command prints of a build."""
        return quietly(lambda: dispatch([name, str(place), *(["--count", "9"] if name == "show" else [])]))

    def follow(self, damage: Damage, place: Path) -> str:
        """Do what a user does after a damage; returns what came of it."""
        if damage.action == "load":
            return "harmless" if rows(place) == self.rows else "SILENT"
        if damage.action == "verify":
            verify(str(place))
            return "SILENT"
        if (damage.action, source := self.source(damage.area)) in self.printed:
            printed = self.command(damage.action, place).replace(str(place), str(source))
            return "harmless" if printed == self.printed[damage.action, source] else "SILENT"
        if damage.action == "resume":
            return "harmless" if pretrain(place, self.base) == self.weights else "SILENT"
        rebuilt = build(self.sources, place, self.settings[damage.action])
        if tree(place) != self.trees[damage.action]:
            return "SILENT"
        return "repaired" if "made again" in rebuilt else "harmless"


def outcome_of(damage: Damage, expected: Expected, seed: int) -> tuple[str, str]:
    """Do one damage and what follows; returns what came of it, and what to say of it."""
    place = expected.folder / f"damage-{damage.number}"
    shutil.copytree(expected.source(damage.area), place, copy_function=os.link)
    what = ""
    try:
        what = do_damage(damage, place, random.Random(f"{seed} {damage.number}"))
        outcome, error = expected.follow(damage, place), ""
    except BertDataError as found:
        outcome, error = "detected", str(found).replace(str(place), "").split("\n")[-1][:160]
    except Exception:
        outcome, error = "TRACEBACK", traceback.format_exc()
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return outcome, f"{damage.number}: {what}, then {damage.action}: {outcome}{': ' if error else ''}{error}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--number", type=int, default=500, help="how many damages (default: 500)")
    parser.add_argument("--seed", type=int, default=0, help="what they are drawn by (default: 0)")
    parser.add_argument(
        "--only", type=int, nargs="+", default=[], metavar="N", help="only the damages of these numbers"
    )
    parser.add_argument("--verbose", action="store_true", help="a line for each damage")
    flags = parser.parse_args(arguments)
    began = time.monotonic()
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory(prefix="bertdata-damage-") as folder:
        os.environ["BERTDATA_CACHE"] = str(Path(folder) / "cache")
        expected = Expected(Path(folder))
        for damage in plan(max([flags.number, *(chosen + 1 for chosen in flags.only)]), flags.seed):
            if flags.only and damage.number not in flags.only:
                continue
            outcome, line = outcome_of(damage, expected, flags.seed)
            counts[damage.area, outcome] += 1
            if flags.verbose or flags.only or outcome.isupper():
                print(line, flush=True)
    outcomes = ("detected", "repaired", "harmless", "SILENT", "TRACEBACK")
    print(f"{'':<12}" + "".join(f"{outcome:>11}" for outcome in outcomes))
    for area in AREAS:
        print(f"{area:<12}" + "".join(f"{counts[area, outcome]:>11}" for outcome in outcomes))
    bad = sum(number for (_, outcome), number in counts.items() if outcome.isupper())
    print(f"{sum(counts.values())} damages, {bad} silent or with a traceback, {time.monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
