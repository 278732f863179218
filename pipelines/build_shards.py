"""Documents and a vocabulary to shards.

    ranges of documents -> Tokenize -> token store, one file for each range, its rows grouped by shard
    references (shard, slice) -> group by shard -> WriteShards -> one file for each shard

Run: python -m pipelines.build_shards --documents PATH... --vocab DIR --output DIR [--objective NAME] [-- RUNNER FLAGS]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.beam.runner import Runner
from bertdata.beam.stages import (
    PartResult,
    create,
    delete_stale,
    find_documents,
    finished,
    input_of,
    read_documents,
    require_documents,
    stage_of,
)
from bertdata.cli import command_line
from bertdata.curation.settings import DedupConfig
from bertdata.documents import cut_ranges
from bertdata.engine.parts import PartMetadata, delete_orphans
from bertdata.errors import ConfigError
from bertdata.inspect import summary
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.mixing import check_mix, epochs_of, parse_mix
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.flags import add_flags, each_from_flags, from_flags
from bertdata.sentences import SentenceSegmenter, save_parameters
from bertdata.sentences.settings import SentencesConfig
from bertdata.shards.corpus_warnings import warning_lines
from bertdata.shards.lengths import forget_other_layout, plan_phases, write_index
from bertdata.shards.manifest import build_manifest, source_entry, write_dataset_files
from bertdata.shards.plan import plan_shards
from bertdata.shards.requirements import require_documents_for
from bertdata.shards.schema import SPLITS, shard_info
from bertdata.shards.settings import ShardsConfig
from bertdata.shards.stage import ShardsSpec, TokensSpec, plan_tokens, shard_tasks
from bertdata.sources.names import KINDS, order_sources
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.wordpiece import WordPieceTokenizer

from .find_duplicates import drop_duplicates

SourcePart = tuple[str, PartResult]
"""A part of documents behind the name of its source."""


def build_shards(
    parts: Sequence[SourcePart],
    tokenizer: WordPieceTokenizer,
    output: str,
    configs: tuple[ShardsConfig, Sequence[ExamplesConfig], MaskingConfig],
    runner: Runner,
    *,
    segmenter: SentenceSegmenter,
    sources: dict[str, Any],
    vocabulary: dict[str, Any],
    mix: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Build the shards of parts of documents in `output`; returns the manifest, written last.

    The order of the parts numbers the token store alone: where it knows no names, a source can be named anew without
    tokenizing again. `sources` is what the manifest says of each, in the order that numbers them. `segmenter` cuts
    documents into sentences. Of several settings of examples each is a phase (see `bertdata.shards.lengths`), and the
    manifest holds theirs. `mix` are weights of the sources (see `bertdata.objectives.mixing`).
    """
    names, every = list(sources), [done for _, done in parts]
    dealing, examples, masking = configs
    require_material(parts, names, examples[0].objective, segmenter)
    epochs = _epochs(names, parts, mix or {}, examples[0].dupe_factor)
    phases = plan_phases(output, examples)
    files.remove(files.join(output, "manifest.json"))
    forget_other_layout(output, phases)
    plan = plan_shards([record for _, record in every], dealing)
    for note in plan.notes:
        runner.say(note)
    specs = []
    for phase in phases:
        files.remove(files.join(phase.output, "manifest.json"))
        place = files.join(phase.output, "tokenizer")
        tokenizer.save(place)
        info = shard_info(tokenizer, phase.examples, masking, names, epochs)
        specs.append(ShardsSpec(phase.output, plan, info, place, phase.records))
    sentences = files.join(output, "sentences")
    save_parameters(segmenter.parameters, sentences)
    tokens = TokensSpec(
        specs[0].tokenizer_path,
        tokenizer.fingerprint,
        sentences,
        segmenter.fingerprint,
        plan.ends,
        segmenter.join_references,
    )
    store = files.join(output, "stages", "tokens")
    source_of = {task.path: names.index(name) for name, (task, _) in parts}
    tokenizing = plan_tokens(cut_ranges([(task.path, record) for task, record in every]), store, tokens, source_of)

    def construct(pipeline: Any) -> None:
        from bertdata.beam.transforms import Tokenize, WriteShards

        slices = create(pipeline, tokenizing) | Tokenize(tokens)
        for spec in specs:
            _ = slices | f"WriteShards {spec.info.examples.max_seq_length}" >> WriteShards(spec)

    pending = delete_stale(tokenizing, runner.say)
    tokenized = [] if pending else finished(tokenizing)
    expected = [task for spec in specs for task in shard_tasks(spec, tokenized)]
    if delete_stale(expected, runner.say) or pending:
        stages = [stage_of("tokenize", tokenizing), stage_of("write shards", expected, unit="shard")]
        runner.run(stages, construct, [output, *(task.path for task, _ in every)])
    delete_orphans(store, tokenizing)
    origins = {
        "sources": sources,
        "vocabulary": vocabulary,
        "sentences": {"parameters": segmenter.parameters.fingerprint, "join_references": segmenter.join_references},
    }
    manifests = [_finish(spec, finished(tokenizing), origins, mix or {}) for spec in specs]
    write_index(output, phases)
    if len(phases) == 1:
        return manifests[0]
    return {"phases": {files.name(phase.output): one for phase, one in zip(phases, manifests, strict=True)}}


