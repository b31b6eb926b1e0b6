"""What is wanted from each page: a field, as data. How it is found is the extractors' matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tarantella.domain.errors import InvalidInput
from tarantella.domain.jsonable import is_jsonable
from tarantella.domain.struct import Frozen, asdict, replace

TYPES = ("string", "integer", "number", "boolean", "date", "url", "price", "currency")
MAX_FIELDS = 500
MAX_SELECTOR = 2_000
_DEEPEST = 5  # objects within objects
_MAX_NAME = 200
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_:.-]*")
_LOCALE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_SELECTORS = ("css", "xpath", "jmespath", "regex")
_WRITE = "Write a name like price, or {name: price, css: .price, type: price}."


class Field(Frozen):
    """A value wanted from each page. Without any selector, it is found by its name.

    Selectors work one after the other: `css` or `xpath` choose elements, `jmespath` reads them (or the whole page) as
    JSON, `regex` takes a part of their text. With `fields`, each element becomes an object that has those.
    """

    name: str
    css: str | None = None
    attr: str | None = None
    xpath: str | None = None
    jmespath: str | None = None
    regex: str | None = None
    all: bool | None = None  # None: a value, or a list where there are several; False: the first
    type: str | None = None
    required: bool = False
    default: Any = None
    locale: str | None = None
    fields: tuple[Field, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether nothing but its name says where it is."""
        return not (self.css or self.xpath or self.jmespath or self.regex or self.fields)

    @property
    def selectors(self) -> dict[str, str]:
        return {name: text for name in _SELECTORS if (text := getattr(self, name)) is not None}

    @classmethod
    def parse(cls, text: str) -> Self:
        """`name=css` or `name=css@attr`: split at the first `=` and the last `@`. A name alone is found by itself."""
        name, equals, rest = text.partition("=")
        if not equals and name.strip() and "@" not in name:
            return cls(name.strip())
        css, attr = _split_attr(rest)
        name = name.strip()
        if not equals or not name or not css or attr == "":
            raise InvalidInput(
                f"{text!r} is not a field.",
                remedy="Write name=css or name=css@attribute, as in 'price=.price', or only a name, as in 'price'.",
                field="field",
            )
        return cls(name, css, attr)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """A field as it was stored."""
        nested = tuple(cls.from_json(each) for each in data.get("fields", ()))
        known = cls.__struct_fields__
        return cls(**{**{name: value for name, value in data.items() if name in known}, "fields": nested})

    def to_json(self) -> dict[str, Any]:
        """As it is stored: without what is as usual."""
        usual = asdict(Field(self.name))
        data = {name: value for name, value in asdict(self).items() if value != usual[name]}
        if self.fields:
            data["fields"] = [each.to_json() for each in self.fields]
        return {"name": self.name, **data}


def _split_attr(text: str) -> tuple[str, str | None]:
    """A selector and the attribute behind its last `@`, if that is one; an empty one where only its name is missing."""
    css, at, attr = text.rpartition("@")
    attr = attr.strip()
    # An "@" can be part of a value in the selector: a[href^="mailto:me@"], p:contains("me@you").
    if not at or (attr and not _ATTRIBUTE.fullmatch(attr)):
        return text.strip(), None
    return css.strip(), attr


def fields_of(values: Any, where: str = "fields") -> tuple[Field, ...]:
    """Fields as people write them: a list of names and specifications, or specifications by name."""
    if isinstance(values, Mapping):
        values = [_named(name, value, f"{where}.{name}") for name, value in values.items()]
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InvalidInput(f"{where} is not a list of fields.", remedy=_WRITE, field=where)
    if len(values) > MAX_FIELDS:
        raise InvalidInput(f"{where} has {len(values)} fields.", remedy=f"Ask for {MAX_FIELDS} at most.", field=where)
    found = tuple(field_of(value, f"{where}[{i}]") for i, value in enumerate(values))
    check_names(found, where)
    return found


def check_names(wanted: Sequence[Field], where: str = "fields") -> None:
    """Refuse two fields of the same name."""
    seen: set[str] = set()
    for field in wanted:
        if field.name in seen:
            raise InvalidInput(
                f"Two fields have the same name, {field.name!r}.", field=where, remedy="Give each its own."
            )
        seen.add(field.name)


def field_of(value: Any, where: str = "field", depth: int = 1) -> Field:
    """One field as people write it: a name, or a specification. Raises InvalidInput that names the key."""
    if isinstance(value, Field):
        return value
    if isinstance(value, str):
        return Field(_name(value, where))
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where} is not a field.", remedy=_WRITE, field=where)
    known = Field.__struct_fields__
    for key in value:
        if key not in known:
            raise InvalidInput(
                f"{where} has an unknown key {str(key)[:100]!r}.",
                remedy=f"A field may have {', '.join(sorted(known))}.",
                field=f"{where}.{str(key)[:100]}",
            )
    texts = {key: _text(value[key], f"{where}.{key}") for key in _TEXTS if value.get(key) is not None}
    field = Field(
        name=_name(value.get("name"), where),
        **texts,
        # One that has a type is one value, unless more are asked for: columns of a type need that.
        all=_flag(value, "all", where, usual=False if value.get("type") is not None else None),
        required=bool(_flag(value, "required", where)),
        default=value.get("default"),
        fields=_nested(value.get("fields"), where, depth),
    )
    if not is_jsonable(field.default):
        raise InvalidInput(
            f"{where}.default can't be written as JSON.",
            remedy="Give a text, a number of at most 64 bits, or lists and objects of these.",
            field=f"{where}.default",
        )
    _check(field, where)
    return field


