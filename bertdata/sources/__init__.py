"""Files in many formats in, documents out."""
