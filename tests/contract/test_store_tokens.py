"""Tokens: kept as digests, revoked by name or id."""

from __future__ import annotations

import pytest

from tarantella.domain.access import Scope
from tarantella.domain.errors import Conflict, NotFound
from tarantella.store import tokens
from tarantella.store.ids import new_id
from tarantella.store.tokens import Token
from tests.contract.world import NOW, World


def made(world: World, name: str | None = None, scope: Scope = Scope.READ) -> Token:
    token = Token(new_id(), name, scope, "d" * 64, NOW, None)
    world.write(tokens.create, token=token)
    return token


def test_a_token_is_valid_until_it_is_revoked(world: World) -> None:
    first, second = made(world, "ci", Scope.ADMIN), made(world)
    assert world.read(tokens.valid) == [first, second]
    assert world.write(tokens.revoke, text="ci", now=NOW + 1) == first
    assert world.read(tokens.valid) == [second]
    assert [token.revoked_at for token in world.read(tokens.listed)] == [NOW + 1, None]


def test_a_token_is_named_by_its_id_or_a_part_of_it(world: World) -> None:
    token = made(world)
    assert world.write(tokens.revoke, text=token.id[-12:], now=NOW).id == token.id


def test_what_is_no_token_or_more_than_one_is_refused(world: World) -> None:
    made(world, "ci")
    made(world, "ci")
    with pytest.raises(Conflict, match="More than one token"):
        world.write(tokens.revoke, text="ci", now=NOW)
    with pytest.raises(NotFound):
        world.write(tokens.revoke, text="nobody", now=NOW)
