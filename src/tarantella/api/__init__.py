"""HTTP: routes and views over the use cases."""
