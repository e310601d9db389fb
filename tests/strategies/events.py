"""Hypothesis strategies for events: every registered class, every field of it."""

import types
import typing
from typing import Any, cast

import attrs
from hypothesis import strategies as st

from runwright.eventstore.events.event import Content, Event, body_fields
from runwright.eventstore.events.registry import REGISTRY
from strategies.values import json_values, texts

contents = st.builds(Content.json, json_values) | st.builds(Content.text, texts)

#: Whole numbers as columns and clocks have them.
integers = st.integers(min_value=-(2**63), max_value=2**63 - 1)


def events_of(cls: type[Event]) -> st.SearchStrategy[Event]:
    """Make events of one class."""
    return cast("st.SearchStrategy[Event]", _instances(cls, body_fields(cls)))


def _instances(cls: type[Any], private: frozenset[str] = frozenset()) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(cls)
    fields = {
        each.name: st.none() | contents if each.name in private else _of_type(hints[each.name])
        for each in attrs.fields(cls)
    }
    return st.builds(cls, **fields)


def _of_type(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, types.UnionType):
        (inner,) = (each for each in typing.get_args(kind) if each is not type(None))
        return st.none() | _of_type(inner)
    if typing.get_origin(kind) is tuple:
        return st.lists(_of_type(typing.get_args(kind)[0]), max_size=3).map(tuple)
    if kind is str:
        return texts
    if kind is bool:
        return st.booleans()
    if kind is int:
        return integers
    return _instances(kind)


#: Any event at all.
events = st.sampled_from(sorted(REGISTRY)).flatmap(lambda name: events_of(REGISTRY[name]))
