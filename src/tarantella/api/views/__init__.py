"""What goes in and out as JSON, one noun per file."""
