"""Pseudo-log-likelihoods of sentences by masked language models, and accuracy on minimal pairs."""
