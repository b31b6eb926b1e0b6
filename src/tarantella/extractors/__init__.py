"""What is in a page: its links, its basic record, the fields that were asked for."""
