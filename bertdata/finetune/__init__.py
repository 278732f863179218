"""Fine-tuning data: labelled texts, tagged words and questions in, rows of ids with the labels of a task out.

    classification          texts and text pairs with a class or a number
    multi_label             texts and text pairs with any number of labels
    multiple_choice         questions with choices, one of which is right
    token_classification    words with tags, the label at the first token of each word
    question_answering      questions on contexts, in windows; `answers` maps logits back to text
    sentence_embedding      pairs and triplets of texts that are alike, and pairs with a score
    glue                    the tasks of GLUE by name: their columns, labels and metrics
    labels                  the label set and the ids of labels
    labelled_files          reading examples from tables; `conll` and `squad` from formats of their own
    layout                  the splits of a task, and rows of one or two segments
    encode                  the files of a task to shards

A task is an object in the registry `TASKS`; `task_shards.encode_task` writes shards of it. A package outside bertdata
adds one with `TASKS.add(name, Task(...))` in a module that `bertdata.registry` loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertdata.registry import Registry, loading

if TYPE_CHECKING:
    from bertdata.finetune.answers import Answer, answers_from_logits
    from bertdata.finetune.classification import encode_classification
    from bertdata.finetune.multi_label import encode_multi_label
    from bertdata.finetune.multiple_choice import encode_multiple_choice
    from bertdata.finetune.question_answering import encode_question_answering
    from bertdata.finetune.sentence_embedding import encode_sentences
    from bertdata.finetune.squad import Question
    from bertdata.finetune.token_classification import encode_token_classification

__all__ = [
    "TASKS",
    "Answer",
    "Question",
    "answers_from_logits",
    "encode_classification",
    "encode_multi_label",
    "encode_multiple_choice",
    "encode_question_answering",
    "encode_sentences",
    "encode_token_classification",
]

TASKS: Registry[Any] = Registry(
    "task",
    {
        "classification": "bertdata.finetune.classification:CLASSIFICATION",
        "regression": "bertdata.finetune.classification:REGRESSION",
        "multi-label-classification": "bertdata.finetune.multi_label:MULTI_LABEL",
        "multiple-choice": "bertdata.finetune.multiple_choice:MULTIPLE_CHOICE",
        "token-classification": "bertdata.finetune.token_classification:TOKEN_CLASSIFICATION",
        "question-answering": "bertdata.finetune.question_answering:QUESTION_ANSWERING",
        "sentence-pairs": "bertdata.finetune.sentence_embedding:SENTENCE_PAIRS",
        "sentence-triplets": "bertdata.finetune.sentence_embedding:SENTENCE_TRIPLETS",
        "sentence-similarity": "bertdata.finetune.sentence_embedding:SENTENCE_SIMILARITY",
        "glue/cola": "bertdata.finetune.glue:COLA",
        "glue/sst2": "bertdata.finetune.glue:SST2",
        "glue/mrpc": "bertdata.finetune.glue:MRPC",
        "glue/stsb": "bertdata.finetune.glue:STSB",
        "glue/qqp": "bertdata.finetune.glue:QQP",
        "glue/mnli": "bertdata.finetune.glue:MNLI",
        "glue/qnli": "bertdata.finetune.glue:QNLI",
        "glue/rte": "bertdata.finetune.glue:RTE",
        "glue/wnli": "bertdata.finetune.glue:WNLI",
    },
)
"""What `bertdata encode-task` and `finetune` name, each a `task.Task`."""

__getattr__ = loading(
    __name__,
    {
        "Answer": "answers",
        "answers_from_logits": "answers",
        "encode_classification": "classification",
        "encode_multi_label": "multi_label",
        "encode_multiple_choice": "multiple_choice",
        "encode_question_answering": "question_answering",
        "encode_sentences": "sentence_embedding",
        "Question": "squad",
        "encode_token_classification": "token_classification",
    },
)
