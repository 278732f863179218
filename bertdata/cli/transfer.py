"""`bertdata transfer`: give a trained encoder another vocabulary, and say what its tokens are made of."""

from __future__ import annotations

import argparse

SHOWN = {
    "same": "the same token, copied",
    "role": "special, by its role or name",
    "pieces": "the mean of pieces of its text",
    "none": "drawn, as in a fresh model",
}
"""What the kinds of `tokenizers.matching.KINDS` are called in the table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata transfer`; raises MissingExtraError without torch."""
    import bertdata.torch  # noqa: F401

    parser.add_argument(
        "--model", required=True, metavar="DIR", help="a trained model with its tokenizer, of bertdata or transformers"
    )
    parser.add_argument(
        "--vocab", required=True, metavar="PATH", help="the new vocabulary: a tokenizer, a build, or a shipped name"
    )
    parser.add_argument(
        "--output", required=True, metavar="DIR", help="where to write the model, for `pretrain --config` to continue"
    )
    parser.add_argument(
        "--counts",
        default="",
        metavar="BUILD",
        help="a build with the new vocabulary: print for each kind of token its share of the tokens of this build",
    )
    parser.add_argument(
        "--pad-vocab-to",
        type=int,
        default=0,
        metavar="N",
        help="make the rows of the embedding a multiple of N (default: of 64 if the model has more rows than tokens "
        "now, else one row for each token)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random rows (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    """Transfer as parsed arguments say, and print what the tokens are made of."""

    from bertdata.io.console import counted, table
    from bertdata.loader.token_shares import counted_tokens
    from bertdata.tokenizers.loading import load_tokenizer
    from bertdata.tokenizers.matching import KINDS
    from bertdata.torch.models.transfer import transfer

    counts = counted_tokens(arguments.counts, load_tokenizer(arguments.vocab)) if arguments.counts else None
    made = transfer(
        arguments.model, arguments.vocab, arguments.output, pad_vocab_to=arguments.pad_vocab_to, seed=arguments.seed
    )
    rows = [("output", made.output)]
    for kind, name in enumerate(KINDS):
        of_kind = made.matches.kinds == kind
        text = f"{counted(int(of_kind.sum()), 'token')}"
        if name == "pieces" and of_kind.any():
            text += f", of {made.matches.counts[of_kind].mean():.2f} pieces on average"
        if counts is not None:
            text += f"; {counts[of_kind].sum() / max(counts.sum(), 1):.2%} of those in the build"
        rows.append((SHOWN[name], text))
    if made.padding:
        rows.append(("rows after the last token", f"{made.padding:,}"))
    print(table(rows))
    return 0
