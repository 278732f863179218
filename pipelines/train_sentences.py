"""Documents to Punkt sentence parameters.

    documents -> counts of tokens, one file for each range -> four tables and a card

Run: bertdata train-sentences, or python -m pipelines.train_sentences --documents PATH... --output DIR
    [--abbreviations FILE] [-- RUNNER FLAGS]

The English parameters that come with bertdata were trained with `scripts/english_abbreviations.txt`.
"""

from __future__ import annotations

from bertdata.engine.stages import Stage
from bertdata.sentences import PunktSettings
from bertdata.sentences.stage import TrainParameters


def stages(output: str, settings: PunktSettings) -> list[Stage]:
    """Return the stage after the documents were read."""
    return [TrainParameters(output, settings)]


if __name__ == "__main__":
    from bertdata.__main__ import main

    main("train-sentences")