def require_material(
    parts: Sequence[SourcePart], names: Sequence[str], objective: str, segmenter: SentenceSegmenter
) -> None:
    """Raise InputError where no document is left, of all or a source, ConfigError where an objective needs others."""
    require_documents([done for _, done in parts])
    for name in names:
        require_documents([done for source, done in parts if source == name], name)
    require_documents_for(objective, [(task.path, record) for _, (task, record) in parts], segmenter)


def load_segmenter(config: SentencesConfig) -> SentenceSegmenter:
    """Return the segmenter of a build; raises ConfigError, with what there is, for an unknown name."""
    return SentenceSegmenter.load(config.sentences, join_references=config.join_references)


def _epochs(
    names: Sequence[str], parts: Sequence[SourcePart], mix: Mapping[str, float], dupe_factor: int
) -> list[float]:
    """Return the epochs of each source that a mix takes, none without one; raises ConfigError for a mix of others."""
    check_mix(mix, names)
    if not mix:
        return []
    sizes = dict.fromkeys(names, 0)
    for name, (_, record) in parts:
        sizes[name] += record.counts.get("text_bytes", 0)
    epochs = epochs_of(mix, sizes, dupe_factor)
    return [epochs.get(name, float(dupe_factor)) for name in names]


def source_of_part(record: PartMetadata) -> str:
    """Tell by the record of a part of documents which kind it is of, the name of its source where none is given.

    >>> source_of_part(PartMetadata("x", "f", 1, "s", 0.0, {"pages": 3, "documents": 2}))
    'wikipedia'
    """
    return "wikipedia" if "pages" in record.counts else "books" if "books" in record.counts else "documents"


