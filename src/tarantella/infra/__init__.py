"""The infrastructure that work takes beside the database: processes that are started, watched and stopped."""
