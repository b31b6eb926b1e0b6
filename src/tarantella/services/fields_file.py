"""A fields file: what is wanted of each page, written down in YAML or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tarantella.domain.errors import InvalidInput
from tarantella.domain.field import FieldSet, field_set_of

MAX_BYTES = 1_000_000
_REMEDY = "docs/fields.md shows what it can say."


def read_fields_file(path: Path) -> FieldSet:
    """Raises InvalidInput that names the file and, where it can, the line or the key."""
    try:
        return field_set_of(parsed_file(path, "fields_file", _REMEDY))
    except InvalidInput as error:
        message = error.message if str(path) in error.message else f"{path}: {error.message}"
        raise InvalidInput(message, remedy=error.remedy or _REMEDY, field=error.field) from None


def parsed_file(path: Path, field: str, remedy: str, option: str | None = None) -> Any:
    """What is in a file of YAML or JSON that a user wrote; `field` is the option that names it, if nothing else does."""
    option = option or f"--{field.replace('_', '-')}"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}.", remedy=f"Check {option}.", field=field) from None
    if len(data) > MAX_BYTES:
        raise InvalidInput(f"{path} is larger than 1 MB.", remedy="Give a shorter one.", field=field)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8 text.", remedy="Save it as UTF-8.", field=field) from None
    return _parsed(text, path, field, remedy)


def _parsed(text: str, path: Path, field: str, remedy: str) -> Any:
    # JSON is YAML, but not the other way round; and a YAML file may be called anything.
    import yaml

    try:
        return yaml.load(text, Loader=_loader())  # noqa: S506 (a safe loader, made stricter)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is neither YAML nor JSON"
        raise InvalidInput(f"{path}{line}: {problem}.", remedy=remedy, field=field) from None
    except RecursionError:
        raise InvalidInput(f"{path} is nested too deep.", remedy=remedy, field=field) from None
    except (ValueError, TypeError, AttributeError):
        # A number of thousands of digits, a list as a key, a tag that its value does not fit: YAML's reader falls over those.
        raise InvalidInput(f"{path} has a value in it that is none.", remedy=remedy, field=field) from None


def _loader() -> Any:
    """A safe loader without references, which can grow to any size.

    `no` and `on` are words in it, and only what is written as decimal numbers are is one: an id such as 0022300061 is no octal.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                event = self.peek_event()  # type: ignore[no-untyped-call]
                raise yaml.composer.ComposerError(None, None, "references are not allowed here", event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is there twice", key.start_mark)
                seen.add(key.value)
            return super().construct_mapping(node, deep=deep)

    bools, ints = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int"
    Loader.yaml_implicit_resolvers = {
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag not in (bools, ints, "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:merge")
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    import re

    Loader.add_implicit_resolver(bools, re.compile("^(?:true|false|True|False)$"), list("tfTF"))
    Loader.add_implicit_resolver(ints, re.compile("^(?:0|-?[1-9][0-9]*)$"), list("-0123456789"))
    return Loader
