"""Documents in; counts, token store, rows, shards and their manifest out. What that would take: `estimate`."""
