"""The settings of pretraining and fine-tuning, in the names of transformers' TrainingArguments where it has them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bertdata.masking.training import find_training
from bertdata.options.option import Settings, flag_of, option, require
from bertdata.torch.models.objectives.settings import ObjectiveSettings
from bertdata.torch.training import OPTIMIZERS, SCHEDULES, TRACKERS
from bertdata.torch.training.schedules import DECAYS, Shape

DEFAULT_STEPS, DEFAULT_EPOCHS = 100_000, 40.0
"""The length of a pretraining that is not told how long to be: the lesser of the two. BERT made about 40 epochs."""


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """What pretraining and fine-tuning both take. Raises ConfigError for values out of bounds."""

    weight_decay: float = option(0.01, "weight decay of AdamW, not on biases and LayerNorm", at_least=0)
    max_grad_norm: float = option(1.0, "clip the gradient to this norm; 0: no clipping", at_least=0)
    seed: int = option(
        0, "initial weights, order of examples and dropout are functions of it", at_least=0, at_most=(1 << 63) - 1
    )
    bf16: bool = option(False, "compute in bfloat16 (autocast); weights stay float32")
    fp16: bool = option(
        False,
        "compute in float16 (autocast), the loss scaled so that gradients do not vanish: for GPUs without bfloat16",
        later=True,
    )
    precision: str = option(
        "fast",
        "norms with --bf16; fast: they take and return bfloat16, and compute in float32; reference: they return what "
        "torch's autocast does, float32 on CUDA, which takes more time and memory",
        ("fast", "reference"),
        later=True,
    )
    gradient_checkpointing: bool = option(
        False,
        "compute the hidden states within a layer again in the backward pass: less memory, a third more operations",
        later=True,
    )
    device: str = option("auto", "auto, cpu or cuda")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(not (self.bf16 and self.fp16), "--bf16 and --fp16 are two ways to compute; give one of them")


@dataclass(frozen=True)
class PretrainSettings(TrainingSettings, ObjectiveSettings):
    """How a model is pretrained (BERT appendix A.2; its batch is 256 rows for 1,000,000 steps)."""

    max_steps: int = option(0, "updates of the weights in total; 0: as --epochs says", at_least=0)
    epochs: float = option(
        0.0,
        "times that the run goes through the rows, of all phases together, in place of --max-steps; without both, it "
        f"ends where the resumed run was to end, else after {DEFAULT_EPOCHS:g} epochs, or {DEFAULT_STEPS} steps, "
        "whichever is less",
        at_least=0,
        later=True,
    )
    batch_size: int = option(256, "rows of an update, over all processes", at_least=1)
    batch_tokens: int = option(
        0,
        "with --packing, tokens of an update, over all processes, in place of --batch-size: a process takes the next "
        "rows that fit in its part of them, filled up with padding, so that shapes never change; 0: --batch-size",
        at_least=0,
        later=True,
    )
    gradient_accumulation_steps: int = option(
        0,
        "parts that a batch is split into, more for longer rows; changes only rounding and, on CUDA, attention's "
        "dropout; 0: on CUDA as few as fit into memory, measured before the first step; elsewhere, and with "
        "--batch-tokens, 1",
        at_least=0,
    )
    last_share: float = option(
        0.1, "share of the steps on the longest rows, in a build of several lengths", above=0, below=1
    )
    learning_rate: float = option(1e-4, "peak of the learning rate", above=0)
    warmup_ratio: float = option(0.01, "share of the steps with linear warm-up", at_least=0, below=1)
    lr_scheduler_type: str = option(
        "linear", "what the learning rate does after the warm-up", SCHEDULES, items=SCHEDULES, later=True
    )
    decay_ratio: float = option(
        0.1,
        "warmup_stable_decay: share of the steps, the last ones, in which the rate falls",
        at_least=0,
        at_most=1,
        later=True,
    )
    decay_type: str = option("1-sqrt", "warmup_stable_decay: how the rate falls", DECAYS, later=True)
    min_lr_ratio: float = option(
        0.0, "the rate that it falls to, as a share of the peak", at_least=0, below=1, later=True
    )
    phase_shares: tuple[str, ...] = option(
        (),
        "the share of the steps of each phase of a build, as 0.8 0.15 0.05, in place of --last-share",
        later=True,
        metavar="SHARE",
    )
    phase_learning_rates: tuple[str, ...] = option(
        (),
        "the peak of the learning rate in each phase, as 8e-4 3e-4, in place of --learning-rate",
        later=True,
        metavar="RATE",
    )
    phase_rope_thetas: tuple[str, ...] = option(
        (),
        "the base of the rotary positions of global layers in each phase, as 10000 160000, in place of the config's",
        later=True,
        metavar="BASE",
    )
    phase_training: tuple[str, ...] = option(
        (),
        "how each phase is trained, in place of the build's setting, as causal masked: masked, "
        "masked-next-token, causal, or the share of causal rows beside masked-next-token ones",
        later=True,
        metavar="KIND",
    )
    batch_warmup_ratio: float = option(
        0.0,
        "share of the steps in which an update takes more and more of its gradient accumulation steps, from one to all",
        at_least=0,
        at_most=1,
        later=True,
    )
    spike_ratio: float = option(
        0.0,
        "skip an update whose gradient norm is not finite, or over this many times the mean of earlier updates, "
        "at most 5 in a row; 0: skip none",
        at_least=0,
        later=True,
    )
    on_spike: str = option(
        "skip",
        "skip: leave out updates by --spike-ratio; rewind: if a loss or gradient is not finite, or is a spike by "
        "--spike-ratio, go back to the last checkpoint, and leave out the batches since then",
        ("skip", "rewind"),
        later=True,
    )
    max_rewinds: int = option(10, "how many times a run goes back from a spike", at_least=1, later=True)
    optim: str = option("adamw", "the optimizer", OPTIMIZERS, items=OPTIMIZERS, later=True)
    adam_beta2: float = option(0.999, "AdamW's second beta (RoBERTa: 0.98)", at_least=0, below=1)
    dropout_by: str = option(
        "row",
        "what dropout is a function of; row: the seed, the step and the row, however a batch is split; torch: numbers "
        "of torch in each process, which a GPU draws faster, and which change with the split",
        ("row", "torch"),
        later=True,
    )
    attention_dropout_by_row: bool = option(
        False,
        "draw the dropout of attention by row on CUDA, too, so that it does not change with the number of processes or "
        "--gradient-accumulation-steps; takes more time and memory than torch's fused kernels",
        later=True,
    )
    pad_vocab_to: int = option(
        1,
        "round the number of rows in the embeddings of a fresh model up to a multiple of this, as 64, which is "
        "faster on a GPU; the added rows are unused",
        at_least=1,
        later=True,
    )
    shuffle_window: int = option(
        0,
        "mix rows over this many shards at a time, in a new order of the shards in each epoch; needed to stream shards "
        "through a smaller --cache; 0: over all",
        at_least=0,
        later=True,
    )
    by_pieces: bool = option(
        False,
        "--shuffle-window counts pieces, taken from any shards and downloaded separately: for shards that are "
        "large compared with --cache",
        later=True,
    )
    packing: bool = option(False, "concatenate the examples of a batch in one row, without padding")
    compile: bool = option(False, "compile the layers (torch.compile): slower to start, then faster")
    save_steps: int = option(1000, "steps between checkpoints", at_least=1)
    save_total_limit: int = option(1, "checkpoints that are kept, the last ones; 0: all", at_least=0, later=True)
    checkpoint_words: tuple[str, ...] = option(
        (),
        "also save the model after this many words, as 1M 2M 10M, in chck_1M and so on in --output, and keep it "
        "(BabyLM); needs a build with --account, which counts words",
        later=True,
        metavar="WORDS",
    )
    max_epochs: float = option(
        0.0,
        "never go through the rows more often than this, as 10 (BabyLM): --epochs and the default end there, and more "
        "--max-steps are refused; 0: no limit",
        at_least=0,
        later=True,
    )
    report_to: tuple[str, ...] = option(
        (), "where the log goes besides log.jsonl", items=TRACKERS, later=True, metavar="NAME"
    )
    logging_steps: int = option(10, "steps between lines of the log, which are means over these steps", at_least=1)
    eval_steps: int = option(
        1000,
        "steps between evaluations on the validation split, where there is one; also at the end; 0: never",
        at_least=0,
    )
    eval_phases: str = option(
        "ends",
        "whose validation splits are evaluated; ends: that of the phase, and at the end of each phase those of all; "
        "all: those of all phases each time",
        ("ends", "all"),
        later=True,
    )
    validation_rows: int = option(2048, "rows of the validation split to evaluate, spread over it; 0: all", at_least=0)
    num_workers: int = option(2, "worker processes of the loader; 0: none", at_least=0)
    peak_tflops: float = option(
        0.0, "peak TFLOPS of the device, for MFU in the log; 0: by its name, if known", at_least=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not (self.max_steps and self.epochs),
            f"--max-steps {self.max_steps} and --epochs {self.epochs:g} both say how long the run is; leave one out",
        )
        require(
            not self.batch_tokens or self.packing,
            f"--batch-tokens {self.batch_tokens} are of packed rows; add --packing, or give --batch-size",
        )
        require(
            self.dropout_by == "row" or not self.attention_dropout_by_row,
            "--dropout-by torch leaves all dropout to torch, and --attention-dropout-by-row does not; give one of them",
        )
        trapezoid = self.lr_scheduler_type == "warmup_stable_decay"
        for name in ("decay_ratio", "decay_type"):
            require(
                trapezoid or getattr(self, name) == getattr(type(self), name),
                f"{flag_of(name)} is for --lr-scheduler-type warmup_stable_decay, not {self.lr_scheduler_type}",
            )
        require(
            not trapezoid or self.warmup_ratio + self.decay_ratio <= 1,
            f"--warmup-ratio {self.warmup_ratio:g} and --decay-ratio {self.decay_ratio:g} are more than all steps",
        )
        require(
            not self.batch_warmup_ratio or self.gradient_accumulation_steps > 1,
            "--batch-warmup-ratio begins with one of the --gradient-accumulation-steps, of which there is only one; "
            "take more",
        )
        for name in self.report_to:
            TRACKERS[name]  # raises ConfigError for an unknown one
        shares = numbers(self, "phase_shares")
        require(
            not shares or abs(sum(shares) - 1) < 1e-6,
            f"--phase-shares {' '.join(self.phase_shares)} add up to {sum(shares):g}; expected 1",
        )
        numbers(self, "phase_learning_rates")
        numbers(self, "phase_rope_thetas")
        for kind in self.phase_training:
            find_training(kind, "--phase-training")

    @property
    def shape(self) -> Shape:
        """The shape of the learning rate after the warm-up."""
        return Shape(self.lr_scheduler_type, self.decay_ratio, self.decay_type, self.min_lr_ratio)

    def peak(self, phase: int) -> float:
        """Return the peak of the learning rate in a phase, counted from 0."""
        rates = numbers(self, "phase_learning_rates")
        return rates[phase] if rates else self.learning_rate

    def rope_theta(self, phase: int) -> float | None:
        """Return the base of rotary positions in a phase, counted from 0; None: that of the config."""
        bases = numbers(self, "phase_rope_thetas")
        return bases[phase] if bases else None


def numbers(settings: PretrainSettings, name: str) -> list[float]:
    """Return the numbers of a setting with one for each phase; raises ConfigError for what is none above 0."""
    try:
        numbers = [float(number) for number in getattr(settings, name)]
    except ValueError:
        numbers = [math.nan]
    require(
        all(0 < number < math.inf for number in numbers),
        f"{flag_of(name)} is {' '.join(getattr(settings, name))}; expected a number above 0 for each phase",
    )
    return numbers
