"""Wikipedia dumps to documents.

    ranges of dumps -> CleanWikipedia -> one part of documents for each range

Run: python -m pipelines.clean_wikipedia DUMP... --output DIR [--workers N] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.beam.runner import Runner
from bertdata.beam.stages import PartResult, make_parts, require_documents
from bertdata.cli import command_line
from bertdata.engine.parts import delete_orphans
from bertdata.inspect import summary
from bertdata.options.flags import add_flags, from_flags
from bertdata.shards.manifest import source_entry
from bertdata.sources.cleaning import find_dumps, plan_wikipedia, remove_stale_rejects
from bertdata.sources.settings import CleaningConfig


def clean_wikipedia(sources: Sequence[str], output: str, config: CleaningConfig, runner: Runner) -> list[PartResult]:
    """Clean dumps into parts of documents in `output`; returns the parts with their records."""
    tasks, notes = plan_wikipedia(sources, output, config)
    for note in notes:
        runner.say(note)

    def transform() -> object:
        from bertdata.beam.transforms import CleanWikipedia

        return CleanWikipedia()

    remove_stale_rejects(tasks, config.rejects)
    return make_parts(runner, "clean wikipedia", tasks, transform, sources)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata clean-wikipedia", description="Wikipedia dumps to documents.")
    parser.add_argument(
        "dumps", nargs="+", metavar="DUMP", help=".xml, .xml.bz2, .xml.gz or .xml.zst; a folder or a glob"
    )
    command_line.add_output(parser)
    add_flags(parser, CleaningConfig, without=("split_chapters",))
    flags = command_line.parse(parser, arguments)
    config, runner, paths = from_flags(flags, CleaningConfig), command_line.runner(flags), find_dumps(flags.dumps)
    with command_line.claimed(flags, "documents", "clean-wikipedia", paths, config):
        if flags.force:
            delete_orphans(flags.output, [])
        done = clean_wikipedia(paths, flags.output, config, runner)
    require_documents(done)
    print(summary.table(summary.source_rows({"wikipedia": source_entry([], [record for _, record in done])})))
    return 0


if __name__ == "__main__":
    command_line.console(main)
