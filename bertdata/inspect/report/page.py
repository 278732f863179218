"""The page of a report: put together from the ledger, the figures and a few examples, every text escaped."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from bertdata.errors import ConfigError, OutputError
from bertdata.inspect import summary
from bertdata.inspect.report.figures import Part, histogram, stacked_bar
from bertdata.inspect.report.ledger import Step, ledger
from bertdata.inspect.report.style import STYLE
from bertdata.inspect.show import LEGEND, Example, Piece, label_texts, read_examples, words
from bertdata.inspect.stats import Figures, mask_text, measure
from bertdata.inspect.stats import histogram as runs_of
from bertdata.io import files
from bertdata.shards import Shards
from bertdata.shards.contents import reading_values
from bertdata.shards.reader import open_splits

_COLOURS = 6
_SIGN, _HEAD = b'<meta name="generator" content="bertdata report"/>', 200
_SHOWN_BROKEN = 20
_MARK_CLASSES = {kind: mark for kind, mark, _ in LEGEND}


def report_html(path: str, *, examples: int = 4) -> str:
    """Return the page of a finished build; `examples` of its first split are shown, spread evenly.

    It is well-formed XML after its first line, asks nothing of a network, and is a function of the build alone. Raises
    InputError where there is no build.
    """
    splits = open_splits(path)
    splits[0].expect_pretraining()
    manifest = splits[0].manifest
    figures = {shards.split: measure(shards) for shards in splits}
    objective, length = (manifest["info"]["examples"][name] for name in ("objective", "max_seq_length"))
    title = f"{objective.upper()} examples of {length} tokens"
    with reading_values(splits[0].build):
        made = f"Made by bertdata {escape(manifest['bertdata'])}. {escape(_subtitle(manifest))}"
        warnings, steps, shards = _warnings(manifest), _ledger(manifest), _shards(manifest)
        table = _table(summary.build_rows(manifest))
    sections = [
        _tiles(figures),
        _section("Warnings", warnings),
        _section("From what came in to examples", steps),
        _section("Row lengths", _lengths(figures)),
        _section("Pair labels", _labels(splits, figures)),
        _section("Masks", _masks(figures)),
        _section("Examples", _examples(splits[0], examples)),
        _section("The table of the build", table),
        _section("Shards and settings", shards),
    ]
    # Nothing may be loaded: the policy holds even if a text slipped through unescaped.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8"/>',
            _SIGN.decode(),
            f'<meta http-equiv="Content-Security-Policy" content="{policy}"/>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            '<meta name="color-scheme" content="light dark"/>',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body><main>",
            f"<h1>{escape(title)}</h1>",
            f"<p class='quiet'>{made}</p>",
            *(section for section in sections if section),
            "</main></body></html>",
            "",
        ]
    )


def _subtitle(manifest: Mapping[str, Any]) -> str:
    examples = manifest["info"]["examples"]
    sources = ", ".join(manifest["sources"])
    vocabulary = summary.vocabulary_text(manifest["vocabulary"])
    copies = f", {examples['dupe_factor']} copies" if examples["dupe_factor"] > 1 else ""
    return f"Sources: {sources}. Vocabulary: {vocabulary}. {examples['masking'].capitalize()} masking{copies}."


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>" if body else ""


def _tiles(figures: Mapping[str, Figures]) -> str:
    rows = sum(one.rows for one in figures.values())
    tokens = sum(one.tokens for one in figures.values())
    ordinary = max(1, sum(one.ordinary_tokens for one in figures.values()))
    capacity = max(1, sum(one.rows * one.max_seq_length for one in figures.values()))
    tiles = [
        ("examples", f"{rows:,}"),
        ("tokens in rows", f"{tokens:,}"),
        ("fill", f"{tokens / capacity:.1%}"),
        ("realised mask rate", f"{sum(one.predictions for one in figures.values()) / ordinary:.2%}"),
        ("[UNK]", f"{sum(one.unknown_tokens for one in figures.values()) / ordinary:.3%}"),
    ]
    cells = "".join(f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in tiles)
    return f"<dl class='tiles'>{cells}</dl>"


def _warnings(manifest: Mapping[str, Any]) -> str:
    items = "".join(
        f"<li><b class='bad'>{escape(one['about'])}</b> {escape(one['found'])} "
        f"<span class='quiet'>(threshold {one['threshold']:g}; {escape(one['remedy'])})</span></li>"
        for one in manifest.get("warnings", [])
    )
    return f"<ul>{items}</ul>" if items else ""


def _ledger(manifest: Mapping[str, Any]) -> str:
    steps = "\n".join(_step(step) for step in ledger(manifest))
    return steps + _broken(manifest)


def _step(step: Step) -> str:
    dropped = sorted(step.dropped, key=lambda one: (-one[1], one[0]))
    parts: list[Part] = [("went on", step.left, "c0")]
    parts += [(reason, number, f"d{place}") for place, (reason, number) in enumerate(dropped[: _COLOURS - 1])]
    if rest := dropped[_COLOURS - 1 :]:
        parts.append((f"{len(rest)} other reasons", sum(number for _, number in rest), f"d{_COLOURS - 1}"))
    items = [_key("c0", f"{step.left:,} went on")]
    for place, (reason, number) in enumerate(dropped):
        share = number / max(1, step.came)
        items.append(_key(f"d{min(place, _COLOURS - 1)}", f"{number:,} dropped, {reason} ({share:.2%})"))
    if step.added:
        items.append(_key("", f"{step.added:,} borrowed, so used twice"))
    difference = step.left + sum(number for _, number in dropped) - step.came - step.added
    verdict = (
        "<span class='good'>adds up</span>"
        if step.balanced
        else f"<span class='bad'>does not add up: {difference:+,}</span>"
    )
    head = f"{escape(step.title)} <span class='quiet'>{step.came:,} {escape(step.unit)} in</span> {verdict}"
    return (
        f"<div class='step'><h3>{head}</h3>{stacked_bar(step.title, parts)}<ul class='keys'>{''.join(items)}</ul></div>"
    )


def _key(kind: str, text: str) -> str:
    swatch = f"<i class='swatch {kind}'></i>" if kind else ""
    return f"<li>{swatch}{escape(text)}</li>"


def _broken(manifest: Mapping[str, Any]) -> str:
    broken = [one for source in manifest["sources"].values() for one in source["broken"]]
    if not broken:
        return ""
    rows = []
    for one in broken[:_SHOWN_BROKEN]:
        place = f"byte {one['offset']:,}" if "offset" in one else ""
        rows.append((one["path"], str(one.get("title") or one.get("place") or ""), place, one["reason"]))
    more = len(broken) - len(rows)
    rest = f"<p class='quiet'>{more:,} more are named in the manifest.</p>" if more else ""
    body = _grid(("file", "title or place", "offset", "what is wrong"), rows)
    number = "1 broken piece" if len(broken) == 1 else f"{len(broken):,} broken pieces"
    return f"\n<details><summary>{number}, left out</summary>{body}{rest}</details>"


def _lengths(figures: Mapping[str, Figures]) -> str:
    return "<div class='columns'>" + "".join(_length(split, one) for split, one in figures.items()) + "</div>"


def _length(split: str, one: Figures) -> str:
    text = f"{one.rows:,} rows, {one.fill:.1%} of {one.max_seq_length} tokens filled"
    figure = histogram(f"{split} row lengths", "tokens", runs_of(one.lengths))
    return f"<figure><figcaption>{escape(split)}: {text}</figcaption>{figure}</figure>"


def _labels(splits: Sequence[Shards], figures: Mapping[str, Figures]) -> str:
    blocks = []
    for shards in splits:
        numbers = figures[shards.split].labels
        if shards.info.label and sum(numbers):
            names = label_texts(shards.expect_pretraining().objective)
            parts = [
                (name, number, f"c{place}") for place, (name, number) in enumerate(zip(names, numbers, strict=True))
            ]
            blocks.append(_parts(f"{shards.split}, {shards.info.label}", parts))
    return "\n".join(blocks)


def _masks(figures: Mapping[str, Figures]) -> str:
    blocks = []
    for split, one in figures.items():
        blocks.append(f"<p>{escape(split)}: {escape(mask_text(one))}.</p>")
        if one.masked is not None and one.kept is not None and one.predictions:
            replaced = one.predictions - one.masked - one.kept
            parts = [("[MASK]", one.masked, "mask"), ("random token", replaced, "random"), ("kept", one.kept, "kept")]
            blocks.append(_parts(f"{split}: what stands at predicted places", parts))
    return "\n".join(blocks)


def _parts(title: str, parts: Sequence[Part]) -> str:
    total = max(1, sum(number for _, number, _ in parts))
    keys = "".join(_key(kind, f"{label}: {number:,} ({number / total:.1%})") for label, number, kind in parts)
    return f"<div class='step'><h3>{escape(title)}</h3>{stacked_bar(title, parts)}<ul class='keys'>{keys}</ul></div>"


def _examples(shards: Shards, count: int) -> str:
    chosen = [len(shards) * place // count for place in range(min(count, len(shards)))]
    legend = "".join(f"<li><b class='{kind}'>{escape(mark)}</b> {escape(text)}</li>" for kind, mark, text in LEGEND)
    if notation := shards.tokenizer().NOTATION:
        legend += f"<li>{escape(notation)}</li>"
    blocks = [_example(one, shards) for one in read_examples(shards, sorted(set(chosen)))]
    return f"<ul class='keys'>{legend}</ul>\n" + "\n".join(blocks) if blocks else ""


def _example(one: Example, shards: Shards) -> str:
    label = f", {escape(one.label)}" if one.label else ""
    head = f"{escape(shards.split)} {one.number:,}: {one.tokens} tokens, {one.predictions} to predict{label}"
    names = "AB" if len(one.segments) > 1 else " "
    segments = "".join(
        f"<p><span class='segment'>{names[place % len(names)]}</span>{_words(segment)}</p>"
        for place, segment in enumerate(one.segments)
    )
    return f"<article><h3>{head}</h3>{segments}</article>"


def _words(pieces: Iterable[Piece]) -> str:
    return " ".join("".join(_piece(piece) for piece in word) for word in words(pieces))


def _piece(piece: Piece) -> str:
    if piece.kind == "special":
        return f"<span class='quiet'>{escape(piece.text)}</span>"
    return f"<b class='{piece.kind}'>{escape(piece.text)}</b>" if piece.kind in _MARK_CLASSES else escape(piece.text)


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(
        f"<tr><th class='{'inner' if name.startswith(' ') else 'outer'}'>{escape(name.strip())}</th>"
        f"<td>{escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<div class='scroll'><table class='facts'>{cells}</table></div>"


def _grid(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='scroll'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _shards(manifest: Mapping[str, Any]) -> str:
    shards = [shard for entry in manifest["splits"].values() for shard in entry["shards"]]
    rows = [(one["file"], f"{one['counts']['examples']:,}", f"{one['bytes']:,}", one["sha256"][:16]) for one in shards]
    grid = _grid(("file", "examples", "bytes", "SHA-256, first 16 digits"), rows)
    settings = json.dumps(manifest["info"], indent=1, sort_keys=True)
    return (
        f"<details><summary>{len(shards):,} shard{'s' * (len(shards) > 1)}</summary>{grid}</details>\n"
        f"<details><summary>settings</summary><pre>{escape(settings)}</pre></details>"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata report` to a parser."""
    parser.add_argument("shards", metavar="DIR", help="a finished build")
    parser.add_argument("--output", default="report.html", metavar="FILE", help="default: report.html")
    parser.add_argument("--examples", type=int, default=4, metavar="N", help="examples to show (default: 4)")


def _refuse_others(path: str) -> None:
    """Raise OutputError where a file is there that is no report."""
    if files.exists(path) and files.size(path):
        with files.open_raw(path) as file:
            start = file.read(_HEAD)
        if _SIGN not in start:
            raise OutputError("is a file, and not a report of bertdata; choose another --output", path=path)


def run(arguments: argparse.Namespace) -> int:
    """Write the page as parsed arguments say."""
    if arguments.examples < 0:
        raise ConfigError(f"--examples is {arguments.examples}; expected 0 or more")
    _refuse_others(arguments.output)
    page = report_html(arguments.shards, examples=arguments.examples).encode()
    files.write_bytes(arguments.output, page)
    print(f"{arguments.output}: {len(page):,} bytes; open it in a browser")
    return 0
