"""Wikipedia dumps to documents.

    ranges of dumps -> CleanWikipedia -> one part of documents for each range

Run: python -m pipelines.clean_wikipedia DUMP... --output DIR [--workers N] [-- RUNNER FLAGS]
"""

from __future__ import annotations

from collections.abc import Sequence

from bertdata import commands, summary
from bertdata.beam.runner import Runner
from bertdata.beam.stages import Done, make_parts, require_documents
from bertdata.cleaning import find_dumps, plan_wikipedia, remove_stale_rejects
from bertdata.config import CleaningConfig
from bertdata.flags import add_flags, from_flags
from bertdata.records import remove_others
from bertdata.shards.manifest import source_entry


def clean_wikipedia(sources: Sequence[str], output: str, config: CleaningConfig, runner: Runner) -> list[Done]:
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
    parser = commands.Parser(prog="bertdata clean-wikipedia", description="Wikipedia dumps to documents.")
    parser.add_argument(
        "dumps", nargs="+", metavar="DUMP", help=".xml, .xml.bz2, .xml.gz or .xml.zst; a folder or a glob"
    )
    commands.add_output(parser)
    add_flags(parser, CleaningConfig, without=("split_chapters",))
    flags = commands.parse(parser, arguments)
    config, runner, paths = from_flags(flags, CleaningConfig), commands.runner(flags), find_dumps(flags.dumps)
    with commands.claimed(flags, "documents", "clean-wikipedia", paths, config):
        if flags.force:
            remove_others(flags.output, [])
        done = clean_wikipedia(paths, flags.output, config, runner)
    require_documents(done)
    print(summary.table(summary.source_rows({"wikipedia": source_entry([], [record for _, record in done])})))
    return 0


if __name__ == "__main__":
    commands.console(main)
