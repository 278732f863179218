"""A story with what Punkt learns from, and the parameters that NLTK's trainer finds in a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.sentences import PunktParameters

STORY = (
    "Mr. Brown of Acme Corp. met Mr. Green at 5 p.m. on Friday. They talked. However, Mr. Brown left early!\n"
    'J. S. Bach was there, e.g. in the hall. "Was he?" asked Mrs. Green. No. 5. It was true... so they said.\n\n'
    "On the 3. Mai they met again. However, it rained. The U.S. team won. the end etc. , and so on. Go to A. Smith.\n"
)


def by_nltk(text: str, card: Mapping[str, Any] | None = None, **options: Any) -> PunktParameters:
    from nltk.tokenize.punkt import PunktTrainer

    trainer = PunktTrainer()
    for name, value in options.items():
        setattr(trainer, name, value)
    trainer.train(text)
    parameters = trainer.get_params()
    return PunktParameters(
        abbrev_types=frozenset(parameters.abbrev_types),
        collocations=frozenset(parameters.collocations),
        sent_starters=frozenset(parameters.sent_starters),
        ortho_context={type_: flags for type_, flags in parameters.ortho_context.items() if flags},
        card=card or {},
    )
