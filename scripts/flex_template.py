"""Writes the file of the Flex template of `bertdata build`, its parameters made from the settings (docs/clusters.md).

usage: python scripts/flex_template.py [--image IMAGE] FILE

FILE is local or a URL. Without an image it holds the metadata alone, for `gcloud dataflow flex-template build
--metadata-file`.
"""

from __future__ import annotations

import argparse
import sys

from bertdata.beam.quiet_import import import_beam
from bertdata.cli import command_line
from bertdata.io import files


def main() -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--image", default="", help="the image of the template and of its workers")
    flags = parser.parse_args()
    import_beam()
    from bertdata.cli.flex_template import template

    written = template(flags.image)
    files.write_json(flags.file, written)
    number = len(written.get("metadata", written)["parameters"])
    print(f"wrote {flags.file}: {number} parameters", file=sys.stderr)
    return 0


if __name__ == "__main__":
    command_line.console(main)
