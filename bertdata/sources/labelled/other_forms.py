"""Forms of public data sets whose rows are no examples, and how to unfold them.

Such a row holds several examples, or labels inside of its text. The message on such a file names the program of jq that
writes its examples as JSON lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.sources.text_template import value_at

_ADD_PART = (
    "(if {kind} then .spans += [{{start: (.text | length), end: (.text + {text} | length), label: {kind}}}] else . end)"
    " | .text += {text}"
)
"""Adds a part of a text, and its span where it has a kind."""
_INTENTS = (
    'to_entries[] | .key as $intent | .value[] | reduce .data[] as $part ({$intent, text: "", spans: []}; '
    f"{_ADD_PART.format(kind='$part.entity', text='$part.text')})"
)
_SLOTS = (
    'select(.partition == "train") | . as $row | reduce (.annot_utt | scan("\\\\[([^:]*) : ([^]]*)\\\\]|([^[]+)")) as '
    f'$part ($row + {{text: "", spans: []}}; {_ADD_PART.format(kind="$part[0]", text="($part[1] // $part[2])")})'
)
_DIALOGUES = ".[] | .[0] as $dialogue | .[1][] | {$dialogue} + ."
JUDGEMENTS = (
    "it holds the ids of queries and of texts that answer them, as BEIR; write these as rows: python -c "
    '"import csv, json, pathlib, sys; corpus, queries, pairs = (pathlib.Path(name).read_bytes().splitlines() for name '
    "in sys.argv[1:]); corpus, queries = ({row['_id']: row for row in map(json.loads, rows)} for rows in (corpus, "
    "queries)); [print(json.dumps({'query': queries[pair['query-id']]['text'], 'positive': ' '.join(filter(None, "
    "map(corpus[pair['corpus-id']].get, ('title', 'text'))))})) for pair in csv.DictReader(map(bytes.decode, pairs), "
    "delimiter='\\t') if int(pair['score']) > 0]\" corpus.jsonl queries.jsonl FILE > NEW.jsonl"
)
"""What a file of pairs of ids holds, and how to write their texts."""
OF_IDS = {"query-id", "corpus-id"}
"""The columns of such a file."""
_SPANS = (
    "it holds passages with questions, as DROP; write those whose answer is one span of the passage as rows: python -c "
    "\"import json, pathlib, sys; [print(json.dumps({'id': asked['query_id'], 'question': asked['question'], "
    "'context': item['passage'], 'answers': [{'text': span, 'answer_start': item['passage'].find(span)}]})) for item "
    "in json.loads(pathlib.Path(sys.argv[1]).read_text('utf-8')).values() for asked in item['qa_pairs'] for span in "
    "asked['answer']['spans'] if len(asked['answer']['spans']) == 1 and span in item['passage']]\" FILE > NEW.jsonl"
)
_WITHOUT_TEXTS = (
    "it holds questions whose texts are in other files, as TriviaQA; expected texts and the places of answers in them, "
    "as utils/convert_to_squad_format.py of its authors writes them"
)
FORMS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("train", "oos_train"),
        "all splits in one object, as CLINC150",
        ".train + .oos_train | .[] | {text: .[0], label: .[1]}",
    ),
    (
        ("passage.questions",),
        "passages with questions and their answers, as MultiRC",
        ".passage as $passage | $passage.questions[] as $asked | $asked.answers[] | {text: $passage.text, "
        'text_pair: ($asked.question + " " + .text), label: .label}',
    ),
    (
        ("passage.entities", "qas"),
        "passages with queries, as ReCoRD",
        "(.data[]? // .) | .passage.text as $context | .qas[] | {id: (.id // .idx | tostring), question: .query, "
        "$context, answers: [.answers[]? | {text, answer_start: .start}]}",
    ),
    (
        ("header.dataset",),
        "a header and contexts, as MRQA",
        "select(.context) | .context as $context | .qas[] | {id: .qid, question, $context, answers: "
        "[.detected_answers[] | .char_spans[] | {text: $context[.[0]:.[1] + 1], answer_start: .[0]}]}",
    ),
    (
        ("storyId", "questions"),
        "stories with questions, as NewsQA",
        ".data[] | .storyId as $story | .text as $context | .questions | to_entries[] | .value.consensus as $answer | "
        'select($answer.badQuestion | not) | {id: "\\($story)-\\(.key)", question: .value.q, $context, answers: '
        "(if $answer.s then [{text: $context[$answer.s:$answer.e], answer_start: $answer.s}] else [] end)}",
    ),
    (("annot_utt",), "slots inside of texts and all splits, as MASSIVE", _SLOTS),
)
"""The places that a first row has, what such a file holds, and the program that unfolds it."""


def unfolding(value: Any) -> str:
    """Return what a file with this first value holds, and how to write it as rows, "" where it is of no known form.

    >>> unfolding([["W: Hi."], [{"question": "Who?", "choice": ["A.", "B."], "answer": "A."}], "4-1"])[:45]
    'it holds texts with questions, as DREAM and C'
    >>> unfolding({"text": "a"})
    ''
    """
    what, program = "", ""
    if isinstance(value, Mapping):
        forms = (form for form in FORMS if all(value_at(value, place) is not None for place in form[0]))
        _, what, program = next(forms, ((), "", ""))
        if len(value) == 1 and _are_of_parts(next(iter(value.values()))):
            what, program = "texts in parts under their intent, as SNIPS", _INTENTS
    elif isinstance(value, list) and len(value) > 1 and _are_questions(value[1]):
        what, program = "texts with questions, as DREAM and C3", _DIALOGUES
    return f"it holds {what}; write its examples as rows: jq -c '{program}' FILE > NEW.jsonl" if what else ""


def unfolding_of_object(key: str, value: Any) -> str:
    """Return what an object that begins with this value holds, and how to write it as rows, "" of no known form.

    >>> unfolding_of_object("nfl_1", {"passage": "a", "qa_pairs": []})[:46]
    'it holds passages with questions, as DROP; wri'
    >>> unfolding_of_object("Data", [{"QuestionId": "tc_1"}])[:44], unfolding_of_object("version", "1.1")
    ('it holds questions whose texts are in other ', '')
    """
    if isinstance(value, Mapping) and {"passage", "qa_pairs"} <= value.keys():
        return _SPANS
    first = value[0] if isinstance(value, list) and value else None
    return _WITHOUT_TEXTS if key == "Data" and isinstance(first, Mapping) and "QuestionId" in first else ""


def _are_of_parts(texts: Any) -> bool:
    first = texts[0] if isinstance(texts, list) and texts else None
    return isinstance(first, Mapping) and isinstance(first.get("data"), list)


def _are_questions(questions: Any) -> bool:
    first = questions[0] if isinstance(questions, list) and questions else None
    return isinstance(first, Mapping) and "choice" in first
