"""`bertdata export`: the rows of shards in other formats."""

from __future__ import annotations

import argparse

from bertdata.cli.command_line import add_new_output
from bertdata.formats import EXPORT_FORMATS, export
from bertdata.formats.names import dialects, static_formats


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata export` to a parser."""
    masked = static_formats()
    described = "; ".join(f"{name}: {EXPORT_FORMATS[name].help.replace('`', '')}" for name in EXPORT_FORMATS)
    parser.add_argument("shards", metavar="DIR", help="a finished build, or one of its splits")
    parser.add_argument("--to", required=True, choices=tuple(EXPORT_FORMATS), help=described.replace("%", "%%"))
    forms = "; ".join(
        f"{to}: " + "; ".join(f"{name}, {text.replace('`', '')}" for name, text in kinds.items())
        for to, kinds in dialects().items()
    )
    names = sorted({name for kinds in dialects().values() for name in kinds})
    parser.add_argument("--dialect", default="", choices=names, help=forms.replace("%", "%%"))
    add_new_output(parser)
    parser.add_argument("--split", nargs="+", default=[], metavar="NAME", help="only these splits (default: all)")
    parser.add_argument(
        "--epoch", type=int, default=0, metavar="N", help=f"{masked}: the epoch whose dynamic masks are drawn"
    )
    parser.add_argument(
        "--max-predictions-per-seq",
        type=int,
        default=0,
        metavar="N",
        help=f"{masked}: room for predictions in a row (default: the build's limit, or the most that a row has)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Export as parsed arguments say, and print what was written."""
    from tqdm import tqdm

    from bertdata.io.console import counted, table

    with tqdm(unit="file", disable=None) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        described = export(
            arguments.shards,
            arguments.to,
            arguments.output,
            arguments.split,
            dialect=arguments.dialect,
            epoch=arguments.epoch,
            max_predictions_per_seq=arguments.max_predictions_per_seq,
            report=report,
            force=arguments.force,
        )
    rows = []
    if settings := described.get("settings"):
        rows.append(("predictions", f"room for {settings['max_predictions_per_seq']:,} in a row"))
    for split, entries in described["splits"].items():
        number, size = (sum(entry[name] for entry in entries) for name in ("rows", "bytes"))
        rows.append((split, f"{counted(number, 'row')} in {counted(len(entries), 'file')}, {size:,} bytes"))
    print(table(rows))
    return 0
