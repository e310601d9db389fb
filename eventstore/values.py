"""Canonical JSON: what a value may be, its one text, and the strict way back."""

from typing import TypeAlias, Union

Json: TypeAlias = Union[None, bool, int, float, str, list["Json"], dict[str, "Json"]]
JsonObject: TypeAlias = dict[str, Json]
