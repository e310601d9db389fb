"""Writes one setting into a configuration file and leaves every other byte of it alone."""

import json
import os
import re
import tomllib
from pathlib import Path

from runwright.cli.failures import Refused
from runwright.cli.settings import Value, read_toml, read_value


def write_setting(path: Path, key: str, value: str | None) -> None:
    """Set, or with ``None`` remove, one key of a TOML file whose settings stand at its top level.

    The standard library reads TOML and does not write it; one line is replaced, and the file is only written when
    reading it back gives exactly the wanted settings.

    Raises:
        Refused: The value does not fit the key, or the file is written in a way that one line cannot change.
    """
    wanted = read_toml(path)
    literal = None if value is None else _literal(read_value(key, value), value)
    _apply(wanted, key, literal)
    text = path.read_text("utf-8") if path.exists() else ""
    changed = _edit(text, key, literal)
    try:
        holds = tomllib.loads(changed) == wanted
    except tomllib.TOMLDecodeError:
        holds = False
    if not holds:
        raise Refused.usage(
            f"{path} is written in a way that this command does not change",
            f"Open the file and set `{key}` there.",
            code="setting_invalid",
        )
    place = Path(os.path.realpath(path))  # a link stays one: configuration is often kept elsewhere
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(place.name + ".new")
    beside.write_text(changed, "utf-8")
    beside.replace(place)


def _literal(value: Value, typed: str) -> str:
    if isinstance(value, tuple):
        return json.dumps(list(value))
    if isinstance(value, int):
        return str(value)
    return json.dumps(typed, ensure_ascii=False).replace("\x7f", "\\u007f")


def _apply(document: dict[str, object], key: str, literal: str | None) -> None:
    prefix, _, name = key.rpartition(".")
    table: dict[str, object] = document
    if prefix:
        inner = document.get(prefix)
        table = inner if isinstance(inner, dict) else {}
        if literal is not None or isinstance(inner, dict):
            document[prefix] = table
    if literal is None:
        table.pop(name, None)
    else:
        table[name] = tomllib.loads(f"value = {literal}")["value"]


def _edit(text: str, key: str, literal: str | None) -> str:
    prefix, _, name = key.rpartition(".")
    lines = text.splitlines()
    begin, end = _section(lines, prefix)
    found = next((n for n in range(begin, end) if re.match(rf"\s*{re.escape(name)}\s*=", lines[n])), None)
    line = f"{name} = {literal}"
    if found is not None:
        lines[found : found + 1] = [] if literal is None else [line]
    elif literal is not None:
        if prefix and begin == len(lines) == end and f"[{prefix}]" not in (each.strip() for each in lines):
            lines += [*([""] if lines else []), f"[{prefix}]", line]
        else:
            while end > begin and not lines[end - 1].strip():
                end -= 1
            lines.insert(end, line)
    return "\n".join(lines) + ("\n" if lines else "")


def _section(lines: list[str], table: str) -> tuple[int, int]:
    """The lines of a table, from the one behind its heading to the next heading; top level for an empty name."""
    headings = [n for n, each in enumerate(lines) if each.lstrip().startswith("[")]
    if not table:
        return 0, headings[0] if headings else len(lines)
    for n in headings:
        if lines[n].strip() == f"[{table}]":
            return n + 1, next((other for other in headings if other > n), len(lines))
    return len(lines), len(lines)
