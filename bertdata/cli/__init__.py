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
    "build": Command("dumps, books and other documents to shards, all stages", "bertdata.cli.build", True),
    "recipes": Command("list the recipes for --recipe of build, or print one", "bertdata.cli.recipes"),
    "show": Command("print examples of a build as text, their masks marked", "bertdata.cli.show"),
    "stats": Command("figures of a build, or of a vocabulary on text files", "bertdata.cli.stats"),
    "report": Command("an HTML page on a build, documents, a vocabulary ...", "bertdata.cli.report"),
    "diff": Command("how two builds differ, and why", "bertdata.cli.diff"),
    "verify": Command("recount everything and compare with the manifest", "bertdata.cli.verify"),
    "clean-up": Command("delete the stages of a finished build, checked first", "bertdata.cli.clean_up"),
    "export": Command("shards to Parquet, JSON lines, TFRecord and other formats", "bertdata.cli.export"),
    "publish": Command("a folder for a hub of data sets: rows, card, Croissant", "bertdata.cli.publish"),
    "import": Command("TFRecords of Google's BERT or HDF5 of NVIDIA's to shards", "bertdata.cli.import_"),
    "tokenize": Command("print the tokens or ids of lines of text", "bertdata.cli.tokenize"),
    "clean": Command("print the prose of wikitext or of a book", "bertdata.cli.clean"),
    "download": Command("get a Wikipedia dump or Project Gutenberg books", "bertdata.cli.download"),
    "bench": Command("measure how fast the loader reads your shards", "bertdata.cli.bench"),
    "completion": Command("a script that completes this command in bash or zsh", "bertdata.cli.completion"),
    "compile": Command("compile the kernels beforehand, as for a container image", "bertdata.cli.compile"),
    "pretrain": Command("pretrain an encoder: BERT, ALBERT, ELECTRA, ModernBERT", "bertdata.cli.pretrain"),
    "score": Command("log-likelihoods of sentences, accuracy on minimal pairs", "bertdata.cli.score"),
    "transfer": Command("give a trained encoder another vocabulary", "bertdata.cli.transfer"),
    "average": Command("a model of the mean weights of several checkpoints", "bertdata.cli.average"),
    "encode-task": Command("labelled texts, tags, questions or pairs to shards", "bertdata.cli.encode_task"),
    "finetune": Command("fine-tune a pretrained model on what encode-task wrote", "bertdata.cli.finetune"),
    "clean-wikipedia": Command("one stage: dumps to documents", "bertdata.cli.clean_wikipedia", True),
    "clean-books": Command("one stage: books to documents", "bertdata.cli.clean_books", True),
    "train-vocab": Command("one stage: documents to a vocabulary", "bertdata.cli.train_vocab", True),
    "train-sentences": Command("one stage: documents to sentence parameters", "bertdata.cli.train_sentences", True),
    "build-shards": Command("one stage: documents and a vocabulary to shards", "bertdata.cli.build_shards", True),
}
