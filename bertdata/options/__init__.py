"""A setting is declared once; its flag, its help, its check and its fingerprint follow from that."""
