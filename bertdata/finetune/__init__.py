"""Fine-tuning data: labelled texts, tagged words and questions in, rows of ids with the labels of a task out.

    classification          texts and text pairs with a class or a number
    token_classification    words with tags, the label at the first token of each word
    question_answering      questions on contexts, in windows; `answers` maps logits back to text
    sentence_embedding      pairs and triplets of texts that are alike, and pairs with a score
    glue                    the tasks of GLUE by name: their columns, labels and metrics
    labels                  the label set and the ids of labels
    labelled_files          reading examples from tables; `conll` and `squad` from formats of their own
    layout                  the splits of a task, and rows of one or two segments
    encode                  the files of a task to shards

A task is an object in the registry `bertdata.shards.tasks`; `encode_task` writes shards of it.
"""

from bertdata.finetune.answers import Answer, answers_from_logits
from bertdata.finetune.classification import encode_classification
from bertdata.finetune.question_answering import encode_question_answering
from bertdata.finetune.sentence_embedding import encode_sentences
from bertdata.finetune.squad import Question
from bertdata.finetune.token_classification import encode_token_classification

__all__ = [
    "Answer",
    "Question",
    "answers_from_logits",
    "encode_classification",
    "encode_question_answering",
    "encode_sentences",
    "encode_token_classification",
]
