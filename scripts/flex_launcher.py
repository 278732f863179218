"""The program that Dataflow's launcher runs in the image of the Flex template (see docs/clusters.md)."""

from __future__ import annotations

from bertdata.cli import command_line
from bertdata.cli.flex_template import main

if __name__ == "__main__":
    command_line.console(main)
