"""The settings of pretraining and fine-tuning, in the names of transformers' TrainingArguments where it has them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from bertdata.errors import ConfigError
from bertdata.options.option import option

_POSITIVE = ("max_steps", "epochs", "batch_size", "gradient_accumulation_steps", "save_steps", "logging_steps")
_NOT_NEGATIVE = ("weight_decay", "max_grad_norm", "num_workers", "peak_tflops", "eval_steps", "validation_rows")
_SHARES = ("warmup_ratio", "adam_beta2")


@dataclass(frozen=True)
class TrainingSettings:
    """What pretraining and fine-tuning both take. Raises ConfigError for values out of bounds."""

    weight_decay: float = option(0.01, "weight decay of AdamW, not on biases and LayerNorm")
    max_grad_norm: float = option(1.0, "clip the gradient to this norm; 0: no clipping")
    seed: int = option(0, "initial weights, order of examples and dropout are functions of it")
    bf16: bool = option(False, "compute in bfloat16 (autocast); weights stay float32")
    device: str = option("auto", "auto, cpu or cuda")

    def __post_init__(self) -> None:
        for one in fields(self):
            name, flag, value = one.name, "--" + one.name.replace("_", "-"), getattr(self, one.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ConfigError(f"{flag} is {value}; expected a finite number")
            if name == "seed" and not 0 <= value < 1 << 63:
                raise ConfigError(f"{flag} is {value}; expected 0 to {(1 << 63) - 1}")
            if name in _POSITIVE and value < 1:
                raise ConfigError(f"{flag} is {value}; expected at least 1")
            if name in _NOT_NEGATIVE and value < 0:
                raise ConfigError(f"{flag} is {value}; expected 0 or more")
            if name == "learning_rate" and not value > 0:
                raise ConfigError(f"{flag} is {value}; expected more than 0, as {one.default}")
            if name in _SHARES and not 0 <= value < 1:
                raise ConfigError(f"{flag} is {value}; expected a share: 0 or more, less than 1")
            if name == "last_share" and not 0 < value < 1:
                raise ConfigError(f"{flag} is {value}; expected a share between 0 and 1, as 0.1")


@dataclass(frozen=True)
class PretrainSettings(TrainingSettings):
    """How a model is pretrained (BERT appendix A.2; its batch is 256 rows for 1,000,000 steps)."""

    max_steps: int = option(100_000, "updates of the weights in total")
    batch_size: int = option(256, "rows of an update, over all processes")
    gradient_accumulation_steps: int = option(
        1,
        "gradient accumulation steps; more for longer rows; has no effect but on rounding and, on CUDA, attention's "
        "dropout",
    )
    last_share: float = option(0.1, "share of the steps on the longest rows, in a build of several lengths")
    learning_rate: float = option(1e-4, "peak of the learning rate")
    warmup_ratio: float = option(0.01, "share of the steps with linear warm-up; then linear decay to 0")
    adam_beta2: float = option(0.999, "AdamW's second beta (RoBERTa: 0.98)")
    packing: bool = option(False, "concatenate the examples of a batch in one row, without padding")
    compile: bool = option(False, "compile the layers (torch.compile): slower to start, then faster")
    save_steps: int = option(1000, "steps between checkpoints")
    logging_steps: int = option(10, "steps between lines of the log, which are means over these steps")
    eval_steps: int = option(
        1000, "steps between evaluations on the validation split, where there is one; also at the end; 0: never"
    )
    validation_rows: int = option(2048, "rows of the validation split to evaluate, spread over it; 0: all")
    num_workers: int = option(2, "worker processes of the loader; 0: none")
    peak_tflops: float = option(0.0, "peak TFLOPS of the device, for MFU in the log; 0: by its name, if known")


@dataclass(frozen=True)
class FinetuneSettings(TrainingSettings):
    """How a model is fine-tuned (BERT appendix A.3: batch 16 or 32, rate 2e-5 to 5e-5, 2 to 4 epochs)."""

    epochs: int = option(3, "times that each row is seen")
    batch_size: int = option(32, "rows in a batch")
    learning_rate: float = option(3e-5, "peak of the learning rate")
    warmup_ratio: float = option(0.1, "share of the steps with linear warm-up; then linear decay to 0")
    num_workers: int = option(0, "worker processes of the loader; 0: none")
