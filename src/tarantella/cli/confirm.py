"""Asks before something is deleted for good."""

from __future__ import annotations

import sys

import typer

from tarantella.domain.errors import InvalidInput


def confirmed(question: str) -> bool:
    """What the user says; where there is nobody to ask, it has to be said with the command."""
    if not sys.stdin.isatty():
        raise InvalidInput("Deleting has to be confirmed.", remedy="Add --yes.", field="yes")
    return typer.confirm(question, err=True)
