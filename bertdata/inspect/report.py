"""`bertdata report`: one self-contained HTML page on a build: its ledger, charts, and examples with their masks marked.

Other folders that bertdata wrote have pages of their own (`report_task`, `report_folder`). It needs only the folder,
and no network when the page is made or read. The page names no time and no machine, so the same build gives the same
page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from bertdata.corpus import ledger, summary
from bertdata.errors import ConfigError
from bertdata.finetune.task_info import TaskInfo
from bertdata.inspect import examples, show, stats
from bertdata.inspect.folders import DOCUMENTS, describe
from bertdata.inspect.page import bar, facts, grid, histogram, page
from bertdata.inspect.report_accounts import accounts_part
from bertdata.inspect.report_folder import folder_report_html
from bertdata.inspect.report_ledger import ledger_part, warnings_part
from bertdata.inspect.report_task import task_report_html
from bertdata.inspect.report_text import documents_part, dropped_part, rejected_part, source_shares, vocabulary_part
from bertdata.inspect.text_figures import document_files, measure_text, rejected_pages
from bertdata.inspect.word_figures import count_ids
from bertdata.io.console import counted, largest
from bertdata.io.markup import element
from bertdata.shards import Shards
from bertdata.shards.accounts import read_accounts
from bertdata.shards.contents import reading_values
from bertdata.shards.reader import open_splits

PAGE, SUMMARY = "report.html", "training-summary.md"
"""What the files are called that are written where no --output is named."""


def report_html(path: str, *, examples: int = 4, vocabulary: str = "") -> str:
    """Return the page of a finished build, of which `examples` are shown, or of another folder that bertdata wrote.

    vocabulary: what a folder of documents is measured with as well. The page is well-formed XML after its first line,
    loads nothing, and is a function of the folder alone. Raises InputError where bertdata did not write it, and
    ConfigError where a vocabulary was given for another folder than one of documents.
    """
    folder = describe(path)
    if vocabulary and (not folder or folder.kind != DOCUMENTS):
        kind = folder.kind if folder else "shards"
        raise ConfigError(f"--vocab was given, and {path} holds {kind}; expected a folder of documents, or no --vocab")
    if folder:
        return folder_report_html(path, folder, vocabulary)
    splits = open_splits(path)
    if isinstance(splits[0].info, TaskInfo):
        return task_report_html(splits, splits[0].info, examples=examples)
    manifest = splits[0].manifest
    figures = {shards.split: stats.measure(shards) for shards in splits}
    with reading_values(splits[0].build):
        settings = manifest["info"]["examples"]
        title = f"{settings['objective'].upper()} examples of {settings['max_seq_length']} tokens"
        made = f"Made by bertdata {manifest['bertdata']}. {_subtitle(manifest)}"
        warnings, shards = warnings_part(manifest.get("warnings", [])), _shards(manifest)
        steps = ledger_part(ledger.ledger(manifest), manifest["sources"])
        table, test_data = facts(summary.build_rows(manifest)), _test_data(manifest)
        repeated = _repeated(manifest)
    tokenizer = splits[0].tokenizer()
    paths = document_files(splits[0].build)
    text = measure_text(paths, tokenizer)
    sections = {
        "Warnings": warnings,
        "From inputs to examples": steps,
        "Repeated text": repeated,
        "Test data": test_data,
        "Sources": source_shares(manifest),
        "Documents by columns": accounts_part(read_accounts(splits[0].build, manifest)),
        "Documents": documents_part(text, manifest["sources"]),
        "Dropped documents": dropped_part(manifest["sources"]),
        "Dropped pages": rejected_part(rejected_pages(splits[0].build)),
        "Vocabulary": vocabulary_part(tokenizer, text.words if text else None, count_ids(splits[0])),
        "Row lengths": [element("div", [_lengths(*item) for item in figures.items()], class_="columns")],
        "Pair labels": _labels(splits, figures),
        "Masks": [part for item in figures.items() for part in _masks(*item)],
        "Examples": _examples(splits[0], examples),
        "The table of the build": [table],
        "Shards and settings": shards,
    }
    return page(title, made, _tiles(figures), sections)


def _repeated(manifest: Mapping[str, Any]) -> list[Element]:
    """Return what was left out as repeated, with samples of it; nothing where none was looked for."""
    account = manifest.get("dedup_spans", {})
    if not account:
        return []
    samples = [(f"left out of {sample['id']}", sample["text"]) for sample in account["samples"]]
    return [facts([*summary.dedup_spans_rows(account), *samples])]


def _test_data(manifest: Mapping[str, Any]) -> list[Element]:
    """Return the hits of test data, with samples of the documents that had them; nothing without decontamination."""
    account = manifest.get("decontamination", {})
    if not account:
        return []
    rows = list(summary.decontamination_rows(account))
    for name, figures in account["files"].items():
        rows += [(f"{name}, in {sample['id']}", sample["text"]) for sample in figures["samples"]]
    return [facts(rows)]


def _subtitle(manifest: Mapping[str, Any]) -> str:
    examples = manifest["info"]["examples"]
    vocabulary = summary.vocabulary_text(manifest["vocabulary"])
    copies = f", {examples['dupe_factor']} copies" if examples["dupe_factor"] > 1 else ""
    points = manifest["info"]["masking"].get("mask_schedule")
    schedule = f", rates by --mask-schedule {' '.join(points)}" if points else ""
    masking = manifest["info"]["masking"]
    if training := masking.get("training"):
        schedule += f", trained for {summary.training_text(training)}"
    if draw := masking.get("mask_rate_draw"):
        schedule += f", rates {summary.draw_text(draw, masking.get('mask_number', 'rounded'))}"
    choice = summary.choice_text(masking)
    schedule += f", tokens {choice}" if choice else ""
    sizes = {name: source["counts"].get("documents", 0) for name, source in manifest["sources"].items()}
    largest_names, others = largest(sizes)
    sources = ", ".join(largest_names) + (f" and {counted(len(others), 'smaller one')}" if others else "")
    return (
        f"Sources: {sources}. Vocabulary: {vocabulary}. {examples['masking'].capitalize()} masking{copies}{schedule}."
    )


def _tiles(figures: Mapping[str, stats.Figures]) -> dict[str, str]:
    def total(name: str) -> int:
        return sum(getattr(split, name) for split in figures.values())

    ordinary = max(1, total("ordinary_tokens"))
    capacity = max(1, sum(split.rows * split.max_seq_length for split in figures.values()))
    return {
        "examples": f"{total('rows'):,}",
        "tokens in rows": f"{total('tokens'):,}",
        "fill": f"{total('tokens') / capacity:.1%}",
        "realised mask rate": f"{total('predictions') / ordinary:.2%}",
        "[UNK]": f"{total('unknown_tokens') / ordinary:.3%}",
    }


def _lengths(split: str, figures: stats.Figures) -> Element:
    """Return a histogram of the tokens in a row."""
    text = f"{split}: {counted(figures.rows, 'row')}, {figures.fill:.1%} of {figures.max_seq_length} tokens filled"
    return histogram(text, "tokens in a row", stats.histogram(figures.lengths), "rows")


def _labels(splits: Sequence[Shards], figures: Mapping[str, stats.Figures]) -> list[Element]:
    bars = []
    for shards in splits:
        numbers = figures[shards.split].labels
        if shards.info.label and sum(numbers):
            names = examples.label_texts(shards.expect_pretraining().objective)
            parts = [(name, numbers[label], f"c{label}") for label, name in enumerate(names)]
            remark = element("span", f" one label: {summary.by_chance(sum(numbers))}", class_="quiet")
            bars.append(bar(f"{shards.split}, {shards.info.label}", parts, remarks=[remark] if len(parts) == 2 else []))
    return bars


def _masks(split: str, figures: stats.Figures) -> list[Element]:
    text = element("p", f"{split}: {stats.mask_text(figures)}.")
    if figures.masked is None or figures.kept is None or not figures.predictions:
        return [text]
    replaced = figures.predictions - figures.masked - figures.kept
    parts = [("[MASK]", figures.masked, "mask"), ("random token", replaced, "random"), ("kept", figures.kept, "kept")]
    return [text, bar(f"{split}: tokens at predicted positions", parts)]


def _examples(shards: Shards, count: int) -> list[Element]:
    chosen = sorted({len(shards) * place // count for place in range(min(count, len(shards)))})
    if not chosen:
        return []
    legend = [element("li", element("b", mark, class_=kind), f" {text}") for kind, mark, text in show.LEGEND]
    legend += [element("li", notation) for notation in show.notations(shards.tokenizer())]
    return [
        element("ul", legend, class_="keys"),
        *(_example(example, shards.split) for example in examples.read_examples(shards, chosen)),
    ]


def _example(example: examples.Example, split: str) -> Element:
    label = f", {example.label}" if example.label else ""
    head = f"{split} {example.number:,}: {example.tokens} tokens, {example.predictions} to predict{label}"
    article = element("article", element("h3", head))
    names = "AB" if len(example.segments) > 1 else " "
    for place, segment in enumerate(example.segments):
        name = element("span", names[place % len(names)], class_="segment")
        words = [part for word in examples.words(segment) for part in (*map(_token, word), " ")]
        article.append(element("p", name, words[:-1]))
    return article


def _token(token: examples.ShownToken) -> Element | str:
    if token.kind == "text":
        return token.text
    tag, kind = ("span", "quiet") if token.kind == "special" else ("b", token.kind)
    return element(tag, token.text, class_=kind)


def _shards(manifest: Mapping[str, Any]) -> list[Element]:
    shards = [shard for entry in manifest["splits"].values() for shard in entry["shards"]]
    names = ("file", "examples", "bytes", "SHA-256, first 16 digits")
    rows = [
        (shard["file"], f"{shard['counts']['examples']:,}", f"{shard['bytes']:,}", shard["sha256"][:16])
        for shard in shards
    ]
    settings = json.dumps(manifest["info"], indent=1, sort_keys=True)
    return [
        element("details", element("summary", counted(len(shards), "shard")), grid(names, rows)),
        element("details", element("summary", "settings"), element("pre", settings)),
    ]
