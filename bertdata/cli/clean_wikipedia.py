"""`bertdata clean-wikipedia`: Wikipedia dumps to documents."""

from __future__ import annotations

import argparse

from bertdata.cli import clean_kind
from bertdata.options.request import Request

DESCRIPTION = "Wikipedia dumps to documents."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    clean_kind.add_arguments(parser, "wikipedia", "DUMP")


def run(request: Request) -> int:
    """Clean the files into --output."""
    return clean_kind.clean(request, "wikipedia")
