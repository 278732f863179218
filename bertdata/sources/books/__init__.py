"""Plain-text books in, documents of prose out."""
