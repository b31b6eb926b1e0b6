"""The dashboard: files that a browser reads, and nothing else. What they show, they ask the HTTP API for."""
