"""Sentence boundaries by Punkt: parameters, training, segmentation."""

from __future__ import annotations

from bertdata.sentences.parameters import PunktParameters, load_parameters, nltk_names, save_parameters, shipped_names
from bertdata.sentences.segmenter import SentenceSegmenter
from bertdata.sentences.training import PunktCounts, PunktSettings, train_punkt

__all__ = [
    "PunktCounts",
    "PunktParameters",
    "PunktSettings",
    "SentenceSegmenter",
    "load_parameters",
    "nltk_names",
    "save_parameters",
    "shipped_names",
    "train_punkt",
]
