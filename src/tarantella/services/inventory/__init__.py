"""What there is: the files of a folder, or the objects of a bucket."""

from __future__ import annotations

from pathlib import Path

from tarantella.domain.errors import InvalidInput
from tarantella.domain.url import redact
from tarantella.services.inventory.contract import Inventory
from tarantella.services.inventory.disk import Disk
from tarantella.services.inventory.s3 import S3, SCHEME


def inventory_at(place: str) -> Inventory:
    """The inventory that is kept there. Raises InvalidInput where there is none."""
    if place.startswith(SCHEME):
        return S3(place)
    if "://" in place:
        told = f"{redact(place)} is neither a folder nor in S3."
        raise InvalidInput(
            told, remedy="Give the folder in which the files are, or s3://bucket/prefix.", field="inventory"
        )
    folder = Path(place)
    if not place or not folder.is_dir():
        told = f"There is no folder {place or repr(place)}, so nothing can be said of what is missing in it."
        raise InvalidInput(
            told, remedy="Check --inventory; make the folder, if all is still to come.", field="inventory"
        )
    return Disk(folder)
