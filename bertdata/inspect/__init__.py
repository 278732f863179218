"""A finished build in, text, figures and pages for its reader out."""
