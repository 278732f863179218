"""The settings of fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import flag_of, option, require
from bertdata.torch.training import SENTENCE_LOSSES
from bertdata.torch.training.settings import TrainingSettings


@dataclass(frozen=True)
class FinetuneSettings(TrainingSettings):
    """How a model is fine-tuned (BERT appendix A.3: batch 16 or 32, rate 2e-5 to 5e-5, 2 to 4 epochs)."""

    seed: int = option(
        0,
        "initial weights, order of examples and dropout are functions of it; several: a run with each",
        several=True,
        at_least=0,
        at_most=(1 << 63) - 1,
    )
    epochs: int = option(3, "times that each row is seen", at_least=1)
    batch_size: int = option(32, "rows in a batch", at_least=1)
    learning_rate: float = option(3e-5, "peak of the learning rate", above=0)
    warmup_ratio: float = option(
        0.1, "share of the steps with linear warm-up; then linear decay to 0", at_least=0, below=1
    )
    num_workers: int = option(0, "worker processes of the loader; 0: none", at_least=0)
    sentence_loss: str = option(
        "",
        "sentence embeddings: the loss (default: cosine-similarity where pairs have scores, else "
        "multiple-negatives-ranking)",
        items=SENTENCE_LOSSES,
        later=True,
    )
    temperature: float = option(
        0.05, "multiple-negatives-ranking: what cosines are divided by (SimCSE)", above=0, later=True
    )
    distinct_texts: bool = option(
        False,
        "sentence embeddings: batches in which no text occurs twice, as NO_DUPLICATES of sentence-transformers; copies "
        "in a batch are never negatives",
        later=True,
    )
    triplet_margin: float = option(
        1.0, "triplet: by how much nearer the positive has to be (Sentence-BERT)", above=0, later=True
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
    lora: int = option(
        0,
        "train adapters of this rank (LoRA) and the new layers in place of all weights; rates are ten times higher "
        "then, as 3e-4; 0: all weights",
        at_least=0,
        at_most=4096,
        later=True,
    )
    lora_alpha: float = option(0.0, "adapters are scaled by alpha / rank; 0: twice the rank", at_least=0, later=True)
    lora_dropout: float = option(0.0, "dropout in front of adapters", at_least=0, below=1, later=True)
    lora_targets: tuple[str, ...] = option(
        (),
        "the layers that get adapters, by the ends of their names, as query value, or all-linear (default: those of "
        "peft for the type of model, all-linear where it has none)",
        later=True,
        metavar="NAME",
    )
    lora_merge: bool = option(
        False, "save the model with the adapters merged into its weights, and them in adapter/", later=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("lora_alpha", "lora_dropout", "lora_targets", "lora_merge"):
            require(
                self.lora > 0 or getattr(self, name) == getattr(type(self), name),
                f"{flag_of(name)} is for adapters; give their rank as well, as --lora 8",
            )
