"""The rules: pure functions of values. No input or output, no clock, no randomness."""
