"""Text that may be kept or shown: bounded, plain, and with what is secret, or looks like it, struck out."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

#: Bytes of a safe message and of an error text (page 05).
MAX_MESSAGE: Final = 1_024
MAX_ERROR: Final = 8 * 1_024

#: Masking for a bounded text looks no further than this; what follows is cut anyway.
_LOOKED_AT: Final = 64 * 1_024
#: A shorter value would strike out half of every text.
_SHORTEST_SECRET: Final = 4
_MASK: Final = "[masked]"
_CUT: Final = "…"
_SECRETIVE: Final = r"(?:key|token|secret|password|passwd|passphrase|credential|authorization)"
# A name ends in such a word (a KeyError is none), perhaps with a number or an ending after it. It is looked at from
# its start and for a bounded length only, so that long words cost no more than others.
_WORD: Final = rf"[\w-]{{0,40}}?{_SECRETIVE}s?(?:[-_]\w{{1,20}}|\d{{1,6}})?"
_VALUE: Final = r"""(?:"[^"\n]*"?|'[^'\n]*'?|[^\s,;&"'(){}\[\]]+)"""

_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)(\s+)[\w.~+/=-]+")
_PAIR: Final = re.compile(rf"(?i)((?<![\w-]){_WORD}[\"']?\s{{0,8}}(?::|=>|=)\s{{0,8}}){_VALUE}")
_FLAG: Final = re.compile(rf"(?i)((?<!\S)-{{1,2}}{_WORD}\s{{1,8}}){_VALUE}")
_USERINFO: Final = re.compile(r"(://)[^/\s@]{1,300}@")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def safe_message(text: str, otherwise: str = "The cause is not known.") -> str:
    """Make text one bounded paragraph that may stand in status, messages and events.

    Args:
        text: What an error class of ours wrote of its own facts.
        otherwise: Stands in for nothing.

    Returns:
        At most 1,024 bytes, cut on a character, secrets masked, never empty.
    """
    plain = _UNPRINTABLE.sub(" ", mask(text[:_LOOKED_AT]))
    return cut(" ".join(plain.split()) or otherwise, MAX_MESSAGE)


def error_text(text: str) -> str:
    """Bound an error text to 8 KiB, cut on a character, with secrets masked and control characters gone."""
    return cut(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", mask(text[:_LOOKED_AT])), MAX_ERROR)


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


def handed_on(names: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables that a run was handed: nothing that is kept may hold them.

    Args:
        names: The names in the run's ``pass_env``.
        environment: The variables of the process that its code runs in.
    """
    return tuple(environment[name] for name in names if name in environment)


def cut(text: str, limit: int) -> str:
    """The first ``limit`` bytes of a text at most, cut on a character and marked where something is missing."""
    raw = text.encode("utf-8", "backslashreplace")
    if len(raw) <= limit:
        return raw.decode()
    return raw[: limit - len(_CUT.encode())].decode("utf-8", "ignore") + _CUT
