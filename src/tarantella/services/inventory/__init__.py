"""What there is: the files of a folder."""

from __future__ import annotations

from pathlib import Path

from tarantella.domain.errors import InvalidInput
from tarantella.services.inventory.contract import Inventory
from tarantella.services.inventory.disk import Disk


def inventory_at(place: str) -> Inventory:
    """The inventory that is kept there. Raises InvalidInput where there is none."""
    if "://" in place:
        told = f"{place} is no folder."
        raise InvalidInput(told, remedy="Give the folder in which the files are.", field="inventory")
    folder = Path(place)
    if not place or not folder.is_dir():
        told = f"There is no folder {place or repr(place)}, so nothing can be said of what is missing in it."
        raise InvalidInput(
            told, remedy="Check --inventory; make the folder, if all is still to come.", field="inventory"
        )
    return Disk(folder)
