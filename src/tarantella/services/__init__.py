"""Use cases: what the command line, and later the API and Python callers, ask for. One noun per file."""
