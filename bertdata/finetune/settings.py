"""The settings of fine-tuning data, checked when made, from which the flags of `bertdata encode-task` come."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bertdata.finetune import TASKS
from bertdata.options.option import Settings, option, require

STRIDES = ("overlap", "step")
REFUSE, LEAVE_OUT = "refuse", "leave-out"
UNLABELLED = (REFUSE, LEAVE_OUT)


@dataclass(frozen=True)
class TaskConfig(Settings):
    """How labelled examples become rows."""

    task: str = option("classification", "what is learnt", items=TASKS)
    max_seq_length: int = option(
        0,
        "tokens in a row, special tokens included; 0: 128, for questions 384 (BERT's released code)",
        at_least=8,
        at_most=65_536,
    )
    doc_stride: int = option(128, "questions: tokens that two neighbouring windows of a context share", at_least=0)
    stride_is: str = option(
        "overlap",
        "questions: what --doc-stride counts. overlap: the tokens that two windows share (transformers); step: the "
        "tokens between their starts (BERT's released code)",
        STRIDES,
    )
    max_query_length: int = option(
        64, "questions: most tokens of a question, longer ones are cut; 0: no limit", at_least=0
    )
    shard_examples: int = option(65_536, "examples of the source in each shard", at_least=1)
    score_range: tuple[str, ...] = option(
        (),
        "tasks with scores: the lowest and the highest score, as 0 5; scores outside are refused. sentence-similarity: "
        "the two become 0 and 1 (default: scores from -1 to 1, as they are)",
        later=True,
        metavar="NUMBER",
    )
    unlabelled: str = option(
        REFUSE,
        "training and validation examples without a label (an empty one, '-', -1, -100). refuse: an error that names "
        "the first; leave-out: leave them out and count them, of tagged words only the label",
        UNLABELLED,
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        task, range_text = TASKS[self.task], " ".join(self.score_range)
        require(
            not self.score_range or task.scored,
            f"--score-range is for tasks with scores, as regression, and --task is {self.task}; leave it out",
        )
        require(
            not self.score_range or _is_range(self.score_range),
            f"--score-range is {range_text}; expected the lowest and the highest score, as 0 5",
        )
        task.check(self)

    @property
    def scores(self) -> tuple[float, float] | None:
        """The lowest and the highest score, None where no range was given."""
        return (float(self.score_range[0]), float(self.score_range[1])) if self.score_range else None

    @property
    def length(self) -> int:
        """The tokens in a row."""
        return self.max_seq_length or TASKS[self.task].max_seq_length


def _is_range(texts: tuple[str, ...]) -> bool:
    try:
        low, high = map(float, texts)
    except ValueError:
        return False
    return -math.inf < low < high < math.inf


@dataclass(frozen=True)
class Columns:
    """The columns of the files, and the labels in the order of their ids; by default both are found in the files.

    Where a text may have several labels, label_columns are columns of 0 and 1, one for each label, and label_separator
    is what separates labels in a cell. choice_columns are those of the choices of a question. Raises ConfigError for
    one label, one given twice, and columns given twofold.
    """

    text_columns: tuple[str, ...] = ()
    label_column: str | None = None
    labels: tuple[str, ...] = ()
    label_columns: tuple[str, ...] = ()
    label_separator: str = ""
    choice_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(
            not self.label_columns or not (self.label_column or self.label_separator or self.labels),
            "--label-columns names a column for each label; leave out --label-column, --label-separator and --labels",
        )
        require(
            len(self.label_columns) != 1 and len({*self.label_columns}) == len(self.label_columns),
            f"--label-columns names {' '.join(self.label_columns)}; expected two columns or more, each once",
        )
        require(len(self.labels) != 1, "--labels names 1; expected two or more, in the order of their ids")
        for name in self.labels:
            once = self.labels.count(name) == 1
            require(once, f"--labels names {name!r} twice; give each label once, in the order of its id")
