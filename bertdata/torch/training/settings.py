"""The settings of pretraining and fine-tuning, in the names of transformers' TrainingArguments where it has them."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, option


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """What pretraining and fine-tuning both take. Raises ConfigError for values out of bounds."""

    weight_decay: float = option(0.01, "weight decay of AdamW, not on biases and LayerNorm", at_least=0)
    max_grad_norm: float = option(1.0, "clip the gradient to this norm; 0: no clipping", at_least=0)
    seed: int = option(
        0, "initial weights, order of examples and dropout are functions of it", at_least=0, at_most=(1 << 63) - 1
    )
    bf16: bool = option(False, "compute in bfloat16 (autocast); weights stay float32")
    device: str = option("auto", "auto, cpu or cuda")


@dataclass(frozen=True)
class PretrainSettings(TrainingSettings):
    """How a model is pretrained (BERT appendix A.2; its batch is 256 rows for 1,000,000 steps)."""

    max_steps: int = option(100_000, "updates of the weights in total", at_least=1)
    batch_size: int = option(256, "rows of an update, over all processes", at_least=1)
    gradient_accumulation_steps: int = option(
        1,
        "gradient accumulation steps; more for longer rows; has no effect but on rounding and, on CUDA, attention's "
        "dropout",
        at_least=1,
    )
    last_share: float = option(
        0.1, "share of the steps on the longest rows, in a build of several lengths", above=0, below=1
    )
    learning_rate: float = option(1e-4, "peak of the learning rate", above=0)
    warmup_ratio: float = option(
        0.01, "share of the steps with linear warm-up; then linear decay to 0", at_least=0, below=1
    )
    adam_beta2: float = option(0.999, "AdamW's second beta (RoBERTa: 0.98)", at_least=0, below=1)
    packing: bool = option(False, "concatenate the examples of a batch in one row, without padding")
    compile: bool = option(False, "compile the layers (torch.compile): slower to start, then faster")
    save_steps: int = option(1000, "steps between checkpoints", at_least=1)
    logging_steps: int = option(10, "steps between lines of the log, which are means over these steps", at_least=1)
    eval_steps: int = option(
        1000,
        "steps between evaluations on the validation split, where there is one; also at the end; 0: never",
        at_least=0,
    )
    validation_rows: int = option(2048, "rows of the validation split to evaluate, spread over it; 0: all", at_least=0)
    num_workers: int = option(2, "worker processes of the loader; 0: none", at_least=0)
    peak_tflops: float = option(
        0.0, "peak TFLOPS of the device, for MFU in the log; 0: by its name, if known", at_least=0
    )


@dataclass(frozen=True)
class FinetuneSettings(TrainingSettings):
    """How a model is fine-tuned (BERT appendix A.3: batch 16 or 32, rate 2e-5 to 5e-5, 2 to 4 epochs)."""

    epochs: int = option(3, "times that each row is seen", at_least=1)
    batch_size: int = option(32, "rows in a batch", at_least=1)
    learning_rate: float = option(3e-5, "peak of the learning rate", above=0)
    warmup_ratio: float = option(
        0.1, "share of the steps with linear warm-up; then linear decay to 0", at_least=0, below=1
    )
    num_workers: int = option(0, "worker processes of the loader; 0: none", at_least=0)
