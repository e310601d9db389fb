"""Text for people: nothing in data may steer a terminal, and times and sizes read at a glance."""

import re
from datetime import UTC, datetime

#: C0 and C1 controls but for tab and newline, DEL, what reorders text, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # a byte that is no UTF-8, of the name of a file for one
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def clean(text: str) -> str:
    """Make every character that could steer a terminal visible; newlines and tabs stay."""
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 200) -> str:
    """Put text on one line, at most ``limit`` characters long."""
    flat = " ".join(clean(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def cut(text: str, limit: int) -> str:
    """A line as it was printed, blanks and all, at most ``limit`` characters long."""
    line = clean(text).rstrip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def escape_json(text: str) -> str:
    """Write what could steer a terminal as JSON escapes; the document stays equal."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def rfc3339(us: int | None) -> str | None:
    """A time in UTC microseconds as RFC 3339, ``None`` stays ``None``."""
    if us is None:
        return None
    moment = datetime.fromtimestamp(us // 1_000_000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{us % 1_000_000:06d}Z"


def local_time(us: int, now: int) -> str:
    """A time on the reader's own clock; the date only where it is not today's."""
    moment = datetime.fromtimestamp(us / 1_000_000).astimezone()
    today = datetime.fromtimestamp(now / 1_000_000).astimezone()
    return f"{moment:%H:%M:%S}" if moment.date() == today.date() else f"{moment:%Y-%m-%d %H:%M}"


def span(us: int) -> str:
    """How long something took: ``340 ms``, ``4.2 s``, ``3 min 20 s``, ``2 h 05 min``, ``3 d 4 h``."""
    seconds = max(us, 0) / 1_000_000
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def ago(us: int, now: int) -> str:
    """How long ago something was, roughly: ``just now``, ``5 min ago``, ``in 2 h``."""
    seconds = (now - us) // 1_000_000
    size = abs(seconds)
    if size < 5:
        return "just now"
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if size >= length:
            words = f"{size // length} {unit}"
            return f"{words} ago" if seconds > 0 else f"in {words}"
    raise AssertionError("a size of at least five seconds has a unit")


def byte_size(count: int) -> str:
    """A size in bytes: ``312 B``, ``4.1 kB``, ``2.0 MB``."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def plural(count: int, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
