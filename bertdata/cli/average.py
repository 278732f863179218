"""`bertdata average`: a model whose weights are the means of those of several checkpoints."""

from __future__ import annotations

import argparse

from bertdata.io.console import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata average`; raises MissingExtraError without torch."""
    import bertdata.torch  # noqa: F401

    parser.add_argument("models", nargs="+", metavar="DIR", help="models of one config, as the checkpoints of a run")
    parser.add_argument("--output", required=True, metavar="DIR", help="where to write the model")


def run(arguments: argparse.Namespace) -> int:
    """Write the mean of models, and print of how many weights it is."""
    from bertdata.torch.models.averaging import average

    count = average(arguments.models, arguments.output)
    print(f"{arguments.output}: {counted(count, 'weight')}, the means of {counted(len(arguments.models), 'model')}")
    return 0
