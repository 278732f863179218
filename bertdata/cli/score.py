"""`bertdata score`: pseudo-log-likelihoods of sentences, and accuracy on minimal pairs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from bertdata.cli.stop_requests import StopRequests
from bertdata.io.console import Row, counted, figure, table
from bertdata.options.flags import add_flags, add_json, add_quiet
from bertdata.options.request import settings_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata score`; raises MissingExtraError without torch."""
    import bertdata.torch  # noqa: F401
    from bertdata.torch.models import LIBRARIES
    from bertdata.torch.scoring.settings import ScoreSettings

    parser.add_argument("model", help="a masked language model with its tokenizer, of bertdata or transformers")
    parser.add_argument(
        "pairs",
        nargs="+",
        help="minimal pairs: .jsonl, .csv, .tsv or .parquet files, folders of them, or globs; or .txt files with a "
        "sentence a line",
    )
    for name in ("good", "bad"):
        parser.add_argument(
            f"--{name}-column",
            default=f"sentence_{name}",
            metavar="NAME",
            help=f"the column of the {name} sentences (default: sentence_{name}, as BLiMP has it)",
        )
    parser.add_argument(
        "--text-column", default="", metavar="NAME", help="score the single sentences of this column, not pairs"
    )
    parser.add_argument(
        "--by",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="also give results for each value of these columns, as phenomenon (default: for each file of several)",
    )
    parser.add_argument(
        "--output", default="", metavar="FILE", help="write the rows with their scores here, as JSON lines"
    )
    parser.add_argument(
        "--library",
        default="",
        choices=LIBRARIES,
        help="the library whose classes load the model (default: bertdata for its own types, else transformers)",
    )
    add_json(parser)
    add_quiet(parser)
    add_flags(parser, ScoreSettings)


def run(arguments: argparse.Namespace) -> int:
    """Score as parsed arguments say, and print what the scores add up to."""
    import json

    from bertdata.io.progress_bar import progress_bar
    from bertdata.torch.scoring.likelihood import PseudoLikelihood
    from bertdata.torch.scoring.minimal_pairs import Columns, read_examples, results, write_scores
    from bertdata.torch.scoring.settings import ScoreSettings

    settings = settings_from(arguments, ScoreSettings)
    columns = Columns(arguments.good_column, arguments.bad_column, arguments.text_column, tuple(arguments.by))
    examples = read_examples(arguments.pairs, columns)
    scorer = PseudoLikelihood(arguments.model, settings, library=arguments.library)
    sentences = examples.sentences()
    with StopRequests():
        if arguments.quiet:
            token_scores = scorer.token_scores(sentences)
        else:
            with progress_bar(total=len({*sentences}), desc="score", unit="sentence") as bar:
                token_scores = scorer.token_scores(sentences, bar.update)
    scores = scorer.reduced(token_scores)
    if arguments.output:
        write_scores(arguments.output, examples, token_scores, scores)
    scored = results(examples, token_scores, scores, base_two=settings.base_two)
    about = {"model": arguments.model, "metric": settings.metric, "reduction": settings.reduction}
    if arguments.json:
        print(json.dumps(about | scored, indent=1, ensure_ascii=False))
    elif not arguments.quiet:
        print(table(_rows(about, scored)))
    return 0


def _rows(about: Mapping[str, str], result: Mapping[str, Any]) -> list[Row]:
    """Return the rows of the table: the whole, then a part for each column."""
    rows: list[Row] = [*about.items(), *_whole(result)]
    for name, values in result.get("by", {}).items():
        means = result.get("mean_accuracy", {})
        mean = f", mean accuracy {means[name]:.1%}" if name in means else ""
        rows.append((f"by {name}", counted(len(values), "value") + mean))
        rows += [(f"  {value}", _in_a_line(entry)) for value, entry in values.items()]
    return rows


def _whole(result: Mapping[str, Any]) -> list[Row]:
    if "pairs" not in result:
        names = ("sentences", "tokens", "score", "score_per_token", "pseudo_perplexity")
        return [(name.replace("_", " "), _number(result[name])) for name in names]
    equal = f"; {result['equal']:,} with equal scores, which are not right" if result["equal"] else ""
    return [
        ("pairs", f"{result['pairs']:,}"),
        ("accuracy", f"{result['accuracy']:.1%} (standard error {result['standard_error']:.1%}){equal}"),
    ]


def _in_a_line(entry: Mapping[str, Any]) -> str:
    if "pairs" in entry:
        return f"{entry['accuracy']:.1%} of {counted(entry['pairs'], 'pair')}"
    return f"{figure(entry['score_per_token'])} a token, {counted(entry['sentences'], 'sentence')}"


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else figure(value)
