"""Embeddings of another vocabulary by FOCUS, with its authors' package: `transfer.py` runs it in their environment.

Arguments: the folder of the model, that of the other tokenizer, a text of the other language, and the .npy file to
write, float32 (tokens, width).
"""

from __future__ import annotations

import sys

import numpy as np
from deepfocus import FOCUS
from safetensors.torch import load_file
from transformers import AutoTokenizer


def main() -> None:
    """Write the embeddings."""
    model, tokenizer, text, output = sys.argv[1:]
    embeddings = load_file(f"{model}/model.safetensors")["bert.embeddings.word_embeddings.weight"]
    source, target = AutoTokenizer.from_pretrained(model), AutoTokenizer.from_pretrained(tokenizer)
    rows = FOCUS(target, source, embeddings, target_training_data_path=text, processes=1, verbosity="silent")
    np.save(output, rows.numpy().astype(np.float32))


if __name__ == "__main__":
    main()
