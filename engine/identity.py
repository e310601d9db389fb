"""New identities: run, request and epoch IDs that sort by time, and IDs derived from facts (fine print)."""

import hashlib
from collections.abc import Callable

#: Crockford's base 32, which has no letters that read like digits.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: int, random: Callable[[int], bytes]) -> str:
    """Make an ID of 20 characters: ten of the time in milliseconds, ten random.

    Args:
        now: UTC in microseconds.
        random: Answers that many random bytes.
    """
    return _base32(now // 1000, 10) + _base32(int.from_bytes(random(7), "big"), 10)


def child_id(request: str) -> str:
    """Derive the ID of the run that carries on behind an answered checkpoint: one child per answer.

    Args:
        request: The checkpoint's request ID, whose time characters the child's ID keeps.
    """
    digest = hashlib.sha256(b"rw/child/1" + request.encode()).digest()
    return request[:10] + _base32(int.from_bytes(digest[:7], "big"), 10)


def effect_id(run_id: str, path: str, visit: int, effect_type: str) -> str:
    """Derive an effect's identity: SHA-256 over run, full node path, visit and effect type, length-prefixed."""
    digest = hashlib.sha256()
    for part in (run_id, path, str(visit), effect_type):
        raw = part.encode()
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()


def _base32(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))
