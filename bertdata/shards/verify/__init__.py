"""A finished build in, what is wrong with it out."""
