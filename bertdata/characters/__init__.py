"""What characters are, by tables of our own."""
