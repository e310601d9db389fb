"""A second, independent verifier of native exports: the standard library and the format's page alone."""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def first_bad_position(path: Path) -> int | None:
    """Answer the first position that does not hold, 0 for the head line, ``None`` when all do."""
    lines = path.read_bytes().split(b"\n")
    if lines.pop() != b"":
        return len(lines)
    head = json.loads(lines[0])
    previous = hashlib.sha256(b"rw/log/1" + head["log_id"].encode()).digest()
    if canonical(head) != lines[0] or head["previous"] != previous.hex() or head["first"] != 1:
        return 0
    for position, line in enumerate(lines[1:], start=1):
        event = json.loads(line)
        names = ("position", "stream", "version", "type", "at", "actor", "generation", "command")
        header = canonical([event[name] for name in names])
        digest = b"\0" if event["digest"] is None else b"\1" + bytes.fromhex(event["digest"])
        data = hashlib.sha256(canonical(event["data"])).digest()
        chained = previous + len(header).to_bytes(8, "big") + header + data + digest
        previous = hashlib.sha256(b"rw/event/1" + chained).digest()
        if canonical(event) != line or event["position"] != position or event["hash"] != previous.hex():
            return position
        if event["body"] is not None:
            body = hashlib.sha256(b"rw/body/1" + bytes.fromhex(event["salt"]) + canonical(event["body"]))
            if body.hexdigest() != event["digest"]:
                return position
    return None if head["last"] == len(lines) - 1 else len(lines)


if __name__ == "__main__":
    bad = first_bad_position(Path(sys.argv[1]))
    print("ok" if bad is None else f"bad at {bad}")
    sys.exit(bad is not None)
