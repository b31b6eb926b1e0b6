"""What was read in one process, on its way to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tarantella.domain.struct import asdict
from tarantella.extractors.page import Extracted


def pack_extracted(extracted: Extracted) -> dict[str, Any]:
    """As values that JSON has."""
    packed = extracted._asdict()
    for name in ("hrefs", "following"):
        packed[name] = list(packed[name])
    packed["lacking"] = {name: dict(counts) for name, counts in extracted.lacking.items()}
    packed["replayed"] = asdict(extracted.replayed) if extracted.replayed is not None else None
    return packed


def unpack_extracted(packed: Mapping[str, Any]) -> Extracted:
    how = packed["replayed"]
    others = {"following": tuple(packed["following"]), "replayed": _replayed(how) if how is not None else None}
    return Extracted(**{**packed, **others})


def _replayed(packed: Mapping[str, Any]) -> Any:
    from tarantella.extractors.recorded import Replayed

    return Replayed(**packed)
