"""What every benchmark stands on: the site, its server, and the stopwatch."""
