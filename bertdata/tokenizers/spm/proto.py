"""The parts of SentencePiece's `ModelProto` that decide ids, read without the `sentencepiece` package.

Fields and their numbers are those of `sentencepiece_model.proto`; a message keeps what it does not know.
"""

from __future__ import annotations

import functools
import math
from enum import IntEnum
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers.file_keys import SPM_FIELDS

_DEFINITION = """
name: "bertdata_sentencepiece.proto" package: "bertdata.sentencepiece" syntax: "proto2"
message_type { name: "Piece"
  field { name: "piece" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "score" number: 2 type: TYPE_FLOAT label: LABEL_OPTIONAL }
  field { name: "type" number: 3 type: TYPE_INT32 label: LABEL_OPTIONAL default_value: "1" }
}
message_type { name: "Trainer"
  field { name: "model_type" number: 3 type: TYPE_INT32 label: LABEL_OPTIONAL default_value: "1" }
  field { name: "treat_whitespace_as_suffix" number: 24 type: TYPE_BOOL label: LABEL_OPTIONAL default_value: "false" }
  field { name: "byte_fallback" number: 35 type: TYPE_BOOL label: LABEL_OPTIONAL default_value: "false" }
  field { name: "unk_id" number: 40 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "bos_id" number: 41 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "eos_id" number: 42 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "pad_id" number: 43 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "unk_piece" number: 45 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "bos_piece" number: 46 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "eos_piece" number: 47 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "pad_piece" number: 48 type: TYPE_STRING label: LABEL_OPTIONAL }
}
message_type { name: "Normalizer"
  field { name: "precompiled_charsmap" number: 2 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "add_dummy_prefix" number: 3 type: TYPE_BOOL label: LABEL_OPTIONAL default_value: "true" }
  field { name: "remove_extra_whitespaces" number: 4 type: TYPE_BOOL label: LABEL_OPTIONAL default_value: "true" }
  field { name: "escape_whitespaces" number: 5 type: TYPE_BOOL label: LABEL_OPTIONAL default_value: "true" }
}
message_type { name: "Model"
  field { name: "pieces" number: 1 label: LABEL_REPEATED type_name: "Piece" }
  field { name: "trainer" number: 2 label: LABEL_OPTIONAL type_name: "Trainer" }
  field { name: "normalizer" number: 3 label: LABEL_OPTIONAL type_name: "Normalizer" }
}
"""


class PieceType(IntEnum):
    """What a piece is for."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_FIRST_EXTENSION = 200
"""From here on fields are extensions of others, which SentencePiece does not read."""
UNIGRAM_MODEL, BPE_MODEL = 1, 2
"""The values of `model_type` for the models that are read."""


def read_model(data: bytes) -> Any:
    """Return the message of a `.model` file: `pieces` (piece, score, type), `trainer` and `normalizer`.

    Raises InputError where it is damaged, a piece is wrong, or not exactly one piece is for unknown text.
    """
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]

    model = _message()()
    try:
        model.ParseFromString(data)
    except DecodeError as error:
        raise InputError(f"is not a whole model of SentencePiece ({error}); get the file again") from error
    _check_fields(model)
    _check_pieces(model)
    unknown = sum(piece.type == PieceType.UNKNOWN for piece in model.pieces)
    if unknown != 1:
        raise InputError(
            f"is not a model of SentencePiece: of its {len(model.pieces)} pieces {unknown} are for unknown text, "
            "expected one"
        )
    return model


def _check_fields(model: Any) -> None:
    """Raise InputError for a field that is not in the table of fields, and for spaces that are not marked as U+2581."""
    from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped,unused-ignore]

    messages = {"ModelProto": model, "TrainerSpec": model.trainer, "NormalizerSpec": model.normalizer}
    for name, message in messages.items():
        for field in UnknownFieldSet(message):
            if field.field_number not in SPM_FIELDS[name] and field.field_number < _FIRST_EXTENSION:
                raise InputError(
                    f"its {name} has the field {field.field_number}, which is not known and may decide ids; expected "
                    "fields of SentencePiece 0.2: use the version of bertdata for the version that wrote it"
                )
    if not model.normalizer.escape_whitespaces:
        raise InputError(
            "its normalizer has escape_whitespaces = false, so spaces are not marked as U+2581; expected true, as "
            "SentencePiece trains models: train it anew"
        )


def _check_pieces(model: Any) -> None:
    """Raise InputError for a piece that is empty, or there twice, or has no finite score or no known type."""
    seen: set[str] = set()
    kinds = [int(kind) for kind in PieceType]
    for place, piece in enumerate(model.pieces):
        wrong = {
            f"is {piece.piece!r} once more": piece.piece in seen,
            "is not UTF-8": not isinstance(piece.piece, str),
            "is empty": not piece.piece,
            f"has the score {piece.score}": not math.isfinite(piece.score),
            f"has the type {piece.type}": piece.type not in kinds,
        }
        if problem := next((what for what, is_so in wrong.items() if is_so), ""):
            raise InputError(
                f"its piece {place} {problem}; expected each piece once, with a finite score and a type from "
                f"{kinds[0]} to {kinds[-1]}: get the file again"
            )
        seen.add(piece.piece)


@functools.cache
def _message() -> Any:
    from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]
        descriptor_pb2,
        descriptor_pool,
        message_factory,
        text_format,
    )

    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(_DEFINITION, descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bertdata.sentencepiece.Model"))
