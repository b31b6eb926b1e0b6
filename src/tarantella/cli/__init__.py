"""The command line: one noun per file. Data goes to stdout, everything else to stderr."""
