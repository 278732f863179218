"""Duplicate documents, found over the whole corpus and left out by reference.

    ranges of documents -> signatures, one file for each range, its keys grouped by partition
    references (partition, keys) -> group by partition -> buckets, one file for each partition
    buckets, by reference, in one group -> one table of what is dropped, and for which document

Run: as a stage of bertdata build --dedup exact|near [--dedup-threshold 0.8]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bertdata.beam.runner import Runner
from bertdata.beam.stages import PartResult, create, delete_stale, finished, require_documents, stage_of
from bertdata.curation.dedup.stage import bucket_tasks, decision_task, leave_out, plan_signatures
from bertdata.curation.settings import DedupConfig
from bertdata.documents import cut_ranges
from bertdata.engine.parts import delete_orphans
from bertdata.io import files


def drop_duplicates(
    parts: Sequence[PartResult], directory: str, config: DedupConfig, runner: Runner
) -> list[PartResult]:
    """Return parts of documents whose records leave the duplicates out; what leads there is kept in `directory`.

    `duplicates.parquet` names every document that is dropped, the reason, and the document that stays for it.
    """
    if config.dedup == "none":
        files.remove(directory)
        return list(parts)
    require_documents(parts)
    signing = plan_signatures(cut_ranges([(task.path, record) for task, record in parts]), directory, config)

    def construct(pipeline: Any) -> None:
        from bertdata.beam.transforms import FindDuplicates

        _ = create(pipeline, signing) | FindDuplicates(directory, config)

    pending = delete_stale(signing, runner.say)
    grouping = bucket_tasks([] if pending else finished(signing), directory)
    pending += delete_stale(grouping, runner.say)
    deciding = decision_task([] if pending else finished(grouping), directory, config)
    if delete_stale([deciding], runner.say) or pending:
        stages = [stage_of("sign documents", signing), stage_of("find duplicates", [*grouping, deciding], unit="part")]
        runner.run(stages, construct, [directory, *(task.path for task, _ in parts)])
    grouping = bucket_tasks(finished(signing), directory)
    [(task, _)] = finished([decision_task(finished(grouping), directory, config)])
    for tasks in (signing, grouping):
        delete_orphans(tasks[0].directory, tasks)
    return leave_out(parts, signing, task.path)
