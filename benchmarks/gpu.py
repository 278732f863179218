"""What `runs/gpu.sh` measures and checks on a device, beside the runs of `bertdata pretrain` themselves.

    python benchmarks/gpu.py checks FOLDER --device cuda    masks and packed rows against the CPU; checks.json
    python benchmarks/gpu.py report FOLDER RUN... --device cuda [--docs PAGE...]    report.md and report.json

In the folder are the builds `bert` and `modernbert`, and the runs below `runs/`. A run that has no log is in the report
as failed. A run whose name ends in `-parts-N` had its batches in N parts, and is in the second table, of memory.
`--docs` also puts the parts of the report between the markers that a page has for them (`marker`).
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from _harness import machine, table
from torch import Tensor

from bertdata.loader.bench import measure
from bertdata.masking.settings import MaskingConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch import DeviceCollator, ModernBertForMaskedLM, PretrainingCollator, ShardDataset
from bertdata.torch.models.attention import varlen_kernel
from bertdata.torch.models.configs import resolve_config
from bertdata.torch.training.metrics_log import LOG, LogRecord, read

UNITS = ("token", "word", "ngram", "span")
FIGURES = ("tokens_per_second", "tflops", "mfu", "data_wait_share", "cuda_allocated_gib")
"""The fields of the log that are reported, by the median of the second half of the lines of each length."""
PARTS = re.compile(r"(?P<model>.+)-parts-(?P<parts>\d+)")
"""The name of a run whose batches went through the model in so many parts."""
ROWS = 64
"""Rows that the checks take."""
LOADER_SECONDS = 3.0


def masks_differ(build: Path, device: torch.device) -> list[str]:
    """Return the mask units whose batches on the device are not those of the CPU, bit for bit.

    build: one with dynamic masks, or one of its lengths; its rows are taken in three epochs, the last one 2**40.
    """
    dataset, wrong = ShardDataset(build), []
    rows = dataset.__getitems__([(epoch, row) for epoch in (0, 1, 2**40) for row in range(min(ROWS, len(dataset)))])
    for unit in UNITS:
        masking: Any = {"masking": MaskingConfig(mask_unit=unit), "seed": 11}
        expected, collator = PretrainingCollator(dataset, **masking)(rows), DeviceCollator(dataset, **masking)
        batch = collator.finish(sent(collator(rows), device))
        if not all(torch.equal(batch[name].cpu(), tensor) for name, tensor in expected.items()):
            wrong.append(unit)
    return wrong


@dataclass(frozen=True)
class Packed:
    """How far logits of packed rows are from those of padded rows, all in bfloat16 but for the yardstick.

    difference: the largest between packed and padded; rounding: the largest between padded rows in bfloat16 and in
    float32; kernel: whether torch's attention for sequences of any length was there, for all tokens and with a window.
    """

    difference: float
    rounding: float
    kernel: tuple[bool, bool]

    @property
    def agree(self) -> bool:
        """Whether packed rows differ by no more than twice what rounding does."""
        return self.difference <= 2 * self.rounding


def packed(build: Path, device: torch.device) -> Packed:
    """Compare packed with padded rows of a build in a ModernBERT-tiny on a device, at the labelled tokens.

    The weights are so large that attention is far from even, and a wrong window or border cannot hide.
    """
    dataset = ShardDataset(build)
    info = dataset.info
    assert isinstance(info, PretrainingInfo)
    torch.manual_seed(5)
    model = ModernBertForMaskedLM(resolve_config("modernbert-tiny", info)).eval()  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim == 2:
                parameter.normal_(std=0.1)
    model.to(device)
    rows = [(0, row) for row in range(min(ROWS, len(dataset)))]
    batches = [PretrainingCollator(dataset, packing=packing)(dataset.__getitems__(rows)) for packing in (False, True)]
    padded, together = (sent(batch, device) for batch in batches)
    exact = logits(model, padded, half=False)
    rounded, whole = logits(model, padded, half=True), logits(model, together, half=True)
    kernels = tuple(device.type == "cuda" and varlen_kernel(window) is not None for window in (None, 64))
    return Packed(float((whole - rounded).abs().max()), float((rounded - exact).abs().max()), kernels)  # type: ignore[arg-type]


def logits(model: ModernBertForMaskedLM, batch: Mapping[str, Tensor], *, half: bool) -> Tensor:
    """Return the logits at the labelled tokens, float32 (M, vocab_size), on the CPU."""
    device = next(model.parameters()).device
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=half):
        result: Tensor = model(**batch).prediction_logits.float().cpu()
    return result


def sent(batch: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """Return a batch on a device."""
    return {name: tensor.to(device) for name, tensor in batch.items()}


def phases_of(build: Path) -> list[Path]:
    """Return the lengths of a build of several, each a build of its own; a build of one length itself."""
    named = json.loads((build / "manifest.json").read_text()).get("phases", {})
    return [build / name for name in named] or [build]


def check(folder: Path, device: torch.device) -> bool:
    """Write `checks.json` on all checks and the loader's speed, print both, and return whether all have passed."""
    masks = {str(place.relative_to(folder)): masks_differ(place, device) for place in phases_of(folder / "bert")}
    compared = packed(folder / "modernbert", device)
    loader = {
        str(place.relative_to(folder)): measure([str(place)], 256, place.parts[-1] == "modernbert", LOADER_SECONDS)
        for place in [*phases_of(folder / "bert"), folder / "modernbert"]
    }
    passed = compared.agree and not any(masks.values())
    report_values = {"passed": passed, "masks_that_differ": masks, "packed": asdict(compared), "loader": loader}
    (folder / "checks.json").write_text(json.dumps(report_values, indent=2))
    print(*check_lines(report_values), sep="\n", flush=True)  # at once, should the machine be taken away
    return passed