_TEXTS = ("css", "attr", "xpath", "jmespath", "regex", "type", "locale")


def place_of(value: Any, name: str, *, attr: str | None = None) -> Field:
    """Where a list page has its items, or its way to the next page: a CSS selector, or a specification."""
    if isinstance(value, str):
        css, given = _split_attr(value)
        value = {"css": css, **({"attr": given} if given else {})}
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f"{name} is not a selector.", remedy="Write one like .product, or {css: .product}.", field=name
        )
    field = field_of({"name": name, **value}, name)
    if not (field.css or field.xpath or field.jmespath):
        raise InvalidInput(f"{name} has no selector.", remedy="Give css, xpath or jmespath.", field=name)
    return replace(field, all=True, attr=field.attr or (attr if field.css else None))


class FieldSet(Frozen):
    """Everything that is wanted of a site's pages, as a fields file says it."""

    fields: tuple[Field, ...] = ()
    item: Field | None = None
    pagination: Field | None = None

    def to_json(self) -> dict[str, Any]:
        """As people write it."""
        places = {"item": self.item, "pagination": self.pagination}
        said = {name: _without_name(place.to_json()) for name, place in places.items() if place is not None}
        return {"fields": [each.to_json() for each in self.fields], **said}


def _without_name(place: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in place.items() if key != "name"}


_SET_KEYS = ("fields", "item", "pagination", "$schema")


def field_set_of(value: Any) -> FieldSet:
    """A list of fields, or an object with `fields` and, for list pages, `item` and `pagination`."""
    if not isinstance(value, Mapping):
        return FieldSet(fields_of(value))
    for key in value:
        if key not in _SET_KEYS:
            raise InvalidInput(
                f"There is an unknown key {str(key)[:100]!r}.",
                remedy="Write `fields`, and for list pages `item` and `pagination`.",
                field=str(key)[:100],
            )
    if "fields" not in value:
        raise InvalidInput("There are no fields.", remedy="List them below `fields`.", field="fields")
    item, pagination = value.get("item"), value.get("pagination")
    return FieldSet(
        fields_of(value["fields"]),
        place_of(item, "item") if item is not None else None,
        place_of(pagination, "pagination", attr="href") if pagination is not None else None,
    )


def _named(name: Any, value: Any, where: str) -> Any:
    if value is None:
        return name
    if isinstance(value, str):
        css, attr = _split_attr(value)
        return {"name": name, "css": css, "attr": attr}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{where} is not a field.", remedy=_WRITE, field=where)
    return {"name": name, **value}


def _name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{where} has no name.", remedy=_WRITE, field=where)
    if len(value.strip()) > _MAX_NAME:
        raise InvalidInput(f"The name of {where} is too long.", remedy=f"{_MAX_NAME} characters at most.", field=where)
    return value.strip()


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(
            f"{where} is {str(value)[:100]!r}.", remedy="It must be a text that says something.", field=where
        )
    return value.strip()


def _flag(value: Mapping[str, Any], key: str, where: str, usual: bool | None = None) -> bool | None:
    flag = value.get(key)
    if flag is not None and not isinstance(flag, bool):
        raise InvalidInput(
            f"{where}.{key} is {str(flag)[:100]!r}.", remedy="Choose true or false.", field=f"{where}.{key}"
        )
    return usual if flag is None else flag


def _nested(value: Any, where: str, depth: int) -> tuple[Field, ...]:
    if value is None:
        return ()
    if depth >= _DEEPEST:
        raise InvalidInput(
            f"{where} has objects within objects, too deep.", remedy=f"{_DEEPEST} levels at most.", field=where
        )
    if isinstance(value, Mapping):
        value = [_named(name, each, f"{where}.fields.{name}") for name, each in value.items()]
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(f"{where}.fields is not a list of fields.", remedy=_WRITE, field=f"{where}.fields")
    found = tuple(field_of(each, f"{where}.fields[{i}]", depth + 1) for i, each in enumerate(value))
    check_names(found, f"{where}.fields")
    for each in found:
        if each.is_plain:
            raise InvalidInput(
                f"{each.name!r} in {where} has no selector.",
                remedy="Only fields of the whole page are found by their name alone.",
                field=f"{where}.fields",
            )
    return found


def _check(field: Field, where: str) -> None:
    wrong = _contradiction(field)
    if wrong is not None:
        raise InvalidInput(f"{where} ({field.name!r}) {wrong[0]}.", remedy=wrong[1], field=where)
    for kind, text in field.selectors.items():
        if len(text) > MAX_SELECTOR:
            raise InvalidInput(
                f"The {kind} of {where} is longer than {MAX_SELECTOR} characters.",
                remedy="Write a shorter one.",
                field=f"{where}.{kind}",
            )


def _contradiction(field: Field) -> tuple[str, str] | None:
    if field.css and field.xpath:
        return "has both css and xpath", "Choose one of them."
    if field.attr is not None and not field.css:
        return "has an attribute but no css", "Say which elements have it, or end the xpath with /@attribute."
    if field.fields and not (field.css or field.xpath or field.jmespath):
        return "has fields but no selector", "Say with css, xpath or jmespath what each object is made of."
    if field.fields and (field.attr or field.regex or field.type):
        return "has fields, so it can have no attr, regex or type", "Give those to its fields."
    if field.type is not None and field.type not in TYPES:
        return f"has the type {field.type!r}", f"Choose one of {', '.join(TYPES)}."
    if field.locale is not None and not _LOCALE.fullmatch(field.locale):
        return f"has the locale {field.locale!r}", "Write one like de or en-GB."
    return None
