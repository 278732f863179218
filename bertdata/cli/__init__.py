"""The `bertdata` command: one module for each subcommand, imported when it is called."""