def figures(records: Sequence[LogRecord]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each length of row in a log, of its second half: the first is warm-up and compilation.

    >>> lines = [{"step": n, "max_seq_length": 128, "tokens_per_second": n, "loss": 9.0} for n in (10, 20, 30, 40)]
    >>> list(figures(lines))
    [{'max_seq_length': 128, 'steps': 40, 'tokens_per_second': 35.0, 'loss': 9.0}]
    """
    before = 0.0
    for length, group in groupby(records, key=lambda record: record["max_seq_length"]):
        lines = list(group)
        late = lines[len(lines) // 2 :]
        medians = {name: statistics.median(line[name] for line in late) for name in FIGURES if name in late[0]}
        yield {"max_seq_length": length, "steps": int(lines[-1]["step"] - before), **medians, "loss": late[-1]["loss"]}
        before = lines[-1]["step"]


def device_name(device: torch.device) -> str:
    """Return the name of a GPU, or of the processor."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"no GPU: {machine()}"


def report(folder: Path, names: Sequence[str], device: torch.device, rows: int) -> dict[str, str]:
    """Write `report.json` and `report.md` on runs and checks, and return the parts of the latter by name.

    rows: those of a batch of padded rows. Ends this process where the checks have not been made.
    """
    if not (folder / "checks.json").exists():
        sys.exit(f"{folder} has no checks.json; run runs/gpu.sh, or python benchmarks/gpu.py checks {folder}")
    checks = json.loads((folder / "checks.json").read_text())
    logs = {name: folder / "runs" / name / LOG for name in names}
    runs = [
        {"run": name, **figures_of_run}
        for name, log in logs.items()
        if log.exists()
        for figures_of_run in figures(read(log))
    ]
    failed = [name for name in names if name not in {run["run"] for run in runs}]
    on = {"device": device_name(device), "torch": torch.__version__, "python": platform.python_version()}
    (folder / "report.json").write_text(json.dumps({**on, "runs": runs, "failed": failed, "checks": checks}, indent=2))
    where = f"{on['device']}, torch {on['torch']}, bfloat16."
    whole = [run for run in runs if not PARTS.fullmatch(run["run"])]
    text = f"{where}\n\n{runs_table(whole)}\n"
    text += "".join(f"\n- **{name} failed**: it has no log.\n" for name in failed)
    text += "\n" + "\n".join(f"- {line}" for line in [*check_lines(checks), *peer_lines(runs)]) + "\n"
    model = "BERT-base" if device.type == "cuda" else "A tiny BERT"
    memory = f"{where} {model}, a batch of {rows} rows.\n\n{memory_table(runs, rows)}\n"
    (folder / "report.md").write_text(f"{text}\n{memory}")
    return {"report": text, "memory": memory}


def peer_lines(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield how fast a model is and how much memory it takes beside that of transformers, in as many parts.

    >>> ours = {"run": "bert-parts-8", "tokens_per_second": 300.0, "max_seq_length": 512, "cuda_allocated_gib": 8.0}
    >>> peer = ours | {"run": "bert-transformers-parts-8", "tokens_per_second": 200.0, "cuda_allocated_gib": 10.0}
    >>> list(peer_lines([ours, peer]))
    ['bert, rows of 512 in 8 parts: 1.50 times the tokens/s of transformers, and 8.0 GiB for 10.0.']
    """
    by_name = {run["run"]: run for run in runs}
    for name, run in by_name.items():
        if (parts := PARTS.fullmatch(name)) and (
            peer := by_name.get(f"{parts['model']}-transformers-parts-{parts['parts']}")
        ):
            times = run["tokens_per_second"] / peer["tokens_per_second"]
            said = f"{parts['model']}, rows of {run['max_seq_length']} in {parts['parts']} parts: {times:.2f} times the"
            memory = f", and {gib(run)} GiB for {gib(peer)}" if "cuda_allocated_gib" in peer else ""
            yield f"{said} tokens/s of transformers{memory}."


def memory_table(runs: Sequence[Mapping[str, Any]], rows: int) -> str:
    """Return the table of the runs whose batches of `rows` rows were in parts, and of that with all rows at once."""
    parted = [(run, match) for run in runs if (match := PARTS.fullmatch(run["run"]))]
    length = max((run["max_seq_length"] for run, _ in parted), default=0)
    whole = [run for run in runs if run["run"] == "bert-eager" and run["max_seq_length"] == length]
    lines = [("bert", 1, run) for run in whole]
    lines += [(match["model"], int(match["parts"]), run) for run, match in parted]
    head = ["model", "rows of", "rows at once", "parts", "tokens/s", "MFU", "GPU memory, GiB"]
    return table(
        head,
        [
            [
                *(
                    model,
                    f"{run['max_seq_length']:,}",
                    str(rows // parts),
                    str(parts),
                    f"{run['tokens_per_second']:,.0f}",
                ),
                *(f"{run['mfu']:.1%}" if "mfu" in run else "-", gib(run)),
            ]
            for model, parts, run in lines
        ],
    )


def gib(run: Mapping[str, Any]) -> str:
    """Return the memory of the GPU that a run took, `-` where it had none."""
    return f"{run['cuda_allocated_gib']:.1f}" if "cuda_allocated_gib" in run else "-"


def runs_table(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of the runs' figures."""
    rows = [
        [
            *(str(run["run"]), f"{run['max_seq_length']:,}", f"{run['steps']:,}", f"{run['tokens_per_second']:,.0f}"),
            *(f"{run['tflops']:.3g}", f"{run['mfu']:.1%}" if "mfu" in run else "-"),
            *(gib(run), f"{run['data_wait_share']:.1%}", f"{run['loss']:.2f}"),
        ]
        for run in runs
    ]
    head = ["run", "rows of", "steps", "tokens/s", "TFLOP/s", "MFU", "GiB", "waiting for data", "loss at the end"]
    return table(head, rows)


def check_lines(checks: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the checks found, a sentence each."""
    wrong = {build: units for build, units in checks["masks_that_differ"].items() if units}
    same = f"The masks of {', '.join(UNITS)} units drawn on the device are those of the CPU, bit for bit."
    yield "; ".join(f"**masks differ** in {build}: {', '.join(units)}" for build, units in wrong.items()) or same
    packed = checks["packed"]
    said = (
        f"{packed['difference']:.2g} of packed rows against padded ones, "
        f"{packed['rounding']:.2g} of bfloat16 against float32"
    )
    verdict = (
        "Packed and padded rows agree" if packed["difference"] <= 2 * packed["rounding"] else "**Packed rows differ**"
    )
    kernel = {
        (True, True): "torch's `varlen_attn`, also with windows",
        (True, False): "torch's `varlen_attn`, no windows",
    }
    used = kernel.get(tuple(packed["kernel"]), "without torch's `varlen_attn`")
    yield f"{verdict} ({used}): the largest difference of a logit is {said}."
    speeds = [f"{build} {measured['tokens_per_second'] / 1e6:.1f}" for build, measured in checks["loader"].items()]
    yield f"The loader alone, one core, million tokens/s: {', '.join(speeds)}."


def marker(part: str, end: str) -> str:
    """Return the line at the beginning or end of a part of the report in a page.

    >>> marker("memory", "begin")
    '<!-- runs/gpu.sh, memory: begin -->'
    """
    return f"<!-- runs/gpu.sh, {part}: {end} -->"


def insert(page: Path, parts: Mapping[str, str]) -> None:
    """Replace what is between the markers that a page has; ends this process where it has none, or one without its end.

    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "page.md"
    >>> _ = page.write_text("\\n".join(["Before", marker("memory", "begin"), "old", marker("memory", "end"), "after"]))
    >>> insert(page, {"report": "not here", "memory": "new"})
    >>> page.read_text().split("\\n")[2]
    'new'
    """
    text = page.read_text()
    markers = [part for part in parts if marker(part, "begin") in text]
    for part in markers:
        before, _, rest = text.partition(marker(part, "begin"))
        _, ended, after = rest.partition(marker(part, "end"))
        if not ended:
            sys.exit(f"{page} has no line {marker(part, 'end')} after {marker(part, 'begin')}")
        text = f"{before}{marker(part, 'begin')}\n{parts[part].strip()}\n{marker(part, 'end')}{after}"
    if not markers:
        sys.exit(f"{page} has no lines such as {marker('report', 'begin')}; add them where the report is to stand")
    page.write_text(text)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["checks", "report"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("runs", nargs="*", help="the runs of the report, below FOLDER/runs")
    parser.add_argument("--device", type=torch.device, default=torch.device("cuda"))
    parser.add_argument("--rows", type=int, default=256, help="rows of a padded batch (default: 256)")
    parser.add_argument(
        "--docs", type=Path, nargs="+", metavar="PAGE", default=[], help="pages that get their parts, too"
    )
    return parser


def main() -> None:
    """Do what the first argument names; the checks end with code 1 where one has not passed."""
    arguments = make_parser().parse_args()
    if arguments.verb == "checks":
        sys.exit(not check(arguments.folder, arguments.device))
    parts = report(arguments.folder, arguments.runs, arguments.device, arguments.rows)
    print((arguments.folder / "report.md").read_text())
    for page in arguments.docs:
        insert(page, parts)


if __name__ == "__main__":
    main()
