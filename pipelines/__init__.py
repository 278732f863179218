"""The Beam programs, one page each: what flows from where to where."""
