"""Fit the frequencies of masked tokens with NumPy alone: the loader without PyTorch, as one would use it for JAX.

    python examples/numpy_batches.py corpus/train --output runs/numpy --steps 1000

The model is a bias for each piece of the vocabulary, trained by gradient descent on the masked places.
"""

from __future__ import annotations

import argparse
import json
import os

import numpy as np

from bertdata.loader import numpy_batches

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("shards")
parser.add_argument("--output", required=True)
parser.add_argument("--steps", type=int, default=1000)
parser.add_argument("--batch-size", type=int, default=32)
flags = parser.parse_args()
os.makedirs(flags.output, exist_ok=True)
weights, progress = os.path.join(flags.output, "bias.npy"), os.path.join(flags.output, "state.json")

batches = numpy_batches(flags.shards, flags.batch_size, epochs=None)  # with JAX: rank=jax.process_index(), ...
bias, step = np.zeros(batches.examples.info.vocab_size), 0
if os.path.exists(progress):
    with open(progress, encoding="utf-8") as file:
        step, state = json.load(file)
    batches.load_state_dict(state)
    bias = np.load(weights)

for batch in batches if step < flags.steps else ():
    targets = batch["labels"][batch["labels"] != -100]
    log_probabilities = bias - np.log(np.exp(bias).sum())
    loss = -log_probabilities[targets].mean()
    bias -= np.exp(log_probabilities) - np.bincount(targets, minlength=len(bias)) / len(targets)
    step += 1
    print(f"step {step} loss {loss:.6f}", flush=True)
    if step == flags.steps:
        break

np.save(weights, bias)
with open(progress, "w", encoding="utf-8") as file:
    json.dump([step, batches.state_dict()], file)