def _finish(
    spec: ShardsSpec, tokenized: Sequence[PartResult], origins: dict[str, dict[str, Any]], mix: Mapping[str, float]
) -> dict[str, Any]:
    """Remove what belongs to no shard of a phase any more, and write what stands beside them, the manifest last."""
    written = finished(shard_tasks(spec, tokenized))
    plan, bins = spec.plan, len(spec.info.examples.bins)
    for split in SPLITS:
        tasks = [task for place, (task, _) in enumerate(written) if plan.split(place // bins) == split]
        for folder in (files.join(spec.output, split), files.join(spec.records, split)):
            if tasks:
                delete_orphans(folder, tasks)
            else:
                files.remove(folder)
    shards, tokens = [record for _, record in written], [record for _, record in tokenized]
    if not any(record.counts["examples"] for record in shards[plan.validation * bins :]):
        sharing = sum(record.counts["documents_sharing_id"] for record in shards)
        raise ConfigError(
            f"the documents give no example to train on: for --objective {spec.info.examples.objective} there are too "
            f"few with {'two words' if spec.info.label else 'tokens'} of this vocabulary"
            + (f", and {sharing:,} have the id of another, so give each an `id` of its own" if sharing else "")
            + "; add documents, or choose another objective"
        )
    manifest = build_manifest(origins, tokens, plan, spec.info, shards, mix)
    return write_dataset_files(spec.output, manifest, spec.info)


def refuse_unread(flags: argparse.Namespace) -> None:
    """Raise ConfigError for flags of rows, masks or duplicates that the others leave without effect."""
    unit, objective = flags.mask_unit, flags.objective
    command_line.refuse_unread(flags, ["max_ngram"], unit == "ngram", f"it is for --mask-unit ngram, not {unit}")
    command_line.refuse_unread(
        flags, ["span_prob", "max_span"], unit == "span", f"it is for --mask-unit span, not {unit}"
    )
    single = objective == "single-segment"
    why = f"it is for --objective single-segment, not {objective}"
    command_line.refuse_unread(flags, ["single_segment_prob"], single, why)
    near = flags.dedup == "near"
    command_line.refuse_unread(flags, ["dedup_threshold"], near, f"it is for --dedup near, not {flags.dedup}")


def add_mix(parser: argparse.ArgumentParser) -> None:
    """Add --mix."""
    parser.add_argument(
        "--mix",
        nargs="+",
        action="extend",
        default=[],
        metavar="SOURCE=WEIGHT",
        help="the share of the text each source has in train, as wikipedia=3 books=1; what weighs more than it holds "
        "comes in more epochs, what weighs less in fewer (default: one epoch of each)",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = command_line.Parser(prog="bertdata build-shards", description="Documents and a vocabulary to shards.")
    command_line.add_documents(parser)
    parser.add_argument("--vocab", required=True, metavar="PATH", help=command_line.VOCABULARY)
    command_line.add_output(parser)
    kinds = (SentencesConfig, ShardsConfig, ExamplesConfig, MaskingConfig, DedupConfig)
    for kind in kinds:
        add_flags(parser, kind)
    add_mix(parser)
    flags = command_line.parse(parser, arguments)
    refuse_unread(flags)
    dealing, masking = from_flags(flags, ShardsConfig), from_flags(flags, MaskingConfig)
    configs, mix = (dealing, each_from_flags(flags, ExamplesConfig), masking), parse_mix(flags.mix)
    documents = find_documents(flags.documents)
    given = set(documents.values())
    known = order_sources(one for name in given for one in ([name] if name else KINDS))
    check_mix({name: mix[name] for name in mix if "" not in given or name not in known}, known)
    runner = command_line.runner(flags)
    tokenizer = WordPieceTokenizer.load(flags.vocab)
    segmenter = load_segmenter(from_flags(flags, SentencesConfig))
    with command_line.claimed(flags, "build", "build-shards", list(documents), dealing, configs[1][0], masking):
        if flags.force:
            files.remove(files.join(flags.output, "stages"))
        tables = files.join(flags.output, "stages", "tables")
        found = read_documents(runner, list(documents), tables, CleaningConfig(), flags.text_column)
        duplicates = files.join(flags.output, "stages", "duplicates")
        found = drop_duplicates(found, duplicates, from_flags(flags, DedupConfig), runner)
        found.sort(key=lambda done: list(KINDS).index(source_of_part(done[1])))
        parts = [(documents[input_of(done[0])] or source_of_part(done[1]), done) for done in found]
        names = order_sources(name for name, _ in parts)
        sources = {
            name: source_entry([], [record for source, (_, record) in parts if source == name]) for name in names
        }
        vocabulary = {"pieces": tokenizer.vocab_size}
        manifest = build_shards(
            parts,
            tokenizer,
            flags.output,
            configs,
            runner,
            segmenter=segmenter,
            sources=sources,
            vocabulary=vocabulary,
            mix=mix,
        )
    print(summary.table(summary.build_rows(manifest)))
    if lines := warning_lines(manifest):
        print("\n" + "\n".join(lines))
    return 0


if __name__ == "__main__":
    command_line.console(main)
