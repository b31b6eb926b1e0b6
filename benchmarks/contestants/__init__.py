"""Those who are compared: one file each, and a line in registry.py."""
