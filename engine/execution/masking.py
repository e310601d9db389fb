"""Masking: what is secret, or looks like it, is struck out of text before anything keeps it."""

import re
from collections.abc import Iterable

_MASK = "[masked]"
#: A shorter value would strike out half of every text.
_SHORTEST_SECRET = 4
_SECRETIVE = r"(?:key|token|secret|password|passwd|passphrase|credential|authorization)"
# A name ends in such a word (a KeyError is none). It is looked at from its start and for a bounded length only,
# so that long words cost no more than others.
_WORD = rf"[\w-]{{0,40}}?{_SECRETIVE}s?"
_VALUE = r"""(?:"[^"\n]*"?|'[^'\n]*'?|[^\s,;&"'(){}\[\]]+)"""
_BEARER = re.compile(r"(?i)\b(bearer|basic)(\s+)[\w.~+/=-]+")
_PAIR = re.compile(rf"(?i)((?<![\w-]){_WORD}[\"']?\s{{0,8}}(?::|=>|=)\s{{0,8}}){_VALUE}")
_FLAG = re.compile(rf"(?i)((?<!\S)-{{1,2}}{_WORD}\s{{1,8}}){_VALUE}")
_USERINFO = re.compile(r"(://)[^/\s@]{1,300}@")


def mask(text: str) -> str:
    """Strike out bearer values, credentials in addresses, and the values of key, token, secret, password pairs."""
    text = _BEARER.sub(rf"\1\2{_MASK}", text)
    text = _PAIR.sub(rf"\1{_MASK}", text)
    text = _FLAG.sub(rf"\1{_MASK}", text)
    return _USERINFO.sub(rf"\1{_MASK}@", text)


def strike(text: str, secrets: Iterable[str]) -> str:
    """Strike out values that are known to be secret, wherever they stand."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, _MASK)
    return text


def cut(text: str, limit: int) -> str:
    """The first ``limit`` bytes of a text at most, cut on a character and marked where something is missing."""
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) <= limit:
        return encoded.decode()
    return encoded[: limit - 3].decode("utf-8", "ignore") + "…"
