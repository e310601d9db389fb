"""What a resolver can be asked, by name."""

from collections.abc import Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from runwright.eventstore.values import JsonObject

Question: TypeAlias = Callable[[JsonObject], Coroutine[Any, Any, JsonObject]]

QUESTIONS: Final[Mapping[str, Question]] = MappingProxyType({})
