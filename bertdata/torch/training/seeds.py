"""Fine-tuning repeated with several seeds: the scores of each, their mean and spread, and the best model.

    OUTPUT/             the model of the best seed, as `finetune` saves it
    OUTPUT/scores.json  the scores of each seed; mean, sd, min and max of each score; the seed whose model was saved
    OUTPUT/seed-N/      of each seed: log.jsonl, scores.json, and run.json, which says what was trained

With few examples, scores differ by several points from one seed to another (Dodge et al. 2020): the order of the
examples and the weights of the new layers depend on it. A seed whose run.json says the same is not trained again, so an
interrupted command goes on with the seed it was at, and more seeds can be added.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.options.option import require
from bertdata.tokenizers.loading import remove_former
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.models.weight_files import ADAPTER, remove_whole, trained_files
from bertdata.torch.models.weights import remove_companions
from bertdata.torch.training import HEADS, metrics_log
from bertdata.torch.training.finetune import RUN, SCORES, finetune, identity_of, library_of
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.phases import validation_split
from bertdata.torch.training.tasks import task_of

Scores = dict[str, float]


def finetune_seeds(
    task: str | os.PathLike[str],
    model: str | os.PathLike[str],
    output: str | os.PathLike[str],
    seeds: Sequence[int],
    settings: FinetuneSettings | None = None,
    *,
    library: str = "",
    restart: bool = False,
    cache: str | os.PathLike[str] | None = None,
    cache_bytes: float | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """Fine-tune once with each seed, keep the model with the best score, and return what `scores.json` holds.

    The score that decides is `chosen_by`: F1 of tags and of answers, else the first metric of the task; of equal ones
    the earlier seed. Each run is shown as `finetune` shows one, unless `quiet`, and streams shards as that does.
    `restart`: train also the seeds that are done. Raises ConfigError for a seed given twice, for no seeds, and where
    the task has no validation split to measure by; and what `finetune` raises.
    """
    settings, place = settings or FinetuneSettings(), files.path_text(output)
    require(len(seeds) > 0, "there are no seeds; expected one or more")
    require(len(set(seeds)) == len(seeds), f"the seeds {' '.join(map(str, seeds))} have one twice; give each once")
    streaming: dict[str, Any] = {"cache": cache, "cache_bytes": cache_bytes}
    learned = ShardDataset(files.path_text(task), "train", **streaming)
    info = task_of(learned)
    if validation_split(learned.shards) is None:
        raise ConfigError(
            "has no validation split, so seeds cannot be compared; encode with --validation", path=files.path_text(task)
        )
    directory = files.path_text(model)
    library = library or library_of(directory, settings, quiet=quiet)
    definition, run = info.definition, identity_of(info, files.path_text(task), directory, settings, library)
    main = HEADS[definition.head].main or definition.metrics[0]

    def say(text: str) -> None:
        if not quiet:
            print(text, file=sys.stderr, flush=True)

    def train(seed: int) -> Scores:
        folder = files.join(place, f"seed-{seed}")
        files.remove(files.join(folder, RUN))
        say(f"seed {seed}")
        once = replace(settings, seed=seed)
        finetune(task, model, folder, once, library=library, restart=True, quiet=quiet, **streaming)
        scores: Scores = files.read_json(files.join(folder, SCORES))
        files.write_json(files.join(folder, RUN), run)
        return scores

    def keep(by_seed: dict[int, Scores]) -> None:
        """Save the best model of the seeds that are done; train it again where its weights were not kept."""
        while not _save_best(place, (result := summary({s: by_seed[s] for s in seeds if s in by_seed}, main)), run):
            by_seed[result["saved_seed"]] = train(result["saved_seed"])

    with output_lock(place, "a fine-tuning of several seeds"):
        folders = {seed: files.join(place, f"seed-{seed}") for seed in seeds}
        done = [] if restart else [seed for seed in seeds if _read(files.join(folders[seed], RUN)) == run]
        if done:
            prefix = "" if len(done) < len(seeds) else "nothing to do: "
            say(f"{prefix}trained before: {', '.join(f'seed {seed}' for seed in done)}")
        by_seed: dict[int, Scores] = {seed: files.read_json(files.join(folders[seed], SCORES)) for seed in done}
        for seed in seeds:
            if seed not in by_seed:
                by_seed[seed] = train(seed)
                keep(by_seed)
        keep(by_seed)
        return summary({seed: by_seed[seed] for seed in seeds}, main)


def summary(scores: Mapping[int, Scores], main: str = "") -> dict[str, Any]:
    """Return the scores of each seed with their mean, sd (that of a sample, 0 of one seed), min and max.

    main: the score that decides which seed is the best; the first where there is none of this name.

    >>> result = summary({0: {"accuracy": 0.5}, 1: {"accuracy": 0.75}})
    >>> result["mean"], result["max"], result["saved_seed"]
    ({'accuracy': 0.625}, {'accuracy': 0.75}, 1)
    """
    names = list(next(iter(scores.values())))
    main = main if main in names else names[0]
    values = {name: [score[name] for score in scores.values()] for name in names}
    return {
        "scores": {str(seed): score for seed, score in scores.items()},
        "mean": {name: statistics.fmean(each) for name, each in values.items()},
        "sd": {name: statistics.stdev(each) if len(each) > 1 else 0.0 for name, each in values.items()},
        "min": {name: min(each) for name, each in values.items()},
        "max": {name: max(each) for name, each in values.items()},
        "saved_seed": max(scores, key=lambda seed: scores[seed][main]),
        "chosen_by": main,
    }


def _read(path: str) -> Any:
    return files.read_json(path) if files.exists(path) else None


def _save_best(output: str, result: dict[str, Any], run: dict[str, Any]) -> bool:
    """Have the model of the best seed in the output, then write `scores.json`, then remove the weights of the seeds.

    So at any moment at most two models are kept, and one that is complete. Returns False where the weights of the best
    seed are no longer there, as after fewer seeds than before.
    """
    path, seed = files.join(output, SCORES), result["saved_seed"]
    before = _read(path) or {}
    if (before.get("saved_seed"), before.get("run")) != (seed, run) or not trained_files(output):
        folder = Path(output) / f"seed-{seed}"
        if not trained_files(folder):
            return False
        companions = (RUN, SCORES, metrics_log.LOG)
        remove_companions(output)
        if files.exists(str(folder / ADAPTER)):
            remove_whole(output)
        remove_former(output, (file.name for file in folder.iterdir()))
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = file.relative_to(folder)
            if name.name not in companions and not name.name.startswith("."):
                files.write_bytes(files.join(output, *name.parts), file.read_bytes())
    files.write_json(path, result | {"run": run})
    for other in Path(output).glob("seed-*"):
        files.remove_files(str(other / name) for name in trained_files(other))
    return True
