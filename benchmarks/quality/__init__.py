"""How good the extraction is, on pages that were written for it and whose truth is known."""
