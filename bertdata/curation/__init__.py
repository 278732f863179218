"""Documents in, documents out: which are dropped, and why."""
