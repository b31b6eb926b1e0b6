"""What drains lanes: the worker, its lanes, the way of one page, the settle, the duties."""
