"""Masking: what looks like a secret is struck out of text before anything keeps it."""

import re
from collections.abc import Iterable

_MASK = "***"
_SCHEME = re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{4,}", re.IGNORECASE)
_USERINFO = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/\s@'\"]+@", re.IGNORECASE)
_PAIR = re.compile(
    r"""(?P<name>[\w-]*(?:key|token|secret|password|passwd|pwd|credential|credentials|authorization)["']?\s*[:=]\s*)"""
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;&"'<>(){}\[\]]+)""",
    re.IGNORECASE,
)
#: A shorter value would strike out half of every text.
_SHORTEST_SECRET = 4


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """Strike out bearer values, credentials in addresses, key, token, secret and password pairs.

    Args:
        text: Any text.
        secrets: Values that are known to be secret, struck out wherever they stand.
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _MASK)
    text = _SCHEME.sub(rf"\1 {_MASK}", text)
    text = _USERINFO.sub(rf"\1{_MASK}@", text)
    return _PAIR.sub(rf"\g<name>{_MASK}", text)


def cut(text: str, limit: int) -> str:
    """The first ``limit`` bytes of a text at most, cut on a character and marked where something is missing."""
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) <= limit:
        return encoded.decode()
    return encoded[: limit - 3].decode("utf-8", "ignore") + "…"
