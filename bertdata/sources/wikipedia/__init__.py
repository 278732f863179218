"""Wikipedia as files: dumps (`dump`) and rows that others published (`published`) in, documents out."""
