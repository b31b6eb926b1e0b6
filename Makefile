# ./setup does the work; this file only gives its commands the names that people try first.
# Arguments: make test ARGS="tests/unit -x"
.PHONY: help setup setup-browser demo start start-worker test check bench clean

help:
	@./setup help

setup:
	@./setup

setup-browser:
	@./setup setup-browser

demo:
	@./setup demo $(ARGS)

start:
	@./setup start $(ARGS)

start-worker:
	@./setup start-worker $(ARGS)

test:
	@./setup test $(ARGS)

check:
	@./setup check

bench:
	@./setup bench $(ARGS)

clean:
	@./setup clean
