"""The JSON Schema of a fields file, for editors that complete and check while one types."""

from __future__ import annotations

from typing import Any

from tarantella.domain.field import MAX_FIELDS, MAX_SELECTOR, TYPES

_SELECTOR = {"type": "string", "minLength": 1, "maxLength": MAX_SELECTOR}
_ABOUT: dict[str, dict[str, Any]] = {
    "css": {**_SELECTOR, "description": "A CSS selector: the text of what it finds."},
    "xpath": {**_SELECTOR, "description": "An XPath expression instead; in an item, // means below it."},
    "jmespath": {**_SELECTOR, "description": "Reads a JSON page, the JSON in scripts, or what css chose, as JSON."},
    "attr": {"type": "string", "description": "An attribute of what css finds, instead of its text."},
}
_FIELD: dict[str, dict[str, Any]] = {
    "name": {"type": "string", "minLength": 1, "description": "How the value is called in records."},
    **_ABOUT,
    "regex": {**_SELECTOR, "description": "Takes a part of the text: the first group, if there is one."},
    "all": {"type": "boolean", "description": "true: always a list; false: only the first."},
    "type": {"enum": list(TYPES), "description": "Read as the page's language writes it; what does not fit is told."},
    "required": {"type": "boolean", "description": "Whether records without it are counted and told."},
    "default": {"description": "What stands in a record where nothing was found."},
    "locale": {"type": "string", "description": "How numbers and dates are written, like de or en-GB."},
    "fields": {"$ref": "#/$defs/fields", "description": "Makes each element an object of these."},
}


def schema() -> dict[str, Any]:
    """What a fields file may say."""
    field = {"type": "object", "properties": _FIELD, "required": ["name"], "additionalProperties": False}
    unnamed = {**field, "required": [], "properties": {name: about for name, about in _FIELD.items() if name != "name"}}
    place = {"type": "object", "properties": _ABOUT, "additionalProperties": False}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Tarantella fields file",
        "description": "What is wanted of each page.",
        "oneOf": [
            {"$ref": "#/$defs/fields"},
            {
                "type": "object",
                "properties": {
                    "$schema": {"type": "string"},
                    "fields": {"$ref": "#/$defs/fields"},
                    "item": {"$ref": "#/$defs/place", "description": "On list pages: what each record is made of."},
                    "pagination": {"$ref": "#/$defs/place", "description": "On list pages: the link to the next one."},
                },
                "required": ["fields"],
                "additionalProperties": False,
            },
        ],
        "$defs": {
            "field": {"oneOf": [{"type": "string", "minLength": 1}, field]},
            "fields": {
                "oneOf": [
                    {"type": "array", "items": {"$ref": "#/$defs/field"}, "maxItems": MAX_FIELDS},
                    {
                        "type": "object",
                        "additionalProperties": {"oneOf": [{"type": "null"}, _SELECTOR, unnamed]},
                        "not": {"required": ["fields"]},
                    },
                ]
            },
            "place": {"oneOf": [_SELECTOR, place]},
        },
    }
