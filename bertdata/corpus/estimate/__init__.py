"""What a build would take, from a few samples of its input: the stages run on these, and their sums are scaled up."""
