"""What values are made of: structs of msgspec, which are quick to define, to make and to read."""

from __future__ import annotations

from typing import Any, ClassVar, Self, dataclass_transform

import msgspec
from msgspec import field
from msgspec.structs import asdict, replace

__all__ = ["Discreet", "Frozen", "Mutable", "Struct", "asdict", "field", "replace"]


class Struct(msgspec.Struct, frozen=True, gc=False):
    """What every page makes several of. None of them holds what holds it, so nobody has to look for cycles."""

    def _replace(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def _asdict(self) -> dict[str, Any]:
        return asdict(self)


# Tells type checkers that what is derived from it can't be changed either.
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Frozen(msgspec.Struct, frozen=True):
    """Any other value that can't be changed, whatever it holds."""


class Mutable(msgspec.Struct):
    """What is filled in or counted up after it was made."""


class Discreet(Frozen):
    """One that doesn't show all it has where it is printed: secrets, or what is too long to be read."""

    unshown: ClassVar[frozenset[str]]

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [(name, value) for name, value in asdict(self).items() if name not in self.unshown]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"
