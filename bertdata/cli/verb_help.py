"""The help of a verb: its common flags and examples on one screen, all flags by `--help-all`.

A verb whose whole help fits a screen needs no common flags here; one without an entry has no examples.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

SCREEN = 40
"""Lines of a screen: help that is longer is cut to the common flags."""
_WIDTH = 78
_FLAG_WIDTH = 26


@dataclass(frozen=True)
class VerbHelp:
    """What the short help of a verb shows: examples, and the common flags, each with what it does in a few words."""

    examples: tuple[str, ...]
    common: Mapping[str, str] = field(default_factory=dict)


_OUTPUT = {
    "--output": "where to write, a folder or a URL",
    "--workers": "worker processes (default: one for each core)",
    "--force": "do everything again",
    "--quiet": "print only warnings and errors",
}
_ROWS = {
    "--objective": "what is together in a row: nsp, sop, ...",
    "--masking": "dynamic or static (default: dynamic)",
    "--mask-unit": "token, word, ngram, span, ... (default: token)",
    "--max-seq-length": "tokens in a row; several: a phase for each",
    "--pack": "pack examples into full rows",
    "--dedup": "drop duplicate documents: none, exact or near",
    "--seed": "seed of all draws",
}
_TRAINING = {
    "--output": "folder of the model, its checkpoints and its log",
    "--batch-size": "rows in a step",
    "--learning-rate": "the highest learning rate",
    "--seed": "seed of weights, order and dropout",
    "--quiet": "show no progress",
}

VERB_HELP: dict[str, VerbHelp] = {
    "build": VerbHelp(
        (
            "bertdata build --output corpus                     # the sample corpus",
            "bertdata build --wikipedia enwiki.xml.bz2 --books books/ --output corpus",
            "bertdata build --documents 'texts/*.jsonl' --recipe roberta --output corpus",
            "bertdata build --output corpus --max-seq-length 128 512 --dedup near",
        ),
        {
            "--wikipedia": "Wikipedia dumps: files, folders or globs",
            "--books": "books: files, folders or globs",
            "--documents": "other documents: Parquet, JSON lines, text",
            **_OUTPUT,
            "--dry-run": "say what would be done, and stop",
            "--json": "print the result as JSON",
            "--recipe": "the settings of a known model (bertdata recipes)",
            "--vocab": "use this vocabulary instead of training one",
            "--vocab-size": "tokens of a trained vocabulary (default: 30000)",
            **_ROWS,
        },
    ),
    "recipes": VerbHelp(("bertdata recipes", "bertdata recipes show roberta > mine.toml")),
    "show": VerbHelp(("bertdata show corpus", "bertdata show corpus --split validation --index 7 --epoch 3")),
    "stats": VerbHelp(
        (
            "bertdata stats corpus",
            "bertdata stats corpus --json | jq .measured.train.rows",
            "bertdata stats --vocab bertdata-30k-uncased text.txt",
        )
    ),
    "report": VerbHelp(("bertdata report corpus --output report.html", "bertdata report documents --vocab vocab")),
    "diff": VerbHelp(("bertdata diff monday tuesday", "bertdata diff monday tuesday --json")),
    "clean": VerbHelp(
        ("bertdata clean page.wikitext", "curl -s URL | bertdata clean -", "bertdata clean moby-dick.txt")
    ),
    "verify": VerbHelp(("bertdata verify corpus", "bertdata verify corpus --duplicates --json")),
    "clean-up": VerbHelp(("bertdata clean-up corpus --dry-run", "bertdata clean-up s3://bucket/corpus")),
    "export": VerbHelp(
        ("bertdata export corpus --to parquet --output parquet",),
        {
            "--to": "the format: parquet, jsonl, hf, mds, tfrecord, hdf5, ...",
            "--output": "where to write, a folder or a URL",
            "--split": "only these splits (default: all)",
            "--force": "do everything again",
        },
    ),
    "publish": VerbHelp(("bertdata publish corpus my-corpus", "bertdata publish corpus my-corpus --format arrow")),
    "import": VerbHelp(("bertdata import 'tfrecords/*' --vocab vocab.txt --output corpus",)),
    "tokenize": VerbHelp(
        ("echo 'Salt water' | bertdata tokenize --vocab corpus", "bertdata tokenize text.txt --vocab corpus --ids")
    ),
    "download": VerbHelp(("bertdata download wikipedia --language simple --output dumps",)),
    "bench": VerbHelp(
        ("bertdata bench corpus", "bertdata bench corpus --batch-size 64 --json"),
        {
            "--batch-size": "rows in a batch (default: 256)",
            "--packing": "one row of examples instead of padding",
            "--seconds": "how long to measure (default: 3)",
            "--tokens-per-gpu": "tokens/s of a GPU, to say how many can be fed",
            "--json": "print the result as JSON",
        },
    ),
    "compile": VerbHelp(("bertdata compile",)),
    "completion": VerbHelp(
        (
            "bertdata completion bash >> ~/.bash_completion",
            "bertdata completion zsh > ~/.zfunc/_bertdata    # in a folder of $fpath",
        )
    ),
    "pretrain": VerbHelp(
        (
            "bertdata pretrain corpus --config tiny --max-steps 1000 --output model",
            "torchrun --nproc-per-node 8 -m bertdata pretrain corpus --output model",
        ),
        {
            **_TRAINING,
            "--config": "the model: tiny, base, large, ..., or a folder with one",
            "--max-steps": "optimizer steps (default: 40 epochs, at most 100,000)",
            "--epochs": "times through the rows, in place of --max-steps",
            "--dry-run": "say what the run would do, and stop",
            "--restart": "start again instead of going on from a checkpoint",
        },
    ),
    "score": VerbHelp(
        (
            "bertdata score model blimp/ --by phenomenon",
            "bertdata score model pairs.csv --good-column right --bad-column wrong --json",
            "bertdata score model texts.txt --metric within-word-l2r --output scores.jsonl",
        ),
        {
            "--good-column": "the column of the good sentences",
            "--bad-column": "the column of the bad sentences",
            "--text-column": "score single sentences of this column, not pairs",
            "--by": "also give results for each value of these columns",
            "--metric": "original or within-word-l2r",
            "--reduction": "sum or mean over the tokens (default: sum)",
            "--output": "write the rows with their scores, as JSON lines",
            "--json": "print the result as JSON",
            "--library": "the library whose classes load the model",
            "--device": "auto, cpu or cuda",
        },
    ),
    "transfer": VerbHelp(
        (
            "bertdata transfer --model model --vocab corpus --output start",
            "bertdata transfer --model model --vocab corpus --counts corpus --output start",
        ),
        {
            "--model": "a trained model with its tokenizer",
            "--vocab": "the new vocabulary: a tokenizer, a build, or a name",
            "--counts": "a build whose tokens are counted in the table",
            "--output": "where to write the model",
        },
    ),
    "average": VerbHelp(
        ("bertdata average run/checkpoints/step-* --output averaged",),
        {
            "--output": "where to write the model",
        },
    ),
    "encode-task": VerbHelp(
        (
            "bertdata encode-task --train train.tsv --vocab model --output task",
            "bertdata encode-task --task glue/rte --train a.tsv --vocab model --output rte",
        ),
        {
            "--train": "labelled examples: .jsonl, .json, .csv, .tsv, .parquet, .conll, ...",
            "--validation": "examples to evaluate with",
            "--test": "examples to predict, labels may be missing",
            "--task": "classification, token-classification, glue/..., ...",
            "--vocab": "the vocabulary: a model, a build, a file or a name",
            "--output": "where to write, a new folder or a URL",
            "--text-columns": "the columns of the text and of the second text",
            "--label-column": "the column of the label or the tags",
            "--max-seq-length": "tokens in a row",
            "--force": "do everything again",
        },
    ),
    "finetune": VerbHelp(
        (
            "bertdata finetune task --model model --output finetuned",
            "bertdata finetune task --model model --output finetuned --seeds 5",
        ),
        {
            "--model": "folder of a pretrained model, of bertdata or transformers",
            **_TRAINING,
            "--seeds": "runs with N seeds: scores with mean and spread",
            "--epochs": "epochs of the run",
            "--dry-run": "say what the run would do, and stop",
            "--restart": "train again what is trained already",
        },
    ),
    "clean-wikipedia": VerbHelp(
        ("bertdata clean-wikipedia enwiki.xml.bz2 --output documents",),
        {
            **_OUTPUT,
            "--min-words": "drop shorter documents",
            "--filter": "drop documents by name",
            "--clean": "change documents by name",
        },
    ),
    "clean-books": VerbHelp(
        ("bertdata clean-books books/ --output documents",),
        {
            **_OUTPUT,
            "--split-chapters": "a document for each chapter",
            "--filter": "drop documents by name",
            "--clean": "change documents by name",
        },
    ),
    "train-vocab": VerbHelp(
        ("bertdata train-vocab --documents documents --output vocab --vocab-size 30000",),
        {
            "--documents": "Parquet, JSON lines, text, or the output of clean-wikipedia",
            **_OUTPUT,
            "--vocab-size": "tokens, special tokens included (default: 30000)",
            "--model": "wordpiece, bpe or unigram (default: wordpiece)",
            "--do-lower-case": "lower-case and strip accents (default: yes)",
        },
    ),
    "train-sentences": VerbHelp(
        ("bertdata train-sentences --documents documents --output sentences",),
        {"--documents": "Parquet, JSON lines, text, or the output of clean-wikipedia", **_OUTPUT},
    ),
    "build-shards": VerbHelp(
        ("bertdata build-shards --documents documents --vocab vocab --output corpus",),
        {
            "--documents": "Parquet, JSON lines, text, or the output of clean-wikipedia",
            "--vocab": "the vocabulary: a folder, a file or a name",
            **_OUTPUT,
            **_ROWS,
        },
    ),
}


def short_help(parser: argparse.ArgumentParser, verb: str) -> str:
    """Return the help of a verb for one screen: all flags where they fit, else the common ones, then examples."""
    verb_help = VERB_HELP.get(verb, VerbHelp(()))
    examples = "\n".join(["", "examples:", *(f"  {line}" for line in verb_help.examples)]) if verb_help.examples else ""
    whole = f"{parser.format_help().rstrip()}\n{examples}".rstrip() + "\n"
    if whole.count("\n") <= SCREEN:
        return whole
    positional = [action for action in parser._actions if not action.option_strings]
    flags = {name: action for action in parser._actions for name in action.option_strings}
    actions = [flags[name] for name in verb_help.common if name in flags]
    actions += [action for action in _flags(parser) if action.required and action not in actions]
    lines = [*textwrap.wrap(f"usage: {_call(parser, actions)}", _WIDTH, subsequent_indent="  "), ""]
    lines += [*textwrap.wrap(parser.description or "", _WIDTH), ""]
    if positional:
        lines += [line for action in positional for line in _entry(_metavar(action), action.help or "")] + [""]
    lines += ["common flags:"] if actions else []
    for action in actions:
        text = next(
            (verb_help.common[name] for name in action.option_strings if name in verb_help.common), action.help or ""
        )
        lines += _entry(_usage(action), text)
    others = len(_flags(parser)) - len(actions)
    titles = dict.fromkeys(group.title for group in parser._action_groups[2:] if group.title and group._group_actions)
    about = f": {'; '.join(title[0].lower() + title[1:] for title in titles)}" if titles else ""
    lines += ["", *textwrap.wrap(f"{parser.prog} --help-all explains {others} more{about}", _WIDTH)]
    lines += textwrap.wrap(parser.epilog or "", _WIDTH)
    return "\n".join([*lines, *examples.split("\n")]).rstrip() + "\n"


def long_help(parser: argparse.ArgumentParser, verb: str) -> str:
    """Return the help of a verb with all flags; where that is over a screen, its first line names the required ones."""
    whole = parser.format_help()
    if whole.count("\n") <= SCREEN:
        return whole
    common = VERB_HELP.get(verb, VerbHelp(())).common
    required = [action for action in _flags(parser) if action.required]
    order = list(common)
    required.sort(
        key=lambda flag: order.index(flag.option_strings[0]) if flag.option_strings[0] in order else len(order)
    )
    parser.usage = "\n  ".join(textwrap.wrap(_call(parser, required), _WIDTH - len("usage: ")))
    return parser.format_help()


def _call(parser: argparse.ArgumentParser, flags: list[argparse.Action]) -> str:
    """Return how a verb is called: its arguments, those of the flags that are required, and [FLAG ...]."""
    positional = [_metavar(action) for action in parser._actions if not action.option_strings]
    required = [_usage(action) for action in flags if action.required]
    return " ".join([parser.prog, *positional, *required, "[FLAG ...]"])


def _flags(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the actions that flags have, but those that print help."""
    helpers = ("help", "help_all")
    return [action for action in parser._actions if action.option_strings and action.dest not in helpers]


def _metavar(action: argparse.Action) -> str:
    name = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper())
    text = name if isinstance(name, str) else " ".join(name)
    return f"{text} ..." if action.nargs in ("+", "*") else text


def _usage(action: argparse.Action) -> str:
    name = action.option_strings[0]
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return name
    if action.choices and not action.metavar:
        return f"{name} NAME"
    is_number = action.type in (int, float)
    short = "N" if is_number and not action.metavar else _metavar(action)
    return f"{name} {short if len(short) <= 12 else short.split('|')[0][:12]}"


def _entry(name: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(" ".join(text.split()), _WIDTH - _FLAG_WIDTH - 2, break_on_hyphens=False) or [""]
    indent = " " * (_FLAG_WIDTH + 2)
    first = f"  {name:<{_FLAG_WIDTH - 2}}  " if len(name) <= _FLAG_WIDTH - 2 else f"  {name}\n{indent}"
    return [*(first + wrapped[0]).split("\n"), *(indent + line for line in wrapped[1:])]
