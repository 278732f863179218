"""The `bertdata` command: one module for each subcommand, imported when it is called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """A subcommand: one line of help, and its module.

    stages: whether it runs stages of a build, and so takes Beam's flags after `--`: its `run` gets a `Request`.
    """

    help: str
    module: str
    stages: bool = False


COMMANDS: dict[str, Command] = {
    "build": Command("make shards of dumps, books and other documents: all stages", "bertdata.cli.build", True),
    "recipes": Command("list the recipes for --recipe of build, or print one", "bertdata.cli.recipes"),
    "show": Command("print examples of a build as text, their masks marked", "bertdata.cli.show"),
    "stats": Command("print figures of a build, or of a vocabulary on text files", "bertdata.cli.stats"),
    "report": Command("write an HTML page on a build, documents or a vocabulary", "bertdata.cli.report"),
    "diff": Command("print how two builds differ, and why", "bertdata.cli.diff"),
    "verify": Command("recount everything and compare with the manifest", "bertdata.cli.verify"),
    "clean-up": Command("delete the stages of a finished build, checked first", "bertdata.cli.clean_up"),
    "export": Command("write shards as Parquet, JSON lines, TFRecord and others", "bertdata.cli.export"),
    "publish": Command("write a folder for a data set hub: rows, card, Croissant", "bertdata.cli.publish"),
    "import": Command("make shards of TFRecords of BERT, HDF5, Parquet and others", "bertdata.cli.import_"),
    "tokenize": Command("print the tokens or ids of lines of text", "bertdata.cli.tokenize"),
    "clean": Command("print the prose of wikitext or of a book", "bertdata.cli.clean"),
    "download": Command("get a Wikipedia dump or Project Gutenberg books", "bertdata.cli.download"),
    "bench": Command("measure how fast the loader reads your shards", "bertdata.cli.bench"),
    "completion": Command("print a script that completes bertdata in bash or zsh", "bertdata.cli.completion"),
    "compile": Command("compile the kernels beforehand, as for a container image", "bertdata.cli.compile"),
    "pretrain": Command("pretrain an encoder: BERT, ALBERT, ELECTRA, ModernBERT", "bertdata.cli.pretrain"),
    "score": Command("print likelihoods of sentences, accuracy on minimal pairs", "bertdata.cli.score"),
    "transfer": Command("give a trained encoder another vocabulary", "bertdata.cli.transfer"),
    "average": Command("write a model with the mean weights of checkpoints", "bertdata.cli.average"),
    "encode-task": Command("make shards of labelled texts, tags, questions or pairs", "bertdata.cli.encode_task"),
    "finetune": Command("fine-tune a pretrained model on what encode-task wrote", "bertdata.cli.finetune"),
    "clean-wikipedia": Command("one stage: make documents of dumps", "bertdata.cli.clean_wikipedia", True),
    "clean-books": Command("one stage: make documents of books", "bertdata.cli.clean_books", True),
    "train-vocab": Command("one stage: train a vocabulary", "bertdata.cli.train_vocab", True),
    "train-sentences": Command("one stage: train sentence parameters", "bertdata.cli.train_sentences", True),
    "build-shards": Command(
        "one stage: make shards of documents, with a vocabulary", "bertdata.cli.build_shards", True
    ),
}
