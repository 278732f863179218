"""The word counter, compiled."""
